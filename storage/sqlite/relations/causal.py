"""The causal graph around a message, from disk; the messages that wait are in it too."""

import sqlite3
from typing import Final

from msgspec.structs import replace

from storage.sqlite.columns import STATUS_OF, message_id
from storage.sqlite.looks import looks_of
from storage.sqlite.queries import BLOCKED_AUTHORS
from storage.sqlite.soundness import CLAIMS, is_sound
from sync.entries.changes import UNCHANGED
from sync.entries.entry import open_content
from sync.errors import DecodeError
from sync.group.status import Status
from sync.machine import ChannelId, MessageId
from sync.sds.wire import decode
from sync.view.causal_walk import BLOCKED, CHILDREN_MAX, Kin, as_it_looks, walk
from sync.view.view import CausalNode, Place

ONE: Final = """
    SELECT channel, message_id, author, lamport, created_ns, waku_hash, body_size, payload, status
    FROM messages WHERE message_id = ? AND channel = ?
"""

# CROSS JOIN keeps the order of the tables: few messages name one, many are in its channel.
CHILDREN: Final = """
    SELECT child.message_id FROM parents CROSS JOIN messages AS child
    ON child.number = parents.child
    WHERE parents.parent = ? AND child.channel = ?
    ORDER BY child.lamport, child.message_id LIMIT ?
"""


def around(
    channel: ChannelId, centre: MessageId, depth: int, limit: int, db: sqlite3.Connection
) -> list[CausalNode]:
    """Return the graph around `centre`; see `sync.view.view.History.causal`."""
    ours = bytes.fromhex(channel)

    def look(wanted: MessageId) -> Kin:
        stored = bytes.fromhex(wanted)
        children = [
            message_id(child)
            for (child,) in db.execute(CHILDREN, (stored, ours, CHILDREN_MAX)).fetchall()
        ]
        row = db.execute(ONE, (stored, ours)).fetchone()
        if row is None or not is_sound(*row[:CLAIMS]):
            return Kin(None, Place.MISSING, children)
        payload, status = row[CLAIMS - 1 :]
        place = Place.HERE if STATUS_OF[status] is Status.DELIVERED else Place.WAITING
        try:
            entry = open_content(decode(payload).content)
        except DecodeError:  # stored by a version with other rules
            return Kin(None, place, children)
        return Kin(entry, place, children)

    nodes = walk(look, centre, depth, limit)
    written = [
        (ours, bytes.fromhex(node.message_id), bytes.fromhex(node.author))
        for node in nodes
        if node.author is not None and node.place is not Place.MISSING
    ]
    looks = looks_of(db, written)
    hidden = {author.hex() for (author,) in db.execute(BLOCKED_AUTHORS)}
    return [
        replace(node, text=BLOCKED)
        if node.author in hidden and node.place is not Place.MISSING
        else as_it_looks(node, looks.get((ours, bytes.fromhex(node.message_id)), UNCHANGED))
        for node in nodes
    ]
