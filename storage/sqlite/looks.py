"""Messages as edits, redactions and reactions left them, from the indexes of `storage.sqlite.changes`."""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Final

from storage.sqlite.columns import peer_id
from storage.sqlite.payloads import change_in
from storage.sqlite.rows import Row, select_for_rows
from storage.sqlite.soundness import CLAIMS, Place, is_sound
from sync.entries.changes import REACTORS_MAX, Change, Look, put_together
from sync.entries.entry import Kind, Text, decode_text
from sync.errors import DecodeError
from sync.machine import PeerId

WRITES, REACTS, REPLACES = 0, 1, 2
"""What stands in `changes.reacts`: an edit or a redaction; a reaction; a text that stands for
another one."""

# CROSS JOIN keeps the order of the tables: few rows are asked for.
TOUCHED: Final = "SELECT DISTINCT column1, column2, column3, reacts FROM (VALUES"
TOUCHED_REST: Final = (
    ") CROSS JOIN changes ON changes.channel = column1 AND target = column2 WHERE counts"
)
WROTE: Final = """
    SELECT messages.channel, messages.message_id, messages.author, messages.lamport, created_ns,
        waku_hash, body_size, payload, column2, messages.kind FROM (VALUES
"""
WROTE_REST: Final = """
    ) CROSS JOIN changes ON changes.channel = column1 AND target = column2 AND reacts = 0
        AND changes.author = column3 AND counts
    CROSS JOIN messages ON messages.number = changes.number
"""
REACTED: Final = WROTE
# A number of ours stands in it, nothing of anybody else's.
REACTED_REST: Final = f"""
    ) CROSS JOIN messages ON messages.number IN (
        SELECT changes.number FROM changes
        WHERE changes.channel = column1 AND target = column2 AND reacts = 1 AND counts
        ORDER BY changes.author LIMIT {REACTORS_MAX}
    ) ORDER BY messages.author
"""  # noqa: S608

REPLACED: Final = "SELECT column1, column2 FROM (VALUES"
REPLACED_REST: Final = f"""
    ) CROSS JOIN changes ON changes.channel = column1 AND target = column2 AND reacts = {REPLACES}
        AND changes.author = column3 AND counts
    CROSS JOIN messages ON messages.message_id = column2 AND messages.channel = column1
        AND messages.lamport > changes.lamport
"""


def looks_of(
    db: sqlite3.Connection, lines: Sequence[tuple[bytes, bytes, bytes]]
) -> dict[Place, Look]:
    """Return what changes have made of messages: (channel, id, author) each.

    Nearly all of a page are as they were written, which is one look-up each.
    """
    touched: dict[int, list[Row]] = {}
    for *line, reacts in select_for_rows(db, TOUCHED, lines, TOUCHED_REST):
        touched.setdefault(reacts, []).append(tuple(line))
    rewritten, answered = touched.get(WRITES, ()), [row[:2] for row in touched.get(REACTS, ())]
    wrote = {place: change for place, _, change in _changes(db, WROTE, rewritten, WROTE_REST)}
    reacted: dict[Place, list[tuple[PeerId, Change]]] = {}
    for place, who, change in _changes(db, REACTED, answered, REACTED_REST):
        reacted.setdefault(place, []).append((peer_id(who), change))
    replaced = set(select_for_rows(db, REPLACED, touched.get(REPLACES, ()), REPLACED_REST))
    return {
        place: put_together(wrote.get(place), reacted.get(place, ()), replaced=place in replaced)
        for place in wrote.keys() | reacted.keys() | replaced
    }


def _changes(
    db: sqlite3.Connection, statement: str, rows: Sequence[Row], rest: str
) -> Iterator[tuple[Place, bytes, Change]]:
    """Yield what is changed, by whom, and how; a change that is damaged is none."""
    for row in select_for_rows(db, statement, rows, rest):
        if is_sound(*row[:CLAIMS]):
            channel, _, author, *_, size, payload, target, kind = row
            yield (channel, target), author, change_in(kind, payload[len(payload) - size :])


def readable(kind: int, body: bytes) -> Text | None:
    """Return the text of a message as it was written; None if it is none that we know."""
    try:
        return decode_text(body) if kind == Kind.TEXT else None
    except DecodeError:
        return None
