"""Author logs after a start: one grouped query, and a second look where something is in doubt.

A log without holes of which nothing was ever found that contradicts it, and whose links all name
entries that are here, is sound up to its top: counts from an index tell that. Of any other one the
columns of its entries are read, and `sync.group.logs` judges them as when they came. A skiplink is
in no column: unless something was found about it, it names the entry that is where it should be.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeAlias

from storage.sqlite.columns import STATUS, from_u64, message_id, peer_id, to_u64
from storage.sqlite.contradictions import NOTHING
from storage.sqlite.payloads import entry_of
from storage.sqlite.rows import Row, select_for_rows
from storage.sqlite.soundness import Place, is_sound
from sync.entries.entry import lipmaa
from sync.group.logs import ChannelLogs, LogPlace, LogState, Run, linked_from_above, place_of
from sync.group.records import Contradicts
from sync.group.status import Status

LOGS: Final = """
    SELECT author, log, count(*), max(seq) FROM messages WHERE channel = ? GROUP BY author, log
"""

# CROSS JOIN keeps the order of the tables: few links wait for what they name.
AWAITING: Final = """
    SELECT author, log, number, target FROM awaited_links CROSS JOIN messages ON number = child
    WHERE channel = ?
"""
FOUND: Final = "SELECT author, log, what, seq, message_id FROM contradictions WHERE channel = ?"
# Without the signs SQLite would read all rows, in the order of an index of logs.
PARKED: Final = f"""
    SELECT DISTINCT +author, +log FROM held_back
    WHERE channel = ? AND status = {STATUS[Status.PARKED]}
"""  # noqa: S608  # numbers of ours
ANCHORS: Final = "SELECT column5, message_id FROM (VALUES"
ANCHORS_REST: Final = """
    ) CROSS JOIN messages ON channel = column1 AND author = column2 AND log = column3
        AND seq = column4
"""
ENTRIES: Final = f"""
    SELECT seq, message_id, backlink, number FROM messages
    WHERE channel = ? AND author = ? AND log = ? AND status != {STATUS[Status.PARKED]}
    ORDER BY seq
"""  # noqa: S608  # numbers of ours
ONE: Final = """
    SELECT channel, message_id, author, lamport, created_ns, waku_hash, body_size, payload
    FROM messages WHERE number = ?
"""

Log: TypeAlias = tuple[bytes, int]
"""An author's key and the number of a log, as the columns have them."""
Read: TypeAlias = Callable[[int], LogPlace | None]
"""Reads what a message says of its place, by its number."""


@dataclass(slots=True)
class Doubts:
    """Findings about the entries of a channel, where they are needed to judge a log."""

    logs: set[Log] = field(default_factory=set)
    awaited: dict[int, frozenset[bytes]] = field(default_factory=dict)
    """Links to what is not here, by number of the message as it came."""
    naming: set[bytes] = field(default_factory=set)
    """Ids of those that name another one wrongly."""
    forks: set[tuple[bytes, int, int]] = field(default_factory=set)
    """Author, log and number."""


def logs_of(channel: bytes, db: sqlite3.Connection, damaged: list[Place]) -> tuple[LogState, ...]:
    """Return the logs of a channel; the places of rows that rotted go to `damaged`."""
    doubts = _doubts(channel, db)
    whole: list[tuple[Log, int]] = []
    for author, log, count, top in db.execute(LOGS, (channel,)):
        if count != to_u64(top):
            doubts.logs.add((author, log))
        elif (author, log) not in doubts.logs:
            whole.append(((author, log), count))
    judged, read = ChannelLogs(), partial(_read_place, db, damaged)
    for doubted in sorted(doubts.logs):
        _judge(judged, doubted, db.execute(ENTRIES, (channel, *doubted)).fetchall(), doubts, read)
    return tuple(sorted([*_whole(channel, db, whole), *judged.states()]))


def _doubts(channel: bytes, db: sqlite3.Connection) -> Doubts:
    doubts = Doubts(set(db.execute(PARKED, (channel,))))
    for author, log, number, target in db.execute(AWAITING, (channel,)):
        doubts.logs.add((author, log))
        doubts.awaited[number] = doubts.awaited.get(number, frozenset()) | {target}
    for author, log, what, seq, message in db.execute(FOUND, (channel,)):
        doubts.logs.add((author, log))
        if what == Contradicts.FORK.value:
            doubts.forks.add((author, log, seq))
        else:
            doubts.naming.add(message)
    return doubts


def _whole(
    channel: bytes, db: sqlite3.Connection, logs: Sequence[tuple[Log, int]]
) -> Iterator[LogState]:
    """Yield logs that are sound up to their tops, each with the ids of its anchors."""
    rows: list[Row] = [
        (channel, *log, from_u64(seq), at)
        for at, (log, top) in enumerate(logs)
        for seq in linked_from_above(top)
    ]
    anchors = [bytearray() for _ in logs]
    for at, stored_id in select_for_rows(db, ANCHORS, rows, ANCHORS_REST):
        anchors[at] += stored_id
    for ((author, log), top), ids in zip(logs, anchors, strict=True):
        yield LogState(author, to_u64(log), top, None, (Run(1, top, bytes(ids)),))


def _judge(logs: ChannelLogs, log: Log, rows: Sequence[Row], doubts: Doubts, read: Read) -> None:
    """Tell `logs` of the entries of one log."""
    author, number = peer_id(log[0]), to_u64(log[1])
    here: dict[int, list[bytes]] = {}
    for seq, stored_id, *_ in rows:
        here.setdefault(to_u64(seq), []).append(stored_id)
    for stored_seq, stored_id, backlink, row in rows:
        seq = to_u64(stored_seq)
        target = lipmaa(seq)
        skips = target not in {0, seq - 1}
        named = doubts.awaited.get(row, frozenset()) - {backlink}
        # Two of them are enough to tell that it has to be read: there may be thousands.
        named = named or (frozenset(here.get(target, ())[:2]) if skips else frozenset())
        if (
            stored_id in doubts.naming
            or NOTHING in named
            or len(named) != skips
            or (*log, from_u64(target)) in doubts.forks
        ):
            place = read(row)
        else:
            before = None if backlink is None else message_id(backlink)
            place = LogPlace(number, seq, before, message_id(*named) if skips else None)
        if place is not None:
            logs.add(author, message_id(stored_id), place)


def _read_place(db: sqlite3.Connection, damaged: list[Place], number: int) -> LogPlace | None:
    """Return what a message says of its place; None where it rotted."""
    row = db.execute(ONE, (number,)).fetchone()
    if is_sound(*row):
        return place_of(entry_of(row[-1]).header)
    damaged.append(row[:2])
    return None
