"""Time that bends: maps the viewer's time to the simulated one and back. Pure.

Rules:
1. Whatever is on its way takes `Pace.flight` of the viewer's time at least, however short it is;
   what is quick takes `FLIGHT_LEAST`.
2. A gap in which nothing is on its way takes as long as it is, and `GAP_MOST` at most.
3. From one turning point to the next it takes as long as the first is read, if anything is on its
   way between them that can be slowed down.
4. The map rises without a jump, so a clock that follows it never goes back.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from msgspec import Struct

from sync.machine import MILLISECOND, SECOND, Nanos

FLIGHT_LEAST: Final[Nanos] = 700 * MILLISECOND
"""Shorter, and nobody sees where a frame goes."""

FLIGHT_MOST: Final[Nanos] = 1500 * MILLISECOND
"""Longer, and everybody waits for it."""

GAP_MOST: Final[Nanos] = SECOND
"""Of the viewer's time for a wait, however long it is."""

GAP: Final[Nanos] = FLIGHT_LEAST * 6 // 10
"""Of it where nobody waits to ask or to answer, so that there is mostly something to see."""

WHOLE: Final[Nanos] = 75 * SECOND
"""Time within which a scenario should be over, unless its frames would be too fast to be seen."""

STEPS: Final = 8
"""Paces between the slowest and the fastest."""

READ_LEAST: Final = 0.4
"""Share of the time to read that is left at the fastest pace."""

SLOWED_MOST: Final = 3
"""Times by which a frame is slowed down at most, so that somebody can read."""

AT_ONCE: Final[Nanos] = SECOND // 2
"""Of the viewer's time within which turning points are read together."""

Span = tuple[Nanos, Nanos]


class Pace(Struct, frozen=True):
    """Viewer's time for a frame on its way, and the share of the time to read that is given."""

    flight: Nanos
    reading: float


def pace_of(step: int) -> Pace:
    """Return a pace: 0 is the slowest, `STEPS` the fastest."""
    left = 1 - step / STEPS
    flight = FLIGHT_LEAST + int(left * (FLIGHT_MOST - FLIGHT_LEAST))
    return Pace(flight, READ_LEAST + left * (1 - READ_LEAST))


@dataclass(slots=True)
class _Piece:
    """A part of the map: until when, in how much of the viewer's time, and whether frames fly."""

    until: Nanos
    viewed: Nanos
    moving: bool


class Timetable(Struct, frozen=True):
    """Contents of a scenario, by time: all are simulated times but those in `turns`.

    Attributes:
        flights: when each frame sets out and arrives.
        quick: the same of frames that say nothing new.
        waits: from when to when somebody waits to ask or to answer.
        marks: times at which something is told: where one is near, a gap passes more slowly.
        turns: turning points, rising, and the viewer's time that it takes to read each.
    """

    flights: Sequence[Span] = ()
    quick: Sequence[Span] = ()
    waits: Sequence[Span] = ()
    marks: Sequence[Nanos] = ()
    turns: Sequence[tuple[Nanos, Nanos]] = ()


NOTHING: Final = Timetable()


class Bent:
    """The map from `began` to `ends` for what a scenario contains; the viewer's time is from 0."""

    def __init__(self, began: Nanos, ends: Nanos, timetable: Timetable = NOTHING) -> None:
        self._began, self._ends = began, max(ends, began + 1)
        for step in range(STEPS + 1):
            self.pace = pace_of(step)
            self._lay(timetable)
            if self.length <= WHOLE:
                return

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

    # --- Laying it -----------------------------------------------------------------------------

    def _lay(self, timetable: Timetable) -> None:
        pieces = self._even(timetable)
        self._join(pieces)
        turns = [one for one in timetable.turns if self._began < one[0] < self._ends]
        if turns:
            self._slow_down(pieces, turns)
            self._join(pieces)

    def _join(self, pieces: Sequence[_Piece]) -> None:
        self._times, self._viewed = [self._began], [0]
        for piece in pieces:
            self._times.append(piece.until)
            self._viewed.append(self._viewed[-1] + piece.viewed)

    def _even(self, timetable: Timetable) -> list[_Piece]:
        """Return the map as it is before anything is slowed down to be read."""
        began, ends = self._began, self._ends
        trips = [(max(began, a), min(ends, b), self.pace.flight) for a, b in timetable.flights]
        trips += [(max(began, a), min(ends, b), FLIGHT_LEAST) for a, b in timetable.quick]
        starts = sorted(trip for trip in trips if trip[1] > trip[0])
        corners = {began, ends, *(at for a, b, _ in starts for at in (a, b))}
        marks = sorted({*timetable.marks, *(at for at, _ in timetable.turns)})
        pieces: list[_Piece] = []
        under_way: list[tuple[Nanos, Nanos, Nanos]] = []
        first, since = 0, began
        for until in sorted(corners)[1:]:
            while first < len(starts) and starts[first][0] <= since:
                under_way.append(starts[first])
                first += 1
            under_way = [trip for trip in under_way if trip[1] > since]
            parts = [since, *marks[bisect_right(marks, since) : bisect_left(marks, until)], until]
            if under_way:
                for one, to in pairwise(parts):
                    slowest = max((to - one) * least // (b - a) for a, b, least in under_way)
                    pieces.append(_Piece(to, max(1, slowest), moving=True))
            else:
                waited = any(a < until and b > since for a, b in timetable.waits)
                pieces += _gap(parts, GAP_MOST if waited else GAP)
            since = until
        return pieces

    def _slow_down(self, pieces: Sequence[_Piece], turns: Sequence[tuple[Nanos, Nanos]]) -> None:
        """Slow down what is on its way between turning points, so that each can be read."""
        together: list[list[Nanos]] = []
        for at, to_read in turns:
            if together and self.viewed(at) - self.viewed(together[-1][0]) < AT_ONCE:
                together[-1][1] += to_read
            else:
                together.append([at, to_read])
        ends = [at for at, _ in together[1:]] + [self._ends]
        first = 0
        for (at, to_read), until in zip(together, ends, strict=True):
            while pieces[first].until <= at:
                first += 1
            within = []
            while first < len(pieces) and pieces[first].until <= until:
                within.append(pieces[first])
                first += 1
            moving = [piece for piece in within if piece.moving]
            lacking = int(to_read * self.pace.reading) - sum(piece.viewed for piece in within)
            flown = sum(piece.viewed for piece in moving)
            lacking = min(lacking, flown * (SLOWED_MOST - 1))
            for piece in moving:
                piece.viewed += max(0, lacking) * piece.viewed // flown


def _gap(parts: Sequence[Nanos], most: Nanos) -> list[_Piece]:
    """Divide a gap's time among its parts, by how long they are."""
    lengths = [b - a for a, b in pairwise(parts)]
    whole = min(sum(lengths), most)
    weights = [min(one, GAP_MOST) for one in lengths]
    return [
        _Piece(to, max(1, whole * weight // sum(weights)), moving=False)
        for to, weight in zip(parts[1:], weights, strict=True)
    ]


def _between(at: Nanos, here: Sequence[Nanos], there: Sequence[Nanos]) -> Nanos:
    """Return the place that is to `there` what `at` is to `here`; outside, both run alike."""
    if at <= here[0]:
        return there[0] + at - here[0]
    if at >= here[-1]:
        return there[-1] + at - here[-1]
    part = bisect_right(here, at) - 1
    begins, ends = here[part], here[part + 1]
    return there[part] + (at - begins) * (there[part + 1] - there[part]) // (ends - begins)
