"""Pages of entries by (lamport, id): those in spans of author logs, and the newest ones first.

Of spans there are two ways, the cheaper one is taken.

Few entries are looked up log by log and sorted. For many the channel is read in its order, from the
last page on, and what is in no span is passed over: 2 us a row, each of which is read once.
"""

import json
import sqlite3
from collections.abc import Sequence
from typing import Final, TypeAlias

from storage.sqlite.columns import STATUS, from_u64
from storage.sqlite.payloads import message_of
from storage.sqlite.rows import Row, select_for_rows
from storage.sqlite.soundness import CLAIMS, Place, is_sound
from sync.group.status import Status
from sync.machine import MessageId
from sync.runner.journal import PAGE_BYTES
from sync.structures.log_spans import LogSpan

BY_LOG_MAX: Final = 1024
"""Entries of all spans up to which they are looked up for each page anew; 10 us each."""

LOWEST_MAX: Final = 16_384
"""Up to so many the lowest Lamport time is looked up before the first page, 3 us each; of more the
channel is read from its beginning, which costs less than sending them."""

Key: TypeAlias = tuple[int, bytes]
"""Place in the order: Lamport time and id, as the columns have them."""

BEGINNING: Final[Key] = (from_u64(0), b"")

# CROSS JOIN keeps the order of the tables.
BY_LOG: Final = "SELECT lamport, message_id, number, length(payload) FROM (VALUES"
BY_LOG_REST: Final = """
    ) CROSS JOIN messages ON channel = column1 AND author = column2 AND log = column3
        AND seq > column4 AND seq <= column5
    WHERE status != {parked} AND (lamport, message_id) > (column6, column7)
    ORDER BY lamport, message_id LIMIT {limit}
"""
LOWEST: Final = "SELECT min(lamport) FROM (VALUES"
LOWEST_REST: Final = """
    ) CROSS JOIN messages ON channel = column1 AND author = column2 AND log = column3
        AND seq > column4 AND seq <= column5
"""

# With a limit of its own the inner one is worked out once, and looked up by an index made for it.
IN_ORDER: Final = """
    SELECT lamport, message_id, number, length(payload) FROM messages CROSS JOIN (
        SELECT json_extract(value, '$[0]') AS span_author, json_extract(value, '$[1]') AS span_log,
            json_extract(value, '$[2]') AS past, json_extract(value, '$[3]') AS height
        FROM json_each(?) LIMIT -1
    ) ON span_author = hex(author) AND span_log = log AND seq > past AND seq <= height
    WHERE channel = ? AND status = {status} AND (lamport, message_id) > (?, ?)
    ORDER BY lamport, message_id LIMIT ?
"""
ANY_WITH: Final = "SELECT EXISTS (SELECT 1 FROM held_back WHERE channel = ? AND status = ?)"
LOAD: Final = """
    SELECT channel, message_id, author, lamport, created_ns, waku_hash, body_size, payload,
        after_gap, delivery FROM messages WHERE number = ?
"""

ROWS_AT_ONCE: Final = 64
"""Rows read before their sizes are counted: those of a page of 64 KiB with short lines are 140."""

# Both columns of the place are in the index of what is delivered, which is read backwards.
BELOW: Final = """
    SELECT channel, message_id, author, lamport, created_ns, waku_hash, body_size, payload,
        after_gap, delivery FROM delivered
    WHERE channel = ? AND (lamport, message_id) < (?, ?)
    ORDER BY lamport DESC, message_id DESC LIMIT ?
"""
NEWEST: Final = """
    SELECT channel, message_id, author, lamport, created_ns, waku_hash, body_size, payload,
        after_gap, delivery FROM delivered
    WHERE channel = ? ORDER BY lamport DESC, message_id DESC LIMIT ?
"""


def page_of(
    channel: bytes,
    spans: Sequence[LogSpan],
    after: Key | None,
    limit: int,
    db: sqlite3.Connection,
    damaged: list[Place],
) -> tuple[list[Row], bool]:
    """Return rows as `LOAD` has them, and whether there are more; see `Journal.entries_page`."""
    wanted: list[Row] = [
        (channel, one.key, from_u64(one.log), from_u64(one.after), from_u64(one.height))
        for one in spans
        if one.after < one.height
    ]
    count = sum(row[4] - row[3] for row in wanted)
    while True:
        if count <= BY_LOG_MAX:
            found = _by_log(wanted, after, limit + 1, db)
        else:
            place = after or (_lowest(wanted, db) if count <= LOWEST_MAX else BEGINNING)
            found = _in_order(channel, wanted, place, limit + 1, db)
        taken = _fitting(found[:limit])
        rows = [db.execute(LOAD, (number,)).fetchone() for _, _, number, _ in taken]
        sound = [row for row in rows if is_sound(*row[:CLAIMS])]
        damaged += [row[:2] for row in rows if not is_sound(*row[:CLAIMS])]
        more = len(taken) < len(found)
        if sound or not more:
            return sound, more
        after = taken[-1][:2]


def newest_page_of(
    channel: bytes,
    before: tuple[int, MessageId] | None,
    most: int,
    db: sqlite3.Connection,
    damaged: list[Place],
) -> tuple[list[Row], bool]:
    """Return rows below a place, and whether there are more; see `Journal.newest_page`.

    Args:
        channel: its id.
        before: Lamport time and id, as a header has them; None for the newest.
        most: bytes of the signed entries, unless the first alone has more.
        db: the connection, on its own thread.
        damaged: gets the places of rows that are not what was stored, which are passed over.
    """
    found: list[Row] = []
    size = 0
    place = None if before is None else (from_u64(before[0]), bytes.fromhex(before[1]))
    while True:
        if place is None:
            rows = db.execute(NEWEST, (channel, ROWS_AT_ONCE)).fetchall()
        else:
            rows = db.execute(BELOW, (channel, *place, ROWS_AT_ONCE)).fetchall()
        for row in rows:
            if not is_sound(*row[:CLAIMS]):
                damaged.append(row[:2])
                continue
            size += len(message_of(row[CLAIMS - 1]).content)
            if found and size > most:
                return found, True
            found.append(row)
        if len(rows) < ROWS_AT_ONCE:
            return found, False
        place = (rows[-1][3], rows[-1][1])


def _by_log(
    wanted: Sequence[Row], after: Key | None, limit: int, db: sqlite3.Connection
) -> list[Row]:
    """Return place, number and size of the first entries, by looking up all of them."""
    rest = BY_LOG_REST.format(parked=STATUS[Status.PARKED], limit=limit)
    rows = [(*row, *(after or BEGINNING)) for row in wanted]
    return sorted(select_for_rows(db, BY_LOG, rows, rest))[:limit]


def _lowest(wanted: Sequence[Row], db: sqlite3.Connection) -> Key:
    """Return a place before all of these entries."""
    found = select_for_rows(db, LOWEST, wanted, LOWEST_REST)
    return min([lamport for (lamport,) in found if lamport is not None], default=0), b""


def _in_order(
    channel: bytes, wanted: Sequence[Row], after: Key, limit: int, db: sqlite3.Connection
) -> list[Row]:
    """Return place, number and size of the first entries, by reading the channel in order."""
    spans = json.dumps([(key.hex().upper(), *numbers) for _, key, *numbers in wanted])
    found: list[Row] = []
    for status in (Status.DELIVERED, Status.WAITING, Status.LOADING):
        held_back = (channel, STATUS[status])
        if status is Status.DELIVERED or db.execute(ANY_WITH, held_back).fetchone()[0]:
            query = IN_ORDER.format(status=STATUS[status])
            found += db.execute(query, (spans, channel, *after, limit)).fetchall()
    return sorted(found)[:limit]


def _fitting(found: Sequence[Row]) -> Sequence[Row]:
    """Return the first of these rows, as many as fit into a page, and one at least."""
    size = 0
    for at, (*_, length) in enumerate(found):
        size += length
        if at and size > PAGE_BYTES:
            return found[:at]
    return found
