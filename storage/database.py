"""The SQLite file of a profile: opened safely, brought up to date, used one transaction at a time.

Rules:
1. One connection, one thread: work is handed to it as a function and runs there in one go, so a
   commit costs the event loop one round trip, whatever it writes.
2. When `write` returns, a power cut takes nothing of it away (WAL, synchronous=FULL).
3. Every error of SQLite leaves here as a `StorageError` that says what to do.
"""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Final, Self, TypeVar

import aiosqlite

from storage.migrations import MIGRATIONS
from sync.errors import StorageError

T = TypeVar("T")

BUSY_TIMEOUT_MS: Final = 5_000
"""Nobody else writes here while the profile is locked; a backup program may read for a moment."""

CACHE_KIB: Final = 16 * 1024
"""Ids and hashes come in random order: this holds the index pages of some 100,000 messages."""

STATEMENTS_CACHED: Final = 256
"""Compiled statements kept; the program has fewer."""

PRAGMAS: Final = (
    f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}",
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    f"PRAGMA cache_size = -{CACHE_KIB}",
)

PRIMARY_CODE: Final = 0xFF
"""SQLite's result codes: the low byte is the kind of error, the rest its details."""


class _Connection(aiosqlite.Connection):
    """aiosqlite's connection and thread, to which whole functions can be sent."""

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` on the connection's thread; once begun it ends, also if we are cancelled."""
        result: T = await self._execute(work, self._conn)  # type: ignore[no-untyped-call]
        return result


class Database:
    """The open database of one profile; see `open`. Close it when done."""

    def __init__(self, path: Path, connection: _Connection) -> None:
        self._path = path
        self._connection = connection

    @classmethod
    async def open(cls, path: Path) -> Self:
        """Open the database at `path`, readable by its owner alone; make it if it is not there.

        Raises:
            StorageError: it cannot be opened, is damaged, or is newer than this program.
        """
        connection = _Connection(partial(_connect, path), iter_chunk_size=1)
        try:
            # SQLite gives the files it makes beside this one the same rights.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            await connection
        except (sqlite3.Error, OSError) as error:
            raise _explained(error, path) from error
        database = cls(path, connection)
        try:
            await database.read(_prepare)
        except BaseException:
            await database.close()
            raise
        return database

    async def read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        """Return what `query` reads; nothing is written meanwhile.

        Raises:
            StorageError: the disk refused.
        """
        try:
            return await self._connection.run(query)
        except sqlite3.Error as error:
            raise _explained(error, self._path) from error

    async def write(self, change: Callable[[sqlite3.Connection], T]) -> T:
        """Do `change` in one transaction and return its result once that is durable.

        If anything is raised, by SQLite or by `change`, nothing was written.

        Raises:
            StorageError: the disk refused.
        """
        return await self.read(partial(_transact, change))

    async def problems(self) -> list[str]:
        """Return what SQLite's quick check finds wrong; takes a second per million messages."""
        rows = await self.read(lambda db: db.execute("PRAGMA quick_check").fetchall())
        return [problem for (problem,) in rows if problem != "ok"]

    async def close(self) -> None:
        """Close the database after the work handed in so far. Closing twice does nothing."""
        await self._connection.close()


def problems_in(path: Path) -> list[str]:
    """Return what a quick check of a database finds that another process has open; only reads.

    Raises:
        StorageError: it cannot be read.
    """
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
            return [one for (one,) in db.execute("PRAGMA quick_check") if one != "ok"]
    except sqlite3.Error as error:
        raise _explained(error, path) from error


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None, cached_statements=STATEMENTS_CACHED)


def _prepare(connection: sqlite3.Connection) -> None:
    for pragma in PRAGMAS:
        connection.execute(pragma)
    _migrate(connection)


def _migrate(connection: sqlite3.Connection) -> None:
    """Bring the schema up to date, each step in a transaction of its own."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > len(MIGRATIONS):
        raise StorageError(
            f"The history of this profile was written by a newer chat-tui (version {version} of "
            f"its database; this one knows {len(MIGRATIONS)}). Update this program, or choose "
            "another profile with --profile."
        )
    for step, migration in enumerate(MIGRATIONS[version:], start=version + 1):
        try:
            if isinstance(migration, str):
                connection.executescript(f"BEGIN IMMEDIATE; {migration}")
            else:
                connection.execute("BEGIN IMMEDIATE")
                migration(connection)
            connection.execute(f"PRAGMA user_version = {step}")
            connection.execute("COMMIT")
        except BaseException:
            _roll_back(connection)
            raise


def _transact(change: Callable[[sqlite3.Connection], T], connection: sqlite3.Connection) -> T:
    connection.execute("BEGIN IMMEDIATE")
    try:
        result = change(connection)
        connection.execute("COMMIT")
    except BaseException:
        _roll_back(connection)
        raise
    return result


def _roll_back(connection: sqlite3.Connection) -> None:
    # On some errors, a full disk among them, SQLite has already done so.
    if connection.in_transaction:
        connection.execute("ROLLBACK")


def _explained(error: sqlite3.Error | OSError, path: Path) -> StorageError:
    """Return the sentence for the person about what SQLite or the system refused."""
    if isinstance(error, OSError):
        return StorageError(
            f"Cannot open {path}: {error.strerror or error}. Put that right, or choose another "
            "place with --data-dir."
        )
    # Only errors that SQLite itself reports have a code.
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & PRIMARY_CODE
    match code:
        case sqlite3.SQLITE_FULL:
            sentence = (
                "The disk is full: free some space; "
                "nothing you wrote is lost that was shown as sent."
            )
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM | sqlite3.SQLITE_CANTOPEN:
            sentence = (
                f"The history in {path} cannot be written: make that file and its directory "
                "writable, or choose another place with --data-dir."
            )
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            sentence = f"Another program keeps {path} locked: close that program, then try again."
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            sentence = (
                f"The history in {path} is damaged: put that file back from a backup, or move it "
                "away and join your channels again; what others hold comes back from them."
            )
        case sqlite3.SQLITE_IOERR:
            sentence = (
                f"The disk failed while {path} was in use ({error}): check that it is neither "
                "full nor broken, then start again."
            )
        case _:
            sentence = f"SQLite refused to work on {path} ({error}): start again, and report this."
    return StorageError(sentence)
