"""Ids of entries that a session brought on its own stream: its check counts them as held."""

from typing import Final

from sync.check.message import ASIDE_MAX, Aside
from sync.structures.ordered_set import OrderedSet, SyncId
from sync.structures.row_sets import Rows, Together
from sync.structures.set_digest import Held

LOOKED_AFTER: Final = 256
"""Entries between two looks whether there is still room: a page."""


class Brought:
    """See the module docstring; one that came twice is there twice.

    They are kept as the rows that the check hashes: to make one set of all at the end took 72 ms
    for 100,000 of them, in memory that was never used before.
    """

    def __init__(self) -> None:
        self._rows = Rows()
        self._aside: list[bytes] = []
        """Of these, hashes of what is kept aside; up to one more than can be told."""

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def size(self) -> int:
        """Bytes taken."""
        return self._rows.size

    @property
    def aside(self) -> Aside:
        """Hashes of what is kept aside, to be told; None if it is more than can be told."""
        return None if len(self._aside) > ASIDE_MAX else tuple(self._aside)

    def add(self, sync_id: SyncId, *, aside: bool = False) -> None:
        """Keep one more; `aside`: nobody may count on our having it."""
        self._rows.add(sync_id)
        if aside and len(self._aside) <= ASIDE_MAX:
            self._aside.append(sync_id.hash)

    def together(self, local: OrderedSet, held: Held) -> Held:
        """Return what was frozen, `local` and `held`, with what came since."""
        if not self._rows:
            return held
        return held.with_found(Together(local, self._rows.buckets), self._rows.timestamps)
