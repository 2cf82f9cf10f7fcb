"""One message as it is stored, with everything that changes it, from disk."""

import sqlite3
from typing import Final

from storage.sqlite.looks import not_taken_back
from storage.sqlite.payloads import entry_of
from storage.sqlite.soundness import is_sound
from sync.entries.changes import change_of
from sync.machine import ChannelId, MessageId
from sync.view.message_infos import ChangeInfo, StoredInfo

CHANGES_MAX: Final = 100
"""Changes of one message that are told, the last ones; nobody reads more."""

ONE: Final = """
    SELECT channel, message_id, author, lamport, created_ns, waku_hash, body_size, payload
    FROM messages WHERE message_id = ? AND channel = ?
"""

# CROSS JOIN keeps the order of the tables: few changes have one target, many are in its channel.
CHANGES: Final = f"""
    SELECT messages.channel, messages.message_id, messages.author, messages.lamport, created_ns,
        waku_hash, body_size, payload
    FROM changes CROSS JOIN messages ON messages.number = changes.number
    WHERE changes.channel = ? AND changes.target = ? AND messages.status = 0
        AND {not_taken_back("changes")}
    ORDER BY messages.lamport DESC, messages.message_id DESC LIMIT ?
"""  # noqa: S608  # numbers and names of ours


def stored_in(channel: ChannelId, wanted: MessageId, db: sqlite3.Connection) -> StoredInfo | None:
    """Return a message and its changes but those that are damaged; see `History.stored`."""
    ours, stored_id = bytes.fromhex(channel), bytes.fromhex(wanted)
    row = db.execute(ONE, (stored_id, ours)).fetchone()
    if row is None or not is_sound(*row):
        return None
    *_, waku_hash, _, payload = row
    rows = db.execute(CHANGES, (ours, stored_id, CHANGES_MAX)).fetchall()
    entries = [entry_of(one[-1]) for one in reversed(rows) if is_sound(*one)]
    changes = [
        ChangeInfo(one.message_id, one.header.author, one.header.created_ns, change)
        for one in entries
        if (change := change_of(one)) is not None
    ]
    return StoredInfo(payload, waku_hash, tuple(changes))
