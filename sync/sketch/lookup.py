"""Ids by their hashes alone: a scan of what is held, in short steps.

Timestamps do not travel, and a set is in the order of these. A million ids take 3 ms; an index
would take as many bytes as the prefix for every hundred thousand.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from sync.structures.sorted_run import Columns, Positions, SyncId, Words, split, values_of

STEP: Final = 1 << 18
"""Ids that are looked at in one step: 2 ms."""

BLOCK: Final = 1 << 15
"""Ids that are looked at together: what is made of them stays in the processor's cache."""

FILTER: Final = np.uint64((1 << 18) - 1)
"""Bits of a hash that a table of bytes is asked about first, 256 kB."""


class Lookup:
    """A scan for some hashes, (n, 4), over columns that nobody changes."""

    def __init__(self, parts: Sequence[Columns], wanted: Words) -> None:
        self.found: list[SyncId] = []
        """Those that are held, rising once it is over."""
        self._parts = [part for part in parts if len(part.timestamps)] if len(wanted) else []
        self._at = 0
        self._wanted = set(split(wanted))
        self._tables = [np.zeros(int(FILTER) + 1, np.bool_) for _ in range(2)]
        for word, table in enumerate(self._tables):
            table[wanted[:, word] & FILTER] = True

    @property
    def over(self) -> bool:
        """True once all has been looked at."""
        return not self._parts

    def step(self) -> None:
        """Look at the next ids."""
        if not self._parts:
            return
        timestamps, hashes = self._parts[0]
        blocks = range(self._at, min(self._at + STEP, len(timestamps)), BLOCK)
        near = np.concatenate([self._near(hashes[at : at + BLOCK]) + at for at in blocks])
        told = values_of(Columns(timestamps[near], hashes[near]))
        self.found += [one for one in told if one.hash in self._wanted]
        self._at += STEP
        if self._at >= len(timestamps):
            del self._parts[0]
            self._at = 0
        if not self._parts:
            self.found.sort()

    def _near(self, hashes: Words) -> Positions:
        """Return the rows that may be wanted: most others are told by a few bits of a word."""
        first, second = self._tables
        # Places are signed, since `take` reads them in two thirds of the time.
        near = np.flatnonzero(first.take((hashes[:, 0] & FILTER).view(np.int64)))
        told: Positions = near[second.take((hashes[near, 1] & FILTER).view(np.int64))]
        return told
