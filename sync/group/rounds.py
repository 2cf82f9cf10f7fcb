"""The payloads of a session as they are shown: how many ranges of which kind, and where."""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
    places = local.places_of(np.array([0, *ranges.timestamps], np.uint64)).sum(axis=1)
    edges = (places * CELLS // max(len(local), 1)).clip(0, CELLS - 1)
    lower, upper = edges[:-1], edges[1:]
    if not local:  # of nothing, every range is the whole
        lower, upper = np.zeros_like(lower), np.full_like(upper, CELLS - 1)
    kinds = np.array(
        [0 if one is None else 2 if isinstance(one, Items) else 1 for one in ranges.contents],
        np.intp,
    )
    items = sum([len(one.elements) for one in ranges.contents if isinstance(one, Items)])
    skips, fingerprints, item_sets = np.bincount(kinds, minlength=3).tolist()
    differs, listed = (_touched(lower[kinds == kind], upper[kinds == kind]) for kind in (1, 2))
    shown = np.where(listed, ITEMS, np.where(differs, DIFFERS, EQUAL))
    return Round(sent, size, skips, fingerprints, item_sets, items, "".join(shown.tolist()))


def _touched(lower: NDArray[np.intp], upper: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return which cells some range reaches into, from its lower cell to its upper one."""
    steps = np.zeros(CELLS + 1, np.intp)
    np.add.at(steps, lower, 1)
    np.add.at(steps, upper + 1, -1)
    return steps.cumsum()[:CELLS] > 0
