"""Replies on disk: what answers a message, at all depths, and why an answered one is not shown.

No table of replies is needed: a reply names what it answers among its parents, and `parents` is
read from the named message to the ones that name it. So the replies of a history from before this
version are found as well.
"""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from storage.sqlite.columns import message_id
from storage.sqlite.looks import readable
from sync.entries.entry import HASH_SIZE
from sync.entries.replies import MARKED
from sync.machine import ChannelId, MessageId
from sync.view.replies import Node, in_order
from sync.view.view import Unshown

NAMERS_READ: Final = 20_000
"""Messages that name one and are looked at, the newest: an author who names a message in every line
of a flood must not stop whoever asks what answers it."""

ASKED_AT_ONCE: Final = 500
"""Messages looked up with one statement, each a variable of it; SQLite takes 32,766."""

# CROSS JOIN keeps the order of the tables: few messages name one, many are in its channel.
REPLIES: Final = """
    SELECT messages.number, messages.message_id, lamport, kind,
        substr(payload, length(payload) - body_size + 1)
    FROM (SELECT child FROM parents WHERE parent = ? ORDER BY child DESC LIMIT ?)
    CROSS JOIN messages ON messages.number = child
    WHERE channel = ? AND status = 0 AND kind = 1 AND instr(payload, ?)
    ORDER BY messages.number DESC LIMIT ?
"""

# The sign before `channel` keeps SQLite from reading all of the channel.
LINES: Final = "SELECT * FROM lines WHERE +channel = ? AND message_id IN"
HIDDEN: Final = """
    SELECT message_id, author IN (SELECT participant FROM peers WHERE blocked_ns IS NOT NULL)
    FROM messages WHERE +channel = ? AND message_id IN
"""
PENDING: Final = "SELECT message_id, 0 FROM pending_entries WHERE channel = ? AND message_id IN"

Parameters: TypeAlias = tuple[bytes | int | str, ...]


def asked(
    channel: ChannelId, message_ids: Sequence[MessageId], statement: str = LINES
) -> tuple[str, Parameters]:
    """Return a statement that ends in IN with its ids, and its parameters."""
    marks = ", ".join("?" * len(message_ids))
    ids = [bytes.fromhex(one) for one in message_ids]
    return f"{statement} ({marks})", (bytes.fromhex(channel), *ids)


def why_unshown(
    channel: ChannelId, message_ids: Sequence[MessageId], db: sqlite3.Connection
) -> dict[MessageId, Unshown]:
    """Return why each of these messages, none of which is a line, is not shown."""
    why = dict.fromkeys(message_ids, Unshown.ABSENT)
    for statement in (PENDING, HIDDEN):
        for stored, blocked in db.execute(*asked(channel, message_ids, statement)):
            why[message_id(stored)] = Unshown.BLOCKED if blocked else Unshown.WAITS
    return why


def replies_to(
    channel: ChannelId, target: MessageId, limit: int, db: sqlite3.Connection
) -> tuple[list[tuple[MessageId, int]], bool]:
    """Return the replies to a message at all depths, at most so many, and whether there are more.

    Each stands behind the one that it answers, with its depth; those to one message in the order of
    the channel. Of too many, the newest to come of those nearest to the message.
    """
    key = bytes.fromhex(channel)
    nodes: dict[MessageId, Node] = {}
    level, depth, more = [target], 0, False
    while level and len(nodes) < limit:
        depth += 1
        below: list[MessageId] = []
        for parent in level:
            room = limit - len(nodes)
            found = _replies(key, parent, room + 1, db)
            more = more or len(found) > room
            for child, lamport in found[:room]:
                if child != target and child not in nodes:
                    nodes[child] = Node(child, lamport, parent, depth)
                    below.append(child)
        level = below
    more = more or bool(level and any(_replies(key, one, 1, db) for one in level))
    return in_order(target, nodes.values()), more


def _replies(
    channel: bytes, parent: MessageId, limit: int, db: sqlite3.Connection
) -> list[tuple[MessageId, int]]:
    """Return ids and times of the newest messages that answer one."""
    stored = bytes.fromhex(parent)
    rows = db.execute(REPLIES, (stored, NAMERS_READ, channel, MARKED + stored, limit))
    return [
        (message_id(child), lamport)
        for _, child, lamport, kind, body in rows
        if (text := readable(kind, body)) is not None and text.reply_to == parent
    ]


def in_parts(message_ids: Iterable[MessageId]) -> list[Sequence[MessageId]]:
    """Return ids in parts that one statement takes, each of them once."""
    ids = [one for one in dict.fromkeys(message_ids) if len(one) == 2 * HASH_SIZE]
    return [ids[at : at + ASKED_AT_ONCE] for at in range(0, len(ids), ASKED_AT_ONCE)]


def missing_in(
    message_ids: Sequence[MessageId], found: Mapping[MessageId, object]
) -> list[MessageId]:
    """Return those of the ids that nothing was found of."""
    return [one for one in message_ids if one not in found]
