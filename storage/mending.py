"""What is done about a disk that rots: bad rows are set aside, what is derived is made anew."""

import re
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Final

from storage.changes import recounted, words_of
from storage.queries import (
    DAMAGED_CHILDREN,
    FORGET,
    FORGET_PARENTS,
    SET_ASIDE,
    STORE_TEXTS,
)
from storage.rows import execute_for_rows
from storage.soundness import MESSAGE, SENDER, Place

PAGE: Final = 1000
"""Rows that are read at once; a few hundred kilobytes."""

ID_AT: Final = len(SENDER) + 64 + len(MESSAGE)
"""Where the id begins in canonical SDS bytes, in hexadecimal characters."""
ID: Final = re.compile(rb"[0-9a-f]{64}")

ROW: Final = "SELECT payload FROM messages WHERE channel = ? AND message_id = ?"

MAKE_TEXTS: Final = (
    "DROP TABLE IF EXISTS texts",
    """
    CREATE VIRTUAL TABLE texts USING fts5 (
        nick, text, content = '', tokenize = 'unicode61 remove_diacritics 2'
    )
    """,
)


def set_aside(db: sqlite3.Connection, damaged: Sequence[Place]) -> None:
    """Take rows out of the history, in the transaction that is open.

    What names them follows a gap from now on; what they changed looks as if they had never come.
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
        db.execute(FORGET_PARENTS, place)
        db.execute(FORGET, place)
    if edited:  # whose words the index has, nobody can read any more
        index_anew(db)


def index_anew(db: sqlite3.Connection) -> None:
    """Make the search index anew from what is stored, in the transaction that is open."""
    for statement in MAKE_TEXTS:
        db.execute(statement)
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
