"""Mending of a database that the disk damaged: sets bad rows aside, rebuilds what is derived."""

import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from storage.sqlite.changes import adopt, recounted, words_of
from storage.sqlite.columns import U64_MAX, from_u64, to_u64
from storage.sqlite.damage.salvaging import (
    AFTER_LOST,
    MESSAGES,
    READ_AS_IT_IS,
    copy_readable,
)
from storage.sqlite.integrity import problems_of
from storage.sqlite.payloads import entry_of
from storage.sqlite.queries import (
    AWAIT_IN_LOG,
    AWAIT_IN_LOG_REST,
    DAMAGED_CHILDREN,
    FORGET,
    FORGET_PARENTS,
    PLACE_IN_LOG,
    SET_ASIDE,
    STORE_PARENTS,
    STORE_TEXTS,
)
from storage.sqlite.rows import execute_for_rows
from storage.sqlite.soundness import CLAIMS, MESSAGE, SENDER, Place, is_sound
from storage.sqlite.stored_governance import StoredGovernances
from sync.errors import StorageError
from sync.group.logs import naming

PAGE: Final = 1000
"""Rows that are read at once; a few hundred kilobytes."""

COUNT_AGAIN: Final = (
    "UPDATE authors SET messages = 0, bytes = 0",
    "UPDATE counted SET number = 0",
)
"""Has disk usage counted anew by whoever asks next."""

ID_AT: Final = len(SENDER) + 64 + len(MESSAGE)
"""Where the id begins in canonical SDS bytes, in hexadecimal characters."""
ID: Final = re.compile(rb"[0-9a-f]{64}")

ROW: Final = "SELECT payload FROM messages WHERE channel = ? AND message_id = ?"

PAYLOADS: Final = """
    SELECT channel, message_id, author, lamport, created_ns, waku_hash, body_size, payload, number
    FROM messages NOT INDEXED WHERE number > ? ORDER BY number LIMIT ?
"""

TABLES: Final = """
    SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'texts%'
        AND name NOT LIKE 'sqlite%' AND name NOT IN ('parents', 'changes')
"""
"""All but what follows from the messages."""

WITHHOLD_ROTTEN: Final = """
    INSERT OR IGNORE INTO main.withheld (channel, target, author, lamport, message_id, hides)
    SELECT noted.channel, target, noted.author, noted.lamport, noted.message_id, noted.hides
    FROM old.changes AS noted CROSS JOIN main.messages ON main.messages.number = noted.number
    WHERE reacts = 0 AND kind NOT IN (2, 3) AND status != 2
        AND noted.message_id NOT IN (SELECT message_id FROM main.changes)
"""
"""Redactions that can no longer be read: what they hid is known by what was noted of them."""

MAKE_TEXTS: Final = """
    CREATE VIRTUAL TABLE texts USING fts5 (
        nick, text, content = '', tokenize = 'unicode61 remove_diacritics 2'
    )
"""


def set_aside(db: sqlite3.Connection, damaged: Sequence[Place]) -> None:
    """Take rows out of the history, in the transaction that is open.

    Messages that name them follow a gap from now on; messages they changed look as if they had
    never come.
    """
    edited = False
    for place in damaged:
        channel, stored_id = place
        row = db.execute(ROW, place).fetchone()
        if row is None:
            continue
        (payload,) = row
        for named in {stored_id, *_ids_in(payload)}:
            db.execute(DAMAGED_CHILDREN, (named, channel))
        edited |= recounted(db, place)
        db.execute(SET_ASIDE, place)
        _await_again(db, place)
        db.execute(FORGET_PARENTS, place)
        db.execute(FORGET, place)
    if edited:  # whose words the index has, nobody can read any more
        index_anew(db)


def _await_again(db: sqlite3.Connection, place: Place) -> None:
    """Have the links of entries read again that may name one that is about to go."""
    author, log, seq = db.execute(PLACE_IN_LOG, place).fetchone()
    above = [one for one in naming(to_u64(seq)) if one <= U64_MAX]
    rows = [(place[0], author, log, from_u64(one)) for one in above]
    execute_for_rows(db, AWAIT_IN_LOG, rows, AWAIT_IN_LOG_REST)


def reindex(db: sqlite3.Connection) -> None:
    """Make all indexes and the search index anew, in the transaction that is open.

    Raises:
        sqlite3.Error, StorageError: that is not enough.
    """
    db.execute("REINDEX")
    index_anew(db)
    left = problems_of(db)
    if left:
        raise StorageError(left[0])


def copy_sound(old: Path, new: sqlite3.Connection) -> frozenset[str]:
    """Fill a new, empty database from what a damaged one has in its tables, not in its indexes.

    Everything derived from the messages is made anew.

    Returns:
        The tables that could not be read to the end.

    Raises:
        sqlite3.Error: one that is needed cannot be read.
    """
    new.execute("PRAGMA foreign_keys = OFF")
    new.execute("BEGIN IMMEDIATE")
    where = f"{old.absolute().as_uri()}?mode=ro"
    tables = [table for (table,) in new.execute(TABLES)]
    with closing(sqlite3.connect(where, uri=True, isolation_level=None)) as readable:
        readable.execute(READ_AS_IT_IS)
        _require_same_version(readable, new)
        lost = frozenset(one for one in tables if not copy_readable(readable, new, one))
    for statement in COUNT_AGAIN:
        new.execute(statement)
    for rows in _pages(new):
        parents = [
            (number, bytes.fromhex(parent.message_id))
            for number, payload in rows
            for parent in entry_of(payload).header.parents
        ]
        execute_for_rows(new, STORE_PARENTS, sorted(set(parents)))
    for statement in AFTER_LOST if MESSAGES in lost else ():
        new.execute(statement)
    index_anew(new)  # as the lines were written; changes put other words in their place
    adopt(new, StoredGovernances().hides(new))
    new.execute("COMMIT")
    with suppress(sqlite3.Error):  # that cannot be read either
        new.execute("ATTACH ? AS old", (where,))
        new.execute("BEGIN IMMEDIATE")
        if new.execute(WITHHOLD_ROTTEN).rowcount:
            index_anew(new)
        new.execute("COMMIT")
    return lost


def _require_same_version(old: sqlite3.Connection, new: sqlite3.Connection) -> None:
    """Refuse to copy what another version wrote: its tables have other columns."""
    [version], [ours] = (db.execute("PRAGMA user_version").fetchone() for db in (old, new))
    if version != ours:
        raise sqlite3.DatabaseError(f"version {version} is damaged, this program has {ours}")


def _pages(db: sqlite3.Connection) -> Iterator[list[tuple[int, bytes]]]:
    """Yield number and bytes of all messages that are what was stored."""
    last = -1
    while rows := db.execute(PAYLOADS, (last, PAGE)).fetchall():
        yield [(row[-1], row[CLAIMS - 1]) for row in rows if is_sound(*row[:CLAIMS])]
        last = rows[-1][-1]


def index_anew(db: sqlite3.Connection) -> None:
    """Make the search index anew from what is stored, in the transaction that is open."""
    db.execute("DROP TABLE texts")
    db.execute(MAKE_TEXTS)
    for rows in _pages_of_words(db):
        execute_for_rows(db, STORE_TEXTS, rows)


def _pages_of_words(db: sqlite3.Connection) -> Iterator[list[tuple[int, str, str]]]:
    last = 0
    while True:
        (until,) = db.execute(
            "SELECT max(number) FROM "
            "(SELECT number FROM messages WHERE number > ? ORDER BY number LIMIT ?)",
            (last, PAGE),
        ).fetchone()
        if until is None:
            return
        yield words_of(db, last, until)
        last = until


def _ids_in(payload: bytes) -> list[bytes]:
    """Return the id that the bytes of a message give it, if that can still be read.

    The column beside them may be what is damaged.
    """
    found = ID.match(payload, ID_AT)
    return [] if found is None else [bytes.fromhex(found[0].decode())]
