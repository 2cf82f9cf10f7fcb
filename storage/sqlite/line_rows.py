"""Rows of messages as the lines that are shown."""

import sqlite3
from collections.abc import Sequence
from typing import Final

from storage.sqlite.columns import delivery_of, message_id, peer_id, to_u64
from storage.sqlite.looks import looks_of, readable
from storage.sqlite.payloads import entry_of
from storage.sqlite.rows import Row
from storage.sqlite.soundness import CLAIMS, Place, is_sound
from sync.entries.entry import Text
from sync.entries.replies import named_target
from sync.machine import ChannelId, MessageId, PeerId
from sync.view.line_looks import changed
from sync.view.view import Line

UNKNOWN: Final = Text("", "(a kind of message this version does not know)")
"""Words shown for a message that is no text."""

LACKS: Final = """
    SELECT EXISTS (
        SELECT 1 FROM parents WHERE child = ?1 AND NOT EXISTS (
            SELECT 1 FROM delivered WHERE message_id = parents.parent AND channel = ?2
        )
    )
"""
"""True where a message builds on something that is not here; asked only of those behind a gap."""


def read_lines(
    me: PeerId, query: str, parameters: Sequence[bytes | int | str], db: sqlite3.Connection
) -> tuple[list[Line], list[Place]]:
    """Return the lines, and the places of those that are not what was stored: nobody's words."""
    return lines_of_rows(me, db.execute(query, parameters).fetchall(), db)


def lines_of_rows(
    me: PeerId, found: Sequence[Row], db: sqlite3.Connection
) -> tuple[list[Line], list[Place]]:
    """Return rows as `read_lines` does."""
    rows: list[Row] = []
    damaged: list[Place] = []
    for row in found:
        if is_sound(*row[:CLAIMS]):
            rows.append(row)
        else:
            damaged.append(row[:2])
    looks = looks_of(db, [row[:3] for row in rows], me)
    lines = [_line(me, row, db) for row in rows]
    if looks:
        lines = [
            line if (look := looks.get(row[:2])) is None else changed(line, look, me)
            for line, row in zip(lines, rows, strict=True)
        ]
    return lines, damaged


def _line(me: PeerId, row: Row, db: sqlite3.Connection) -> Line:
    channel, stored_id, author, lamport, created_ns, _, size, payload, *more = row
    number, after_gap, delivery, kind = more
    text = readable(kind, payload[len(payload) - size :]) or UNKNOWN
    writer = peer_id(author)
    return Line(
        channel=ChannelId(channel.hex()),
        message_id=message_id(stored_id),
        author=writer,
        nick=text.nick,
        text=text.text,
        lamport=to_u64(lamport),
        created_ns=to_u64(created_ns),
        own=writer == me,
        after_gap=bool(after_gap and db.execute(LACKS, (number, channel)).fetchone()[0]),
        delivery=None if delivery is None else delivery_of(delivery),
        reply_to=named_target(entry_of(payload), text) if text.reply_to else None,
        replaces=MessageId(text.replaces) if text.replaces else None,
    )
