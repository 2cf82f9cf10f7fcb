"""The buffer of messages with unmet causal dependencies, indexed by what is missing.

Each missing id knows who waits for it, so an arrival frees its waiters without a scan (SDS,
"Periodic Incoming Buffer Sweep").
"""

import heapq
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from sync.machine import MessageId, Nanos, PeerId
from sync.sds.message import HistoryEntry

WAITING_PER_SENDER_MAX = 1000
"""Messages of one author that may wait; beyond it the oldest is delivered after a gap."""

MISSING_MAX = 4096
"""Missing ids looked for at once; a member who names ids that never existed fills no more."""

LOST_MAX = 1000
"""Lost ids remembered, so that a late arrival is announced; the oldest are forgotten."""


@dataclass(frozen=True, slots=True)
class Content:
    """A content message without its content: what the rules look at."""

    message_id: MessageId
    sender_id: PeerId
    lamport: int
    causal_history: tuple[HistoryEntry, ...]
    retrieval_hint: bytes | None


@dataclass(slots=True)
class Waiting:
    """A message held back, and which of its dependencies are unmet."""

    content: Content
    unmet: set[MessageId]
    give_up_at: Nanos


@dataclass(slots=True)
class Sought:
    """A missing message: who waits for it, who named it, and when we stop looking."""

    named_by: str
    give_up_at: Nanos
    waiters: list[MessageId] = field(default_factory=list)


@dataclass(slots=True)
class Incoming:
    """The incoming buffer of one channel."""

    lost_after: Nanos
    waiting: dict[MessageId, Waiting] = field(default_factory=dict)
    missing: dict[MessageId, Sought] = field(default_factory=dict)
    lost: dict[MessageId, None] = field(default_factory=dict)
    _by_sender: dict[PeerId, deque[MessageId]] = field(default_factory=dict)
    _heap: list[tuple[Nanos, MessageId]] = field(default_factory=list)

    def hold(self, content: Content, unmet: set[MessageId], now: Nanos) -> Content | None:
        """Hold `content` back until `unmet` are met.

        Returns:
            The message to deliver after a gap instead, where its sender has too many waiting.
        """
        self.waiting[content.message_id] = Waiting(content, unmet, now + self.lost_after)
        for message_id in unmet:
            self.missing[message_id].waiters.append(content.message_id)
        heapq.heappush(self._heap, (now + self.lost_after, content.message_id))
        queue = self._by_sender.setdefault(content.sender_id, deque())
        queue.append(content.message_id)
        if len(queue) <= WAITING_PER_SENDER_MAX:
            return None
        oldest = queue.popleft()
        evicted = self.waiting.pop(oldest, None)
        return evicted.content if evicted is not None else None

    def seek(self, message_ids: Iterable[MessageId], named_by: str, now: Nanos) -> list[MessageId]:
        """Look for these; returns those that were not looked for before."""
        fresh = []
        for message_id in message_ids:
            if message_id in self.missing:
                continue
            self.missing[message_id] = Sought(named_by, now + self.lost_after)
            heapq.heappush(self._heap, (now + self.lost_after, message_id))
            fresh.append(message_id)
        return fresh

    def arrived(self, message_id: MessageId) -> list[Content]:
        """`message_id` is in the log now; returns the messages that waited for nothing else."""
        sought = self.missing.pop(message_id, None)
        if sought is None:
            return []
        free = []
        for waiter in sought.waiters:
            held = self.waiting.get(waiter)
            if held is None:
                continue
            held.unmet.discard(message_id)
            if not held.unmet:
                self.release(waiter)
                free.append(held.content)
        return free

    def release(self, message_id: MessageId) -> Waiting | None:
        """Take a message out of the buffer."""
        held = self.waiting.pop(message_id, None)
        if held is not None:
            queue = self._by_sender[held.content.sender_id]
            queue.remove(message_id)
            if not queue:
                del self._by_sender[held.content.sender_id]
        return held

    def give_up(self, now: Nanos) -> tuple[list[Content], list[MessageId]]:
        """Return what is to be delivered after a gap now, and which ids are lost."""
        overdue: list[Content] = []
        lost: list[MessageId] = []
        while self._heap and self._heap[0][0] <= now:
            _, message_id = heapq.heappop(self._heap)
            held = self.waiting.get(message_id)
            if held is not None and held.give_up_at <= now:
                self.release(message_id)
                overdue.append(held.content)
            sought = self.missing.get(message_id)
            if sought is not None and sought.give_up_at <= now:
                del self.missing[message_id]
                if held is None:
                    self._remember_lost(message_id)
                    lost.append(message_id)
        return overdue, lost

    def room(self) -> int:
        """How many more ids may be looked for."""
        return MISSING_MAX - len(self.missing)

    def deadline(self) -> Nanos | None:
        """When something is given up next (at the latest: an entry may be gone already)."""
        return self._heap[0][0] if self._heap else None

    def _remember_lost(self, message_id: MessageId) -> None:
        self.lost[message_id] = None
        if len(self.lost) > LOST_MAX:
            del self.lost[next(iter(self.lost))]
