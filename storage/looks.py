"""What changes have made of messages, from the indexes that `storage.changes` keeps."""

import sqlite3
from collections.abc import Sequence
from typing import Final, TypeAlias

from storage.columns import peer_id
from storage.payloads import change_in
from storage.rows import select_for_rows
from sync.changes import REACTORS_MAX, Change, Look, put_together
from sync.entry import Kind, Text, decode_text
from sync.errors import DecodeError
from sync.machine import PeerId

Place: TypeAlias = tuple[bytes, bytes]
"""A channel and the id of a message in it."""

WROTE: Final = """
    SELECT column1, column2, messages.author, messages.kind,
        substr(payload, length(payload) - body_size + 1) FROM (VALUES
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

REPLACES: Final = 2
"""What stands in `changes.reacts` for a text that stands for another one."""

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
    """Return what changes have made of messages: (channel, id, author) each."""
    wrote = {
        (channel, target): change_in(kind, body)
        for channel, target, _, kind, body in select_for_rows(db, WROTE, lines, WROTE_REST)
    }
    reacted: dict[Place, list[tuple[PeerId, Change]]] = {}
    places = [line[:2] for line in lines]
    for channel, target, who, kind, body in select_for_rows(db, REACTED, places, REACTED_REST):
        change = change_in(kind, body)
        reacted.setdefault((channel, target), []).append((peer_id(who), change))
    replaced = set(select_for_rows(db, REPLACED, lines, REPLACED_REST))
    return {
        place: put_together(wrote.get(place), reacted.get(place, ()), replaced=place in replaced)
        for place in wrote.keys() | reacted.keys() | replaced
    }


def readable(kind: int, body: bytes) -> Text | None:
    """Return the text of a message as it was written; None if it is none that we know."""
    try:
        return decode_text(body) if kind == Kind.TEXT else None
    except DecodeError:
        return None
