"""State of channels in SQLite: the signed entry of each register that stands."""

import sqlite3
from collections.abc import Sequence
from typing import Final, TypeAlias

from sync.calimero.state.entry import parse
from sync.errors import DecodeError
from sync.group.records import DropState, StoreState

STORE: Final = """
    INSERT OR REPLACE INTO state_entries (channel, register, leaf, content) VALUES (?, ?, ?, ?)
"""
DROP: Final = "DELETE FROM state_entries WHERE channel = ? AND register = ?"
ENTRIES: Final = """
    SELECT register, leaf, content FROM state_entries WHERE channel = ? ORDER BY register
"""

StateRecord: TypeAlias = StoreState | DropState


def keep_state(db: sqlite3.Connection, records: Sequence[StateRecord]) -> None:
    """Write the records of state of a commit, in their order."""
    for record in records:
        channel = bytes.fromhex(record.channel)
        match record:
            case StoreState(_, content):
                entry = parse(content)
                db.execute(STORE, (channel, entry.key, entry.leaf, content))
            case DropState(_, key):
                db.execute(DROP, (channel, key))


def state_of(channel: bytes, db: sqlite3.Connection) -> tuple[bytes, ...]:
    """Return the entries of a channel, but those that are not what was stored: others have them."""
    return tuple(
        [
            content
            for register, leaf, content in db.execute(ENTRIES, (channel,))
            if _is_sound(register, leaf, content)
        ]
    )


def _is_sound(register: bytes, leaf: bytes, content: bytes) -> bool:
    try:
        entry = parse(content)
    except DecodeError:
        return False
    return (entry.key, entry.leaf) == (register, leaf)
