"""The buffer of messages with unmet causal dependencies, indexed by what is missing.

Each missing id knows who waits for it, so an arrival frees its waiters without a scan (SDS,
"Periodic Incoming Buffer Sweep").
"""

import heapq
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice

from msgspec import Struct

from sync.machine import MessageId, Nanos, PeerId
from sync.sds.message import HistoryEntry

WAITING_PER_SENDER_MAX = 1000
"""Messages of one author that may wait; beyond it the oldest is delivered after a gap."""

WAITING_MAX = 16_000
"""Messages that may wait, whoever wrote them: some 16 MB. Authors cost nothing to invent, so beyond
it the oldest is delivered of those that came on the link with most of them."""

MISSING_MAX = 4096
"""Missing ids looked for at once. Whoever has named most makes room for whoever has named fewer."""

MISSING_PER_LINK_MAX = 1000
"""Of them named on one link: who names ids that never existed leaves room for the others."""

LOST_MAX = 1000
"""Lost messages remembered, to be known when they come, and looked for when somebody new is there;
the oldest of the link that named most are forgotten."""

COUNTED_FOR = 256
"""Messages that give way by one count of those that wait: 2 ms, shared among so many."""

STALE_MAX = 64
"""Entries of the heap that stand for nothing any more, before it is made anew: a thousand, with
their ids, would push what is in use out of the caches."""


class Content(Struct, frozen=True):
    """A content message without its content: what the rules look at.

    `direct`: it may have come from its author, who then wants to hear that we have it. `via`: whose
    link it came on; None if that is not known.
    """

    message_id: MessageId
    sender_id: PeerId
    lamport: int
    causal_history: tuple[HistoryEntry, ...]
    retrieval_hint: bytes | None
    direct: bool = True
    via: PeerId | None = None


@dataclass(slots=True)
class Waiting:
    """A message held back, and how many of its dependencies are unmet (see `Incoming.unmet`)."""

    content: Content
    lacks: int
    give_up_at: Nanos


@dataclass(slots=True)
class Sought:
    """A missing message: who named it, who waits for it, and when we stop looking.

    `named_by` is `namer` where a sync message named it; `via` is whose link that came on.
    `again`: it was lost already, and somebody named it anew. It is looked for, and no news; nobody
    waits for it.
    """

    named_by: str
    namer: PeerId
    give_up_at: Nanos
    again: bool
    waiters: dict[MessageId, None]
    via: PeerId | None = None


@dataclass(slots=True)
class Incoming:
    """The incoming buffer of one channel.

    A message may be both `waiting` and `missing`: it is here, and others wait for its delivery.
    """

    waiting: dict[MessageId, Waiting] = field(default_factory=dict)
    missing: dict[MessageId, Sought] = field(default_factory=dict)
    lost: dict[MessageId, HistoryEntry] = field(default_factory=dict)
    _by_sender: dict[PeerId, dict[MessageId, None]] = field(default_factory=dict)
    _named_via: dict[PeerId | None, int] = field(default_factory=dict)
    """Number of missing messages that were named on each link."""
    _lost_via: dict[MessageId, PeerId | None] = field(default_factory=dict)
    """On which link what is lost was named."""
    _lost_of: Counter[PeerId | None] = field(default_factory=Counter)
    """Number of those that were named on each link."""
    _giving_way: deque[MessageId] = field(default_factory=deque)
    """Message that gives way next where too much waits."""
    _heap: list[tuple[Nanos, MessageId]] = field(default_factory=list)

    def seek(
        self,
        message_ids: Iterable[MessageId],
        named_by: str,
        namer: PeerId,
        until: Nanos,
        via: PeerId | None = None,
    ) -> list[MessageId]:
        """Look for these, as far as there is room; returns those that are news: not here, not lost.

        Args:
            message_ids: what is missing.
            named_by: the message that names them, or the sender of a sync message.
            namer: who wrote that.
            until: when we stop looking.
            via: whose link that came on; None if that is not known.
        """
        missing, waiting, lost = self.missing, self.waiting, self.lost
        of_link, news = self._named_via.get(via, 0), []
        for message_id in message_ids:
            if message_id in missing:
                continue
            if len(missing) >= MISSING_MAX or (of_link >= MISSING_PER_LINK_MAX and via is not None):
                break
            of_link += 1
            again = message_id in lost
            missing[message_id] = Sought(named_by, namer, until, again, {}, via)
            self._named_via[via] = of_link
            if message_id not in waiting:  # what waits here is not given up before its own time
                self._push(until, message_id)
                if not again:
                    news.append(message_id)
        return news

    def crowds_out(self, via: PeerId | None) -> MessageId | None:
        """Return what gives way to a name that came on the link of `via`: the newest of the most.

        None where no link has more names here.
        """
        most = _most(self._named_via)
        if self._named_via[most] <= self._named_via.get(via, 0) + 1:
            return None
        return next(id_ for id_ in reversed(self.missing) if self.missing[id_].via == most)

    def hold(self, content: Content, unknown: Iterable[MessageId], until: Nanos) -> Content | None:
        """Hold `content` back until those of its `unknown` dependencies come that are looked for.

        Returns:
            The messages to deliver after a gap instead: itself, where that is none of them; the
            oldest, where its sender or all have too many.
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
            return self._release(self._oldest_of_the_most())
        return None

    def _oldest_of_the_most(self) -> MessageId:
        """Return the oldest message that waits, of those on the link that most came on.

        Counted anew for every `COUNTED_FOR` that give way: nobody else need count them.
        """
        waiting = self.waiting
        if not self._giving_way:
            counts = Counter([held.content.via for held in waiting.values()])
            [(most, count)] = counts.most_common(1)
            of_most = (id_ for id_, held in waiting.items() if held.content.via == most)
            self._giving_way = deque(islice(of_most, min(count, COUNTED_FOR)))
        while (oldest := self._giving_way.popleft()) not in waiting:
            if not self._giving_way:
                return self._oldest_of_the_most()
        return oldest

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

    def give_up(self, now: Nanos) -> tuple[list[Content], list[tuple[MessageId, Sought]]]:
        """Return what is to be delivered after a gap now, and what is given up.

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
            lost.append((message_id, sought))
        return overdue, lost

    def unmet(self, message_id: MessageId) -> set[MessageId]:
        """Return what a message that is held back waits for."""
        content, missing = self.waiting[message_id].content, self.missing
        named = {entry.message_id for entry in content.causal_history}
        return {id_ for id_ in named if id_ in missing and message_id in missing[id_].waiters}

    def remember_lost(self, entry: HistoryEntry, via: PeerId | None = None) -> None:
        """Know a lost message when it comes after all, or when there is somebody new to ask.

        It was named on the link of `via`.
        """
        self.found_lost(entry.message_id)
        self.lost[entry.message_id] = entry
        self._lost_via[entry.message_id] = via
        self._lost_of[via] += 1
        if len(self.lost) > LOST_MAX:
            most = _most(self._lost_of)
            self.found_lost(next(id_ for id_ in self.lost if self._lost_via[id_] == most))

    def found_lost(self, message_id: MessageId) -> None:
        """A lost message came, or is forgotten."""
        if self.lost.pop(message_id, None) is None:
            return
        via = self._lost_via.pop(message_id)
        self._lost_of[via] -= 1
        if not self._lost_of[via]:
            del self._lost_of[via]

    def begin_anew(self, gap_at: Nanos, lost_at: Nanos) -> None:
        """Count all countdowns anew: nobody could be asked meanwhile."""
        for held in self.waiting.values():
            held.give_up_at = gap_at
        for sought in self.missing.values():
            sought.give_up_at = lost_at
        self._rebuild()

    def deadline(self) -> Nanos | None:
        """Return when something may next be given up; that entry may be gone already."""
        return self._heap[0][0] if self._heap else None

    def _found(self, message_id: MessageId) -> Sought | None:
        """Take an id out of the table of what is missing."""
        sought = self.missing.pop(message_id, None)
        if sought is not None:
            via, named_via = sought.via, self._named_via
            left = named_via[via] - 1
            if left:
                named_via[via] = left
            else:
                del named_via[via]
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


def _most(counts: Mapping[PeerId | None, int]) -> PeerId | None:
    return max(counts, key=counts.__getitem__)
