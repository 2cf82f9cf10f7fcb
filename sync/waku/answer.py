"""A payload being written: the answer to one of the peer's, or as much of it as has room."""

from dataclasses import dataclass, field
from typing import Final

from sync.structures.ordered_set import HASH_BYTES, ORIGIN, ZERO_HASH, SyncId, rungs
from sync.waku.division import ITEMS_MAX, Division
from sync.waku.message import (
    BOUND_HASH_BYTES_MAX,
    ITEM_BYTES_MAX,
    PAYLOAD_BYTES_MAX,
    RANGE_BYTES_MAX,
    RANGES_MAX,
    Bounds,
)
from sync.waku.ranges import ITEM_SET, RECONCILED, SKIP, Content, Items, Ranges
from sync.waku.rows import Rows, laid_out

HEADER_BYTES_MAX: Final = 1024
"""Cluster and shards of our own payloads: ours name one shard."""

RUNGS_MAX: Final = 1 + HASH_BYTES
"""Ranges it may take to reach a bound (`sync.structures.ordered_set.rungs`)."""


@dataclass(slots=True)
class Answer:
    """See the module docstring."""

    ranges: Ranges = field(default_factory=Ranges)
    end: SyncId = ORIGIN
    """Up to here the ranges reach."""

    room: int = PAYLOAD_BYTES_MAX - HEADER_BYTES_MAX
    """Bytes the ranges still to come may take."""

    items_left: int = ITEMS_MAX
    """Ids the item sets still to come may have."""

    settles: bool = True
    """Whether it is nothing but `Skip`."""

    joined_max: int = -1
    """See `Parameters`."""

    def add(self, bounds: Bounds, content: bytes | Items) -> None:
        """Append a range, after a `Skip` over what lies between."""
        self.settles = False
        if isinstance(content, Items):
            self.room -= ITEM_BYTES_MAX * len(content.elements)
            self.items_left -= len(content.elements)
            if self._joins(bounds, content):
                return
        if bounds.lower != self.end:
            self.skip_to(bounds.lower)
        self._append(bounds.upper, content)

    def add_parts(self, lower: SyncId, upper: SyncId, division: Division) -> None:
        """Append the parts of a range, all of them as fingerprints; their bounds have no hash."""
        if lower != self.end:
            self.skip_to(lower)
        but_last = len(division.fingerprints) - HASH_BYTES
        self.ranges.extend_fingerprints(division.timestamps, division.fingerprints[:but_last])
        self.room -= RANGE_BYTES_MAX * len(division.timestamps)
        self.settles = False
        self._append(upper, division.fingerprints[but_last:])

    def add_rows(self, rows: Rows) -> None:
        """Append ranges as `add` does, one after another; neither they nor `end` have a hash."""
        if not len(rows.kinds):
            return
        ranges, ids = self.ranges, len(rows.ids.timestamps)
        last = (ranges.kinds[-1], ranges.counts[-1]) if ranges else (SKIP, 0)
        laid = laid_out(rows, self.end.timestamp, last, self.joined_max)
        if ranges:
            ranges.timestamps[-1], ranges.counts[-1] = laid.last_upper, laid.last_count
        ranges.extend_columns(laid.timestamps, laid.kinds, laid.counts, rows.fingerprints, rows.ids)
        self.settles = False
        self.end = SyncId(int(rows.upper[-1]), ZERO_HASH)
        self.room -= RANGE_BYTES_MAX * len(laid.kinds) + ITEM_BYTES_MAX * ids
        self.items_left -= ids

    def skip_to(self, bound: SyncId) -> None:
        """Append the `Skip` ranges, mostly one or none, that lead up to `bound`."""
        for rung in rungs(self.end, bound):
            self._append(rung, None)

    def _joins(self, bounds: Bounds, content: Items) -> bool:
        """Return whether `content` was joined to the item set before it, saving 12 bytes."""
        ranges = self.ranges
        if (
            not ranges
            or ranges.kinds[-1] != (RECONCILED if content.reconciled else ITEM_SET)
            or bounds.lower != self.end
            or ranges.counts[-1] > self.joined_max
            or bounds.upper.hash != ZERO_HASH
            or self.end.hash != ZERO_HASH
        ):
            return False
        ranges.join(bounds.upper.timestamp, content.elements)
        self.end = bounds.upper
        return True

    def has_room(self, ranges: int, items: int = 0) -> bool:
        """Return whether so many more ranges and items fit, whatever they are."""
        if items > self.items_left:
            return False
        most = ranges * (RANGE_BYTES_MAX + BOUND_HASH_BYTES_MAX) + items * ITEM_BYTES_MAX
        return most <= self.room and len(self.ranges) + ranges <= RANGES_MAX

    def _append(self, upper: SyncId, content: Content) -> None:
        self.ranges.append(upper, content)
        self.end = upper
        self.room -= RANGE_BYTES_MAX
        if upper.hash != ZERO_HASH:
            self.room -= BOUND_HASH_BYTES_MAX
