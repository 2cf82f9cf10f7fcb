"""Entries stamped in the future, kept aside until the reference clock reaches them (PROTOCOL 4)."""

import heapq
from collections import Counter

from sync.group.records import Outline
from sync.machine import MILLISECOND, MINUTE, MessageId, Nanos, PeerId

CLOCK_AHEAD_MAX: Nanos = 5 * MINUTE
"""Lead over the reference clock beyond which an entry is parked."""

PARKED_PER_AUTHOR_MAX = 100
"""Entries of one author kept aside for their time to come."""

PARKED_MAX = 2000
"""Entries kept aside of all authors together: whoever makes up keys gets no more of the disk than
twenty of them. Members with standing who are here are taken beyond it."""

AHEAD = (
    "What you wrote here before bears a time that this computer's clock has not reached. If that "
    "was ahead then, others see what you write once their clocks get there; if it is behind now, "
    "they see it at once. Set the clock right."
)
"""Our stamps rise over restarts; which clock was wrong, the one of then or that of now, they do not
tell."""

WITHDRAWN = (
    "This computer's clock was wrong. Messages whose time is far ahead are set aside until then, "
    "here as everywhere: {count}. /resend sends yours anew, one at a time."
)

TOO_MANY_AHEAD = "too many messages stamped in the future"


def admitted_from(lamport: int, created_ns: Nanos) -> Nanos:
    """Return from what reference time on an entry with these stamps is let in."""
    return max(lamport * MILLISECOND, created_ns) - CLOCK_AHEAD_MAX


class Parked:
    """The entries kept aside, by the time they are let in."""

    def __init__(self) -> None:
        self.outlines: dict[MessageId, Outline] = {}
        self._by_author: Counter[PeerId] = Counter()
        self._heap: list[tuple[Nanos, MessageId]] = []

    def __len__(self) -> int:
        return len(self.outlines)

    def __contains__(self, message_id: MessageId) -> bool:
        return message_id in self.outlines

    def of(self, author: PeerId) -> list[MessageId]:
        """Return what `author` has here."""
        return [one.message_id for one in self.outlines.values() if one.sender_id == author]

    def full(self, author: PeerId, *, known: bool = False) -> bool:
        """Return whether `author` is at its limit, or is not `known` and the table is full."""
        if self._by_author[author] >= PARKED_PER_AUTHOR_MAX:
            return True
        return not known and len(self.outlines) >= PARKED_MAX

    def add(self, outline: Outline) -> None:
        """Keep an entry aside."""
        self.outlines[outline.message_id] = outline
        self._by_author[outline.sender_id] += 1
        until = admitted_from(outline.lamport, outline.created_ns)
        heapq.heappush(self._heap, (until, outline.message_id))

    def take_due(self, reference: Nanos) -> list[Outline]:
        """Take out what the reference clock has reached, in that order."""
        taken: list[Outline] = []
        if not self._heap:
            return taken
        while self._heap and self._heap[0][0] <= reference:
            outline = self.outlines.pop(heapq.heappop(self._heap)[1])
            self._by_author[outline.sender_id] -= 1
            taken.append(outline)
        self._by_author += Counter()  # forgets authors with nothing here
        return taken

    def take_all(self) -> list[Outline]:
        """Take out everything, in the order of their times."""
        taken = [self.outlines[message_id] for _, message_id in sorted(self._heap)]
        self.outlines.clear()
        self._by_author.clear()
        self._heap.clear()
        return taken

    def next_at(self) -> Nanos | None:
        """Return when, by the reference clock, the next entry is let in."""
        return self._heap[0][0] if self._heap else None
