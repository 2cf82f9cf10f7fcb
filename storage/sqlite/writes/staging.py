"""Pages of a snapshot on its way, in tables of their own, until one transaction makes them history.

A page is a row, as its bytes came and were checked; the digest beside it tells whether they are
still that. Pages go from the newest entry down, so the swap reads them backwards, entry by entry,
and writes the oldest first: no more than a page is in memory.
"""

import hashlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final, TypeVar

from storage.sqlite.columns import from_u64, message_id, to_u64
from sync.errors import StorageError
from sync.group.records import Replayed, StoreChecked, StoreMessage, StorePending, stamped_row
from sync.group.snapshots.values import DropSnapshot, StagedSnapshot, StageSnapshot
from sync.runner.journal import Replay
from sync.sessions.page_values import LogPlace

T = TypeVar("T")

STAGE: Final = "INSERT INTO staged_pages (channel, number, digest, chunk) VALUES (?, ?, ?, ?)"
SET_STAGED: Final = """
    INSERT INTO staged_snapshots (channel, scope, floor, cursor, count) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET
        scope = excluded.scope, floor = excluded.floor, cursor = excluded.cursor,
        count = excluded.count
"""
STAGED: Final = "SELECT scope, floor, cursor, count FROM staged_snapshots WHERE channel = ?"
PAGES: Final = "SELECT count(*), max(number) FROM staged_pages WHERE channel = ?"
NUMBERS: Final = "SELECT number FROM staged_pages WHERE channel = ? ORDER BY number DESC"
PAGE: Final = "SELECT digest, chunk FROM staged_pages WHERE channel = ? AND number = ?"
DROP: Final = (
    "DELETE FROM staged_pages WHERE channel = ?",
    "DELETE FROM staged_snapshots WHERE channel = ?",
)
HELD: Final = "SELECT message_id FROM messages WHERE channel = ?"

RECORDS_AT_ONCE: Final = 1024
"""Records of a swap that are written together, a megabyte: more would save nothing."""


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
    if row is None or pages != last + 1:
        return None
    scope, floor, cursor, count = row
    return StagedSnapshot(scope, to_u64(floor), _place_of(cursor), count, pages)


def _row_of(place: LogPlace) -> bytes:
    lamport, message = place
    return stamped_row(lamport, bytes.fromhex(message))


def _place_of(row: bytes) -> LogPlace | None:
    return (int.from_bytes(row[:8], "big"), message_id(row[8:])) if row else None


def drop(db: sqlite3.Connection, channel: bytes) -> None:
    """Forget the snapshot on its way to a channel."""
    for statement in DROP:
        db.execute(statement, (channel,))


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


def in_parts(records: Iterator[T], most: int = RECORDS_AT_ONCE) -> Iterator[Sequence[T]]:
    """Yield `records` in parts of at most so many."""
    while part := list(islice(records, most)):
        yield part


def swap_in(
    channel: bytes,
    replay: Replay,
    write: Callable[[Sequence[Replayed]], None],
    is_closing: Callable[[], bool],
    db: sqlite3.Connection,
) -> None:
    """Write what a snapshot's pages become, and drop them, in the transaction that is open.

    Args:
        channel: where.
        replay: makes records of the pages.
        write: writes some of them.
        is_closing: says whether to give up.
        db: the connection, on its own thread.

    Raises:
        PageRottedError: a page is no longer what was staged.
        StorageError: somebody wants to close the database.
    """
    held = held_in(channel, db)
    for part in in_parts(replay(pages_backwards(channel, db))):
        if is_closing():
            raise StorageError("The chat ends; the history that was on its way is taken in later.")
        write([one for one in part if _about(one) not in held])
    drop(db, channel)


def _about(record: Replayed) -> bytes | None:
    """Return the id of a message that a record stores."""
    if isinstance(record, StoreChecked):
        return record.columns.message_id
    if isinstance(record, StoreMessage | StorePending):
        return bytes.fromhex(record.message.entry.message_id)
    return None


def held_in(channel: bytes, db: sqlite3.Connection) -> frozenset[bytes]:
    """Return the ids of what is stored of a channel: a swap adds, and replaces nothing."""
    return frozenset([stored for (stored,) in db.execute(HELD, (channel,))])
