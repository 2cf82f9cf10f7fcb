"""The swap of a snapshot: its staged pages become history, the oldest entry first.

It is one transaction, unless somebody waits for the disk: for them it commits what it has, and goes
on in another one. So a line of ours is written at once, though a swap may take seconds. Until the
last of these transactions ends the staged pages, no page of the transcript shows what is written so
far (`lines`), no machine knows of it, and a start goes on with it before anything else.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Protocol

from storage.sqlite.contradictions import Runs
from storage.sqlite.database import Database
from storage.sqlite.state import state_of
from storage.sqlite.writes.staging import PageRottedError, drop, note_swapping, pages_backwards
from storage.sqlite.writes.storing import Bulk
from sync.errors import StorageError
from sync.group.records import (
    Contradiction,
    Replayed,
    StoreChecked,
    StoreMessage,
    StorePending,
    in_parts,
)
from sync.runner.journal import Replay

HELD: Final = "SELECT message_id FROM messages WHERE channel = ?"
STORED_SINCE: Final = "SELECT message_id FROM messages WHERE number > ? AND channel = ?"
LAST: Final = "SELECT coalesce(max(number), 0) FROM messages"

RECORDS_AT_ONCE: Final = 128
"""Records of a swap that are written together: they stay in a processor's cache until they are, and
whoever waits for the disk waits some 6 ms for these."""

CLOSING: Final = "The chat ends; the history that was on its way is taken in later."


class Write(Protocol):
    """Writes records of a swap in the transaction that is open."""

    def __call__(
        self, records: Sequence[Replayed], runs: Runs, bulk: Bulk, db: sqlite3.Connection, /
    ) -> list[Contradiction]:
        """Write them; return what contradicts another entry of its author."""


class SqliteSwap:
    """The `sync.runner.journal.Swap` of a channel.

    Args:
        database: has the pages.
        channel: where.
        replay: makes records of the pages.
        write: writes some of them.
        ended: hears, after each transaction, what it found; also after one that failed.
    """

    def __init__(
        self,
        database: Database,
        channel: bytes,
        replay: Replay,
        write: Write,
        ended: Callable[[list[Contradiction]], None],
    ) -> None:
        self._database, self._channel = database, channel
        self._replay, self._write, self._ended = replay, write, ended
        self._records: Iterator[Replayed] | None = None
        self._held: set[bytes] = set()
        """Ids of what is stored of the channel, but by this swap: it adds, and replaces nothing."""
        self._last = 0
        """Number of the newest message when the last transaction ended."""
        self._db: sqlite3.Connection | None = None
        """The connection, while a transaction is open."""
        self._shared = False
        """True if something may have been stored since the replay last heard of state."""

    async def go_on(self, is_awaited: Callable[[], bool]) -> bool:
        """See `sync.runner.journal.Swap`."""
        found: list[Contradiction] = []
        try:
            done = await self._database.write_long(
                lambda db: self._go_on(is_awaited, found, db),
            )
        except PageRottedError:
            await self._database.write(lambda db: drop(db, self._channel))
            return True
        except BaseException:
            found.clear()
            raise
        finally:
            self._ended(found)
        if done:
            await self._database.empty_log()
        return done

    def _go_on(
        self, is_awaited: Callable[[], bool], found: list[Contradiction], db: sqlite3.Connection
    ) -> bool:
        """Write, until all is done or somebody waits, in the transaction that is open."""
        self._db = db
        bulk, runs = Bulk(), Runs()
        if self._records is None:
            self._held |= _ids(db.execute(HELD, (self._channel,)))
            self._records = self._replay(pages_backwards(self._channel, db), self._renewed)
        else:
            self._held |= _ids(db.execute(STORED_SINCE, (self._last, self._channel)))
        held = self._held
        for part in in_parts(self._records, RECORDS_AT_ONCE):
            if self._database.is_closing:
                raise StorageError(CLOSING)
            fresh = [one for one in part if _about(one) not in held] if held else part
            found += self._write(fresh, runs, bulk, db)
            if is_awaited():
                bulk.write(db)
                note_swapping(db, self._channel)
                (self._last,) = db.execute(LAST).fetchone()
                self._shared = True
                return False
        bulk.write(db)
        drop(db, self._channel)
        return True

    def _renewed(self) -> Sequence[bytes] | None:
        """See `sync.runner.journal.Renewed`."""
        if not self._shared:
            return None
        self._shared = False
        assert self._db is not None
        return state_of(self._channel, self._db)


def _ids(rows: Iterator[tuple[bytes]]) -> set[bytes]:
    return {stored for (stored,) in rows}


def _about(record: Replayed) -> bytes | None:
    """Return the id of a message that a record stores."""
    if isinstance(record, StoreChecked):
        return record.columns.message_id
    if isinstance(record, StoreMessage | StorePending):
        return bytes.fromhex(record.message.entry.message_id)
    return None
