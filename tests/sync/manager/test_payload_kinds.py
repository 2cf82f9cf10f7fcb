"""Kinds of payloads: each message of each protocol is told by its bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sync.calimero.handshake import encode_handshake
from sync.calimero.log import delta_messages as delta
from sync.calimero.log import snapshot_messages as snapshot
from sync.calimero.log.delta_filter import IdFilter
from sync.calimero.state import messages as state
from sync.check.message import SALT_BYTES, Claim, Verdict
from sync.check.wire import encode_frame
from sync.machine import MessageId
from sync.manager.payload_kinds import PayloadKind, kind_of, kind_of_beginning, read
from sync.p2panda import messages as p2panda
from sync.p2panda.bounds import Place
from sync.sessions.handshake import NOTHING, EntityState, LogState, SyncHandshake
from sync.sketch import messages as sketch
from sync.sketch.symbols import Symbols
from sync.waku.message import CLUSTER, RangesData
from sync.waku.wire import encode_ranges

KEY = bytes.fromhex("ab" * 32)
PLACE = 7, MessageId("cd" * 32)
HANDSHAKE = SyncHandshake(NOTHING, LogState(KEY, 3, heads=(KEY,)), EntityState(KEY, 2, 1), 6)
PAGE = snapshot.chunk_of(0, [b"x" * 70], PLACE, 1, last=True)

MESSAGES = [
    (b"", PayloadKind.RANGES),
    (encode_ranges(RangesData(CLUSTER, (3,))), PayloadKind.RANGES),
    (encode_handshake(HANDSHAKE), PayloadKind.HANDSHAKE),
    (p2panda.encode(p2panda.Have(4, (Place(KEY, 0, 1),))), PayloadKind.LOGS),
    (p2panda.encode(p2panda.Terminal(4)), PayloadKind.LOGS),
    (p2panda.encode(p2panda.Entry(4, b"h" * 130, b"b")), PayloadKind.ENTRY),
    (state.encode(state.HashNodes(())), PayloadKind.HASHES),
    (state.encode(state.LevelData(0, ((b"", KEY[:16]),))), PayloadKind.HASHES),
    (state.encode(state.Authors((), ())), PayloadKind.HASHES),
    (state.encode(state.Outcome(KEY, 2)), PayloadKind.HASHES),
    (state.encode(state.Want((KEY[:16],))), PayloadKind.WANT),
    (state.encode(state.Entries((b"one",))), PayloadKind.ENTRY),
    (delta.encode(delta.BloomFilter(5, IdFilter(2, b"bits"), (KEY,))), PayloadKind.FILTER),
    (delta.encode(delta.Want((KEY,))), PayloadKind.WANT),
    (delta.encode(delta.DeltaEntries((b"one", b"two"))), PayloadKind.ENTRY),
    (snapshot.encode(snapshot.SnapshotRequest(None, 4)), PayloadKind.WANT),
    (snapshot.encode(snapshot.SnapshotRequest(PLACE, 4)), PayloadKind.WANT),
    (snapshot.encode(snapshot.SnapshotMore(1)), PayloadKind.WANT),
    (snapshot.encode(snapshot.SnapshotDone()), PayloadKind.WANT),
    (snapshot.encode(PAGE), PayloadKind.PAGE),
    (encode_frame(Claim(b"s" * SALT_BYTES, 5)), PayloadKind.CHECK),
    (encode_frame(Verdict(3, KEY)), PayloadKind.CHECK),
    (sketch.encode(sketch.Opening(64, 0, 0, Symbols.empty(64))), PayloadKind.SYMBOLS),
    (sketch.encode(sketch.MoreSymbols(0, 0, Symbols.empty(80))), PayloadKind.SYMBOLS),
    (sketch.encode(sketch.AskMore()), PayloadKind.WANT),
    (sketch.encode(sketch.Wanted(1, b"")), PayloadKind.WANT),
    (sketch.encode(sketch.Wanted(0, KEY)), PayloadKind.WANT),
    (sketch.encode(sketch.Entries((b"one",))), PayloadKind.ENTRY),
    (sketch.encode(sketch.Done()), PayloadKind.ENTRY),
    *[(sketch.encode(sketch.Stop(one)), PayloadKind.WANT) for one in sketch.Reason],
    (b"\x7f of a later version", PayloadKind.OTHER),
]


@pytest.mark.parametrize(("payload", "kind"), MESSAGES)
def test_each_message_is_told_by_its_bytes(payload: bytes, kind: PayloadKind) -> None:
    assert kind_of(payload) is kind


def test_of_a_page_the_head_is_enough() -> None:
    whole = snapshot.encode(PAGE)

    assert read(whole) == PAGE.head
    assert read(whole[:-20]) == PAGE.head
    assert kind_of_beginning(whole[:3]) is PayloadKind.PAGE


@pytest.mark.parametrize(
    ("payload", "kind"),
    [
        one
        for one in MESSAGES
        if one[1] in {PayloadKind.RANGES, PayloadKind.FILTER, PayloadKind.SYMBOLS} and one[0]
    ],
)
def test_of_what_may_be_long_the_first_bytes_tell(payload: bytes, kind: PayloadKind) -> None:
    assert kind_of_beginning(payload[:8]) is kind


@given(st.binary(max_size=200))
def test_no_bytes_raise(payload: bytes) -> None:
    assert kind_of(payload) in PayloadKind
    assert kind_of_beginning(payload) in PayloadKind
