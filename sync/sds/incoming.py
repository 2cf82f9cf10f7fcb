"""The buffer of messages with unmet causal dependencies, indexed by what is missing.

Each missing id knows who waits for it, so an arrival frees its waiters without a scan (SDS,
"Periodic Incoming Buffer Sweep").
"""

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from sync.machine import MessageId, Nanos, PeerId
from sync.sds.message import HistoryEntry

WAITING_PER_SENDER_MAX = 1000
"""Messages of one author that may wait; beyond it the oldest is delivered after a gap."""

WAITING_MAX = 16_000
"""Messages that may wait, whoever wrote them: some 16 MB. A member may invent authors."""

MISSING_MAX = 4096
"""Missing ids looked for at once."""

MISSING_PER_NAMER_MAX = 1000
"""Of them named by one author: who names ids that never existed leaves room for the others."""

LOST_MAX = 1000
"""Lost messages remembered, to be known when they come, and looked for when somebody new is there;
the oldest are forgotten."""

STALE_MAX = 64
"""Entries of the heap that stand for nothing any more, before it is made anew: a thousand, with
their ids, would push what is in use out of the caches."""


class Content(NamedTuple):
    """A content message without its content: what the rules look at.

    `direct`: it may have come from its author, who then wants to hear that we have it.
    """

    message_id: MessageId
    sender_id: PeerId
    lamport: int
    causal_history: tuple[HistoryEntry, ...]
    retrieval_hint: bytes | None
    direct: bool = True


@dataclass(slots=True)
class Waiting:
    """A message held back, and how many of its dependencies are unmet (see `Incoming.unmet`)."""

    content: Content
    lacks: int
    give_up_at: Nanos


@dataclass(slots=True)
class Sought:
    """A missing message: who named it, who waits for it, and when we stop looking.

    `named_by` is `namer` where a sync message named it.
    `again`: it was lost already, and somebody named it anew. It is looked for, and no news; nobody
    waits for it.
    """

    named_by: str
    namer: PeerId
    give_up_at: Nanos
    again: bool
    waiters: dict[MessageId, None]


@dataclass(slots=True)
class Incoming:
    """The incoming buffer of one channel.

    A message may be both `waiting` and `missing`: it is here, and others wait for its delivery.
    """

    waiting: dict[MessageId, Waiting] = field(default_factory=dict)
    missing: dict[MessageId, Sought] = field(default_factory=dict)
    lost: dict[MessageId, HistoryEntry] = field(default_factory=dict)
    _by_sender: dict[PeerId, dict[MessageId, None]] = field(default_factory=dict)
    _by_namer: dict[PeerId, int] = field(default_factory=dict)
    _heap: list[tuple[Nanos, MessageId]] = field(default_factory=list)

    def seek(
        self, message_ids: Iterable[MessageId], named_by: str, namer: PeerId, until: Nanos
    ) -> list[MessageId]:
        """Look for these, as far as there is room; returns those that are news: not here, not lost.

        Args:
            message_ids: what is missing.
            named_by: the message that names them, or the sender of a sync message.
            namer: who wrote that.
            until: when we stop looking.
        """
        missing, waiting, lost = self.missing, self.waiting, self.lost
        of_namer, news = self._by_namer.get(namer, 0), []
        for message_id in message_ids:
            if message_id in missing:
                continue
            if len(missing) >= MISSING_MAX or of_namer >= MISSING_PER_NAMER_MAX:
                break
            of_namer += 1
            again = message_id in lost
            missing[message_id] = Sought(named_by, namer, until, again, {})
            self._by_namer[namer] = of_namer
            if message_id not in waiting:  # what waits here is not given up before its own time
                self._push(until, message_id)
                if not again:
                    news.append(message_id)
        return news

    def hold(self, content: Content, unknown: Iterable[MessageId], until: Nanos) -> Content | None:
        """Hold `content` back until those of its `unknown` dependencies come that are looked for.

        Returns:
            What to deliver after a gap instead: itself, where that is none of them; the oldest,
            where its sender or all have too many.
        """
        message_id, missing, lacks = content.message_id, self.missing, 0
        for dependency in unknown:
            sought = missing.get(dependency)
            if sought is None or sought.again:
                continue
            sought.waiters[message_id] = None
            if sought.give_up_at < until:  # noqa: PLR1730  # hardly ever; a call of `max` costs more
                sought.give_up_at = until
            lacks += 1
        if not lacks:
            return content
        self.waiting[message_id] = Waiting(content, lacks, until)
        self._push(until, message_id)
        of_sender = self._by_sender.setdefault(content.sender_id, {})
        of_sender[message_id] = None
        if len(of_sender) > WAITING_PER_SENDER_MAX:
            return self._release(next(iter(of_sender)))
        if len(self.waiting) > WAITING_MAX:
            return self._release(next(iter(self.waiting)))
        return None

    def arrived(self, message_id: MessageId) -> list[Content]:
        """`message_id` is in the log now; returns the messages that waited for nothing else."""
        sought = self._found(message_id)
        if sought is None:
            return []
        waiting, free = self.waiting, []
        for waiter in sought.waiters:
            held = waiting[waiter]
            held.lacks -= 1
            if not held.lacks:
                free.append(self._take(waiter))
        return free

    def give_up(self, now: Nanos) -> tuple[list[Content], list[tuple[MessageId, bool]]]:
        """Return what is to be delivered after a gap now, and which ids are given up.

        An id is looked for as long as somebody waits for it, and is not lost while it waits here.
        One that was lost before is given up without a word.
        """
        overdue: list[Content] = []
        due: list[MessageId] = []
        while self._heap and self._heap[0][0] <= now:
            _, message_id = heapq.heappop(self._heap)
            held = self.waiting.get(message_id)
            if held is not None and held.give_up_at <= now:
                overdue.append(self._release(message_id))
            due.append(message_id)
        delivered = {content.message_id for content in overdue}
        lost = []
        for message_id in due:
            sought = self.missing.get(message_id)
            if sought is None or message_id in delivered or message_id in self.waiting:
                continue
            if sought.give_up_at > now:
                self._push(sought.give_up_at, message_id)
                continue
            self._found(message_id)
            lost.append((message_id, sought.again))
        return overdue, lost

    def unmet(self, message_id: MessageId) -> set[MessageId]:
        """Return what a message that is held back waits for."""
        content, missing = self.waiting[message_id].content, self.missing
        named = {entry.message_id for entry in content.causal_history}
        return {id_ for id_ in named if id_ in missing and message_id in missing[id_].waiters}

    def remember_lost(self, entry: HistoryEntry) -> None:
        """Know a lost message when it comes after all, or when there is somebody new to ask."""
        self.lost[entry.message_id] = entry
        if len(self.lost) > LOST_MAX:
            del self.lost[next(iter(self.lost))]

    def begin_anew(self, gap_at: Nanos, lost_at: Nanos) -> None:
        """Count all countdowns anew: nobody could be asked meanwhile."""
        for held in self.waiting.values():
            held.give_up_at = gap_at
        for sought in self.missing.values():
            sought.give_up_at = lost_at
        self._rebuild()

    def deadline(self) -> Nanos | None:
        """When something is given up next (at the latest: an entry may be gone already)."""
        return self._heap[0][0] if self._heap else None

    def _found(self, message_id: MessageId) -> Sought | None:
        """Take an id out of the table of what is missing."""
        sought = self.missing.pop(message_id, None)
        if sought is not None:
            namer, by_namer = sought.namer, self._by_namer
            left = by_namer[namer] - 1
            if left:
                by_namer[namer] = left
            else:
                del by_namer[namer]
        return sought

    def _release(self, message_id: MessageId) -> Content:
        """Take a message out of the buffer before all that it waits for is here."""
        for unmet in self.unmet(message_id):
            del self.missing[unmet].waiters[message_id]
        return self._take(message_id)

    def _take(self, message_id: MessageId) -> Content:
        """Take a message out of the buffer, for which it waits no more."""
        content = self.waiting.pop(message_id).content
        of_sender = self._by_sender[content.sender_id]
        del of_sender[message_id]
        if not of_sender:
            del self._by_sender[content.sender_id]
        return content

    def _push(self, at: Nanos, message_id: MessageId) -> None:
        heap = self._heap
        heapq.heappush(heap, (at, message_id))
        if len(heap) > 2 * (len(self.waiting) + len(self.missing)) + STALE_MAX:
            self._rebuild()

    def _rebuild(self) -> None:
        self._heap = [(held.give_up_at, id_) for id_, held in self.waiting.items()]
        self._heap += [
            (sought.give_up_at, id_)
            for id_, sought in self.missing.items()
            if id_ not in self.waiting
        ]
        heapq.heapify(self._heap)
