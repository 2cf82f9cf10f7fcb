"""The SQLite file of a profile: opened safely, brought up to date, used one transaction at a time.

Rules:
1. One connection, one thread: work is handed to it as a function and runs there in one go, so a
   commit costs the event loop one round trip, whatever it writes.
2. When `write` returns, a power cut takes nothing of it away (WAL, synchronous=FULL).
3. Every error of SQLite leaves here as a `StorageError` that says what to do.
4. A disk that refuses to write can still be read: an old history opens for reading, and is written
   again as soon as the disk takes it.
"""

import asyncio
import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self, TypeVar

import aiosqlite

from storage.sqlite.checkpoints import Checkpoints, copy_rest
from storage.sqlite.connections import (
    SORTED_ON_DISK,
    STATEMENTS_IN_MEMORY,
    USUALLY,
    WHILE_LONG,
    prepare,
    roll_back,
)
from storage.sqlite.migrations import MIGRATIONS
from storage.sqlite.open_file import OpenFile, log_of, mended_of
from storage.sqlite.rows import STATEMENTS_CACHED
from storage.sqlite.soundness import Damage
from storage.sqlite.sqlite_errors import (
    PRIMARY_CODE,
    ROOM_MIN,
    code_of,
    explained,
)
from sync.errors import LocalError, StorageError

if TYPE_CHECKING:
    from storage.sqlite.stored_governance import StoredGovernances

T = TypeVar("T")

APART_MAX_S: Final = 10.0
"""For a search; of a million messages the slowest one takes three seconds."""

TOO_LONG: Final = "The search took too long. Add a word, or a channel, as in in:#plans."

EMPTY_LOG: Final = "PRAGMA wal_checkpoint(TRUNCATE)"

TRIAL: Final = "UPDATE channels SET own_log = own_log"
"""Writes a little without changing anything."""

UNWRITABLE: Final = frozenset({
    sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_IOERR,
})  # fmt: skip
"""SQLite's message for a disk that may still be read."""


class _Connection(aiosqlite.Connection):
    """aiosqlite's connection and thread, to which whole functions can be sent."""

    async def _connect(self) -> Self:
        """Connect; a thread that could not ends before its error is told.

        aiosqlite waits for it in `close` alone. What it has left to say would come to a loop that
        may be closed by then, and stand as a traceback behind the sentence that ends the program.
        """
        try:
            await super()._connect()
        except BaseException:
            await asyncio.to_thread(self._thread.join)
            raise
        return self

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` on the connection's thread; once begun it ends, also if we are cancelled."""
        result: T = await self._execute(work, self._conn)  # type: ignore[no-untyped-call]
        return result

    def run_later(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Have `work` run on the connection's thread, after what waits; nobody waits for it."""
        self._tx.put_nowait((None, partial(work, self._conn)))


class Database:
    """The open database of one profile; see `open`. Close it when done."""

    def __init__(self, path: Path, connection: _Connection, *, is_new: bool = False) -> None:
        self._path = path
        self._connection = connection
        self._file = OpenFile(path)
        self._checkpoints = Checkpoints(path)
        self._writable = True
        self.ended_badly = False
        """Whether whoever had it open before did not close it: a crash, or a power cut."""
        self.is_damaged = False
        """Whether SQLite has found it damaged, until `mend`."""
        self.is_new = is_new
        """Whether there was no history at `path` before."""
        self._opening = asyncio.Lock()
        self.damage = Damage()
        """Messages of which the disk no longer has what was stored."""
        self.refusal = ""
        """Why the last change was refused, as a sentence; empty while changes are taken."""
        self._governances: StoredGovernances | None = None
        self._beside: _Connection | None = None
        """Another connection to read by, while a long change has this one."""
        self.is_closing = False
        """True if somebody wants to close it: a long change that asks gives up."""

    @property
    def governances(self) -> "StoredGovernances":
        """Governance of channels as far as it was read; for the database's own thread."""
        if self._governances is None:
            from storage.sqlite.stored_governance import (  # noqa: PLC0415  # few are governed
                StoredGovernances,
            )

            self._governances = StoredGovernances()
        return self._governances

    @classmethod
    async def open(cls, path: Path) -> Self:
        """Open the database at `path`, readable by its owner alone; make it if it is not there.

        One that is there and cannot be written is opened to be read, with a `refusal`.

        Raises:
            StorageError: it cannot be opened, is damaged, or is newer than this program.
        """
        if mended_of(path).exists():  # whoever mended was stopped
            from storage.sqlite.damage.copying import finish  # noqa: PLC0415  # rare

            finish(path)
        is_new, left = not _has_bytes(path), _has_bytes(log_of(path))
        try:
            database = cls(path, await _open_to_write(path), is_new=is_new)
        except StorageError as error:
            if not _may_be_read(error, path):
                raise
            try:
                database = cls(path, await _open_to_read(path))
            except StorageError:
                raise error from error.__cause__
            database._writable = False
            database.refusal = str(error)
        database.ended_badly = left and not is_new
        return database

    async def read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        """Return what `query` reads; nothing is written meanwhile.

        Raises:
            StorageError: the disk refused.
        """
        if self._beside is not None:
            return await self._run(query, self._beside)
        if self._writable:
            return await self._run(query)
        async with self._opening:  # not while it is closed, to be opened to be written
            return await self._run(query)

    async def read_apart(self, query: Callable[[sqlite3.Connection], T]) -> T:
        """Return what `query` reads by a connection of its own: nothing else waits for it.

        Whoever is cancelled, or waits longer than `APART_MAX_S`, stops it.

        Raises:
            StorageError: the disk refused.
            LocalError: it took too long.
        """
        if not self._writable:
            return await self.read(query)
        beside = await _open_beside(self._path)
        try:
            async with asyncio.timeout(APART_MAX_S):
                return await self._run(query, beside)
        except TimeoutError as error:
            raise LocalError(TOO_LONG) from error
        finally:
            await beside.interrupt()
            await beside.close()

    async def _run(
        self, work: Callable[[sqlite3.Connection], T], by: _Connection | None = None
    ) -> T:
        try:
            return await (by or self._connection).run(work)
        except sqlite3.Error as error:
            self.is_damaged |= code_of(error) == sqlite3.SQLITE_CORRUPT
            raise explained(error, self._path) from error

    async def write(self, change: Callable[[sqlite3.Connection], T]) -> T:
        """Do `change` in one transaction and return its result once that is durable.

        If anything is raised, by SQLite or by `change`, nothing was written.

        Raises:
            StorageError: the disk refused.
        """
        try:
            if not self._writable:
                await self._open_again()
            result, rows = await self._run(partial(_transact, change, self._file))
        except Exception as error:
            self._governances = None  # it may have read what was rolled back
            if isinstance(error, StorageError):
                self.refusal = str(error)
            raise
        self.refusal = ""
        if self._checkpoints.committed(rows):
            self._connection.run_later(copy_rest)
        return result

    async def write_long(self, change: Callable[[sqlite3.Connection], T]) -> T:
        """As `write`, of a change that takes seconds: what is read meanwhile is what was before.

        Other changes wait for it. Call `empty_log` after the last one, or the log keeps its size.

        Raises:
            StorageError: the disk refused.
        """
        beside = await _open_beside(self._path)
        try:
            self._beside = beside
            await self._run(lambda db: _set(WHILE_LONG, db))
            return await self.write(change)
        finally:
            self._beside = None
            await beside.close()
            if not self.is_closing:
                await self._run(lambda db: _set(USUALLY, db))

    async def empty_log(self) -> None:
        """Have what is in SQLite's log go to the file, and nothing be left of it.

        Raises:
            StorageError: the disk refused.
        """
        await self._checkpoints.settled()
        await self._run(lambda db: db.execute(EMPTY_LOG).fetchall())

    async def try_again(self) -> None:
        """See whether the disk takes changes again, after it refused one.

        Raises:
            StorageError: it does not.
        """
        await self._try_disk()
        await self.write(lambda db: db.execute(TRIAL))

    async def _try_disk(self) -> None:
        try:
            await asyncio.to_thread(_write_beside, self._path)
        except OSError as error:
            raise StorageError(self.refusal) from error

    async def _open_again(self) -> None:
        """Open a database to be written that was opened to be read.

        The old connection is closed before: to close any later would take the locks of the new one
        away, which belong to the process, and another program could take the log for left behind.
        """
        async with self._opening:
            if self._writable:
                return
            await self._try_disk()
            await self._connection.close()
            try:
                self._connection = await _open_to_write(self._path)
            except StorageError:
                self._connection = await _open_to_read(self._path)
                raise
            self._file = OpenFile(self._path)
            self._writable = True

    @property
    def path(self) -> Path:
        """The path of the database file."""
        return self._path

    async def mend(self) -> frozenset[str]:
        """Make anew what is derived, where an index or a derived table is damaged.

        Where that is not enough a copy of what can be read takes this file's place; the damaged one
        is kept beside it.

        Returns:
            The tables that could not be read to the end.

        Raises:
            StorageError: that does not help, or the disk refused.
        """
        from storage.sqlite.damage.mending import reindex  # noqa: PLC0415  # few disks are damaged

        try:
            await self._run(lambda db: db.execute(SORTED_ON_DISK))
            await self.write(reindex)
            await self._run(lambda db: db.execute(STATEMENTS_IN_MEMORY))
            lost = frozenset[str]()
        except StorageError:
            lost = await self._take_copy()
        self.refusal = ""
        self.is_damaged = False
        return lost

    async def _take_copy(self) -> frozenset[str]:
        """Go on with a copy of what is sound; whoever reads or writes meanwhile waits."""
        from storage.sqlite.damage import copying  # noqa: PLC0415  # few disks are damaged

        self._writable = False
        async with self._opening:
            await self._checkpoints.settled()
            try:
                copy, lost = await self._run(lambda _: copying.copy_of(self._path))
                await self._connection.close()
                copying.put_in_place(copy, self._path)
            finally:
                await self._connection.close()
                if mended_of(self._path).exists():  # its last step was refused
                    copying.finish(self._path)
                self._connection = await _open_to_write(self._path)
                self._file = OpenFile(self._path)
                self._writable = True
        return lost

    async def problems(self) -> list[str]:
        """Return what SQLite's quick check finds wrong; takes a second per million messages."""
        rows = await self.read(lambda db: db.execute("PRAGMA quick_check").fetchall())
        return [problem for (problem,) in rows if problem != "ok"]

    async def close(self) -> None:
        """Close the database after the work handed in so far. Closing twice does nothing."""
        self.is_closing = True
        await self._checkpoints.settled()
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
        raise explained(error, path) from error


async def _open_to_write(path: Path) -> _Connection:
    connection = _Connection(partial(_connect, path), iter_chunk_size=1)
    try:
        # SQLite gives the files it makes beside this one the same rights.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        return await _prepared(connection, prepare)
    except (sqlite3.Error, OSError) as error:
        raise explained(error, path) from error


async def _open_to_read(path: Path) -> _Connection:
    return await _read_by(partial(_connect_to_read, path), path)


async def _open_beside(path: Path) -> _Connection:
    """Open a database once more that this process has open to be written, to read it."""
    return await _read_by(partial(_connect_beside, path), path)


async def _read_by(connect: Callable[[], sqlite3.Connection], path: Path) -> _Connection:
    connection = _Connection(connect, iter_chunk_size=1)
    try:
        return await _prepared(connection, _check_version)
    except sqlite3.Error as error:
        raise explained(error, path) from error


async def _prepared(
    connection: _Connection, prepare: Callable[[sqlite3.Connection], None]
) -> _Connection:
    await connection
    try:
        await connection.run(prepare)
    except BaseException:
        await connection.close()
        raise
    return connection


def _may_be_read(error: StorageError, path: Path) -> bool:
    """Return whether there is a history and only writing to it was refused."""
    cause = error.__cause__
    code = getattr(cause, "sqlite_errorcode", None)
    refused = isinstance(cause, OSError) or (code is not None and code & PRIMARY_CODE in UNWRITABLE)
    return refused and path.is_file() and path.stat().st_size > 0


def _adapt_at_once() -> None:
    """Name adapters for types that need none.

    For a value whose type has none the module raises and drops an AttributeError each time, which
    takes 0.2 us; a message has ten of them.
    """
    sqlite3.register_adapter(bytes, bytes)
    sqlite3.register_adapter(bool, int)
    sqlite3.register_adapter(type(None), lambda null: null)


_adapt_at_once()


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None, cached_statements=STATEMENTS_CACHED)


def _connect_to_read(path: Path) -> sqlite3.Connection:
    """Open a database of which nothing can be written, not even what SQLite keeps beside it.

    Rows that a crash left in the log are read from there: SQLite keeps the index of the log in
    memory if it must not write the one beside it, and only wants this file to exist.
    """
    how = "immutable=1" if not _has_bytes(log_of(path)) else "mode=ro&readonly_shm=1"
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?{how}",
        uri=True,
        isolation_level=None,
        cached_statements=STATEMENTS_CACHED,
    )


def _connect_beside(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=ro",
        uri=True,
        isolation_level=None,
        cached_statements=STATEMENTS_CACHED,
    )


def _has_bytes(path: Path) -> bool:
    """Return whether the file exists and is not empty."""
    return path.exists() and path.stat().st_size > 0


def _write_beside(path: Path) -> None:
    """Write a small file beside the database, and take it away again; raises `OSError`."""
    trial = path.with_name(f".{path.name}.trial")
    descriptor = os.open(trial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(bytes(ROOM_MIN))
            file.flush()
            os.fsync(descriptor)
    finally:
        trial.unlink()


def _check_version(connection: sqlite3.Connection) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version != len(MIGRATIONS):
        raise sqlite3.OperationalError  # it would have to be brought up to date, which is to write


def _transact(
    change: Callable[[sqlite3.Connection], T], file: OpenFile, connection: sqlite3.Connection
) -> tuple[T, int]:
    """Do a change in one transaction; return its result, and how many rows it changed."""
    before = connection.total_changes
    connection.execute("BEGIN IMMEDIATE")
    try:
        result = change(connection)
        file.require()
        connection.execute("COMMIT")
    except BaseException:
        roll_back(connection)
        raise
    return result, connection.total_changes - before


def _set(settings: Sequence[str], connection: sqlite3.Connection) -> None:
    for setting in settings:
        connection.execute(setting)
