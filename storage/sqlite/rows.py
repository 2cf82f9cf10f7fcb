"""Many rows in one statement: rows of values to SQLite, and what it has for them."""

import sqlite3
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Final, TypeAlias

Row: TypeAlias = tuple[Any, ...]

STATEMENTS_CACHED: Final = 256
"""Compiled statements kept, and their texts; the program has fewer."""

ROWS_AT_ONCE: Final = 64
"""Rows in one statement. SQLite gives up the interpreter's lock at each, and may have to wait 5 ms
for a busy event loop to hand it back: 256 messages took a second row by row, 40 ms like this."""


def execute_for_rows(
    db: sqlite3.Connection, statement: str, rows: Sequence[Row], rest: str = ""
) -> int:
    """Execute `statement`, which ends in VALUES, with all of `rows`; return how many it changed.

    Args:
        db: the connection, on its own thread.
        statement: SQL up to and including VALUES.
        rows: all of one length; what they change must not depend on their order.
        rest: SQL after the values.
    """
    changed = 0
    if rows:
        for one in _statements(statement, rows, rest):
            changed += db.execute(*one).rowcount
    return changed


def select_for_rows(
    db: sqlite3.Connection, statement: str, rows: Sequence[Row], rest: str = ""
) -> list[Row]:
    """Return what `statement`, put together as in `execute_for_rows`, finds for all of `rows`."""
    found: list[Row] = []
    for one in _statements(statement, rows, rest):
        found += db.execute(*one).fetchall()
    return found


def _statements(
    statement: str, rows: Sequence[Row], rest: str
) -> Iterator[tuple[str, list[object]]]:
    start = 0
    while start < len(rows):
        # Powers of two, so that few different statements are compiled and kept.
        count = min(ROWS_AT_ONCE, 1 << (len(rows) - start).bit_length() - 1)
        some = rows[start : start + count]
        text = _for_rows(statement, count, len(some[0]), rest)
        yield text, [value for row in some for value in row]
        start += count


@lru_cache(STATEMENTS_CACHED)
def _for_rows(statement: str, count: int, width: int, rest: str) -> str:
    marks = ", ".join([f"({', '.join('?' * width)})"] * count)
    return f"{statement} {marks} {rest}"
