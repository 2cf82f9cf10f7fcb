"""Entries that wait: their authors name ops of governance that are not here yet."""

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterable
from typing import Final, NamedTuple

from msgspec import Struct

from sync.calimero.governance import limits
from sync.calimero.governance.governance import Governance
from sync.calimero.governance.ops import Key, OpId, Role, Verdict
from sync.calimero.governance.outcomes import Dropped
from sync.calimero.governance.projection import Heads
from sync.calimero.governance.verdicts import Doing, refresh_projection_for_cut, verdict_at_cut
from sync.machine import MessageId

__all__ = ["Dropped"]  # what is only passed on


STRANGERS: Final = Key(b"")
"""Stands for all who were never in: keys cost nothing."""


class PendingEntry(NamedTuple):
    """An entry without a verdict.

    Attributes:
        size: its bytes.
        stranger: True if its author was never in, as far as was known when it came.
    """

    message_id: MessageId
    author: Key
    heads: Heads
    doing: Doing
    size: int = 0
    stranger: bool = False

    @property
    def holder(self) -> Key:
        """Author in whose name it takes room."""
        return STRANGERS if self.stranger else self.author


class Drained(Struct, frozen=True):
    """Outcome of a drain: all entries that wait no longer."""

    reapply: tuple[PendingEntry, ...] = ()
    dropped: tuple[tuple[PendingEntry, Dropped], ...] = ()


class Pending:
    """Waiting entries of a channel; whoever floods drives out none but their own.

    Strangers count together as one author: keys cost nothing, and of thousands with a line each
    none has more than a member with two.
    """

    def __init__(self) -> None:
        self.entries: OrderedDict[MessageId, PendingEntry] = OrderedDict()
        self._pulls: dict[MessageId, int] = {}
        self._of_author: dict[Key, OrderedDict[MessageId, None]] = defaultdict(OrderedDict)
        self._by_head: dict[OpId, set[MessageId]] = defaultdict(set)
        self._held: dict[Key, OrderedDict[MessageId, None]] = defaultdict(OrderedDict)
        """Entries by holder, the oldest first."""
        self.size = 0
        """Bytes of all."""
        self._sizes: Counter[Key] = Counter()
        """Bytes of each holder's."""

    def __contains__(self, message_id: MessageId) -> bool:
        return message_id in self.entries

    def wanted(self, governance: Governance) -> tuple[OpId, ...]:
        """Return the heads that entries wait for and that are not here, sorted."""
        return tuple(sorted(governance.dag.missing(self._by_head)))

    def add(self, entry: PendingEntry) -> tuple[PendingEntry, ...]:
        """Keep an entry; return those that are forgotten for want of room."""
        if entry.message_id in self.entries:
            return ()
        self.entries[entry.message_id] = entry
        self._of_author[entry.author][entry.message_id] = None
        for head in entry.heads:
            self._by_head[head].add(entry.message_id)
        self._held[entry.holder][entry.message_id] = None
        self._sizes[entry.holder] += entry.size
        self.size += entry.size
        if len(self._of_author[entry.author]) > limits.PENDING_OF_AN_AUTHOR_MAX:
            return (self.remove(next(iter(self._of_author[entry.author]))),)
        if len(self.entries) > limits.PENDING_MAX:
            return (self._forget_of(max(self._held, key=lambda key: (len(self._held[key]), key))),)
        return ()

    def forget_of_largest(self) -> PendingEntry:
        """Let go of the oldest entry of whoever has most bytes."""
        return self._forget_of(max(self._sizes, key=lambda key: (self._sizes[key], key)))

    def _forget_of(self, holder: Key) -> PendingEntry:
        return self.remove(next(iter(self._held[holder])))

    def drain_governance_pending(self, governance: Governance) -> Drained:
        """Judge again what may have a verdict now: apply, drop, or let wait on.

        It is never an error, and the same entry has the same outcome at every node.
        """
        came = [head for head in self._by_head if head in governance.dag.numbers]
        touched = {one for head in came for one in self._by_head[head]}
        reapply, dropped = [], []
        for message_id in sorted(touched):
            entry = self.entries[message_id]
            verdict = verdict_at_cut(governance, entry.author, entry.heads, entry.doing)
            if verdict is Verdict.UNKNOWN:
                continue
            self.remove(message_id)
            if verdict is Verdict.YES:
                reapply.append(entry)
            else:
                dropped.append((entry, dropped_as(governance, entry)))
        return Drained(tuple(reapply), tuple(dropped))

    def on_pull_finished(self, heads: Iterable[OpId]) -> tuple[PendingEntry, ...]:
        """Count a pull from a peer that did not bring `heads`; return who is forgotten for it."""
        waiting = {one for head in heads for one in self._by_head.get(head, ())}
        forgotten = []
        for message_id in sorted(waiting):
            pulls = self._pulls[message_id] = self._pulls.get(message_id, 0) + 1
            if pulls >= limits.PULLS_MAX:
                forgotten.append(self.remove(message_id))
        return tuple(forgotten)

    def remove(self, message_id: MessageId) -> PendingEntry:
        """Let go of an entry."""
        entry = self.entries.pop(message_id)
        self._pulls.pop(message_id, None)
        self._sizes[entry.holder] -= entry.size
        self.size -= entry.size
        for held, key in ((self._of_author, entry.author), (self._held, entry.holder)):
            del held[key][message_id]
            if not held[key]:
                del held[key]
        if entry.holder not in self._held:
            del self._sizes[entry.holder]
        for head in set(entry.heads):
            self._by_head[head].discard(message_id)
            if not self._by_head[head]:
                del self._by_head[head]
        return entry


def dropped_as(governance: Governance, entry: PendingEntry) -> Dropped:
    """Return the label of an entry whose verdict is no."""
    state, complete = refresh_projection_for_cut(governance, entry.heads)
    assert state is not None
    assert complete
    if state.role(entry.author) is not Role.NONE:
        return Dropped.NOT_MEMBER
    return Dropped.REMOVED if entry.author in state.people else Dropped.NEVER_MEMBER
