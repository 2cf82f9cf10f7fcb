"""The payloads of a session as they are shown: how many ranges of which kind, and where."""

from typing import Final, NamedTuple

import numpy as np

from sync.ranges import OrderedSet
from sync.waku.message import Items, Ranges

CELLS: Final = 32
"""Into how many parts the whole set is divided to be shown."""

EQUAL, DIFFERS, ITEMS = ".#="
"""What a cell is: skipped, at least one fingerprint, or at least one item set."""


class Round(NamedTuple):
    """One payload; `cells` shows our ids from the oldest to the newest."""

    sent: bool
    size: int
    skips: int
    fingerprints: int
    item_sets: int
    items: int
    cells: str


def drawn(ranges: Ranges, size: int, local: OrderedSet, *, sent: bool) -> Round:
    """Return a payload of `size` bytes as it is shown."""
    cells = np.zeros(CELLS, np.uint8)
    places = local.places_of(np.array([0, *ranges.timestamps], np.uint64)).sum(axis=1)
    edges = (places * CELLS // max(len(local), 1)).clip(0, CELLS - 1).tolist()
    fingerprints = item_sets = items = 0
    for at, content in enumerate(ranges.contents):
        if content is None:
            continue
        cell = slice(edges[at], edges[at + 1] + 1)
        if isinstance(content, Items):
            item_sets += 1
            items += len(content.elements)
            cells[cell] = 2
        else:
            fingerprints += 1
            np.maximum(cells[cell], 1, out=cells[cell])
    skips = len(ranges) - fingerprints - item_sets
    kinds = (EQUAL, DIFFERS, ITEMS)
    shown = "".join([kinds[kind] for kind in cells.tolist()])
    return Round(sent, size, skips, fingerprints, item_sets, items, shown)
