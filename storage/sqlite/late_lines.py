"""Lines of somebody removed that claim not to know of it: marked, as all that is here has it.

Worked out for the lines of a page whose authors were removed, which are few; nothing is stored, for
a removal that comes later marks what came before.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from storage.sqlite.columns import from_u64
from storage.sqlite.payloads import entry_of
from storage.sqlite.stored_governance import StoredGovernance
from sync.calimero.governance.dag import Act, bits
from sync.calimero.governance.late import lateness, removals_since
from sync.calimero.governance.ops import Key, OpId, Remove, Seal
from sync.entries.entry import Entry
from sync.errors import StorageError
from sync.machine import MessageId
from sync.view.governance_infos import Lateness
from sync.view.view import Line

STEPS_MAX: Final = 10_000
"""Backlinks that are followed in a log that forks: beyond them an entry counts as not sealed."""

PAYLOAD: Final = "SELECT payload FROM messages WHERE message_id = ? AND channel = ?"
PLACE: Final = "SELECT backlink FROM messages WHERE message_id = ? AND channel = ?"
CONTRADICTS: Final = """
    SELECT EXISTS (SELECT 1 FROM contradictions WHERE channel = ? AND author = ? AND log = ?)
"""


def marked(lines: Sequence[Line], stored: StoredGovernance, db: sqlite3.Connection) -> list[Line]:
    """Return lines with what their authors claim not to know, where it is a removal of them."""
    removed = {line.author for line in lines if line.act is None and _removals(stored, line)}
    if not removed:
        return list(lines)
    late = LateLines(stored, db)
    return [
        replace(line, late=late.of(line)) if line.author in removed and line.act is None else line
        for line in lines
    ]


def _removals(stored: StoredGovernance, line: Line) -> list[Act]:
    governance = stored.governance
    about = governance.projection.relations.about.get(_key(line), 0) & governance.now.counting
    acts = [governance.dag.acts[number] for number in bits(about)]
    return [act for act in acts if isinstance(act.op, Remove)]


def _key(line: Line) -> Key:
    return Key(bytes.fromhex(line.author))


class LateLines:
    """Lines of one channel, beside the removals of their authors."""

    def __init__(self, stored: StoredGovernance, db: sqlite3.Connection) -> None:
        self._governance, self._db = stored.governance, db
        self._channel = bytes.fromhex(stored.channel)
        self._entries: dict[MessageId, Entry | None] = {}

    def of(self, line: Line) -> Lateness:
        """Return how late a line is; in time if what is stored of it cannot be read."""
        entry = self._entry(line.message_id)
        if entry is None:
            return Lateness.IN_TIME
        key, dag = _key(line), self._governance.dag
        heads = tuple([OpId(head) for head in entry.header.governance])
        if dag.closure(heads) is None:
            return Lateness.IN_TIME
        removals = removals_since(self._governance, self._governance.now, key, heads)
        seals = [seal for act in removals if isinstance(act.op, Remove) for seal in act.op.seals]
        return lateness(
            removals,
            key,
            self._parent_cuts(entry),
            lambda sealed: any(
                seal.entry == sealed and self._within(seal, entry) for seal in seals
            ),
        )

    def _parent_cuts(self, entry: Entry) -> Iterator[int]:
        for parent in entry.header.parents:
            found = self._entry(MessageId(parent.message_id))
            heads = () if found is None else found.header.governance
            cut = self._governance.dag.closure([OpId(head) for head in heads])
            if cut is not None:
                yield cut

    def _within(self, seal: Seal, entry: Entry) -> bool:
        """Return whether an entry is the one that was sealed, or an ancestor in its log."""
        header = entry.header
        if bytes.fromhex(header.author) != seal.author or header.log != seal.log:
            return False
        if header.seq > seal.seq:
            return False
        place = (self._channel, seal.author, from_u64(header.log))
        if not self._db.execute(CONTRADICTS, place).fetchone()[0]:
            return True
        wanted, at = bytes.fromhex(entry.message_id), seal.entry
        for _ in range(min(STEPS_MAX, seal.seq - header.seq) + 1):
            if at == wanted:
                return True
            row = self._db.execute(PLACE, (at, self._channel)).fetchone()
            if row is None or row[0] is None:
                return False
            at = row[0]
        return False

    def _entry(self, message_id: MessageId) -> Entry | None:
        if message_id not in self._entries:
            row = self._db.execute(PAYLOAD, (bytes.fromhex(message_id), self._channel)).fetchone()
            try:
                self._entries[message_id] = None if row is None else entry_of(row[0])
            except StorageError:
                self._entries[message_id] = None
        return self._entries[message_id]
