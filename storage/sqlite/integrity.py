"""Looking for damage in a database, on a connection of its own that only reads.

A look at a million messages takes seconds to half a minute, so it happens in a thread, beside the
chat, and ends early when nobody waits for it any more.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Collection
from contextlib import closing
from pathlib import Path
from threading import Event
from typing import Final, TypeVar

from msgspec import Struct

from storage.sqlite.columns import DELIVERY_OF, from_u64
from storage.sqlite.payloads import entry_of
from storage.sqlite.soundness import CLAIMS, Place, is_sound
from storage.sqlite.sqlite_errors import explained
from sync.calimero.governance.outcomes import Dropped
from sync.errors import StorageError
from sync.group.clock_values import Answer

T = TypeVar("T")

PROBLEMS_MAX: Final = 100
"""Problems that SQLite is asked for; one is enough to act."""

UNUSED: Final = ("is never used", "*** in database main ***")
"""Endings that no problem has: pages that mending left behind, and a title."""

STEPS: Final = 50_000
"""Of SQLite's machine between two times that it asks whether to go on: some milliseconds."""

PAGE: Final = 500
"""Rows between two times that progress is told: some 10 ms of work."""

ROWS: Final = """
    SELECT channel, message_id, author, lamport, created_ns, waku_hash, body_size, payload,
        kind, log, seq, backlink, number
    FROM messages NOT INDEXED WHERE number > ? ORDER BY number LIMIT ?
"""

DELIVERIES: Final = "SELECT delivery, count(*) FROM unacknowledged GROUP BY delivery"
LABELS: Final = "SELECT label, count(*) FROM dropped_entries GROUP BY label"
ANSWERS: Final = "SELECT answer, count(*) FROM clocks GROUP BY answer"
WITHOUT_PAGES: Final = """
    SELECT count(*) FROM staged_snapshots
    WHERE channel NOT IN (SELECT channel FROM staged_pages)
"""

Progress = Callable[[int, int], None]
"""(messages read so far, messages to read)."""


class Unknown(Struct, frozen=True):
    """Counts of values beside the messages that nobody knows; each is read as if it were not there.

    Attributes:
        deliveries: of own messages, which count as unacknowledged.
        dropped: labels of dropped entries.
        clocks: answers about the clock.
        snapshots: on their way, without a page.
    """

    deliveries: int = 0
    dropped: int = 0
    clocks: int = 0
    snapshots: int = 0


async def beside(path: Path, look: Callable[[sqlite3.Connection], T]) -> T:
    """Return what `look` finds in the database at `path`, in a thread; ends early if cancelled.

    Raises:
        StorageError: it cannot be read.
    """
    unwanted = Event()

    def work() -> T:
        try:
            where = f"{path.absolute().as_uri()}?mode=ro"
            with closing(sqlite3.connect(where, uri=True, isolation_level=None)) as db:
                db.set_progress_handler(unwanted.is_set, STEPS)
                return look(db)
        except sqlite3.Error as error:
            raise explained(error, path) from error

    try:
        return await asyncio.to_thread(work)
    finally:
        unwanted.set()


def problems_of(db: sqlite3.Connection) -> list[str]:
    """Return what SQLite's full check finds wrong with tables and indexes.

    The search index is a table of its own kind to it: SQLite from 3.44 on looks into it as well.
    """
    try:
        rows = db.execute(f"PRAGMA integrity_check({PROBLEMS_MAX})").fetchall()
    except sqlite3.DatabaseError as error:
        return [str(error)]
    lines = [line for (text,) in rows for line in str(text).splitlines()]
    return [line for line in lines if line != "ok" and not line.endswith(UNUSED)]


def rotten(db: sqlite3.Connection, tell: Progress = lambda _done, _all: None) -> list[Place]:
    """Return the messages that are no longer what was stored, each column held against its bytes.

    Raises:
        sqlite3.Error: their table itself cannot be read.
    """
    (count,) = db.execute("SELECT count(*) FROM messages NOT INDEXED").fetchone()
    last, done = -1, 0
    found: list[Place] = []
    while rows := db.execute(ROWS, (last, PAGE)).fetchall():
        found += [row[:2] for row in rows if not is_whole(row)]
        done += len(rows)
        last = rows[-1][-1]
        tell(done, max(done, count))
    return found


def unknown_values(db: sqlite3.Connection) -> Unknown:
    """Count the values beside the messages that nobody knows.

    Raises:
        sqlite3.Error: a table of them cannot be read.
    """

    def count(query: str, known: Collection[object]) -> int:
        return sum(number for value, number in db.execute(query) if value not in known)

    return Unknown(
        deliveries=count(DELIVERIES, DELIVERY_OF),
        dropped=count(LABELS, [one.value for one in Dropped]),
        clocks=count(ANSWERS, [one.value for one in Answer]),
        snapshots=db.execute(WITHOUT_PAGES).fetchone()[0],
    )


def is_whole(row: tuple[object, ...]) -> bool:
    """Return whether all columns of a row of `ROWS` still hold what was stored."""
    claims, (kind, log, seq, backlink, _) = row[:CLAIMS], row[CLAIMS:]
    try:
        if not is_sound(*claims):  # type: ignore[arg-type]  # as the table says
            return False
        header = entry_of(bytes(claims[-1])).header  # type: ignore[call-overload]
    except (StorageError, AttributeError, TypeError):
        return False
    link = None if header.backlink is None else bytes.fromhex(header.backlink)
    return (kind, log, seq, backlink) == (
        header.kind,
        from_u64(header.log),
        from_u64(header.seq),
        link,
    )
