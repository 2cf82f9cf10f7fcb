"""Ids by their hashes alone: a scan of what is held, in short steps.

Timestamps do not travel, and a set is in the order of these. A million ids take 6 ms; an index
would take as many bytes as the prefix for every hundred thousand.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from sync.structures.sorted_run import (
    HASH_BYTES,
    Columns,
    Positions,
    SyncId,
    Words,
    sync_ids,
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
        self.found: list[SyncId] = []
        """Those that are held, rising once it is over."""
        self._parts = [part for part in parts if len(part.timestamps)] if len(wanted) else []
        self._at = 0
        self._filter = np.zeros(int(FILTER) + 1, np.bool_)
        self._filter[wanted[:, 0] & FILTER] = True
        self._firsts = np.sort(wanted[:, 0])
        self._wanted = {row.tobytes() for row in wanted}

    @property
    def over(self) -> bool:
        """True once all has been looked at."""
        return not self._parts

    def step(self) -> None:
        """Look at the next ids."""
        if not self._parts:
            return
        timestamps, hashes = self._parts[0]
        firsts = hashes[:, 0]
        blocks = range(self._at, min(self._at + STEP, len(firsts)), BLOCK)
        near = np.concatenate([self._near(firsts[at : at + BLOCK]) + at for at in blocks])
        raw = hashes[near].tobytes()
        told = [raw[at : at + HASH_BYTES] for at in range(0, len(raw), HASH_BYTES)]
        held = sync_ids(timestamps[near].tolist(), told)
        self.found += [one for one in held if one.hash in self._wanted]
        self._at += STEP
        if self._at >= len(timestamps):
            del self._parts[0]
            self._at = 0
        if not self._parts:
            self.found.sort()

    def _near(self, firsts: Words) -> Positions:
        """Return the rows whose first word is wanted."""
        places = (firsts & FILTER).view(np.int64)  # which `take` reads in two thirds of the time
        near = np.flatnonzero(self._filter.take(places))
        at = np.searchsorted(self._firsts, firsts[near])
        at[at == len(self._firsts)] = 0
        wanted: Positions = near[self._firsts[at] == firsts[near]]
        return wanted
