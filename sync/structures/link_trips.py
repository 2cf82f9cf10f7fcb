"""Slow links: how long a trip there and back takes on them, in steps, and what all of them have.

Rules:
1. A link is slow where two trips in a row, of its last ones, took `SLOW_FROM` or more: one may
where a program was busy for a moment. Below that nothing differs from a fast network.
2. It is fast again once no such two are among the last ones, for what is sent as on a fast network
fills the queue anew. Steps are powers of two, so that machines hear of few changes.
3. Whoever is slow on purpose gains `SLOW_MAX` at most, and no deadline grows by more than
`GROWN_MAX`; a channel is as slow as its fastest link.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeAlias

from sync.machine import SECOND, Nanos, PeerId

SLOW_FROM: Final[Nanos] = SECOND
"""A trip on a LAN takes milliseconds, on a bad radio link a tenth of a second."""

SLOW_MAX: Final[Nanos] = 16 * SECOND
"""The longest trip that is reckoned with; with it, what takes seconds takes a minute."""

GROWN_MAX: Final = 4
"""Times as long as on a fast link somebody is waited for, at most."""

DOUBLED_BY: Final[Nanos] = 2 * SECOND
"""The trip with which deadlines are doubled; with each as much more they are as long once more."""


Slow: TypeAlias = tuple[tuple[PeerId, Nanos], ...]
"""Slow links, by their peers, each with its step."""


def step(trips: Sequence[Nanos]) -> Nanos | None:
    """Return the step of a link by its last trips, in their order; 0 where it is not slow.

    None before there are two of them.
    """
    if (trip := max([min(pair) for pair in pairwise(trips)], default=None)) is None:
        return None
    if trip < SLOW_FROM:
        return 0
    at = SLOW_FROM
    while at < min(trip, SLOW_MAX):
        at *= 2
    return at


def slow_links(steps: Mapping[PeerId, Nanos | None], before: Slow = ()) -> tuple[Slow, Nanos]:
    """Return the slow links of a channel, and the step of its fastest link.

    A link that is not measured yet is as the one `before` was, for nothing else is known of the way
    to its peer; where there was none, it does not count.
    """
    then = dict(before)
    known = {peer: then.get(peer) if at is None else at for peer, at in steps.items()}
    slow = tuple(sorted((peer, at) for peer, at in known.items() if at))
    return slow, min((at for at in known.values() if at is not None), default=0)


def grown(limit: Nanos, trip: Nanos) -> Nanos:
    """Return a deadline as it is on a link whose step is `trip`."""
    return limit + limit * min(trip, (GROWN_MAX - 1) * DOUBLED_BY) // DOUBLED_BY


def as_it_is(limit: Nanos) -> Nanos:
    """Return a deadline, where nothing is known of the link."""
    return limit


@dataclass(slots=True)
class Patience:
    """The time a peer is waited for, by the step of its link as it is now.

    It is apart from what waits, which so is not led back to itself.
    """

    trip: Nanos = 0

    def grown(self, limit: Nanos) -> Nanos:
        """Return how long to wait where a peer on a fast link is waited for so long."""
        return grown(limit, self.trip)
