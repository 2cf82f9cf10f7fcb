"""Ranges that differ and that no payload had room for: they are answered in later ones.

Whoever has no room for the rest of a payload covers it with one fingerprint, which the other side
divides from the top. As both sets are frozen, what it said of that rest before is still true, and
finer: so we go on where we were, and the descent does not begin anew with every payload.

Rule: what was received last counts where it is no fingerprint, and where it is finer.
"""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

import numpy as np

from sync.machine import Nanos
from sync.waku.message import RANGES_MAX, Content, Ranges

BACKLOG_MAX: Final = 2 * RANGES_MAX
"""Ranges kept, some 4 MB: of the last payload, and as many of those before. What is beyond is
divided anew."""

UNKNOWN: Final = b""
"""The fingerprint of a part of a range that differs: as far as we know, so does the part."""


class Backlog:
    """Ranges put off in one turn and gone on with in the next: all that differ, and some equal."""

    def __init__(self) -> None:
        self._now, self._later = Stretch(), Stretch()
        """Ranges put off in the last turn, and in this one."""

    def keep(self, ranges: Ranges, first: int) -> None:
        """Put off the range of this number and all behind it, as many as may be kept.

        Of a turn, once there is something kept, all payloads that follow are to be kept as well.
        """
        self._later.extend(ranges, first)

    def end_turn(self) -> None:
        """Let what was put off in this turn be gone on with."""
        self._now, self._later = self._later, Stretch()

    def resumed(self, received: Ranges) -> Ranges:
        """Return what there is to answer: what was received, and in its place what was put off."""
        now = self._now
        if not now.uppers or not received or received.hashes:
            return received
        resumed, begin, lower, contents = Ranges(), 0, 0, received.contents()
        for is_fingerprint, run in groupby(contents, lambda one: isinstance(one, bytes)):
            end = begin + sum(1 for _ in run)
            edges = [lower, *received.timestamps[begin:end]]
            if is_fingerprint and lower < now.uppers[-1] and now.lower < edges[-1]:
                kept = Kept(now.lower, now.uppers, now.contents)
                kept.put_into(edges, contents[begin:end], resumed)
            else:
                resumed.extend(edges[1:], contents[begin:end])
            begin, lower = end, edges[-1]
        now.drop_below(lower)
        return resumed


@dataclass(slots=True)
class Stretch:
    """Contiguous ranges from `lower` on.

    Bounds with hashes can only follow each other, so nothing is kept where there are any.
    """

    lower: Nanos = 0
    uppers: list[Nanos] = field(default_factory=list)
    contents: list[Content] = field(default_factory=list)
    is_full: bool = False

    def extend(self, ranges: Ranges, first: int) -> None:
        """Add the range of this number and all behind it, but for what was added before."""
        self.is_full = self.is_full or bool(ranges.hashes)
        if self.is_full:
            return
        if self.uppers:
            first = max(first, bisect_right(ranges.timestamps, self.uppers[-1]))
        else:
            self.lower = ranges.timestamps[first - 1] if first else 0
        end = first + BACKLOG_MAX - len(self.uppers)
        self.uppers += ranges.timestamps[first:end]
        self.contents += ranges.contents(first, end)
        self.is_full = len(self.uppers) >= BACKLOG_MAX

    def drop_below(self, bound: Nanos) -> None:
        """Forget the ranges below a bound; of one that reaches beyond it, it is known to differ."""
        at = bisect_right(self.uppers, bound)
        cut = bound > (self.uppers[at - 1] if at else self.lower)
        self.lower = max(self.lower, bound)
        self.uppers, self.contents = self.uppers[at:], self.contents[at:]
        if cut and self.contents and self.contents[0] is not None:
            self.contents[0] = UNKNOWN


class Kept:
    """Ranges put off, to be put into the place of received fingerprints."""

    def __init__(self, lower: Nanos, uppers: list[Nanos], contents: list[Content]) -> None:
        self._bounds = [lower, *uppers]
        self._contents = contents

    def put_into(self, edges: list[Nanos], fingerprints: list[Content], to: Ranges) -> None:
        """Append the ranges between `edges`: these fingerprints, and ours where they are finer."""
        lower, upper = max(edges[0], self._bounds[0]), min(edges[-1], self._bounds[-1])
        below, above = bisect_right(edges, lower) - 1, bisect_left(edges, upper)
        to.extend(edges[1 : below + 1], fingerprints[:below])
        if edges[below] < lower:
            to.extend([lower], [UNKNOWN])
        done = bisect_right(self._bounds, lower) - 1
        for at in self._divided(edges, lower, upper):
            begin, end = (bisect_left(edges, self._bounds[bound]) for bound in (at, at + 1))
            self._copy(done, at, lower, upper, to)
            to.extend(edges[begin + 1 : end + 1], fingerprints[begin:end])
            done = at + 1
        self._copy(done, bisect_left(self._bounds, upper), lower, upper, to)
        if edges[above] > upper:
            to.extend([edges[above]], [UNKNOWN])
        to.extend(edges[above + 1 :], fingerprints[above:])

    def _divided(self, edges: list[Nanos], lower: Nanos, upper: Nanos) -> list[int]:
        """Return which ranges have been divided: the edges are their bounds, and between them."""
        bounds, received = np.array(self._bounds), np.array(edges)
        inside = received[(lower < received) & (received < upper)]
        at = np.searchsorted(bounds, inside, side="right") - 1
        divided = np.unique(at[bounds[at] != inside])
        whole = np.isin(bounds[divided], received) & np.isin(bounds[divided + 1], received)
        return [one for one in divided[whole].tolist() if self._contents[one] is not None]

    def _copy(self, first: int, last: int, lower: Nanos, upper: Nanos, to: Ranges) -> None:
        """Append ranges; of one that reaches beyond the bounds all we know is that it differs."""
        if first >= last:
            return
        uppers, contents = self._bounds[first + 1 : last + 1], self._contents[first:last]
        if self._bounds[first] < lower and contents[0] is not None:
            contents[0] = UNKNOWN
        if uppers[-1] > upper:
            uppers[-1] = upper
            if contents[-1] is not None:
                contents[-1] = UNKNOWN
        to.extend(uppers, contents)
