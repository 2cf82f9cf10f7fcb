"""Lines that claim to know less of governance than their authors did, by all that is here.

Lines of somebody removed are late where they claim not to know of that; anybody's line goes back
where it claims to know less than the entry before it in its log. Nothing of it is stored, for a
removal that comes later marks what came before.
"""

from collections.abc import Iterator
from typing import Final, Protocol

from sync.calimero.governance.dag import Act
from sync.calimero.governance.governance import Governance
from sync.calimero.governance.late import (
    Lateness,
    cut_goes_back,
    lateness,
    removals,
    removals_since,
)
from sync.calimero.governance.ops import Key, OpId, Remove, Seal
from sync.calimero.governance.projection import Heads
from sync.entries.entry import GOVERNANCE_MAX, Entry
from sync.machine import MessageId, PeerId

STEPS_MAX: Final = 10_000
"""Backlinks that are followed in a log that forks: beyond them an entry counts as not sealed."""


class Shelf(Protocol):
    """Stored entries of one channel."""

    def entry(self, message_id: MessageId) -> Entry | None:
        """Return an entry; None if it is not here, or cannot be read."""

    def contradicts(self, author: PeerId, log: int) -> bool:
        """Return whether anything in a log contradicts something else there."""

    def backlink(self, entry: MessageId) -> MessageId | None:
        """Return the entry before one in its log; None if there is none, or it is not here."""


class LateLines:
    """Lines of one channel, beside the removals of their authors."""

    def __init__(self, governance: Governance, shelf: Shelf) -> None:
        self._governance, self._shelf = governance, shelf
        self._removed: dict[PeerId, bool] = {}

    def is_removed(self, author: PeerId) -> bool:
        """Return whether somebody was ever put out; lines of all others are in time."""
        if author not in self._removed:
            governance = self._governance
            self._removed[author] = bool(removals(governance, governance.now, _key(author)))
        return self._removed[author]

    def of(self, author: PeerId, message_id: MessageId) -> Lateness:
        """Return how late a line is; in time if what is stored of it cannot be read."""
        entry = self._shelf.entry(message_id) if self.is_removed(author) else None
        if entry is None:
            return Lateness.IN_TIME
        heads = _heads(entry)
        if self._governance.dag.closure(heads) is None:
            return Lateness.IN_TIME
        key = _key(author)
        unknown = removals_since(self._governance, self._governance.now, key, heads)
        seals = list(_seals(unknown))
        return lateness(
            unknown,
            key,
            self._parent_cuts(entry),
            lambda sealed: any(
                seal.entry == sealed and self._within(seal, entry) for seal in seals
            ),
        )

    def goes_back(self, message_id: MessageId) -> bool:
        """Return whether an entry claims to know less of governance than the one before it did.

        False if that one, or an op that either names, is not here: nobody is flagged for it. Nor
        for an entry that names as many heads as it may, for it may have had to leave some out.
        """
        entry, before = self._shelf.entry(message_id), self._shelf.backlink(message_id)
        earlier = None if before is None else self._shelf.entry(before)
        if entry is None or earlier is None or len(entry.header.governance) == GOVERNANCE_MAX:
            return False
        return cut_goes_back(self._governance, _heads(earlier), _heads(entry)) is True

    def _parent_cuts(self, entry: Entry) -> Iterator[int]:
        for parent in entry.header.parents:
            found = self._shelf.entry(MessageId(parent.message_id))
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
        if not self._shelf.contradicts(PeerId(header.author), header.log):
            return True
        at: MessageId | None = MessageId(seal.entry.hex())
        for _ in range(min(STEPS_MAX, seal.seq - header.seq) + 1):
            if at == entry.message_id:
                return True
            at = None if at is None else self._shelf.backlink(at)
        return False


def _heads(entry: Entry) -> Heads:
    return tuple([OpId(head) for head in entry.header.governance])


def _key(author: PeerId) -> Key:
    return Key(bytes.fromhex(author))


def _seals(unknown: list[Act]) -> Iterator[Seal]:
    for act in unknown:
        if isinstance(act.op, Remove):
            yield from act.op.seals
