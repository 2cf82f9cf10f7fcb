"""SDS on the wire: the bytes of `@waku/sds`, and limits that hold before anything is built."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from proto import sds_pb2
from sync.errors import DecodeError
from sync.machine import ChannelId, MessageId, PeerId
from sync.sds.message import (
    CONTENT_MAX,
    HINT_MAX,
    HISTORY_MAX,
    ID_MAX,
    LAN_LIMITS,
    REPAIR_MAX,
    WAKU_LIMITS,
    HistoryEntry,
    Kind,
    Limits,
    Message,
)
from sync.sds.wire import decode, encode, encode_around, encode_canonical
from sync.structures.bloom_parameters import WAKU

VECTORS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "vectors" / "sds.json").read_text(encoding="utf-8")
)["messages"]

IDS = st.text(min_size=1, max_size=ID_MAX)
ENTRIES = st.builds(
    HistoryEntry,
    IDS.map(MessageId),
    st.none() | st.binary(max_size=HINT_MAX),
    st.none() | st.text(max_size=ID_MAX).map(PeerId),
)
MESSAGES = st.builds(
    Message,
    sender_id=st.text(max_size=ID_MAX).map(PeerId),
    message_id=IDS.map(MessageId),
    channel_id=st.text(max_size=ID_MAX).map(ChannelId),
    lamport=st.none() | st.integers(0, 2**64 - 1),
    causal_history=st.lists(ENTRIES, max_size=HISTORY_MAX).map(tuple),
    bloom_filter=st.none() | st.binary(max_size=40),
    repair_request=st.lists(ENTRIES, max_size=REPAIR_MAX).map(tuple),
    content=st.binary(max_size=40),
).filter(lambda message: message.lamport is not None or message.content)


def from_vector(fields: dict[str, Any]) -> Message:
    lamport = fields["lamport_timestamp"]
    return Message(
        sender_id=PeerId(fields["sender_id"]),
        message_id=MessageId(fields["message_id"]),
        channel_id=ChannelId(fields["channel_id"]),
        lamport=None if lamport is None else int(lamport),
        causal_history=history_from_vector(fields["causal_history"]),
        bloom_filter=bytes_from_vector(fields["bloom_filter"]),
        repair_request=history_from_vector(fields["repair_request"]),
        content=bytes_from_vector(fields["content"]) or b"",
    )


def history_from_vector(entries: list[dict[str, Any]]) -> tuple[HistoryEntry, ...]:
    return tuple(
        HistoryEntry(
            entry["message_id"], bytes_from_vector(entry["retrieval_hint"]), entry["sender_id"]
        )
        for entry in entries
    )


def bytes_from_vector(value: str | None) -> bytes | None:
    return None if value is None else base64.b64decode(value)


def entry(number: int = 0) -> HistoryEntry:
    return HistoryEntry(MessageId(f"{number:064x}"), b"h" * 32, PeerId("a" * 64))


WHOLE = Message(
    PeerId("a" * 64), MessageId("b" * 64), ChannelId("c" * 32), lamport=7, content=b"hello"
)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_our_bytes_are_those_of_the_published_implementation(vector: dict[str, Any]) -> None:
    encoded = base64.b64decode(vector["encoded_b64"])

    decoded = decode(encoded)

    assert decoded == from_vector(vector["decoded"])
    assert decoded.kind is Kind(vector["decoded_kind"])
    assert encode(from_vector(vector["fields"])) == encoded


@given(MESSAGES)
def test_a_message_comes_back_as_it_was_sent(sent: Message) -> None:
    assert decode(encode(sent)) == sent


@given(MESSAGES)
def test_the_canonical_bytes_carry_neither_filter_nor_request(sent: Message) -> None:
    canonical = decode(encode_canonical(sent))

    assert canonical.bloom_filter is None
    assert canonical.repair_request == ()
    assert canonical.content == sent.content
    assert encode_canonical(canonical) == encode_canonical(sent)


@pytest.mark.parametrize(
    "history", [(), (entry(1), entry(2)), (entry(1)._replace(sender_id=None),)]
)
@pytest.mark.parametrize("content", [b"", b"hello", bytes(200), bytes(CONTENT_MAX)], ids=len)
@pytest.mark.parametrize("lamport", [0, 127, 2**42, 2**64 - 1])
def test_bytes_that_are_put_together_are_those_of_protobuf(
    history: tuple[HistoryEntry, ...], content: bytes, lamport: int
) -> None:
    bare = replace(WHOLE, causal_history=history, content=content, lamport=lamport)
    assert encode_canonical(bare) == encode(bare)
    for sent in (bare, replace(bare, bloom_filter=b""), replace(bare, bloom_filter=bytes(1880))):
        assert encode_canonical(sent) == encode(bare)
        assert encode_around(encode(bare), sent) == encode(sent)
        asking = replace(sent, repair_request=(entry(3),))
        assert encode_canonical(asking) == encode(bare)
        assert encode_around(encode(bare), asking) == encode(asking)


@given(st.binary(max_size=200))
def test_arbitrary_bytes_are_a_message_or_refused_as_none(payload: bytes) -> None:
    try:
        decoded = decode(payload)
    except DecodeError:
        return
    assert decode(encode(decoded)) == decoded


def entries(count: int) -> tuple[HistoryEntry, ...]:
    return tuple(entry(number) for number in range(count))


@pytest.mark.parametrize(
    ("most", "too_many"),
    [
        (
            replace(WHOLE, causal_history=entries(HISTORY_MAX)),
            replace(WHOLE, causal_history=entries(HISTORY_MAX + 1)),
        ),
        (
            replace(WHOLE, repair_request=entries(REPAIR_MAX)),
            replace(WHOLE, repair_request=entries(REPAIR_MAX + 1)),
        ),
        (
            replace(WHOLE, sender_id=PeerId("x" * ID_MAX)),
            replace(WHOLE, sender_id=PeerId("x" * (ID_MAX + 1))),
        ),
        (
            replace(WHOLE, message_id=MessageId("x" * ID_MAX)),
            replace(WHOLE, message_id=MessageId("x" * (ID_MAX + 1))),
        ),
        (
            replace(WHOLE, channel_id=ChannelId("x" * ID_MAX)),
            replace(WHOLE, channel_id=ChannelId("x" * (ID_MAX + 1))),
        ),
    ],
    ids=["history", "repair request", "sender id", "message id", "channel id"],
)
def test_as_much_as_the_limit_is_read_and_one_more_is_not(most: Message, too_many: Message) -> None:
    assert decode(encode(most)) == most
    with pytest.raises(DecodeError):
        decode(encode(too_many))


@pytest.mark.parametrize(
    ("longest", "too_long"),
    [
        (HistoryEntry(MessageId("x" * ID_MAX)), HistoryEntry(MessageId("x" * (ID_MAX + 1)))),
        (
            HistoryEntry(MessageId("x"), b"h" * HINT_MAX),
            HistoryEntry(MessageId("x"), b"h" * (HINT_MAX + 1)),
        ),
        (
            HistoryEntry(MessageId("x"), None, PeerId("y" * ID_MAX)),
            HistoryEntry(MessageId("x"), None, PeerId("y" * (ID_MAX + 1))),
        ),
    ],
    ids=["message id", "hint", "sender"],
)
def test_what_a_history_names_is_bounded(longest: HistoryEntry, too_long: HistoryEntry) -> None:
    most = replace(WHOLE, causal_history=(longest,))

    assert decode(encode(most)) == most
    with pytest.raises(DecodeError):
        decode(encode(replace(WHOLE, causal_history=(too_long,))))
    with pytest.raises(DecodeError):
        decode(encode(replace(WHOLE, repair_request=(too_long,))))


def test_content_has_64_kib_at_most() -> None:
    largest = replace(WHOLE, content=b"x" * CONTENT_MAX)

    assert decode(encode(largest)) == largest
    with pytest.raises(DecodeError, match="65537"):
        decode(encode(replace(WHOLE, content=b"x" * (CONTENT_MAX + 1))))


@pytest.mark.parametrize("limits", [LAN_LIMITS, WAKU_LIMITS], ids=["lan", "waku"])
def test_a_channel_says_how_long_a_history_may_be(limits: Limits) -> None:
    longest = replace(WHOLE, causal_history=entries(limits.history))
    too_long = replace(WHOLE, causal_history=entries(limits.history + 1))

    assert decode(encode(longest), limits) == longest
    with pytest.raises(DecodeError, match=f"{limits.history + 1} history"):
        decode(encode(too_long), limits)


@pytest.mark.parametrize("limits", [LAN_LIMITS, WAKU_LIMITS], ids=["lan", "waku"])
def test_a_frame_may_be_as_long_as_the_limit_and_no_longer(limits: Limits) -> None:
    around = len(encode(replace(WHOLE, content=b"x" * CONTENT_MAX, bloom_filter=b"y" * 20_000)))
    room = CONTENT_MAX + limits.envelope - around
    filled = replace(WHOLE, content=b"x" * CONTENT_MAX, bloom_filter=b"y" * (20_000 + room))
    longer = replace(filled, bloom_filter=b"y" * (20_001 + room))

    assert len(encode(filled)) == CONTENT_MAX + limits.envelope
    assert decode(encode(filled), limits) == filled
    with pytest.raises(DecodeError, match="over the limit"):
        decode(encode(longer), limits)


def test_the_largest_honest_message_of_the_larger_profile_fits_the_envelope() -> None:
    largest = replace(
        WHOLE,
        causal_history=entries(WAKU_LIMITS.history),
        repair_request=entries(REPAIR_MAX),
        bloom_filter=b"\xff" * WAKU.size_bytes,
        content=b"x" * CONTENT_MAX,
    )

    assert decode(encode(largest), WAKU_LIMITS) == largest


def test_a_payload_over_all_limits_is_refused_before_it_is_parsed() -> None:
    with pytest.raises(DecodeError, match="over the limit"):
        decode(b"\xff" * (CONTENT_MAX + LAN_LIMITS.envelope + 1))


def test_a_mebibyte_of_empty_history_entries_is_refused() -> None:
    with pytest.raises(DecodeError, match="over the limit"):
        decode(b"\x5a\x00" * (1 << 19))


@pytest.mark.parametrize(
    "payload",
    [
        sds_pb2.Message(sender_id="a", message_id="b", channel_id="c"),
        sds_pb2.Message(sender_id="a", channel_id="c", lamport_timestamp=1, content=b"x"),
        sds_pb2.Message(
            message_id="b", lamport_timestamp=1, causal_history=[sds_pb2.HistoryEntry()]
        ),
    ],
    ids=["neither time nor content", "no id", "a history entry without an id"],
)
def test_a_message_that_is_of_no_kind_is_refused(payload: sds_pb2.Message) -> None:
    with pytest.raises(DecodeError):
        decode(payload.SerializeToString())


def test_text_that_is_not_utf8_is_refused() -> None:
    with pytest.raises(DecodeError, match="not an SDS message"):
        decode(b"\x0a\x02\xff\xfe" + encode(WHOLE))
