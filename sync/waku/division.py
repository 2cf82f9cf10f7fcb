"""Comparison of ranges, and division of those that differ (Waku Sync, "Parameters").

All ranges of a payload are looked up together: a million ids cost a few array operations a round.

The specification leaves to us when a range that differs is divided, and when it is sent as an item
set. An item takes 37 bytes, a fingerprint 38. So a range known to differ is sent as items while it
has few; a fresh part of it, mostly equal, only if it has one. Where the differences lie close
together, as how many of the neighbouring ranges differ tells, items are sent earlier.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sync.machine import Nanos
from sync.structures.ordered_set import ZERO_HASH, OrderedSet, Places, SyncId
from sync.structures.sorted_run import Words
from sync.waku.message import Bounds, Ranges
from sync.waku.ranges import FINGERPRINT, ITEM_SET, RECONCILED, UNKNOWN, Kinds

Counts: TypeAlias = NDArray[np.intp]
Weights: TypeAlias = NDArray[np.float64]

ITEMS_MAX: Final = 16_384
"""Ids of one payload, 600 kB: whoever takes so many in is busy for 50 ms."""

PART: Final = ITEMS_MAX // 4
"""Ids of a part into which a range is divided that has too many for one payload."""

LARGE_FROM: Final = 4096
"""Ids in a range from which on a first answer divides it into many parts, if most ranges differ: as
nearly all of them will be needed, a round trip is saved for the same bytes."""

NEIGHBOURS: Final = 24
"""Fingerprints on either side by which the share of ids that differ is estimated."""

SHARES: Final = np.array([0.003, 0.01, 0.03, 0.06, 0.12, 0.25, 0.4, 0.6])
"""The shares of ids that may differ, between which the neighbours decide."""

ITEM_BYTES: Final = 37.0
FINGERPRINT_BYTES: Final = 38.0
"""Bytes of an id, or of a range with its fingerprint, mostly: timestamps are near each other."""


class Parameters(Struct, frozen=True):
    """The implementer's numbers (Waku Sync, "Parameters")."""

    partitions: int = 8
    """Into how many sub-ranges a range is divided."""

    wide_partitions: int = 64
    """The same in the first answer, and in the second one for large ranges if most differ."""

    item_set_threshold: int = 64
    """Up to how many local ids a range that differs may be sent as an item set."""

    choices: tuple[int, ...] = (1, 6, 8)
    """Into how many parts such a range may be divided, whatever costs least; 1 sends its items, and
    must be among them, or one id that differs would be divided for ever."""

    fresh_threshold: int = 1
    """Up to how many local ids a part of a range that differs is sent as an item set at once."""

    joined_max: int = 256
    """Up to how many ids an item set may have for the one behind it to become part of it."""

    narrow: bool = True
    """Whether an item set is answered around the differences only, not with the whole range."""


NARROW: Final = Parameters()
"""Options we use among ourselves: any peer that answers ranges one by one understands them."""

STRICT: Final = Parameters(
    wide_partitions=8,
    item_set_threshold=100,
    choices=(1,),
    fresh_threshold=100,
    joined_max=-1,
    narrow=False,
)
"""To the letter, with the thresholds of nwaku: a difference among 100,000 ids costs 16 kB."""


class Division(NamedTuple):
    """A range cut into parts: their bounds but for the last, local counts, and fingerprints.

    Bounds have hashes, one by one, only where ids share timestamps.
    """

    timestamps: Sequence[Nanos]
    hashes: Sequence[bytes] | None
    places: Places
    counts: Sequence[int]
    fingerprints: bytes
    few: Mapping[int, tuple[SyncId, ...]]
    """The ids of parts that have no more than `Parameters.fresh_threshold`, but some."""

    def uppers(self, bounds: Bounds) -> list[SyncId]:
        """Return the upper bounds of all parts of `bounds`."""
        hashes = self.hashes or [ZERO_HASH] * len(self.timestamps)
        return [*map(SyncId, self.timestamps, hashes), bounds.upper]


class Cut(NamedTuple):
    """Ranges cut into equally many parts each, m into p, in columns."""

    timestamps: Words
    """Where the parts end, but for the last of each range, (m, p - 1)."""

    edges: Places
    """Bounds between which they lie, (m, p + 1, 2)."""

    counts: Counts
    """Number of ids in each, (m, p)."""

    fingerprints: Words
    """Of each, (m, p, 4)."""

    rising: NDArray[np.bool_]
    """True if the parts of a range have timestamps that rise; otherwise it must be split, (m)."""


class Divider:
    """Compares fingerprints with those of the snapshot `local`, and divides what differs."""

    def __init__(self, local: OrderedSet, parameters: Parameters) -> None:
        self._local = local
        self._parameters = parameters

    @property
    def fresh_threshold(self) -> int:
        """See `Parameters`."""
        return self._parameters.fresh_threshold

    def compare(
        self, kinds: Kinds, theirs: Words, places: Places, *, first: bool
    ) -> tuple[Counts, Counts]:
        """Return which of these ranges to answer, and into how many parts to divide each.

        Those with another fingerprint here, and item sets; 1 sends the items at once. `theirs` are
        the fingerprints, (k, 4), `places` where the ranges begin and end, (n + 1, 2).
        """
        parts = np.zeros(len(kinds), np.intp)
        parts[(kinds == ITEM_SET) | (kinds == RECONCILED)] = 1
        at = np.flatnonzero((kinds == FINGERPRINT) | (kinds == UNKNOWN))
        lower, upper = places[at], places[at + 1]
        differs = np.ones(len(at), np.bool_)
        known = kinds[at] == FINGERPRINT
        ours = self._local.fingerprints(lower[known], upper[known])
        differs[known] = (ours != theirs).any(axis=1)
        if differs.any():
            into = self._parts((upper - lower).sum(axis=1), differs, first=first)
            parts[at[differs]] = into[differs]
        numbers = np.flatnonzero(parts)
        return numbers, parts[numbers]

    def divide(
        self, received: Ranges, into: Mapping[int, int], places: Places
    ) -> dict[int, Division]:
        """Return the parts of the ranges of these numbers, `into` so many each, if over one."""
        divisions: dict[int, Division] = {}
        for parts in sorted({*into.values()} - {1}):
            numbers = [number for number, into_parts in into.items() if into_parts == parts]
            bounds = [received.bounds(number) for number in numbers]
            at = np.array(numbers)
            cut = self._cut(bounds, places[at], places[at + 1], parts)
            divisions |= zip(numbers, cut, strict=True)
        return divisions

    def _parts(self, counts: Counts, differs: NDArray[np.bool_], *, first: bool) -> Counts:
        """Return into how many parts to divide ranges that differ; 1 sends the items at once."""
        parameters = self._parameters
        parts = np.full(len(counts), parameters.partitions)
        if first and 2 * differs.sum() >= len(differs):
            parts[(counts >= LARGE_FROM) | (len(counts) == 1)] = parameters.wide_partitions
        few = counts <= min(parameters.item_set_threshold, PART)
        if few.any():
            parts[few] = self._cheapest(counts, _likelihoods(differs, counts))[few]
        return parts

    def _cheapest(self, counts: Counts, weights: Weights) -> Counts:
        """Return into how many parts ranges of few ids are divided best, 1 if not at all.

        Each part takes a fingerprint, and those that are equal, a share of exp(-n / parts) for n
        differences spread evenly, need not send their items.
        """
        choices = np.array(self._parameters.choices)
        ids = np.maximum(counts, 1)[:, None]
        differences = ids * SHARES / -np.expm1(ids * np.log1p(-SHARES))
        unequal = -np.expm1(-differences[..., None] / choices)
        unequal[..., choices == 1] = 1.0
        cost = ITEM_BYTES * ids * (weights[..., None] * unequal).sum(axis=1)
        cost += FINGERPRINT_BYTES * choices * (choices > 1)
        cheapest: Counts = choices[np.argmin(cost, axis=1)]
        return cheapest

    def _cut(
        self, bounds: Sequence[Bounds], lower: Places, upper: Places, parts: int
    ) -> Iterator[Division]:
        """Yield the parts of each of the ranges."""
        if not bounds:
            return
        floors = np.array([one.lower.timestamp for one in bounds], np.uint64)
        cut = self.cut(floors, lower, upper, parts)
        few = self._few(cut.edges, cut.counts)
        for at, timestamps in enumerate(cut.timestamps.tolist()):
            if cut.rising[at]:
                raw = cut.fingerprints[at].tobytes()
                counts = cut.counts[at].tolist()
                yield Division(timestamps, None, cut.edges[at], counts, raw, few[at])
            else:
                yield self.split(bounds[at], parts)

    def cut(self, floors: Words, lower: Places, upper: Places, parts: int) -> Cut:
        """Cut ranges, which begin at the timestamps `floors`, into `parts` each."""
        cuts = self._local.cuts(lower, upper, parts)
        steps = np.concatenate((floors[:, None], cuts), axis=1)
        rising = np.all(steps[:, 1:] > steps[:, :-1], axis=1)
        between = self._local.places_of(cuts)
        edges = np.concatenate((lower[:, None], between, upper[:, None]), axis=1)
        counts = (edges[:, 1:] - edges[:, :-1]).sum(axis=2)
        fingerprints = self._local.fingerprints_between(edges)
        return Cut(cuts, edges, counts, fingerprints, rising)

    def split(self, bounds: Bounds, parts: int) -> Division:
        """Return the parts of a range in which ids share timestamps."""
        uppers = self._local.split(bounds.lower, bounds.upper, parts)
        edges = self._local.places([bounds.lower, *uppers])
        counts = (edges[1:] - edges[:-1]).sum(axis=1)
        return Division(
            [upper.timestamp for upper in uppers[:-1]],
            [upper.hash for upper in uppers[:-1]],
            edges,
            counts.tolist(),
            self._local.fingerprints_between(edges).tobytes(),
            self._few(edges[None], counts[None])[0],
        )

    def _few(self, edges: Places, counts: Counts) -> list[dict[int, tuple[SyncId, ...]]]:
        """Return the ids of parts that have few, for each range: see `Division.few`."""
        chosen = (counts > 0) & (counts <= self._parameters.fresh_threshold)
        items = self._local.items_of(edges[:, :-1][chosen], edges[:, 1:][chosen])
        few: list[dict[int, tuple[SyncId, ...]]] = [{} for _ in counts]
        for at, part, ids in zip(*np.nonzero(chosen), items, strict=True):
            few[at][part] = ids
        return few


def _likelihoods(differs: NDArray[np.bool_], counts: Counts) -> Weights:
    """Return for each fingerprint how likely each of `SHARES` is, from those around it.

    A range of n ids is equal with a probability of (1 - share)^n.
    """
    equal = np.maximum(counts, 1)[:, None] * np.log1p(-SHARES)
    likelihood = np.where(differs[:, None], np.log(-np.expm1(equal)), equal)
    sums = np.concatenate((np.zeros((1, len(SHARES))), np.cumsum(likelihood, axis=0)))
    at = np.arange(len(counts))
    around = sums[np.minimum(at + NEIGHBOURS + 1, len(at))] - sums[np.maximum(at - NEIGHBOURS, 0)]
    weights = np.exp(around - around.max(axis=1, keepdims=True))
    shares: Weights = weights / weights.sum(axis=1, keepdims=True)
    return shares
