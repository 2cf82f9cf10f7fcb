"""The payloads of a session as they are shown: how many ranges of which kind, and where."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from sync.sessions.cards import RangeDrawn, Round
from sync.structures.ordered_set import HASH_BYTES, OrderedSet
from sync.waku.ranges import ITEM_SET, Items, Ranges

CELLS: Final = 32
"""Into how many parts the whole set is divided to be shown."""

EQUAL, DIFFERS, ITEMS = ".#="
"""Kind of a cell: skipped, at least one fingerprint, or at least one item set."""


RANGES_SHOWN: Final = 12
"""Ranges of a payload kept to be looked at: 5 kB, and 20 sessions of some ten payloads are kept."""

ID_BYTES: Final = 8 + HASH_BYTES
"""Of an id, or of a bound, without delta encoding: timestamp and hash."""


def drawn(ranges: Ranges, size: int, local: OrderedSet, *, sent: bool) -> Round:
    """Return a payload of `size` bytes as it is shown."""
    places = local.places_of(ranges.edges).sum(axis=1)
    edges = (places * CELLS // max(len(local), 1)).clip(0, CELLS - 1)
    lower, upper = edges[:-1], edges[1:]
    if not local:  # of nothing, every range is the whole
        lower, upper = np.zeros_like(lower), np.full_like(upper, CELLS - 1)
    kinds = np.minimum(ranges.kind_column, ITEM_SET).astype(np.intp)
    items = len(ranges.id_timestamps)
    skips, fingerprints, item_sets = np.bincount(kinds, minlength=3).tolist()
    differs, listed = (_touched(lower[kinds == kind], upper[kinds == kind]) for kind in (1, 2))
    shown = np.where(listed, ITEMS, np.where(differs, DIFFERS, EQUAL))
    cells = "".join(shown.tolist())
    raw = len(ranges) * (ID_BYTES + 1) + fingerprints * HASH_BYTES + items * ID_BYTES
    chosen = _chosen(kinds)
    looked_at = tuple([_range(ranges, at, local, sent=sent) for at in chosen])
    return Round(sent, size, skips, fingerprints, item_sets, items, cells, raw, looked_at)


def _chosen(kinds: NDArray[np.intp]) -> list[int]:
    """Return which ranges are kept, in order: what differs before what is equal."""
    open_ones, equal = np.flatnonzero(kinds), np.flatnonzero(kinds == 0)
    first = np.concatenate([open_ones, equal])[:RANGES_SHOWN]
    return sorted(first.tolist())


def _range(ranges: Ranges, at: int, local: OrderedSet, *, sent: bool) -> RangeDrawn:
    """Return a range with our own fingerprint of it, and the peer's where the peer says it."""
    lower, upper = ranges.bounds(at)
    content, held = ranges.content(at), local.count(lower, upper)
    if content is None:
        return RangeDrawn(lower, upper, "equal", held=held)
    ours = local.fingerprint(lower, upper)
    if isinstance(content, Items):
        return RangeDrawn(lower, upper, "items", ours, held=held, listed=len(content.elements))
    return RangeDrawn(lower, upper, "fingerprint", ours, b"" if sent else content, held)


def _touched(lower: NDArray[np.intp], upper: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return which cells some range reaches into, from its lower cell to its upper one."""
    steps = np.zeros(CELLS + 1, np.intp)
    np.add.at(steps, lower, 1)
    np.add.at(steps, upper + 1, -1)
    return steps.cumsum()[:CELLS] > 0
