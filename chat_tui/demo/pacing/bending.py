"""Time that bends: maps the viewer's time to the simulated one and back. Pure.

Rules:
1. Whatever is on its way takes `Pace.flight` of the viewer's time at least, however short it is.
2. A gap in which nothing is on its way takes as long as it is, and `Pace.gap` at most.
3. The map rises without a jump, so a clock that follows it never goes back.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from sync.machine import MILLISECOND, SECOND, Nanos

FLIGHT_LEAST: Final[Nanos] = 700 * MILLISECOND
"""Shorter, and nobody sees where a frame goes."""

FLIGHT_MOST: Final[Nanos] = 1500 * MILLISECOND
"""Longer, and everybody waits for it."""

GAP_MOST: Final[Nanos] = SECOND
"""Of the viewer's time for a wait, however long it is."""

GAP_SHARE: Final = 0.6
"""Of a frame's time that a gap takes at most, so that there is mostly something to see."""

WHOLE: Final[Nanos] = 75 * SECOND
"""Time within which a scenario should be over, unless its frames would be too fast to be seen."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Viewer's time for a frame on its way, and for a gap."""

    flight: Nanos
    gap: Nanos


def pace_of(flight: Nanos) -> Pace:
    """Return the pace at which a frame takes so long."""
    return Pace(flight, min(GAP_MOST, int(flight * GAP_SHARE)))


class Bent:
    """The map for `flights` (when each sets out and arrives) between `began` and `ends`.

    `marks` are times at which something is told: where one is near, a gap passes more slowly. All
    times are simulated ones; the viewer's begin with 0.
    """

    def __init__(
        self,
        began: Nanos,
        ends: Nanos,
        flights: Iterable[tuple[Nanos, Nanos]] = (),
        marks: Iterable[Nanos] = (),
    ) -> None:
        ends = max(ends, began + 1)
        within = [(max(began, a), min(ends, b)) for a, b in flights if a < ends and b > began]
        trips = [(a, b) for a, b in within if b > a]
        marks = [one for one in marks if began < one < ends]
        flight = FLIGHT_MOST
        while True:
            self.pace = pace_of(flight)
            self._lay(began, ends, trips, marks)
            if self.length <= WHOLE or flight <= FLIGHT_LEAST:
                return
            flight = max(FLIGHT_LEAST, min(flight - 1, flight * WHOLE // self.length))

    @classmethod
    def through(cls, *corners: tuple[Nanos, Nanos]) -> "Bent":
        """Return a map that is even between corners: simulated time, and the viewer's from 0 on."""
        times, viewed = zip(*corners, strict=True)
        bent = cls(times[0], times[-1])
        bent._times, bent._viewed = [*times], [*viewed]
        return bent

    @property
    def length(self) -> Nanos:
        """The whole of it, in the viewer's time."""
        return self._viewed[-1]

    def simulated(self, viewed: Nanos) -> Nanos:
        """Return the simulated time at a moment of the viewer's."""
        return _between(viewed, self._viewed, self._times)

    def viewed(self, simulated: Nanos) -> Nanos:
        """Return the viewer's time at a simulated moment."""
        return _between(simulated, self._times, self._viewed)

    def _lay(
        self,
        began: Nanos,
        ends: Nanos,
        trips: Sequence[tuple[Nanos, Nanos]],
        marks: Sequence[Nanos],
    ) -> None:
        corners = {began, ends, *(at for trip in trips for at in trip)}
        self._times: list[Nanos] = [began]
        self._viewed: list[Nanos] = [0]
        under_way: list[tuple[Nanos, Nanos]] = []
        starts = sorted(trips)
        first = 0
        for until in sorted(corners)[1:]:
            since = self._times[-1]
            while first < len(starts) and starts[first][0] <= since:
                under_way.append(starts[first])
                first += 1
            under_way = [trip for trip in under_way if trip[1] > since]
            if under_way:
                shortest = min(b - a for a, b in under_way)
                self._go(until, max(1, (until - since) * self.pace.flight // shortest))
            else:
                self._pass_gap(since, until, [one for one in marks if since < one < until])

    def _pass_gap(self, since: Nanos, until: Nanos, marks: Sequence[Nanos]) -> None:
        """Divide a gap's time among its parts, by how long they are."""
        whole = min(until - since, self.pace.gap)
        parts = [since, *sorted(set(marks)), until]
        lengths = [b - a for a, b in pairwise(parts)]
        weights = [min(one, GAP_MOST) for one in lengths]
        for to, weight in zip(parts[1:], weights, strict=True):
            self._go(to, max(1, whole * weight // sum(weights)))

    def _go(self, until: Nanos, viewed: Nanos) -> None:
        self._times.append(until)
        self._viewed.append(self._viewed[-1] + viewed)


def _between(at: Nanos, here: Sequence[Nanos], there: Sequence[Nanos]) -> Nanos:
    """Return the place that is to `there` what `at` is to `here`; outside, both run alike."""
    if at <= here[0]:
        return there[0] + at - here[0]
    if at >= here[-1]:
        return there[-1] + at - here[-1]
    part = bisect_right(here, at) - 1
    begins, ends = here[part], here[part + 1]
    return there[part] + (at - begins) * (there[part + 1] - there[part]) // (ends - begins)
