"""Messages as edits, redactions and reactions left them, from the indexes of `changes`."""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from storage.sqlite.columns import STATUS, message_id, peer_id, to_u64
from storage.sqlite.payloads import change_in
from storage.sqlite.rows import Row, select_for_rows
from storage.sqlite.soundness import CLAIMS, Place, is_sound
from sync.entries.changes import (
    MORE_REACTORS_MAX,
    REACTORS_MAX,
    Change,
    Look,
    Redaction,
    put_together,
)
from sync.entries.entry import HASH_SIZE, Kind, Text, decode_text
from sync.errors import DecodeError
from sync.group.status import Status
from sync.machine import PeerId

NO_EMOJI: Final = 2 + HASH_SIZE
"""Bytes of a reaction that was taken back: its target, with a tag and a length before it."""

WRITES, REACTS, REPLACES, TAKES_BACK = 0, 1, 2, 3
"""Values of `changes.reacts`: an edit or a redaction; a reaction; a text that stands for
another one; a redaction that takes back a change."""


def not_taken_back(changes: str) -> str:
    """Return SQL: no change of its author's takes back that of the row of `changes`."""
    return f"""
        NOT EXISTS (
            SELECT 1 FROM changes AS back CROSS JOIN messages AS taking
                ON taking.number = back.number
            WHERE back.channel = {changes}.channel AND back.target = {changes}.message_id
                AND back.reacts = {TAKES_BACK} AND back.author = {changes}.author
                AND back.lamport < {changes}.lamport AND taking.status != {STATUS[Status.PARKED]}
        )
    """  # noqa: S608  # numbers and names of ours


# CROSS JOIN keeps the order of the tables: few rows are asked for.
ANY_COUNTS: Final = """
    EXISTS (SELECT 1 FROM changes WHERE channel = column1 AND target = column2 AND counts)
"""
TOUCHED: Final = "SELECT column1, column2, column3, kinds.reacts FROM (VALUES"
# A look-up for each value of `reacts`, not a row for each of thousands of changes.
TOUCHED_REST: Final = f"""
    ) CROSS JOIN (SELECT {WRITES} AS reacts UNION ALL SELECT {REACTS} UNION ALL SELECT {REPLACES})
        AS kinds
    WHERE {ANY_COUNTS} AND EXISTS (
        SELECT 1 FROM changes WHERE changes.channel = column1 AND target = column2
            AND changes.reacts = kinds.reacts AND counts
    )
"""  # noqa: S608  # numbers of ours
WROTE: Final = """
    SELECT messages.channel, messages.message_id, messages.author, messages.lamport, created_ns,
        waku_hash, body_size, payload, column1, column2, messages.kind FROM (VALUES
"""
WROTE_REST: Final = """
    ) CROSS JOIN changes ON changes.channel = column1 AND target = column2 AND reacts = 0
        AND changes.author = column3 AND counts
    CROSS JOIN messages ON messages.number = changes.number
"""
REACTED: Final = WROTE
# Numbers of ours stand in these, nothing of anybody else's.
REACTED_REST: Final = f"""
    ) CROSS JOIN messages ON messages.number IN (
        SELECT changes.number FROM changes
        WHERE changes.channel = column1 AND target = column2 AND reacts = 1 AND counts
        ORDER BY changes.author LIMIT {REACTORS_MAX}
    ) ORDER BY messages.author
"""  # noqa: S608
OWN_REACTED_REST: Final = WROTE_REST.replace("reacts = 0", "reacts = 1")
MORE_REACTED: Final = "SELECT column1, column2, count(*) FROM (VALUES"
MORE_REACTED_REST: Final = f"""
    ) CROSS JOIN messages ON messages.number IN (
        SELECT changes.number FROM changes
        WHERE changes.channel = column1 AND target = column2 AND reacts = 1 AND counts
        ORDER BY changes.author LIMIT {MORE_REACTORS_MAX} OFFSET {REACTORS_MAX}
    ) WHERE body_size > {NO_EMOJI} AND messages.author IS NOT column3 GROUP BY column1, column2
"""  # noqa: S608

REWRITING: Final = (Kind.EDIT, Kind.REACTION)
"""Changes without which a message is shown as it was before."""

NONE: Final = (-1, b"")
"""Below every rank."""

REPLACED: Final = "SELECT column1, column2 FROM (VALUES"
REPLACED_REST: Final = f"""
    ) CROSS JOIN changes ON changes.channel = column1 AND target = column2 AND reacts = {REPLACES}
        AND changes.author = column3 AND counts
    CROSS JOIN messages ON messages.message_id = column2 AND messages.channel = column1
        AND messages.lamport > changes.lamport
"""

HIDDEN: Final = "SELECT column1, column2, hiding.author FROM (VALUES"
HIDDEN_REST: Final = """
    ) CROSS JOIN changes AS hiding ON hiding.message_id = (
        SELECT message_id FROM changes
        WHERE changes.channel = column1 AND target = column2 AND hides AND counts
            AND changes.author != column3
        ORDER BY lamport, message_id LIMIT 1
    )
"""
"""Lines of others that an admin has hidden; whatever became of the rows of these redactions."""

ANY_WITHHELD: Final = "SELECT EXISTS (SELECT 1 FROM withheld)"
WITHHELD: Final = "SELECT channel, target, author, lamport, message_id, hides FROM (VALUES"
WITHHELD_REST: Final = ") CROSS JOIN withheld ON channel = column1 AND target = column2"

Rank: TypeAlias = tuple[int, bytes]
"""Lamport time and id: of an author's edits and redactions of one message the highest counts."""


def looks_of(
    db: sqlite3.Connection,
    lines: Sequence[tuple[bytes, bytes, bytes]],
    me: PeerId | None = None,
) -> dict[Place, Look]:
    """Return what changes have made of messages: (channel, id, author) each.

    Nearly all of a page are as they were written, which is one look-up each. Reactions of `me` are
    told however many others react.
    """
    touched: dict[int, list[Row]] = {}
    for *line, reacts in select_for_rows(db, TOUCHED, lines, TOUCHED_REST):
        touched.setdefault(reacts, []).append(tuple(line))
    rewritten, answered = touched.get(WRITES, ()), [row[:2] for row in touched.get(REACTS, ())]
    wrote: dict[Place, Change] = {}
    ranks: dict[Place, Rank] = {}
    for place, _, rank, change in _changes(db, WROTE, rewritten, WROTE_REST):
        wrote[place], ranks[place] = change, rank
    authors = {line[:2]: line[2] for line in lines}
    hidden: dict[Place, bytes] = {
        row[:2]: row[2] for row in select_for_rows(db, HIDDEN, rewritten, HIDDEN_REST)
    }
    for place, author, rank, hides in _withheld(db, list(authors)):
        if author != authors[place] and hides:
            hidden.setdefault(place, author)
        elif author == authors[place] and rank > ranks.get(place, NONE):
            wrote[place] = Redaction(message_id(place[1]))
    reacted, more = _reacted(db, answered, me)
    replaced = set(select_for_rows(db, REPLACED, touched.get(REPLACES, ()), REPLACED_REST))
    return {
        place: put_together(
            wrote.get(place),
            reacted.get(place, ()),
            more_reactors=more.get(place, 0),
            replaced=place in replaced,
            hidden_by=peer_id(hidden[place]) if place in hidden else None,
        )
        for place in wrote.keys() | reacted.keys() | replaced | hidden.keys()
    }


def _reacted(
    db: sqlite3.Connection, places: Sequence[Place], me: PeerId | None
) -> tuple[dict[Place, list[tuple[PeerId, Change]]], dict[Place, int]]:
    """Return the reactions to messages that are told, and how many authors react besides."""
    reacted: dict[Place, list[tuple[PeerId, Change]]] = {}
    for place, who, _, change in _changes(db, REACTED, places, REACTED_REST):
        reacted.setdefault(place, []).append((peer_id(who), change))
    ours = None if me is None else bytes.fromhex(me)
    crowded = [(*place, ours) for place, told in reacted.items() if len(told) >= REACTORS_MAX]
    for place, who, _, change in _changes(db, REACTED, crowded, OWN_REACTED_REST):
        if all(author != me for author, _ in reacted[place]):
            reacted[place].append((peer_id(who), change))
    counted = select_for_rows(db, MORE_REACTED, crowded, MORE_REACTED_REST)
    return reacted, {(channel, target): count for channel, target, count in counted}


def withheld_among(db: sqlite3.Connection, places: Sequence[Place]) -> list[Place]:
    """Return which of these messages a redaction hides, or did, whose row rotted."""
    return [place for place, *_ in _withheld(db, places)]


def _withheld(
    db: sqlite3.Connection, places: Sequence[Place]
) -> list[tuple[Place, bytes, Rank, bool]]:
    """Return which of these messages were deleted by whom, and when, says a row that rotted.

    Also whether it was an admin's, who may hide lines of others.
    """
    if not db.execute(ANY_WITHHELD).fetchone()[0]:
        return []  # nearly always
    rows = select_for_rows(db, WITHHELD, places, WITHHELD_REST)
    return [
        ((channel, target), author, (to_u64(lamport), redaction), bool(hides))
        for channel, target, author, lamport, redaction, hides in rows
    ]


def _changes(
    db: sqlite3.Connection, statement: str, rows: Sequence[Row], rest: str
) -> Iterator[tuple[Place, bytes, Rank, Change]]:
    """Yield what is changed, by whom, when, and how; a change that is damaged is none.

    Unless it hides a message: what was deleted is not shown because the disk forgot by what.
    """
    for row in select_for_rows(db, statement, rows, rest):
        _, changing, author, lamport, *_, size, payload, channel, target, kind = row
        if is_sound(*row[:CLAIMS]):
            change = change_in(kind, payload[len(payload) - size :])
            yield (channel, target), author, (to_u64(lamport), changing), change
        elif kind not in REWRITING:
            yield (channel, target), author, NONE, Redaction(message_id(target))


def readable(kind: int, body: bytes) -> Text | None:
    """Return the text of a message as it was written; None if it is none that we know."""
    try:
        return decode_text(body) if kind == Kind.TEXT else None
    except DecodeError:
        return None
