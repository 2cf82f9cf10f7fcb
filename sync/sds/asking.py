"""The outgoing repair request buffer (SDS-R): what we lack, and when we ask for it.

A heap by T_req, and a dictionary for everything else. An id stays here until its message comes or
is given up: after asking, and after hearing somebody else ask, it waits for all answers there may
be, and then asks again, ever later.
"""

import heapq
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from sync.machine import MessageId, Nanos, PeerId
from sync.sds.message import HistoryEntry
from sync.sds.repair import Window, digest

REQUESTS_MAX: Final = 1000
"""Ids with a T_req (SDS-R guide, "Memory Management"); further ones wait in line without one."""

REQUESTS_PER_NAMER_MAX: Final = 250
"""Of them named by one author: who names what never existed leaves room for the others."""

BACKOFF_MAX: Final = 2
"""Doublings of the pause: then an id is asked for every 3 T_max and its own T_req, until given up.
At 30 % loss one asking in three fails, so 20 of them in ten minutes never all do."""

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
    """

    entry: HistoryEntry
    namer: PeerId
    hashed: int
    t_req: Nanos
    asked: int = 0
    left_until: Nanos = 0
    asked_at: Nanos | None = None


class Asking:
    """What participant `me` lacks."""

    def __init__(self, me: PeerId) -> None:
        self.requests: dict[MessageId, Request] = {}
        self._me = me
        self.in_line: dict[MessageId, tuple[HistoryEntry, PeerId]] = {}
        """What is asked for once there is room for it."""
        self._by_namer: dict[PeerId, int] = {}
        self._heap: list[tuple[Nanos, MessageId]] = []

    def __len__(self) -> int:
        return len(self.requests) + len(self.in_line)

    def want(self, entry: HistoryEntry, namer: PeerId, window: Window, now: Nanos) -> None:
        """Ask for a message in its time, unless we do already; `namer` wrote that it exists.

        One who names it again may say who wrote it, or how to fetch it, where the first did not.
        """
        message_id = entry.message_id
        request = self.requests.get(message_id)
        if request is not None:
            if None in request.entry:
                request.entry = _completed(request.entry, entry)
            return
        if message_id in self.in_line:
            return
        of_namer = self._by_namer.get(namer, 0)
        if len(self.requests) >= REQUESTS_MAX or of_namer >= REQUESTS_PER_NAMER_MAX:
            self.in_line[message_id] = (entry, namer)
            return
        self._by_namer[namer] = of_namer + 1
        hashed = digest(self._me + message_id)
        t_req = now + window.request_delay_of(hashed)
        request = self.requests[message_id] = Request(entry, namer, hashed, t_req)
        self._push(request)

    def entry_of(self, message_id: MessageId) -> HistoryEntry:
        """Return what is known of a message that is asked for, or waits in line for that."""
        request = self.requests.get(message_id)
        if request is not None:
            return request.entry
        waiting = self.in_line.get(message_id)
        return waiting[0] if waiting is not None else HistoryEntry(message_id)

    def drop(self, message_id: MessageId, window: Window, now: Nanos) -> None:
        """The message came, or is given up."""
        if self.in_line:
            self.in_line.pop(message_id, None)
        request = self.requests.pop(message_id, None)
        if request is None:
            return
        namer, by_namer = request.namer, self._by_namer
        left = by_namer[namer] - 1
        if left:
            by_namer[namer] = left
        else:
            del by_namer[namer]
        if self.in_line:
            self._call_next(window, now)

    def heard(self, message_id: MessageId, window: Window, now: Nanos) -> None:
        """Somebody else asks for it: we leave it to them, for now.

        Once in T_max: who asks every second, and is declined, must not keep the others from asking.
        """
        request = self.requests.get(message_id)
        if request is not None and now >= request.left_until:
            request.left_until = now + window.t_max
            self._back_off(request, window, now)
            self._push(request)

    def begin_anew(self, window: Window, now: Nanos) -> None:
        """Somebody is there again, as for many others: nobody asks at once for all it lacks."""
        for request in self.requests.values():
            request.t_req = now + window.request_delay_of(request.hashed)
            request.left_until = now
        self._heap = [(one.t_req, message_id) for message_id, one in self.requests.items()]
        heapq.heapify(self._heap)

    def hurry(self, message_ids: Collection[MessageId], window: Window, now: Nanos) -> None:
        """Ask for these at the next occasion; for all, if none is named.

        What we asked for just now is asked for when its answers had their time, T_max: however
        often a person wishes it, the others hear one request in that time.
        """
        for message_id in message_ids or self.requests:
            request = self.requests.get(message_id)
            if request is None:
                continue
            asked_at = request.asked_at
            at = now if asked_at is None else max(now, asked_at + window.t_max)
            if at < request.t_req:
                request.t_req = at
                self._push(request)

    def ask(
        self,
        most: int,
        window: Window,
        now: Nanos,
        coming: Collection[bytes] = frozenset(),
    ) -> list[Request]:
        """Return up to `most` requests whose time has come, lowest T_req first.

        We ask for these now: each waits for its answers, and then is asked for again. What has a
        retrieval hint in `coming` is not asked for, as if somebody else had done so.
        """
        asked: list[Request] = []
        while len(asked) < most and (request := self._first()) is not None and request.t_req <= now:
            self._back_off(request, window, now)
            heapq.heapreplace(self._heap, (request.t_req, request.entry.message_id))
            if request.entry.retrieval_hint not in coming:
                request.asked_at = now
                asked.append(request)
        return asked

    def deadline(self) -> Nanos | None:
        """The lowest T_req."""
        request = self._first()
        return None if request is None else request.t_req

    def _first(self) -> Request | None:
        """Return the request with the lowest T_req."""
        heap, requests = self._heap, self.requests
        while heap:
            t_req, message_id = heap[0]
            request = requests.get(message_id)
            if request is not None and request.t_req == t_req:
                return request
            heapq.heappop(heap)
        return None

    def _back_off(self, request: Request, window: Window, now: Nanos) -> None:
        """Set the next T_req after every answer to this asking may have come.

        An answer may take T_max, so asking sooner would only double the answers.
        """
        request.asked += 1
        pause = ((1 << min(request.asked, BACKOFF_MAX)) - 1) * window.t_max
        request.t_req = now + pause + window.request_delay_of(request.hashed)

    def _push(self, request: Request) -> None:
        """Put a T_req into the heap; earlier ones of the same id stand for nothing any more."""
        heapq.heappush(self._heap, (request.t_req, request.entry.message_id))
        if len(self._heap) > 2 * len(self.requests) + STALE_MAX:
            self._heap = [(one.t_req, message_id) for message_id, one in self.requests.items()]
            heapq.heapify(self._heap)

    def _call_next(self, window: Window, now: Nanos) -> None:
        """Give the place that became free to whoever stands in line first and may have it."""
        for message_id, (entry, namer) in self.in_line.items():
            if self._by_namer.get(namer, 0) < REQUESTS_PER_NAMER_MAX:
                del self.in_line[message_id]
                self.want(entry, namer, window, now)
                return


def _completed(entry: HistoryEntry, other: HistoryEntry) -> HistoryEntry:
    return HistoryEntry(
        entry.message_id,
        entry.retrieval_hint or other.retrieval_hint,
        entry.sender_id or other.sender_id,
    )
