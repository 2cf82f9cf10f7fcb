"""Author logs after a start: one grouped query, and a second look where something is in doubt.

A log without holes of which nothing was ever found that contradicts it, and whose links all name
entries that are here, is sound up to its top: counts from an index tell that. Of any other one the
entries are read, and `sync.group.logs` judges them as when they came.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from storage.sqlite.columns import from_u64, message_id, to_u64
from storage.sqlite.payloads import entry_of
from storage.sqlite.rows import Row, select_for_rows
from storage.sqlite.soundness import CLAIMS, Place, is_sound
from storage.sqlite.statuses import STATUS
from sync.group.logs import ChannelLogs, LogState, Run, linked_from_above, place_of
from sync.group.status import Status

LOGS: Final = """
    SELECT author, log, count(*), max(seq) FROM messages WHERE channel = ? GROUP BY author, log
"""

# CROSS JOIN keeps the order of the tables: few links wait for what they name.
DOUBTED: Final = f"""
    SELECT author, log FROM contradictions WHERE channel = ?1
    UNION SELECT author, log FROM awaited_links CROSS JOIN messages ON number = child
        WHERE channel = ?1
    UNION SELECT author, log FROM held_back
        WHERE channel = ?1 AND status = {STATUS[Status.PARKED]}
"""  # noqa: S608  # numbers of ours
ANCHORS: Final = "SELECT column5, message_id FROM (VALUES"
ANCHORS_REST: Final = """
    ) CROSS JOIN messages ON channel = column1 AND author = column2 AND log = column3
        AND seq = column4
"""
ENTRIES: Final = f"""
    SELECT channel, message_id, author, lamport, created_ns, waku_hash, body_size, payload
    FROM messages WHERE channel = ? AND author = ? AND log = ?
        AND status != {STATUS[Status.PARKED]}
"""  # noqa: S608  # numbers of ours

Log: TypeAlias = tuple[bytes, int]
"""An author's key and the number of a log, as the columns have them."""


def logs_of(channel: bytes, db: sqlite3.Connection, damaged: list[Place]) -> tuple[LogState, ...]:
    """Return the logs of a channel; the places of rows that rotted go to `damaged`."""
    doubted: set[Log] = set(db.execute(DOUBTED, (channel,)))
    whole: list[tuple[Log, int]] = []
    for author, log, count, top in db.execute(LOGS, (channel,)):
        if count != to_u64(top):
            doubted.add((author, log))
        elif (author, log) not in doubted:
            whole.append(((author, log), count))
    judged = ChannelLogs()
    for log in sorted(doubted):
        _judge(judged, db.execute(ENTRIES, (channel, *log)), damaged)
    return tuple(sorted([*_whole(channel, db, whole), *judged.states()]))


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


def _judge(logs: ChannelLogs, rows: Iterator[Row], damaged: list[Place]) -> None:
    for row in rows:
        if is_sound(*row):
            entry = entry_of(row[CLAIMS - 1])
            logs.add(entry.header.author, message_id(row[1]), place_of(entry.header))
        else:
            damaged.append(row[:2])
