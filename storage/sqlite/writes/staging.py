"""Pages of a snapshot on its way, in tables of their own, until a swap makes them history.

A page is a row, as its bytes came and were checked; the digest beside it tells whether they are
still that. Pages go from the newest entry down, so the swap (`storage.sqlite.writes.swapping`)
reads them backwards: no more than a page is in memory.
"""

import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Final

from storage.sqlite.columns import from_u64, message_id, to_u64
from sync.errors import StorageError
from sync.group.records import stamped_row
from sync.group.snapshots.values import DropSnapshot, StagedSnapshot, StageSnapshot
from sync.sessions.page_values import LogPlace

STAGE: Final = "INSERT INTO staged_pages (channel, number, digest, chunk) VALUES (?, ?, ?, ?)"
SET_STAGED: Final = """
    INSERT INTO staged_snapshots (channel, scope, floor, cursor, count) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET
        scope = excluded.scope, floor = excluded.floor, cursor = excluded.cursor,
        count = excluded.count
"""
STAGED: Final = """
    SELECT scope, floor, cursor, count, swapping FROM staged_snapshots WHERE channel = ?
"""
SET_SWAPPING: Final = "UPDATE staged_snapshots SET swapping = 1 WHERE channel = ?"
PAGES: Final = "SELECT count(*), max(number) FROM staged_pages WHERE channel = ?"
NUMBERS: Final = "SELECT number FROM staged_pages WHERE channel = ? ORDER BY number DESC"
PAGE: Final = "SELECT digest, chunk FROM staged_pages WHERE channel = ? AND number = ?"
DROP: Final = (
    "DELETE FROM staged_pages WHERE channel = ?",
    "DELETE FROM staged_snapshots WHERE channel = ?",
)


class PageRottedError(StorageError):
    """A page is no longer what was staged."""


def keep_staged(db: sqlite3.Connection, records: Sequence[StageSnapshot | DropSnapshot]) -> None:
    """Write the records of snapshots of a commit, in their order.

    Raises:
        sqlite3.IntegrityError: a page of that number is staged already.
    """
    for record in records:
        channel = bytes.fromhex(record.channel)
        if isinstance(record, DropSnapshot):
            drop(db, channel)
            continue
        if not record.number:
            drop(db, channel)  # of another one something may be left that nobody can go on with
        digest = hashlib.sha256(record.chunk).digest()
        db.execute(STAGE, (channel, record.number, digest, record.chunk))
        cursor = b"" if record.cursor is None else _row_of(record.cursor)
        row = (channel, record.scope, from_u64(record.floor), cursor, record.count)
        db.execute(SET_STAGED, row)


def staged_of(channel: bytes, db: sqlite3.Connection) -> StagedSnapshot | None:
    """Return what is here of a snapshot on its way; None if nothing is, or a page is missing."""
    row = db.execute(STAGED, (channel,)).fetchone()
    pages, last = db.execute(PAGES, (channel,)).fetchone()
    if row is None or not pages or pages != last + 1:
        return None
    scope, floor, cursor, count, swapping = row
    return StagedSnapshot(scope, to_u64(floor), _place_of(cursor), count, pages, bool(swapping))


def is_stranded(channel: bytes, db: sqlite3.Connection) -> bool:
    """Return whether some of a snapshot is history, and pages of the rest are gone.

    Nobody can go on with it, and until it is forgotten no page of the transcript shows its lines.
    """
    row = db.execute(STAGED, (channel,)).fetchone()
    return row is not None and bool(row[-1]) and staged_of(channel, db) is None


def _row_of(place: LogPlace) -> bytes:
    lamport, message = place
    return stamped_row(lamport, bytes.fromhex(message))


def _place_of(row: bytes) -> LogPlace | None:
    return (int.from_bytes(row[:8], "big"), message_id(row[8:])) if row else None


def drop(db: sqlite3.Connection, channel: bytes) -> None:
    """Forget the snapshot on its way to a channel."""
    for statement in DROP:
        db.execute(statement, (channel,))


def note_swapping(db: sqlite3.Connection, channel: bytes) -> None:
    """Keep that some of a snapshot is history already."""
    db.execute(SET_SWAPPING, (channel,))


def page_at(channel: bytes, number: int, db: sqlite3.Connection) -> bytes | None:
    """Return a page by its number; None if there is none that is what was staged."""
    row = db.execute(PAGE, (channel, number)).fetchone()
    if row is None:
        return None
    digest, chunk = row
    return bytes(chunk) if hashlib.sha256(chunk).digest() == digest else None


def pages_backwards(channel: bytes, db: sqlite3.Connection) -> Iterator[bytes]:
    """Yield the pages of a snapshot, the last one first.

    Raises:
        PageRottedError: one is no longer what was staged.
    """
    for (number,) in db.execute(NUMBERS, (channel,)).fetchall():
        chunk = page_at(channel, number, db)
        if chunk is None:
            raise PageRottedError("A page of a snapshot is no longer what was stored.")
        yield chunk
