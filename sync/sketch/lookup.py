"""Ids by their hashes alone: a scan of what is held, in short steps.

Timestamps do not travel, and a set is in the order of these. A million ids take 2 ms, since the
first words of all lie side by side (`Run`); an index would take as many bytes as the prefix for
every hundred thousand.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Final

import numpy as np

from sync.structures.sorted_run import (
    Columns,
    Flags,
    Positions,
    Words,
    ascending,
    columns_of,
    joined,
    split,
)

STEP: Final = 1 << 18
"""Ids that are looked at in one step: 2 ms."""

BLOCK: Final = 1 << 15
"""Ids that are looked at together: what is made of them stays in the processor's cache."""

FILTER: Final = np.uint64((1 << 18) - 1)
"""Bits of a hash that a table of bytes is asked about first, 256 kB."""


class Lookup:
    """A scan for some hashes, (n, 4), over columns that nobody changes."""

    def __init__(self, parts: Sequence[Columns], wanted: Words) -> None:
        self._parts = [part for part in parts if len(part.timestamps)] if len(wanted) else []
        self._at = 0
        self._found = columns_of(())
        self._wanted = wanted[wanted[:, 0].argsort()]
        first = self._wanted[:, 0]
        self._shared = bool((first[1:] == first[:-1]).any())
        """Whether some that are wanted share the word by which they are searched."""
        self._tables = [np.zeros(int(FILTER) + 1, np.bool_) for _ in range(2)]
        for word, table in enumerate(self._tables):
            table[wanted[:, word] & FILTER] = True

    @property
    def over(self) -> bool:
        """True once all has been looked at."""
        return not self._parts

    @property
    def found(self) -> Columns:
        """Those that are held, as far as was looked, rising."""
        return Columns(*ascending(*self._found))

    def step(self) -> None:
        """Look at the next ids."""
        if not self._parts:
            return
        timestamps, hashes = self._parts[0]
        blocks = range(self._at, min(self._at + STEP, len(timestamps)), BLOCK)
        near = np.concatenate([self._near(hashes[at : at + BLOCK]) + at for at in blocks])
        told = near[self._are_wanted(hashes[near])]
        self._found = joined([self._found, Columns(timestamps[told], hashes[told])])
        self._at += STEP
        if self._at >= len(timestamps):
            del self._parts[0]
            self._at = 0

    def _near(self, hashes: Words) -> Positions:
        """Return the rows that may be wanted: most others are told by a few bits of a word."""
        first, second = self._tables
        # Places are signed, since `take` reads them in two thirds of the time; all are within.
        near = np.flatnonzero(first.take((hashes[:, 0] & FILTER).view(np.int64), mode="wrap"))
        told: Positions = near[second.take((hashes[near, 1] & FILTER).view(np.int64))]
        return told

    def _are_wanted(self, hashes: Words) -> Flags:
        """Return for each of a few hashes whether it is wanted."""
        at = self._wanted[:, 0].searchsorted(hashes[:, 0])
        same = self._wanted.take(at, axis=0, mode="clip") == hashes
        wanted: Flags = same.all(axis=1)
        # A person can make ids that share a word, of which the search found the first alone.
        near = np.flatnonzero(same[:, 0] > wanted) if self._shared else ()
        if len(near):
            wanted[near] = [one in self._all for one in split(hashes[near])]
        return wanted

    @cached_property
    def _all(self) -> frozenset[bytes]:
        return frozenset(split(self._wanted))
