"""A payload that is being answered, with where its ranges stand in our set."""

from collections.abc import Iterator
from typing import Final, NamedTuple, Self

import numpy as np

from sync.structures.ordered_set import Columns, OrderedSet, Places
from sync.structures.sorted_run import Positions, Words
from sync.waku.ranges import FINGERPRINT, Kinds, Ranges

WORK: Final = 2_048
"""Ranges and ids of one step, some 2 ms; more only where one range has more."""


class Asked(NamedTuple):
    """Ranges received, n, and their columns."""

    ranges: Ranges
    edges: Words
    """Timestamps of their bounds, (n + 1)."""

    places: Places
    """Bounds of these, (n + 1, 2)."""

    counts: Positions
    """Number of ids we have in each."""

    kinds: Kinds
    fingerprints: Words
    listed: Positions
    """Number of ids that the peer lists in each."""

    first_ids: Positions
    """Number of these before each, (n + 1)."""

    ids: Columns

    @classmethod
    def of(cls, ranges: Ranges, local: OrderedSet) -> Self:
        """Look up where ranges stand."""
        edges = ranges.edges
        places = local.places_of(edges)
        for at in ranges.hashes:
            places[at + 1] = local.places([ranges.upper(at)])[0]
        counts = (places[1:] - places[:-1]).sum(axis=1)
        listed = ranges.count_column
        first_ids = np.concatenate(([0], np.cumsum(listed)))
        columns = ranges.kind_column, ranges.fingerprint_column, listed, first_ids, ranges.ids
        return cls(ranges, edges, places, counts, *columns)

    @property
    def is_long(self) -> bool:
        """True if so many ranges and ids were received that reading them was a step of its own."""
        return len(self.kinds) + len(self.ids.timestamps) > WORK

    def fingerprints_of(self, begin: int, end: int) -> Words:
        """Return the fingerprints of the ranges between these numbers."""
        before = np.count_nonzero(self.kinds[:begin] == FINGERPRINT)
        there = np.count_nonzero(self.kinds[begin:end] == FINGERPRINT)
        return self.fingerprints[before : before + there]

    def steps(self, numbers: Positions, parts: Positions) -> Iterator[slice]:
        """Cut ranges, to be divided into so many parts each, into steps."""
        work = np.where(parts > 1, parts, 1 + self.listed[numbers] + self.counts[numbers])
        done = np.cumsum(work)
        begin = before = 0
        while begin < len(numbers):
            end = min(int(done.searchsorted(before + WORK)) + 1, len(numbers))
            yield slice(begin, end)
            begin, before = end, int(done[end - 1])
