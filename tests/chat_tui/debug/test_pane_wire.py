"""Frames as they are shown: whatever bytes came, nothing raises, and what is sent is decoded."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat_tui.debug.frame_kinds import UNKNOWN, style_of
from chat_tui.debug.frame_text import (
    SDS_KINDS,
    SHORT,
    FrameLine,
    decoded,
    frame_detail,
    frame_line,
    hex_lines,
)
from chat_tui.debug.session_frames import NAMES
from sync.calimero.log import delta_messages as delta
from sync.calimero.log import snapshot_messages
from sync.calimero.state import messages as state
from sync.check.message import SALT_BYTES, Claim
from sync.check.wire import encode_frame
from sync.entries.entry import BODY_MAX
from sync.errors import LocalError
from sync.machine import SECOND, PeerId
from sync.p2panda import messages as p2panda
from sync.p2panda.bounds import Place
from sync.sds.message import HistoryEntry, Message
from sync.sds.wire import encode
from sync.view.frame_tap import FRAME_BYTES_MAX, FRAMES_MAX, KEPT_BYTES_MAX, Tap
from sync.view.view import FrameInfo, FrameKind
from sync.waku.message import CLUSTER, RangesData, WakuMessage
from sync.waku.wire import encode_ranges, encode_transfer
from tests.support.chat_tui.conversations import NOON, peer
from tests.support.chat_tui.snapshots_of_state import present, snapshot
from tests.support.sync.entries import CHANNEL, Author

ANN = Author("ann")
KEY = bytes.fromhex("ab" * 32)


def frame(
    data: bytes,
    kind: FrameKind = FrameKind.SDS,
    *,
    sender: PeerId | None = None,
    sent: bool = False,
    size: int | None = None,
) -> FrameInfo:
    whole = len(data) if size is None else size
    return FrameInfo(7, NOON, sent, sender, CHANNEL, kind, whole, data)


def of(message: Message) -> FrameInfo:
    return frame(encode(message), sender=PeerId(message.sender_id))


HELLO = ANN.write("hello \x1b[2J there")
REPLY = ANN.write("and again", after=[HELLO])


# -- hostile bytes ---------------------------------------------------------------------------------


@given(st.binary(max_size=300), st.sampled_from(FrameKind), st.integers(0, 10**6))
def test_no_bytes_raise(data: bytes, kind: FrameKind, size: int) -> None:
    shown = frame(data, kind, sender=peer("bob"), size=max(size, len(data)))

    assert frame_line(snapshot(present("bob")), shown).text
    assert frame_detail(snapshot(present("bob")), shown).facts is not None


@given(st.integers(0, 2000), st.binary(min_size=1, max_size=3))
def test_no_changed_message_raises(at: int, other: bytes) -> None:
    whole = bytearray(REPLY.payload)
    at %= len(whole)
    whole[at : at + len(other)] = other

    for kind in FrameKind:
        assert frame_detail(snapshot(), frame(bytes(whole), kind)).facts


@given(st.text(max_size=80), st.text(max_size=80))
def test_nothing_in_a_frame_steers_the_terminal(text: str, sender: str) -> None:
    message = Message(
        PeerId(sender[:64]), ANN.entries[0].entry.message_id, CHANNEL, 5, content=text.encode()
    )
    try:
        shown = frame(encode(message), sender=peer("bob"))
    except (ValueError, UnicodeEncodeError):
        return
    detail = frame_detail(snapshot(), shown)

    said = [frame_line(snapshot(), shown).text, detail.title, detail.plain, *detail.facts]
    assert not any(sign in line for line in said for sign in ("\x1b", "\x9b", "\u202e"))


# -- what is sent ----------------------------------------------------------------------------------


def test_a_message_is_shown_whole_down_to_its_text() -> None:
    shown = frame(REPLY.payload, sender=ANN.peer_id)

    line = frame_line(snapshot(), shown, width=120).text
    detail = frame_detail(snapshot(), shown)

    assert " MSG " in line
    assert REPLY.entry.message_id[:6] in line
    assert "parents 1" in line
    assert any("body" in fact and "ann: and again" in fact for fact in detail.facts)
    assert any(HELLO.entry.message_id[:16] in fact for fact in detail.facts)


def test_a_line_ends_with_the_last_fact_that_fits_and_one_that_is_longer_hangs() -> None:
    facts = FrameLine("09:15 bob SYNC", "L…270938 · parents 4 · bloom 1.9 kB")
    sentence = FrameLine("09:15 bob RANGES", "2 ranges: 1 equal, 1 to compare, 0 item sets")

    assert facts.lines(80) == [facts.text]
    assert facts.lines(40) == ["09:15 bob SYNC  L…270938 · parents 4"]
    assert facts.lines(30) == ["09:15 bob SYNC"]
    assert sentence.lines(40) == [
        "09:15 bob RANGES  2 ranges: 1 equal, 1",
        "                  to compare, 0 item",
        "                  sets",
    ]


def test_somebody_elses_message_is_a_repair() -> None:
    assert decoded(frame(HELLO.payload, sender=ANN.peer_id)).kind == "MSG"
    assert decoded(frame(HELLO.payload, sender=peer("bob"))).kind == "REPAIR"
    assert decoded(frame(HELLO.payload, sender=peer("bob"), sent=True)).kind == "MSG"


def test_the_other_kinds_have_names() -> None:
    named = HistoryEntry(HELLO.entry.message_id)
    sync = Message(ANN.peer_id, HELLO.entry.message_id, CHANNEL, 9, (named,), b"x" * 9, (named,))
    typing = Message(ANN.peer_id, HELLO.entry.message_id, CHANNEL, None, content=b"?")
    ranges = encode_ranges(RangesData(CLUSTER, (3,)))
    claim = encode_frame(Claim(b"s" * SALT_BYTES, 5))
    pushed = encode_transfer(WakuMessage(HELLO.payload, "/chat", SECOND), "/waku/2/rs/1/1")

    kinds = [
        decoded(of(sync)).kind,
        decoded(of(typing)).kind,
        decoded(frame(ranges, FrameKind.SESSION)).kind,
        decoded(frame(b"", FrameKind.SESSION)).kind,
        decoded(frame(claim, FrameKind.SESSION)).kind,
        decoded(frame(pushed, FrameKind.TRANSFER)).kind,
    ]

    assert kinds == ["SYNC", "EPH", "RANGES", "RANGES", "CHECK", "PUSH"]
    assert "repair_request 1" in decoded(of(sync)).words
    assert decoded(frame(pushed, FrameKind.TRANSFER)).subject == HELLO.entry.message_id[:6]


def test_payloads_of_state_delta_and_snapshot_have_names_words_and_colours() -> None:
    page = snapshot_messages.chunk_of(2, [b"x" * 70], (7, HELLO.entry.message_id), 240)
    sent = [
        state.encode(state.Entries((b"one",))),
        state.encode(state.Outcome(KEY, 2)),
        delta.encode(delta.Want((KEY,))),
        snapshot_messages.encode(snapshot_messages.SnapshotRequest(None, 4)),
        snapshot_messages.encode(page),
    ]

    shown = [decoded(frame(one, FrameKind.SESSION)) for one in sent]

    assert [(one.kind, one.words) for one in shown] == [
        ("ENTRY", "1 entry"),
        ("HASHES", "root abababab…, 2 entries"),
        ("WANT", "1 wanted"),
        ("WANT", "wants all, 4 pages at once"),
        ("PAGE", "page 2 of messages"),
    ]
    assert all(style_of(one.kind) != UNKNOWN for one in shown)
    assert any("240" in line for line in shown[-1].tree)


def test_a_long_payload_of_which_only_the_beginning_is_kept_still_has_its_kind() -> None:
    many = state.encode(state.Entries((b"x" * 900,) * 10))

    shown = decoded(frame(many[:2000], FrameKind.SESSION, size=len(many)))

    assert (shown.kind, shown.words) == ("ENTRY", "cannot be read: only its beginning is kept")


def test_an_announcement_is_shown_with_its_version_and_schemas() -> None:
    schemas = tuple(f"chat_{number:032x}" for number in range(20))

    shown = decoded(frame(p2panda.encode(p2panda.Announce(2, 7, schemas)), FrameKind.ANNOUNCE))
    other = decoded(frame(p2panda.encode(p2panda.Terminal(0)), FrameKind.ANNOUNCE))

    assert (shown.kind, shown.words) == ("LOGS", "version 2 · 20 schema ids")
    assert shown.tree[:5] == (
        "Announce",
        "├ version 2",
        "├ timestamp 7",
        "└ schemas 20",
        f"  {schemas[0]}",
    )
    assert shown.tree[-1] == "  and 4 more"
    assert other.words == "cannot be read: Terminal instead of Announce"


def test_a_frame_of_which_only_the_beginning_is_kept_says_so() -> None:
    shown = frame(HELLO.payload[:100], sender=ANN.peer_id, size=BODY_MAX)

    assert "only its beginning is kept" in frame_line(snapshot(), shown).text
    assert "its first 100 bytes kept" in frame_detail(snapshot(), shown).plain


def test_the_dump_has_offset_bytes_and_letters() -> None:
    assert hex_lines(b"0123456789\x00") == [
        "0000  30 31 32 33 34 35 36 37  01234567",
        "0008  38 39 00                 89.",
    ]


# -- the tap ---------------------------------------------------------------------------------------


def test_a_tap_keeps_the_last_frames_within_its_bounds() -> None:
    tap = Tap()
    for number in range(FRAMES_MAX + 50):
        tap.note_frame(number, CHANNEL, None, FrameKind.SDS, b"x" * 20_000, sent=True)
    frames = tap.frames()

    assert [one.number for one in frames] == list(range(frames[0].number, FRAMES_MAX + 51))
    assert all(one.size == 20_000 and len(one.data) == FRAME_BYTES_MAX for one in frames)
    assert sum(len(one.data) for one in frames) <= KEPT_BYTES_MAX


def test_a_recording_has_every_frame_whole_and_is_the_owners_alone(tmp_path: Path) -> None:
    tap, path = Tap(), tmp_path / "wire.jsonl"
    tap.note_frame(1, CHANNEL, None, FrameKind.SDS, b"before", sent=True)
    tap.record(path)
    tap.note_frame(2, CHANNEL, peer("bob"), FrameKind.SDS, b"y" * 20_000, sent=False)
    written = tap.stop()
    tap.note_frame(3, CHANNEL, None, FrameKind.SDS, b"after", sent=True)

    [line] = [json.loads(text) for text in path.read_text().splitlines()]
    assert written == 1
    assert (line["way"], line["peer"], line["hex"]) == ("in", peer("bob"), "79" * 20_000)
    assert path.stat().st_mode & 0o777 == 0o600
    assert tap.recorded is None


def test_a_recording_that_cannot_begin_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(LocalError, match="name another file"):
        Tap().record(tmp_path / "none" / "wire.jsonl")


UP = Place(KEY, 1, 2)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (p2panda.SyncRequest(4, 1, ("chat_" + "a" * 32,)), "asks for session 4 by sets"),
        (p2panda.SyncDone(4, live=True), "all is sent, ready to go live"),
        (p2panda.SyncDone(4, live=False), "all is sent"),
        (p2panda.Have(4, (Place(KEY, 0, 1),)), "heights of 1 log, 1 entry"),
        (p2panda.EmptySet(4, can_respond=True), "has nothing at all: send everything"),
        (p2panda.LowerBound(4, UP), "ranges begin at log abababab…"),
        (p2panda.Payload(4, UP), "log abababab… is at 2"),
        (p2panda.EmptyPayload(4, UP), "has nothing up to log abababab…"),
        (p2panda.Done(4, UP), "done up to log abababab…"),
        (p2panda.Fingerprint(4, b"\x01" * 16, UP), "fingerprint 01010101… up to log abababab…"),
        (p2panda.Terminal(4), "end of the ranges"),
        (p2panda.Entry(4, b"h" * 130, b"b" * 19), "entry of 130 bytes, body of 19 bytes"),
    ],
)
def test_each_message_about_author_logs_is_told_in_words(
    message: p2panda.Message, words: str
) -> None:
    shown = decoded(frame(p2panda.encode(message), FrameKind.SESSION, sender=peer("bob")))

    assert shown.words == words
    assert shown.kind == ("ENTRY" if isinstance(message, p2panda.Entry) else "LOGS")
    assert shown.tree[0] == type(message).__name__


def test_of_many_heights_the_first_are_shown_and_the_others_counted() -> None:
    heights = tuple(Place(number.to_bytes(32), 0, 1_000) for number in range(1, 21))

    shown = decoded(frame(p2panda.encode(p2panda.Have(4, heights)), FrameKind.SESSION))

    assert shown.words == "heights of 20 logs, 20,000 entries"
    assert shown.tree[-1] == "  and 4 more"


@pytest.mark.parametrize(
    "kind", sorted({*NAMES.values(), *SHORT.values(), *SDS_KINDS.values(), "REPAIR", "ASK"})
)
def test_each_kind_that_a_line_names_has_a_colour(kind: str) -> None:
    assert style_of(kind) != UNKNOWN
