"""Entries that wait: their authors name ops of governance that are not here yet."""

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from msgspec import Struct

from sync.calimero.governance import limits
from sync.calimero.governance.governance import Governance
from sync.calimero.governance.ops import Key, OpId, Role, Verdict
from sync.calimero.governance.outcomes import Dropped
from sync.calimero.governance.projection import Heads
from sync.calimero.governance.verdicts import Doing, refresh_projection_for_cut, verdict_at_cut
from sync.machine import MessageId

__all__ = ["Dropped"]  # what is only passed on


class PendingEntry(NamedTuple):
    """An entry without a verdict."""

    message_id: MessageId
    author: Key
    heads: Heads
    doing: Doing


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
        self._of_strangers: OrderedDict[MessageId, None] = OrderedDict()
        """Entries of those who were never in, as far as was known when they came."""
        self._of_known: Counter[Key] = Counter()
        """Numbers of all others, by author."""

    def __contains__(self, message_id: MessageId) -> bool:
        return message_id in self.entries

    def wanted(self, governance: Governance) -> tuple[OpId, ...]:
        """Return the heads that entries wait for and that are not here, sorted."""
        return tuple(sorted(governance.dag.missing(self._by_head)))

    def add(self, entry: PendingEntry, *, stranger: bool = False) -> tuple[PendingEntry, ...]:
        """Keep an entry; return those that are forgotten for want of room."""
        if entry.message_id in self.entries:
            return ()
        self.entries[entry.message_id] = entry
        self._of_author[entry.author][entry.message_id] = None
        for head in entry.heads:
            self._by_head[head].add(entry.message_id)
        if stranger:
            self._of_strangers[entry.message_id] = None
        else:
            self._of_known[entry.author] += 1
        if len(self._of_author[entry.author]) > limits.PENDING_OF_AN_AUTHOR_MAX:
            return (self.forget_of(entry.author),)
        if len(self.entries) > limits.PENDING_MAX:
            return (self._forget_of_most(),)
        return ()

    def _forget_of_most(self) -> PendingEntry:
        most = max(self._of_known, key=lambda key: (self._of_known[key], key), default=None)
        if most is None or len(self._of_strangers) > self._of_known[most]:
            return self.forget_of_strangers()
        return self.forget_of(most)

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
        of_author = self._of_author[entry.author]
        del of_author[message_id]
        if not of_author:
            del self._of_author[entry.author]
        if message_id in self._of_strangers:
            del self._of_strangers[message_id]
        else:
            self._of_known[entry.author] -= 1
            if not self._of_known[entry.author]:
                del self._of_known[entry.author]
        for head in set(entry.heads):
            self._by_head[head].discard(message_id)
            if not self._by_head[head]:
                del self._by_head[head]
        return entry

    def forget_of(self, author: Key) -> PendingEntry:
        """Let go of the oldest entry of an author who has some."""
        return self.remove(next(iter(self._of_author[author])))

    def forget_of_strangers(self) -> PendingEntry:
        """Let go of the oldest entry of strangers, who have some."""
        return self.remove(next(iter(self._of_strangers)))


def dropped_as(governance: Governance, entry: PendingEntry) -> Dropped:
    """Return the label of an entry whose verdict is no."""
    state, complete = refresh_projection_for_cut(governance, entry.heads)
    assert state is not None
    assert complete
    if state.role(entry.author) is not Role.NONE:
        return Dropped.NOT_MEMBER
    return Dropped.REMOVED if entry.author in state.people else Dropped.NEVER_MEMBER
