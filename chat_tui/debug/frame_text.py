"""Frames as an engineer reads them: one line each, and opened as a tree with their bytes.

Rule: whatever bytes came, nothing here raises; what cannot be decoded says why.
"""

from functools import lru_cache
from typing import Final, NamedTuple

from rich.cells import cell_len

from chat_tui.debug.explanations import seconds
from chat_tui.debug.governance_frames import catch_up_words, heartbeat_words, op_words
from chat_tui.debug.section import Detail
from chat_tui.debug.session_frames import (
    ENTRIES_SHOWN,
    Decoded,
    clock,
    named_by_beginning,
    session_payload,
)
from chat_tui.debug.state_frames import root_words, state_words
from chat_tui.text.safe_text import clean_text, clip_cells, wrap
from chat_tui.text.times import count, size
from chat_tui.wording.sentences import name_of, short_id
from sync.entries.entry import Entry, Kind, decode_text, open_content
from sync.entries.ephemeral import decode as decode_ephemeral
from sync.errors import DecodeError, RemoteError
from sync.machine import PeerId
from sync.p2panda import messages as p2panda
from sync.sds import message as sds
from sync.sds.wire import decode as decode_sds
from sync.view.view import FrameInfo, FrameKind, Snapshot
from sync.waku.message import WakuMessage
from sync.waku.wire import decode_transfer

DECODED_KEPT: Final = 1024
"""Decoded frames remembered: twice what is kept of frames, so that none is decoded each second."""

HEX_BYTES: Final = 8
"""Bytes in a line of the dump: as many as a narrow pane has room for."""

HEX_LINES_MAX: Final = 256
"""Lines of the dump; what is beyond is in a recording."""

WIDE: Final = 60
"""Cells from which on a line has the hour, and more of a name."""

NICK_CELLS: Final = 10
NICK_CELLS_NARROW: Final = 6
"""Of the peer's name in a line."""

WORDS_CELLS_MIN: Final = 20
"""With less room beside its columns, a line has no words: they would be in pieces."""

FACTS_APART: Final = " · "
"""Between the facts that a frame's words are."""

TIME_CELLS: Final = len("09:15:02.123")

HOURS: Final = 3
"""Characters of the hour in a time, with its colon."""

TEXT_SHOWN: Final = 200
"""Characters of a text in a tree."""


def frame_heading(width: int) -> str:
    """Return the names of the columns of lines so wide."""
    room, skipped = (NICK_CELLS, 0) if width >= WIDE else (NICK_CELLS_NARROW, HOURS)
    time = "h:min:s.ms"[2 if skipped else 0 :]
    return f"{time:<{TIME_CELLS - skipped}}   {'who':<{room}} {'kind':<6} {'id':<6} {'bytes':>7}"


class FrameLine(NamedTuple):
    """A frame in a line: its columns, and what it says."""

    columns: str
    words: str

    @property
    def text(self) -> str:
        """All of it in one line."""
        return f"{self.columns}  {self.words}".rstrip()

    def lines(self, width: int) -> list[str]:
        """Return it in lines of `width` cells: words hang, and end with the last fact that fits.

        Without room for any the columns stand alone; the opened row has all of it.
        """
        at = cell_len(self.columns) + 2
        room = width - at
        if room < WORDS_CELLS_MIN or not self.words:
            return [self.columns]
        kept, *others = self.words.split(FACTS_APART)
        for fact in others:
            if cell_len(f"{kept}{FACTS_APART}{fact}") > room:
                break
            kept = f"{kept}{FACTS_APART}{fact}"
        first, *rest = wrap(kept, room)
        return [f"{self.columns}  {first}", *(" " * at + line for line in rest)]


def frame_line(
    snapshot: Snapshot, frame: FrameInfo, width: int = WIDE, *, ascii_only: bool = False
) -> FrameLine:
    """Return a frame in one line, with columns for a list so wide."""
    shown = decoded(frame)
    way = ("->" if frame.sent else "<-") if ascii_only else ("→" if frame.sent else "←")
    room, skipped = (NICK_CELLS, 0) if width >= WIDE else (NICK_CELLS_NARROW, HOURS)
    who = "all" if frame.peer is None else clip_cells(name_of(snapshot, frame.peer), room)
    padding = " " * max(0, room - cell_len(who))
    before = f"{clock(frame.at)[skipped:]} {way} {who}{padding}"
    return FrameLine(
        f"{before} {shown.kind:<6} {shown.subject:<6} {size(frame.size):>7}", shown.words
    )


def frame_detail(snapshot: Snapshot, frame: FrameInfo) -> Detail:
    """Return a frame decoded as far as possible, and its bytes."""
    shown = decoded(frame)
    who = "everybody here" if frame.peer is None else name_of(snapshot, frame.peer)
    way = f"sent to {who}" if frame.sent else f"received from {who}"
    ago = seconds(max(0, snapshot.now - frame.at))
    kept = "" if len(frame.data) == frame.size else f", its first {len(frame.data):,} bytes kept"
    return Detail(
        f"Frame {frame.number}: {shown.kind} {shown.subject}".rstrip(),
        f"{clock(frame.at)}, {ago} ago: {way}, {frame.size:,} bytes after decryption{kept}.",
        (*shown.tree, *hex_lines(frame.data)),
    )


def decoded(frame: FrameInfo) -> Decoded:
    """Return what a frame is; the same one is decoded once."""
    return _decoded(frame.kind, None if frame.sent else frame.peer, frame.data, frame.size)


@lru_cache(DECODED_KEPT)
def _decoded(kind: FrameKind, sender: PeerId | None, data: bytes, whole: int) -> Decoded:
    cut = len(data) < whole
    try:
        match kind:
            case FrameKind.SDS:
                return _sds(decode_sds(data, sds.WAKU_LIMITS), sender)
            case FrameKind.TRANSFER:
                return _transfer(*decode_transfer(data))
            case FrameKind.SESSION:
                return session_payload(data)
            case FrameKind.ANNOUNCE:
                return _announcement(data)
            case FrameKind.OP:
                return Decoded(*op_words(data))
            case FrameKind.HEARTBEAT:
                return Decoded(*heartbeat_words(data))
            case FrameKind.STATE:
                return Decoded(*state_words(data))
            case FrameKind.ROOT:
                return Decoded(*root_words(data))
            case FrameKind.CATCH_UP:
                return Decoded(*catch_up_words(data))
    except (RemoteError, ValueError, OverflowError, RecursionError) as error:
        why = "only its beginning is kept" if cut else clean_text(str(error))
        short = named_by_beginning(data) if kind is FrameKind.SESSION else SHORT[kind]
        return Decoded(short, "?", f"cannot be read: {why}", (f"cannot be read: {why}",))


SHORT: Final = {
    FrameKind.SDS: "SDS",
    FrameKind.TRANSFER: "PUSH",
    FrameKind.ANNOUNCE: "LOGS",
    FrameKind.OP: "OP",
    FrameKind.HEARTBEAT: "HEADS",
    FrameKind.STATE: "STATE",
    FrameKind.ROOT: "ROOT",
    FrameKind.CATCH_UP: "OPS",
}
"""Names of frames of a kind that cannot be decoded; those of sessions begin differently."""


SDS_KINDS: Final = {
    sds.Kind.CONTENT: "MSG",
    sds.Kind.SYNC: "SYNC",
    sds.Kind.EPHEMERAL: "EPH",
}


def _sds(message: sds.Message, peer: PeerId | None) -> Decoded:
    words: list[str] = []
    short = short_id(message.message_id)
    kind = SDS_KINDS[message.kind]
    if message.kind is sds.Kind.CONTENT and peer not in (None, message.sender_id):
        kind = "REPAIR"
    if message.repair_request:
        words.append(f"repair_request {len(message.repair_request)}")
    if message.lamport is not None:
        words.append(f"L…{message.lamport % 1_000_000:06}")
        words.append(f"parents {len(message.causal_history)}")
    if message.bloom_filter is not None:
        words.append(f"bloom {size(len(message.bloom_filter))}")
    tree = [
        f"SDS message, {message.kind.value}",
        f"├ sender_id {clean_text(message.sender_id)}",
        f"├ message_id {clean_text(message.message_id)}",
        f"├ channel_id {clean_text(message.channel_id)}",
        f"├ lamport_timestamp {'none' if message.lamport is None else message.lamport}",
        *_named("causal_history", message.causal_history),
        *_named("repair_request", message.repair_request),
        "├ bloom_filter "
        + ("none" if message.bloom_filter is None else f"{len(message.bloom_filter):,} bytes"),
        f"└ content {len(message.content):,} bytes",
    ]
    if message.kind is sds.Kind.CONTENT:
        tree += _content(message.content)
    elif message.kind is sds.Kind.EPHEMERAL:
        try:
            said = f"{type(decode_ephemeral(message.content)).__name__.lower()}"
        except DecodeError as error:
            said = f"cannot be read: {clean_text(str(error))}"
        words.append(said)
        tree.append(f"  └ {said}")
    return Decoded(kind, short, " · ".join(word for word in words if word), tuple(tree))


def _named(field: str, entries: tuple[sds.HistoryEntry, ...]) -> list[str]:
    lines = [f"├ {field} {len(entries)}"]
    for entry in entries[:ENTRIES_SHOWN]:
        sender = "" if entry.sender_id is None else f" of {clean_text(entry.sender_id)[:8]}…"
        hint = "" if entry.retrieval_hint is None else f", hint {entry.retrieval_hint.hex()[:8]}…"
        lines.append(f"│ {clean_text(entry.message_id)[:16]}…{sender}{hint}")
    more = len(entries) - ENTRIES_SHOWN
    return [*lines, f"│ and {more} more"] if more > 0 else lines


def _content(content: bytes) -> list[str]:
    """Return the entry that a message carries, as branches."""
    try:
        entry = open_content(content)
    except RemoteError as error:
        return [f"  └ no entry of ours: {clean_text(str(error))}"]
    header = entry.header
    text = _text(entry)
    return [
        f"  ├ author {header.author}",
        f"  ├ log {header.log:016x}, seq {header.seq:,}",
        f"  ├ backlink {header.backlink or 'none'}",
        f"  ├ skiplink {header.skiplink or 'none'}",
        f"  ├ created {clock(header.created_ns)} ({header.created_ns})",
        f"  ├ lamport {header.lamport}",
        f"  ├ parents {len(header.parents)}",
        f"  ├ kind {_kind_name(header.kind)}",
        f"  ├ signature {entry.signature.hex()[:16]}…",
        f"  └ body {header.body_size:,} bytes{': ' + text if text else ''}",
    ]


def _kind_name(kind: int) -> str:
    return Kind(kind).name.lower() if kind in set(Kind) else f"{kind}, unknown to this version"


def _text(entry: Entry) -> str:
    if entry.header.kind != Kind.TEXT:
        return ""
    try:
        body = decode_text(entry.body)
    except DecodeError:
        return "no text"
    return clean_text(f"{body.nick}: {body.text[:TEXT_SHOWN]}").replace("\n", " ")


def _transfer(message: WakuMessage, topic: str) -> Decoded:
    tree = [
        "WakuMessageAndTopic",
        f"├ pubsub_topic {clean_text(topic)}",
        f"├ content_topic {clean_text(message.content_topic)}",
        f"├ timestamp {clock(message.timestamp)} ({message.timestamp})",
        f"└ payload {len(message.payload):,} bytes",
    ]
    try:
        inner = _sds(decode_sds(message.payload, sds.WAKU_LIMITS), None)
    except RemoteError as error:
        tree.append(f"  └ no SDS message: {clean_text(str(error))}")
        return Decoded("PUSH", "?", "", tuple(tree))
    return Decoded("PUSH", inner.subject, inner.words, (*tree, *(f"  {one}" for one in inner.tree)))


def _announcement(data: bytes) -> Decoded:
    """Read an announcement of author logs (p2panda replication, section 1)."""
    message = p2panda.decode(data)
    if not isinstance(message, p2panda.Announce):
        raise DecodeError(f"{type(message).__name__} instead of Announce")
    words = f"version {message.version} · {count(len(message.schemas), 'schema id')}"
    tree = [
        "Announce",
        f"├ version {message.version}",
        f"├ timestamp {message.timestamp}",
        f"└ schemas {len(message.schemas)}",
        *(f"  {clean_text(one)}" for one in message.schemas[:ENTRIES_SHOWN]),
    ]
    more = len(message.schemas) - ENTRIES_SHOWN
    if more > 0:
        tree.append(f"  and {more} more")
    return Decoded("LOGS", "", words, tuple(tree))


def hex_lines(data: bytes) -> list[str]:
    """Return bytes as offset, hex and, where printable, ASCII."""
    lines: list[str] = []
    for at in range(0, min(len(data), HEX_BYTES * HEX_LINES_MAX), HEX_BYTES):
        part = data[at : at + HEX_BYTES]
        text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)  # noqa: PLR2004
        lines.append(f"{at:04x}  {part.hex(' '):<{3 * HEX_BYTES}} {text}")
    more = len(data) - HEX_BYTES * HEX_LINES_MAX
    return [*lines, f"and {more:,} more bytes"] if more > 0 else lines
