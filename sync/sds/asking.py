"""The outgoing repair request buffer (SDS-R): what we lack, and when we ask for it.

Two heaps by T_req for each link that names came on, and a dictionary for everything else. An id
stays here until its message comes or is given up: after asking, and after hearing somebody else
ask, it waits for all answers there may be, and then asks again, ever later.

Names cost nothing to invent, nor do authors: places, and turns where many are due, are shared among
links. Where nothing comes of what was named on a link, that link has a turn to ask again ever more
seldom, however many names there are; an answer, a new peer or the person's wish is news.
"""

import heapq
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from sync.machine import MessageId, Nanos, PeerId
from sync.sds.coming import NOTHING, Coming
from sync.sds.message import HistoryEntry
from sync.sds.repair import Window, digest

REQUESTS_MAX: Final = 1000
"""Ids with a T_req (SDS-R guide, "Memory Management"); further ones wait in line without one."""

REQUESTS_PER_LINK_MAX: Final = 250
"""Of them named on one link: who names what never existed leaves room for the others."""

BACKOFF_MAX: Final = 2
"""Doublings of the pause: then an id is asked for every 3 T_max and its own T_req, until given up.
At 30 % loss one asking in three fails, so 20 of them in ten minutes never all do."""

LEFT_TO_MAX: Final = 16
"""Peers one request is left to, one after the other, before we ask ourselves."""

VAIN_MAX: Final = 32
"""Times that names of one link are asked for again in vain before it waits longer each time. One
name is asked for some 25 times until it is given up, so an honest gap never waits for this."""

VAIN_PER_ANSWER: Final = 4
"""Of these an answer takes back, so that at 70 % loss nothing waits longer than without a limit (as
simulated). Whoever sends some of what it named buys only so much asking."""

STALE_MAX: Final = 64
"""Entries of the heap that stand for nothing any more, before it is made anew: a thousand, with
their ids, would push what is in use out of the caches."""


@dataclass(slots=True)
class Request:
    """One missing message.

    Attributes:
        hashed: the hash that T_req is worked out from, each time anew in the window of then.
        t_req: when we ask, if it has not come by then.
        asked: how often we asked, or heard somebody ask.
        asked_at: when we asked last; None while we have not.
        left_until: until when somebody else's request is left to be answered.
        left_to: who asked for it since we did.
        via: whose link it was named on; None if that is not known.
    """

    entry: HistoryEntry
    namer: PeerId
    hashed: int
    t_req: Nanos
    asked: int = 0
    left_until: Nanos = 0
    asked_at: Nanos | None = None
    via: PeerId | None = None
    left_to: tuple[PeerId, ...] = ()


class InLine(NamedTuple):
    """Missing message that is asked for once there is room for it."""

    entry: HistoryEntry
    namer: PeerId
    via: PeerId | None


@dataclass(slots=True)
class Asked:
    """Ids named on one link: how many have a T_req, in which order, and which wait for one."""

    count: int = 0
    heap: list[tuple[Nanos, MessageId]] = field(default_factory=list)
    """Those that nobody asked for yet."""
    again: list[tuple[Nanos, MessageId]] = field(default_factory=list)
    """Those that somebody asked for."""
    in_line: dict[MessageId, None] = field(default_factory=dict)
    in_vain: int = 0
    """Times that we asked again and nothing came of it."""
    again_at: Nanos = 0
    """When this link has a turn to ask again."""

    def asks_in_vain(self, t_max: Nanos, now: Nanos) -> None:
        """We ask again: after that the next time is a little later than after the last one."""
        self.in_vain += 1
        if self.in_vain > VAIN_MAX:
            self.again_at = now + (self.in_vain - VAIN_MAX) * t_max

    def is_answered(self, now: Nanos) -> None:
        """One that was named on this link came: there may be more."""
        self.in_vain = max(0, self.in_vain - VAIN_PER_ANSWER)
        self.again_at = min(self.again_at, now)


class Asking:
    """Outgoing repair request buffer of participant `me` (SDS-R)."""

    def __init__(self, me: PeerId) -> None:
        self.requests: dict[MessageId, Request] = {}
        self._me = me
        self.in_line: dict[MessageId, InLine] = {}
        self._links: dict[PeerId | None, Asked] = {}
        """In the order of their turns."""

    def __len__(self) -> int:
        return len(self.requests) + len(self.in_line)

    def want(
        self,
        entry: HistoryEntry,
        namer: PeerId,
        window: Window,
        now: Nanos,
        via: PeerId | None = None,
        asked: int = 0,
    ) -> None:
        """Ask for a message in its time, unless we do already.

        `namer` wrote that it exists, which came on the link of `via`. One who names it again may
        say who wrote it, or how to fetch it, where the first did not.
        """
        message_id = entry.message_id
        request = self.requests.get(message_id)
        if request is not None:
            if None in request.entry:
                request.entry = _completed(request.entry, entry)
            if request.via == via or not self._moves(request.via, via):
                return
            entry, namer = request.entry, request.namer
            self.drop(message_id, window, now, found=False)
        if message_id in self.in_line:
            return
        link = self._links.get(via)
        if link is None:
            link = self._links[via] = Asked()
        if link.count >= REQUESTS_PER_LINK_MAX or not self._has_room(link):
            self.in_line[message_id] = InLine(entry, namer, via)
            link.in_line[message_id] = None
            return
        link.count += 1
        hashed = digest(self._me + message_id)
        t_req = now + window.request_delay_of(hashed)
        request = self.requests[message_id] = Request(entry, namer, hashed, t_req, asked, via=via)
        self._push(request, link)

    def entry_of(self, message_id: MessageId) -> HistoryEntry:
        """Return what is known of a message that is asked for, or waits in line for that."""
        request = self.requests.get(message_id)
        if request is not None:
            return request.entry
        waiting = self.in_line.get(message_id)
        return waiting.entry if waiting is not None else HistoryEntry(message_id)

    def drop(
        self, message_id: MessageId, window: Window, now: Nanos, *, found: bool = True
    ) -> None:
        """The message came, or is given up if it is not `found`."""
        if self.in_line and (waiting := self.in_line.pop(message_id, None)) is not None:
            del self._links[waiting.via].in_line[message_id]
            self._forget(waiting.via)
            return
        request = self.requests.pop(message_id, None)
        if request is None:
            return
        link = self._links[request.via]
        link.count -= 1
        if found and request.asked:
            link.is_answered(now)
        self._forget(request.via)
        if self.in_line:
            self._call_next(window, now)

    def heard(self, message_id: MessageId, requester: PeerId, window: Window, now: Nanos) -> None:
        """`requester` asks for it too: we leave it to them, for now.

        Once in T_max, and to each of them once until we ask ourselves: who asks again and again,
        and is declined or cannot be answered, must not keep the others from asking for ever.
        """
        request = self.requests.get(message_id)
        if request is None or now < request.left_until:
            return
        left_to = request.left_to
        if requester in left_to or len(left_to) >= LEFT_TO_MAX:
            return
        request.left_to = (*left_to, requester)
        request.left_until = now + window.t_max
        self._back_off(request, window, now)
        self._push(request, self._links[request.via])

    def begin_anew(self, window: Window, now: Nanos) -> None:
        """Somebody is there again, as for many others: nobody asks at once for all it lacks."""
        for request in self.requests.values():
            request.t_req = now + window.request_delay_of(request.hashed)
            request.left_until = now
        for via, link in self._links.items():
            link.in_vain = link.again_at = 0
            self._rebuild(via, link)

    def try_again(self, now: Nanos) -> None:
        """Somebody new is there, who may have what nobody had: each link has a turn."""
        for link in self._links.values():
            link.again_at = min(link.again_at, now)

    def hurry(self, message_ids: Collection[MessageId], window: Window, now: Nanos) -> None:
        """Ask for these at the next occasion; for all, if none is named.

        A message we asked for just now is asked for when its answers had their time, T_max: however
        often a person wishes it, the others hear one request in that time.
        """
        for message_id in message_ids or self.requests:
            request = self.requests.get(message_id)
            if request is None:
                continue
            link = self._links[request.via]
            link.in_vain = link.again_at = 0
            asked_at = request.asked_at
            at = now if asked_at is None else max(now, asked_at + window.t_max)
            if at < request.t_req:
                request.t_req = at
                self._push(request, link)

    def ask(
        self,
        most: int,
        window: Window,
        now: Nanos,
        coming: Coming = NOTHING,
    ) -> list[Request]:
        """Return up to `most` requests whose time has come, lowest T_req first, links by turns.

        We ask for these now: each waits for its answers, and then is asked for again. What is on
        its way is not asked for, as if somebody else had done so.
        """
        asked: list[Request] = []
        again: dict[PeerId | None, Asked] = {}
        while len(asked) < most and (request := self._next_due(now)) is not None:
            link = self._links[request.via]
            heapq.heappop(link.again if request.asked else link.heap)
            if not coming.is_asked_for(request.entry):
                if request.asked:
                    again[request.via] = link
                request.asked_at, request.left_to = now, ()
                asked.append(request)
            self._back_off(request, window, now)
            self._push(request, link)
        for link in again.values():
            link.asks_in_vain(window.t_max, now)
        return asked

    def deadline(self) -> Nanos | None:
        """Return the time to ask for something: its T_req, or the turn of its link."""
        lowest: Nanos | None = None
        for link in self._links.values():
            next_of_link = self._next_of(link)
            if next_of_link is not None and (lowest is None or next_of_link[0] < lowest):
                lowest = next_of_link[0]
        return lowest

    def _next_due(self, now: Nanos) -> Request | None:
        """Return what is asked for now, of the link that had no turn for longest."""
        for via, link in self._links.items():
            next_of_link = self._next_of(link)
            if next_of_link is not None and next_of_link[0] <= now:
                if len(self._links) > 1:
                    self._links[via] = self._links.pop(via)
                return next_of_link[1]
        return None

    def _next_of(self, link: Asked) -> tuple[Nanos, Request] | None:
        """Return what is asked for next of what was named on `link`, and when."""
        new, old = self._first(link.heap), self._first(link.again)
        if old is None:
            return None if new is None else (new.t_req, new)
        again_at = max(old.t_req, link.again_at)
        return (new.t_req, new) if new is not None and new.t_req < again_at else (again_at, old)

    def _first(self, heap: list[tuple[Nanos, MessageId]]) -> Request | None:
        """Return the request with the lowest T_req of a heap."""
        requests = self.requests
        while heap:
            t_req, message_id = heap[0]
            request = requests.get(message_id)
            if request is not None and request.t_req == t_req:
                return request
            heapq.heappop(heap)
        return None

    def _moves(self, before: PeerId | None, via: PeerId | None) -> bool:
        """Return whether a name is asked for as if it were new, as it came on another link too.

        It is where nothing comes of what the first link names, and the other one is not known so.
        """
        if self._links[before].in_vain <= VAIN_MAX:
            return False
        link = self._links.get(via)
        return link is None or (link.in_vain <= VAIN_MAX and link.count < REQUESTS_PER_LINK_MAX)

    def _back_off(self, request: Request, window: Window, now: Nanos) -> None:
        """Set the next T_req after every answer to this asking may have come.

        An answer may take T_max, so asking sooner would only double the answers.
        """
        request.asked += 1
        pause = ((1 << min(request.asked, BACKOFF_MAX)) - 1) * window.t_max
        request.t_req = now + pause + window.request_delay_of(request.hashed)

    def _push(self, request: Request, link: Asked) -> None:
        """Put a T_req into the heap; earlier ones of the same id stand for nothing any more."""
        heap = link.again if request.asked else link.heap
        heapq.heappush(heap, (request.t_req, request.entry.message_id))
        if len(heap) > 2 * link.count + STALE_MAX:
            self._rebuild(request.via, link)

    def _rebuild(self, via: PeerId | None, link: Asked) -> None:
        link.heap, link.again = [], []
        for message_id, request in self.requests.items():
            if request.via == via:
                heap = link.again if request.asked else link.heap
                heap.append((request.t_req, message_id))
        heapq.heapify(link.heap)
        heapq.heapify(link.again)

    def _forget(self, via: PeerId | None) -> None:
        link = self._links[via]
        if not link.count and not link.in_line:
            del self._links[via]

    def _has_room(self, link: Asked) -> bool:
        """Return whether a name on `link` may have a T_req; the link with most gives one up."""
        if len(self.requests) < REQUESTS_MAX:
            return True
        via, most = max(self._links.items(), key=lambda one: one[1].count)
        if most.count <= link.count + 1:
            return False
        newest = next(id_ for id_ in reversed(self.requests) if self.requests[id_].via == via)
        request = self.requests.pop(newest)
        most.count -= 1
        most.in_line[newest] = None
        self.in_line[newest] = InLine(request.entry, request.namer, via)
        return True

    def _call_next(self, window: Window, now: Nanos) -> None:
        """Give the place that became free to the link with fewest that has somebody in line."""
        waiting = [one for one in self._links.values() if one.in_line]
        link = min(waiting, key=lambda one: one.count)
        if link.count < REQUESTS_PER_LINK_MAX:
            message_id = next(iter(link.in_line))
            del link.in_line[message_id]
            entry, namer, via = self.in_line.pop(message_id)
            in_vain = link.in_vain > VAIN_MAX  # then it waits for the link's turn, too
            self.want(entry, namer, window, now, via, asked=int(in_vain))


def _completed(entry: HistoryEntry, other: HistoryEntry) -> HistoryEntry:
    return HistoryEntry(
        entry.message_id,
        entry.retrieval_hint or other.retrieval_hint,
        entry.sender_id or other.sender_id,
    )
