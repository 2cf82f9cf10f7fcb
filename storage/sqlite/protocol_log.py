"""The protocol log of a profile, in a SQLite file of its own: the history's commits do not wait.

Rules:
1. Rows come in batches, a transaction each. A power cut may take the last of them: a log is no
   history (WAL, synchronous=NORMAL).
2. The file has an end (`BYTES_MAX`): then the oldest rows go.
3. Nothing here is needed for chatting: whoever writes goes on without it.
"""

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Final, Self

from msgspec import Struct

from storage.sqlite.clock_id import clock_id
from storage.sqlite.rows import Row, execute_for_rows
from sync.errors import StorageError
from sync.machine import DAY, ChannelId, MessageId, Nanos, PeerId
from sync.runner.log_notes import Chunk
from sync.runner.log_rows import LogKind, LogRow, Role, Route

FILE_NAME: Final = "protocol.db"
"""In a profile's directory."""

VERSION: Final = 2

READ_FROM: Final = 1
"""The oldest version that is migrated, and exported as it is."""

BYTES_MAX: Final = 64 * 1024 * 1024
"""Of the file: some 800,000 rows, weeks of a lively chat."""

GOES: Final = 8
"""When the file is full the oldest of so many parts of its rows goes."""

BIGINT_MAX: Final = 2**63 - 1
"""SQLite's integers are signed; a Lamport time above this is cut to it, as in exports."""

BUSY_TIMEOUT_MS: Final = 1_000
"""An export only reads, and keeps nobody out."""

KINDS: Final = tuple(LogKind)
NUMBER_OF: Final = {kind: number for number, kind in enumerate(KINDS)}
"""Stored number of each kind. `LogKind` only ever grows at its end."""

ROUTES: Final = tuple(Route)
ROLES: Final = tuple(Role)
"""Stored as their places, like kinds."""
NUMBER_OF_ROUTE: Final = {None: None} | {route: number for number, route in enumerate(ROUTES)}

SCHEMA: Final = """
CREATE TABLE log (run TEXT NOT NULL) STRICT;
CREATE TABLE boots (
    boot   INTEGER PRIMARY KEY,
    closed INTEGER NOT NULL                     -- 0: it runs, or a power cut ended it
) STRICT;
CREATE TABLE names (
    number INTEGER PRIMARY KEY,
    name   TEXT NOT NULL UNIQUE                 -- a channel or a participant
) STRICT;
CREATE TABLE rows (
    number     INTEGER PRIMARY KEY,             -- in the order they came
    boot       INTEGER NOT NULL,
    seq        INTEGER NOT NULL,
    ts_ns      INTEGER NOT NULL,
    channel    INTEGER NOT NULL REFERENCES names,
    kind       INTEGER NOT NULL,
    peer       INTEGER REFERENCES names,
    message_id BLOB,
    lamport    INTEGER,
    bytes      INTEGER,
    session    INTEGER,
    round      INTEGER
) STRICT;
PRAGMA user_version = 1;
"""

WIDER: Final = """
-- Ids of the computer's clock, and the lead of the rows' times over its monotonic one.
ALTER TABLE boots ADD COLUMN clock TEXT;
ALTER TABLE boots ADD COLUMN anchor INTEGER;
ALTER TABLE rows ADD COLUMN route INTEGER;
ALTER TABLE rows ADD COLUMN protocol TEXT;
ALTER TABLE rows ADD COLUMN role INTEGER;
ALTER TABLE rows ADD COLUMN outcome TEXT;
ALTER TABLE rows ADD COLUMN items_in INTEGER;
ALTER TABLE rows ADD COLUMN items_out INTEGER;
ALTER TABLE rows ADD COLUMN estimate INTEGER;
ALTER TABLE rows ADD COLUMN reason TEXT;
PRAGMA user_version = 2;
"""
MIGRATIONS: Final = (SCHEMA, WIDER)
"""Step n, counted from 1, brings a file from version n - 1 to n."""

NAMED: Final = "INSERT INTO log SELECT '{}' WHERE NOT EXISTS (SELECT 1 FROM log);"
"""Names a log that has no name yet."""

INSERT: Final = """
    INSERT INTO rows (boot, seq, ts_ns, channel, kind, peer, message_id, lamport, bytes, route)
    VALUES
"""
INSERT_DETAILS: Final = """
    INSERT INTO rows (boot, seq, ts_ns, channel, kind, peer, message_id, lamport, bytes, route,
        session, round, protocol, role, outcome, items_in, items_out, estimate, reason)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
FULL: Final = """
    SELECT (page_count - freelist_count) * page_size > ?
    FROM pragma_page_count, pragma_freelist_count, pragma_page_size
"""
FORGET: Final = """
    DELETE FROM rows
    WHERE number <= (SELECT min(number) + (max(number) - min(number)) / ? FROM rows)
"""
FORGET_NAMES: Final = """
    DELETE FROM names WHERE number NOT IN (SELECT channel FROM rows)
        AND number NOT IN (SELECT peer FROM rows WHERE peer IS NOT NULL)
"""

READ: Final = """
    SELECT boot, seq, ts_ns, by.name, kind, message_id, lamport, bytes, session, round, {wider}
    FROM rows JOIN names AS of ON of.number = channel LEFT JOIN names AS by ON by.number = peer
    WHERE of.name = ? AND ts_ns >= ? AND ts_ns < ? AND rows.number > ? AND rows.number <= ?
    ORDER BY ts_ns, boot, seq
"""
WIDER_COLUMNS: Final = "route, protocol, role, outcome, items_in, items_out, estimate, reason"
NARROW_COLUMNS: Final = "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL"
"""Of a file that no newer program has opened yet."""

DAYS: Final = """
    SELECT name, ts_ns / ? AS day, min(rows.number), max(rows.number), count(*)
    FROM rows JOIN names ON names.number = channel GROUP BY name, day ORDER BY name, day
"""
TABLES: Final = "SELECT count(*) FROM sqlite_schema"
BOOTS: Final = """
    SELECT boot, min(seq), max(seq), closed, {clock} FROM rows JOIN boots USING (boot)
    GROUP BY boot ORDER BY boot
"""


class LogFile:
    """Writes a protocol log; `draw` gives that many random bytes, for the name of a new one.

    The file is made or opened with the first rows, which begin a boot. Any thread may call, one at
    a time.
    """

    def __init__(
        self, path: Path, draw: Callable[[int], bytes], bytes_max: int = BYTES_MAX
    ) -> None:
        self._path = path
        self._draw = draw
        self._bytes_max = bytes_max
        self._lock = Lock()
        self._db: sqlite3.Connection | None = None
        self._boot = 0
        self._names: dict[str, int] = {}

    def append(self, chunks: Sequence[Chunk], anchor: Nanos | None = None) -> None:
        """Write rows down; `anchor` is that of their logbook.

        Raises:
            StorageError: they could not be written, and are lost; says what to do.
        """
        with self._lock:
            try:
                db = self._db or self._open(anchor)
                with db:
                    db.execute("BEGIN IMMEDIATE")
                    self._store(db, chunks)
                    self._forget(db)
            except (sqlite3.Error, OSError) as error:
                self._names.clear()  # those of the transaction are gone again
                raise _explained(error, self._path) from error

    def close(self) -> None:
        """Note that this boot ended well, and close the file. Closing twice does nothing."""
        with self._lock:
            db, self._db = self._db, None
            if db is not None:
                with suppress(sqlite3.Error), closing(db), db:
                    db.execute("UPDATE boots SET closed = 1 WHERE boot = ?", (self._boot,))

    def _open(self, anchor: Nanos | None) -> sqlite3.Connection:
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
        db = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
        try:
            db.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            steps = "".join(MIGRATIONS[_version(db) :])
            named = NAMED.format(self._draw(8).hex())
            db.executescript(f"BEGIN IMMEDIATE; {steps} {named} COMMIT")  # a reader sees it whole
            with db:
                db.execute("BEGIN IMMEDIATE")
                if not self._boot:
                    (last,) = db.execute("SELECT coalesce(max(boot), 0) FROM boots").fetchone()
                    boot = last + 1, clock_id(), anchor
                    db.execute(
                        "INSERT INTO boots (boot, closed, clock, anchor) VALUES (?, 0, ?, ?)", boot
                    )
                    self._boot = last + 1
        except BaseException:
            db.close()
            raise
        self._db = db
        return db

    def _store(self, db: sqlite3.Connection, chunks: Sequence[Chunk]) -> None:
        """Store rows, many in a statement; the few with details by themselves, in their place."""
        plain: list[Row] = []
        for at, first, notes in chunks:
            for seq, note in enumerate(notes, first):
                peer, message_id, lamport = note.peer, note.message_id, note.lamport
                row = (
                    self._boot,
                    seq,
                    at,
                    self._number(db, note.channel),
                    NUMBER_OF[note.kind],
                    None if peer is None else self._number(db, peer),
                    None if message_id is None else bytes.fromhex(message_id),
                    None if lamport is None else min(lamport, BIGINT_MAX),
                    note.size,
                    NUMBER_OF_ROUTE[note.route],
                )
                if note.details is None:
                    plain.append(row)
                else:
                    execute_for_rows(db, INSERT, plain)
                    plain.clear()
                    session, round_, protocol, role, *rest = note.details
                    place = None if role is None else ROLES.index(role)
                    db.execute(INSERT_DETAILS, (*row, session, round_, protocol, place, *rest))
        execute_for_rows(db, INSERT, plain)

    def _number(self, db: sqlite3.Connection, name: str) -> int:
        """Return the number that stands for a channel or a participant."""
        number = self._names.get(name)
        if number is None:
            db.execute("INSERT OR IGNORE INTO names (name) VALUES (?)", (name,))
            found = db.execute("SELECT number FROM names WHERE name = ?", (name,))
            number = self._names[name] = int(found.fetchone()[0])
        return number

    def _forget(self, db: sqlite3.Connection) -> None:
        """Forget the oldest rows if the file is full; their room is used again."""
        if db.execute(FULL, (self._bytes_max,)).fetchone()[0]:
            db.execute(FORGET, (GOES,))
            db.execute("DELETE FROM boots WHERE boot < (SELECT min(boot) FROM rows)")
            db.execute(FORGET_NAMES)
            self._names.clear()


class LogDay(Struct, frozen=True):
    """The rows of a channel and a day: the numbers of the first and the last, and how many."""

    channel: ChannelId
    begins: Nanos
    first: int
    last: int
    count: int


class LogBoot(Struct, frozen=True):
    """The rows of one start: the `seq` of the first and the last, and whether it ended well."""

    boot: int
    first: int
    last: int
    closed: bool
    clock: str | None = None
    """Id of the clock of its computer."""


class LogReader:
    """Reads the protocol log of a profile whose chat may be running; a context manager.

    All that it returns is of one time: rows that are forgotten meanwhile are there for it.

    Raises:
        StorageError: the file cannot be read, or is of a newer version.
    """

    def __init__(self, path: Path, node: PeerId) -> None:
        self._path = path
        self._node = node
        self.run = ""
        """Name of the log; empty while the file is only being made, and has no rows to ask for."""
        with self._explaining():
            self._db = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None
            )
            self._db.execute("BEGIN")
            version = _version(self._db)
            self._is_wide = version >= VERSION
            if version == 0 and self._db.execute(TABLES).fetchone() == (0,):
                return
            if not READ_FROM <= version <= VERSION:
                raise StorageError(
                    f"{path} was written by another version of chat-tui: export with that one, or "
                    "move the file away."
                )
            for (name,) in self._db.execute("SELECT run FROM log"):
                self.run = name

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    def days(self) -> list[LogDay]:
        """Return what there is, by channel and day."""
        with self._explaining():
            rows = self._db.execute(DAYS, (DAY,)).fetchall()
        return [LogDay(ChannelId(channel), day * DAY, *rest) for channel, day, *rest in rows]

    def boots(self) -> list[LogBoot]:
        """Return every start of which there are rows."""
        with self._explaining():
            clock = "clock" if self._is_wide else "NULL"
            rows = self._db.execute(BOOTS.format(clock=clock)).fetchall()
        return [
            LogBoot(boot, first, last, bool(closed), clock)
            for boot, first, last, closed, clock in rows
        ]

    def rows(self, day: LogDay, after: int) -> Iterator[LogRow]:
        """Yield the rows of a day whose numbers are above `after`, by (ts_ns, boot, seq)."""
        wanted = (day.channel, day.begins, day.begins + DAY, after, day.last)
        with self._explaining():
            wider = WIDER_COLUMNS if self._is_wide else NARROW_COLUMNS
            anchors = self._anchors()
            for row in self._db.execute(READ.format(wider=wider), wanted):
                boot, seq, at, peer, kind, message_id, lamport, size, session, round_, *new = row
                route, protocol, role, outcome, items_in, items_out, estimate, reason = new
                anchor = anchors.get(boot)
                yield LogRow(
                    self.run, boot, seq, at, self._node, peer, day.channel, KINDS[kind],
                    None if message_id is None else MessageId(message_id.hex()),
                    lamport, size, session, round_, None if anchor is None else at - anchor,
                    None if route is None else ROUTES[route], protocol,
                    None if role is None else ROLES[role],
                    outcome, items_in, items_out, estimate, reason,
                )  # fmt: skip

    def _anchors(self) -> dict[int, int | None]:
        """Return the lead of the rows' times over the monotonic clock, by start."""
        if not self._is_wide:
            return {}
        return dict(self._db.execute("SELECT boot, anchor FROM boots"))

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise _explained(error, self._path) from error


def _version(db: sqlite3.Connection) -> int:
    (version,) = db.execute("PRAGMA user_version").fetchone()
    return int(version)


def _explained(error: sqlite3.Error | OSError, path: Path) -> StorageError:
    return StorageError(
        f"The protocol log {path} cannot be used ({error}); the chat goes on without it. Make room "
        "or put its rights right, or move the file away, or switch it off: /set protocol_log off."
    )
