"""Lines of somebody removed that claim not to know of it: marked, as all that is here has it.

Worked out for the lines of a page whose authors were removed, which are few; nothing is stored, for
a removal that comes later marks what came before.
"""

import sqlite3
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from storage.sqlite.columns import from_u64, message_id
from storage.sqlite.payloads import entry_of
from storage.sqlite.stored_governance import StoredGovernance
from sync.calimero.late_lines import LateLines
from sync.entries.entry import Entry
from sync.errors import StorageError
from sync.machine import MessageId, PeerId
from sync.view.view import Line

PAYLOAD: Final = "SELECT payload FROM messages WHERE message_id = ? AND channel = ?"
PLACE: Final = "SELECT backlink FROM messages WHERE message_id = ? AND channel = ?"
CONTRADICTS: Final = """
    SELECT EXISTS (SELECT 1 FROM contradictions WHERE channel = ? AND author = ? AND log = ?)
"""


def marked(lines: Sequence[Line], stored: StoredGovernance, db: sqlite3.Connection) -> list[Line]:
    """Return lines with what their authors claim not to know, where it is a removal of them."""
    late = LateLines(stored.governance, StoredEntries(stored.channel, db))
    return [
        replace(line, late=late.of(line.author, line.message_id))
        if line.act is None and late.is_removed(line.author)
        else line
        for line in lines
    ]


def goes_back(message: MessageId, stored: StoredGovernance, db: sqlite3.Connection) -> bool:
    """Return whether a message claims to know less of governance than the one before it did."""
    late = LateLines(stored.governance, StoredEntries(stored.channel, db))
    return late.goes_back(message)


class StoredEntries:
    """Stored entries of one channel (`sync.calimero.late_lines.Shelf`), each read once."""

    def __init__(self, channel: str, db: sqlite3.Connection) -> None:
        self._channel, self._db = bytes.fromhex(channel), db
        self._entries: dict[MessageId, Entry | None] = {}

    def entry(self, message_id: MessageId) -> Entry | None:
        """See `Shelf`."""
        if message_id not in self._entries:
            row = self._db.execute(PAYLOAD, (bytes.fromhex(message_id), self._channel)).fetchone()
            try:
                self._entries[message_id] = None if row is None else entry_of(row[0])
            except StorageError:
                self._entries[message_id] = None
        return self._entries[message_id]

    def contradicts(self, author: PeerId, log: int) -> bool:
        """See `Shelf`."""
        place = self._channel, bytes.fromhex(author), from_u64(log)
        return bool(self._db.execute(CONTRADICTS, place).fetchone()[0])

    def backlink(self, entry: MessageId) -> MessageId | None:
        """See `Shelf`."""
        row = self._db.execute(PLACE, (bytes.fromhex(entry), self._channel)).fetchone()
        return None if row is None or row[0] is None else message_id(row[0])
