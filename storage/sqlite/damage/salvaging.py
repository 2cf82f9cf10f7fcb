"""Copying what can still be read of the tables of a damaged database.

A page that is gone takes a stretch of one table with it. What lies before and behind it is read by
key, so that of a long history a few lines are lost and not all.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from storage.sqlite.migrations import AWAIT_UNKNOWN
from storage.sqlite.sqlite_errors import code_of

UNREADABLE: Final = frozenset({
    sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CONSTRAINT,
})  # fmt: skip
"""SQLite's word for a page that makes no sense, one that the disk does not give, or such a row."""

NEEDED: Final = frozenset({"channels", "group_ops", "epochs"})
"""Tables of which a part is worse than nothing: a history of nobody, members let in by nobody."""

MESSAGES: Final = "messages"

LEAST: Final = -(2**63)
MOST: Final = 2**63 - 1
"""Keys of rows lie between."""

READ_AS_IT_IS: Final = "PRAGMA writable_schema = ON"
"""Has SQLite read a file that is shorter than it says."""

AFTER_LOST: Final = (
    # Whoever wrote what is lost may have been us: no number is signed twice.
    "UPDATE channels SET own_log = random()",
    """
    UPDATE messages SET after_gap = 1 WHERE status = 0 AND number IN (
        SELECT child FROM parents WHERE parent NOT IN (SELECT message_id FROM messages)
    )
    """,
    *AWAIT_UNKNOWN,
)
"""Says what is true without messages that nobody knows, once parents are known of the others."""


class _Table(NamedTuple):
    """A table of the old database and of the new one."""

    name: str
    columns: Sequence[str]
    key: Sequence[str]
    has_numbers: bool
    """True if rows lie by a number and not by the key."""

    @classmethod
    def of(cls, db: sqlite3.Connection, name: str) -> "_Table":
        """Read what the new database says of it."""
        found = db.execute(f"PRAGMA table_info({name})").fetchall()
        [[*_, without, _]] = db.execute(f"PRAGMA main.table_list({name})").fetchall()
        key = sorted((place, column) for _, column, _, _, _, place in found if place)
        columns = [column for _, column, *_ in found]
        return cls(name, columns, [column for _, column in key], not without)

    @property
    def told(self) -> str:
        """Its columns, as SQL has them."""
        return ", ".join(self.columns)


def copy_readable(old: sqlite3.Connection, new: sqlite3.Connection, name: str) -> bool:
    """Copy a table into a new database; returns whether all of it could be read.

    By a connection of its own to the old one: an error in it would undo what was copied so far.

    Raises:
        sqlite3.Error: it could not be written, it is a `NEEDED` one and could not be read, or it is
            that of the messages and not one can be read.
    """
    table = _Table.of(new, name)
    places = ", ".join("?" * len(table.columns))
    insert = f"INSERT INTO {name} ({table.told}) VALUES ({places}) ON CONFLICT DO NOTHING"  # noqa: S608  # ours
    failures: list[sqlite3.DatabaseError] = []
    copied = 0
    read = _by_number if table.has_numbers else _from_both_ends
    for row in read(old, table, failures):
        try:
            copied += new.execute(insert, row).rowcount
        except sqlite3.IntegrityError as error:  # no row of such a table
            failures.append(error)
    for failure in failures:
        if (
            name in NEEDED
            or (name == MESSAGES and not copied)
            or code_of(failure) not in UNREADABLE
        ):
            raise failure
    return not failures


def _by_number(
    db: sqlite3.Connection, table: _Table, failures: list[sqlite3.DatabaseError]
) -> Iterator[tuple[object, ...]]:
    """Yield the rows that can be read, passing over stretches that cannot."""
    query = (
        f"SELECT rowid, {table.told} FROM {table.name} NOT INDEXED "  # noqa: S608  # names of ours
        "WHERE rowid > ? ORDER BY rowid"
    )

    def is_readable(after: int) -> bool:
        try:
            db.execute(f"{query} LIMIT 1", (after,)).fetchone()
        except sqlite3.DatabaseError:
            return False
        return True

    last: int | None = LEAST
    while last is not None:
        try:
            for number, *row in db.execute(query, (last,)):
                last = number
                yield tuple(row)
        except sqlite3.DatabaseError as error:
            failures.append(error)
            last = _behind(last, is_readable)
        else:
            return


def _behind(last: int, is_readable: Callable[[int], bool]) -> int | None:
    """Return the number after which rows can be read again, None where none can.

    Steps become longer until one is behind what is damaged, then shorter until its end is found.
    """
    step = 1
    while not is_readable(min(last + step, MOST)):
        if last + step >= MOST:
            return None
        step *= 2
    low, high = last + step // 2, min(last + step, MOST)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_readable(middle) else (middle, high)
    return high


def _from_both_ends(
    db: sqlite3.Connection, table: _Table, failures: list[sqlite3.DatabaseError]
) -> Iterator[tuple[object, ...]]:
    """Yield rows from the first one on and, if one cannot be read, from the last one back."""
    for way in ("ASC", "DESC"):
        order = ", ".join(f"{column} {way}" for column in table.key)
        try:
            yield from db.execute(f"SELECT {table.told} FROM {table.name} ORDER BY {order}")  # noqa: S608
        except sqlite3.DatabaseError as error:
            failures.append(error)
        else:
            return
