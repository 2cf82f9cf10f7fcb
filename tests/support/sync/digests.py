"""Builders for the tests of digests: a set that is a plain sorted list, and its digest."""

import hashlib
from bisect import bisect_left, insort
from collections.abc import Iterable

from sync.structures.ordered_set import ZERO_HASH, SyncId, columns_of
from sync.structures.set_digest import (
    FANOUT_BITS,
    LEAF_BITS,
    ROOT_LEVEL,
    ROW_BYTES,
    Digest,
    Held,
    row,
)
from sync.structures.sorted_run import Words


class SortedIds:
    """The plainest source of rows."""

    def __init__(self, items: Iterable[SyncId] = ()) -> None:
        self.items = sorted(items)

    def __len__(self) -> int:
        return len(self.items)

    def rows(self, lower: SyncId, upper: SyncId) -> bytes:
        first, last = bisect_left(self.items, lower), bisect_left(self.items, upper)
        return b"".join(map(row, self.items[first:last]))

    def buckets(self, lower: Words, upper: Words, most: int) -> list[memoryview]:
        found = list[memoryview]()
        for first, last in zip(lower.tolist(), upper.tolist(), strict=True):
            rows = self.rows(SyncId(first, ZERO_HASH), SyncId(last, ZERO_HASH))
            if found and sum(map(len, found)) + len(rows) > ROW_BYTES * most:
                break
            found.append(memoryview(rows))
        return found

    def bound_after(self, lower: SyncId, upper: SyncId, most: int) -> SyncId:
        return min([*self.items[bisect_left(self.items, lower) :][most:][:1], upper])

    def insert(self, item: SyncId) -> None:
        insort(self.items, item)


def held(items: Iterable[SyncId]) -> Held:
    source = SortedIds(items)
    return Held(source, Digest.of(source))


def times(items: Iterable[SyncId]) -> Words:
    """Return the time at which each was written."""
    return columns_of(list(items)).timestamps


def plain_root(items: Iterable[SyncId]) -> bytes:
    """The root as the documentation says it, with nothing kept and nothing shared."""
    leaves: dict[int, bytes] = {}
    for item in sorted(items):
        index = item.timestamp >> LEAF_BITS
        leaves[index] = leaves.get(index, b"\0") + row(item)
    level = {index: hashlib.sha256(rows).digest() for index, rows in leaves.items()}
    for _ in range(ROOT_LEVEL):
        above: dict[int, bytes] = {}
        for index in sorted(level):
            head = above.get(index >> FANOUT_BITS, b"\1")
            above[index >> FANOUT_BITS] = head + index.to_bytes(8, "big") + level[index]
        level = {index: hashlib.sha256(content).digest() for index, content in above.items()}
    return level.get(0, hashlib.sha256(b"\1").digest())
