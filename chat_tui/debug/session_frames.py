"""Payloads of sessions as an engineer reads them: what kind each is, in words, and as a tree."""

from typing import Final

from msgspec import Struct

from chat_tui.text.safe_text import clean_text
from chat_tui.text.times import count, time_of_day
from sync.calimero.log import delta_messages as delta
from sync.calimero.log import snapshot_messages as snapshot
from sync.calimero.state import messages as state
from sync.errors import DecodeError
from sync.machine import MILLISECOND, SECOND, Nanos
from sync.manager.payload_kinds import (
    KINDS,
    Message,
    PayloadKind,
    kind_of_beginning,
    read,
)
from sync.p2panda import messages as p2panda
from sync.p2panda.words import said
from sync.sessions.handshake import SyncHandshake
from sync.sketch import messages as sketch
from sync.sketch.words import said as symbols_said
from sync.waku.message import RangesData
from sync.waku.ranges import FINGERPRINT, SKIP

ENTRIES_SHOWN: Final = 16
"""Named messages and ranges in a tree, as many as an honest causal history has."""

TEXT_SHOWN: Final = 200
"""Characters of what is told of a frame of the check."""

NAMES: Final = {
    PayloadKind.HANDSHAKE: "HANDS",
    PayloadKind.RANGES: "RANGES",
    PayloadKind.LOGS: "LOGS",
    PayloadKind.HASHES: "HASHES",
    PayloadKind.FILTER: "FILTER",
    PayloadKind.SYMBOLS: "SYMBOL",
    PayloadKind.WANT: "WANT",
    PayloadKind.ENTRY: "ENTRY",
    PayloadKind.PAGE: "PAGE",
    PayloadKind.CHECK: "CHECK",
    PayloadKind.OTHER: "SESSION",
}
"""Names of kinds in the lines of the wire."""


class Decoded(Struct, frozen=True):
    """Description of a frame: its short kind, its subject, and the rest in words."""

    kind: str
    subject: str
    words: str
    tree: tuple[str, ...]


def named_by_beginning(data: bytes) -> str:
    """Return the name of a payload of which only the beginning can be read."""
    return NAMES[kind_of_beginning(data)]


def session_payload(data: bytes) -> Decoded:
    """Read a payload of any protocol.

    Raises:
        DecodeError: of none that is known.
    """
    message = read(data)
    match message:
        case None:
            raise DecodeError("a payload of no protocol that is known here")
        case RangesData():
            return _ranges(message)
        case SyncHandshake():
            return _handshake(message)
        case snapshot.ChunkHead():
            return _page(message)
        case _:
            return _other(message)


def _other(message: Message) -> Decoded:
    if isinstance(message, p2panda.Message):
        return _log_message(message)
    kind = KINDS[type(message)]
    name = type(message).__name__
    if kind is PayloadKind.CHECK:
        shown = clean_text(repr(message))[:TEXT_SHOWN]
        return Decoded(NAMES[kind], "", name.lower(), (f"Check: {name}", f"└ {shown}"))
    words = _words(message)
    return Decoded(NAMES[kind], "", words, (name, f"└ {words}"))


def _words(message: Message) -> str:  # one line for each message
    """Return what a message of Calimero's protocols, or of a sketch, says."""
    match message:
        case delta.BloomFilter(floor, held, wanted, near):
            return (
                f"filter of {len(held.bits):,} bytes from L{floor} on, {len(wanted):,} wanted, "
                f"{count(len(near), 'stretch', 'stretches')} near them"
            )
        case delta.Want(ids) | state.Want(ids):
            return f"{len(ids):,} wanted" if ids else "nothing more wanted"
        case delta.DeltaEntries(contents) | state.Entries(contents):
            return count(len(contents), "entry", "entries")
        case snapshot.SnapshotRequest(before, pages):
            where = "all" if before is None else f"what is below L{before[0]}"
            return f"wants {where}, {count(pages, 'page')} at once"
        case snapshot.SnapshotMore(pages):
            return f"{count(pages, 'page')} more may come"
        case snapshot.SnapshotDone():
            return "has the last page, or wants no more"
        case state.HashNodes(nodes, wanted):
            return f"{count(len(nodes), 'node')} that differ, {len(wanted):,} wanted"
        case state.LevelData(depth, nodes):
            return f"level {depth}: {count(len(nodes), 'node')}"
        case state.Authors(held_of, known):
            return f"has state of {count(len(held_of), 'author')}, knows {len(known):,} of theirs"
        case state.Outcome(root, entries):
            return f"root {root.hex()[:8]}…, {count(entries, 'entry', 'entries')}"
        case _:
            return symbols_said(message) if isinstance(message, sketch.Message) else ""


def _handshake(message: SyncHandshake) -> Decoded:
    log, entities = message.log, message.state
    words = f"{count(log.count, 'message')}, {count(log.holes, 'hole')}"
    tree = (
        "SyncHandshake",
        f"├ messages {log.count:,}, root {log.root.hex()[:16]}…",
        f"├ heads {len(log.heads)}, holes {log.holes:,}, author logs {log.logs:,}",
        f"├ state {entities.count:,} entries, root {entities.root.hex()[:16]}…",
        f"└ speaks kinds {message.supported:#06x}",
    )
    return Decoded(NAMES[PayloadKind.HANDSHAKE], "", words, tree)


def _page(head: snapshot.ChunkHead) -> Decoded:
    what = "of the state" if head.of_state else "of messages"
    words = f"page {head.number:,} {what}{', the last' if head.last else ''}"
    tree = (
        "SnapshotChunk",
        f"├ number {head.number:,} {what}",
        f"├ digest {head.digest.hex()[:16]}…",
        f"├ ends at {'no place' if head.cursor is None else f'L{head.cursor[0]}'}",
        f"└ messages in all {head.total:,}",
    )
    return Decoded(NAMES[PayloadKind.PAGE], "", words, tree)


def _log_message(message: p2panda.Message) -> Decoded:
    """Return a message of p2panda replication; of the heights it tells, the first ones."""
    name = type(message).__name__
    words = said(message)
    tree = [name, f"└ {words}"]
    if isinstance(message, p2panda.Have):
        for key, log, height in message.heights[:ENTRIES_SHOWN]:
            tree.append(f"  {key.hex()[:16]}… log {clean_text(str(log))[:16]}: {height:,}")
        more = len(message.heights) - ENTRIES_SHOWN
        if more > 0:
            tree.append(f"  and {more:,} more")
    kind = "ENTRY" if isinstance(message, p2panda.Entry) else "LOGS"
    return Decoded(kind, "", words, tuple(tree))


def _ranges(data: RangesData) -> Decoded:
    ranges = data.ranges
    equal, fingerprints = (ranges.kinds.count(kind) for kind in (SKIP, FINGERPRINT))
    words = (
        f"{count(len(ranges), 'range')}: {equal:,} equal, {fingerprints:,} to compare, "
        f"{count(len(ranges) - equal - fingerprints, 'item set')} "
        f"{count(len(ranges.id_timestamps), 'id')}"
    )
    tree = [
        "RangesData",
        f"├ cluster {data.cluster}, shards {', '.join(map(str, data.shards[:ENTRIES_SHOWN]))}",
        f"└ {words}",
    ]
    for at, content in enumerate(ranges.contents(0, ENTRIES_SHOWN)):
        upper = ranges.upper(at)
        if content is None:
            what = "skip"
        elif isinstance(content, bytes):
            what = f"fingerprint {content.hex()[:16]}…"
        else:
            what = f"item set, {count(len(content.elements), 'id')}"
        tree.append(f"  up to {clock(upper.timestamp)} {upper.hash.hex()[:8]}…: {what}")
    more = len(ranges) - ENTRIES_SHOWN
    if more > 0:
        tree.append(f"  and {count(more, 'more range')}")
    return Decoded("RANGES", "", words if ranges else "nothing differs", tuple(tree))


def clock(when: Nanos) -> str:
    """Return the time of day on this computer's clock down to milliseconds."""
    second, rest = when // SECOND % 60, when // MILLISECOND % 1000
    return f"{time_of_day(when)}:{second:02}.{rest:03}"
