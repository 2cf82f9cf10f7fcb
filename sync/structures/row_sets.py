"""Ids as rows of 40 bytes by buckets, on top of a set: what a check of it needs, and no more.

Rules:
1. A row is that of `sync.structures.set_digest`; a bucket is a leaf of a digest.
2. What lies on top may be in any order, twice, or in the set below as well.
"""

from collections.abc import Mapping
from typing import Final, Protocol

import numpy as np

from sync.structures.ordered_set import ZERO_HASH, SyncId, rows_of
from sync.structures.set_digest import LEAF_BITS, ROW_BYTES, row
from sync.structures.sorted_run import HASH_WORDS, Words, ascending

BUCKET_BYTES: Final = 200
"""Bytes of a bucket beside its rows: an entry of a table, and a buffer that grows."""


class Rows:
    """Rows that were added, by bucket."""

    def __init__(self) -> None:
        self.buckets: dict[int, bytearray] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def size(self) -> int:
        """Bytes taken."""
        return ROW_BYTES * self._count + BUCKET_BYTES * len(self.buckets)

    def add(self, sync_id: SyncId) -> None:
        """Add an id; one that is here already is here twice."""
        index = sync_id.timestamp >> LEAF_BITS
        bucket = self.buckets.get(index)
        if bucket is None:
            bucket = self.buckets[index] = bytearray()
        bucket += row(sync_id)
        self._count += 1

    @property
    def timestamps(self) -> Words:
        """A timestamp of each bucket."""
        return np.array([index << LEAF_BITS for index in self.buckets], np.uint64)


class Below(Protocol):
    """The set below: it counts its ids, and returns their rows."""

    def rows(self, lower: SyncId, upper: SyncId) -> bytes:
        """See `sync.structures.set_digest.RowSource`."""

    def count(self, lower: SyncId, upper: SyncId) -> int:
        """Return the number of ids from `lower`, inclusive, to `upper`, exclusive."""

    def __len__(self) -> int: ...


class Together:
    """A set and the rows on top of it, each id once (a `RowSource`).

    Args:
        below: the set; a snapshot.
        buckets: rows by bucket, which change no more.
    """

    def __init__(self, below: Below, buckets: Mapping[int, bytearray]) -> None:
        self._below = below
        self._merged = {
            index: rising(below.rows(*_bounds(index)) + rows) for index, rows in buckets.items()
        }
        before = sum(below.count(*_bounds(index)) for index in self._merged)
        now = sum(len(rows) // ROW_BYTES for rows in self._merged.values())
        self._count = len(below) - before + now

    def __len__(self) -> int:
        return self._count

    def rows(self, lower: SyncId, upper: SyncId) -> bytes:
        """Return the rows from `lower` to `upper` within one bucket; bounds without a hash."""
        assert lower.hash == upper.hash == ZERO_HASH, "buckets are cut by time alone"
        index = lower.timestamp >> LEAF_BITS
        assert (upper.timestamp - 1) >> LEAF_BITS == index, "a check asks for one bucket at a time"
        merged = self._merged.get(index)
        if merged is None:
            return self._below.rows(lower, upper)
        times = _times(merged)
        first, last = times.searchsorted(
            np.array([lower.timestamp, upper.timestamp], np.uint64)
        ).tolist()
        whole = first == 0 and last == len(times)
        return merged if whole else merged[ROW_BYTES * first : ROW_BYTES * last]

    def buckets(self, lower: Words, upper: Words, most: int) -> list[memoryview]:
        """See `sync.structures.set_digest.RowSource`."""
        found: list[memoryview] = []
        for first, last in zip(lower.tolist(), upper.tolist(), strict=True):
            found.append(memoryview(self.rows(SyncId(first, ZERO_HASH), SyncId(last, ZERO_HASH))))
            if sum(map(len, found)) >= ROW_BYTES * most:
                break
        return found

    def bound_after(self, lower: SyncId, upper: SyncId, most: int) -> SyncId:
        """Return the upper bound: a bucket is asked for as a whole."""
        del lower, most
        return upper


def rising(rows: bytes) -> bytes:
    """Return rows in rising order, each once; at once where they are so already."""
    timestamps = _times(rows)
    if bool(np.all(timestamps[1:] > timestamps[:-1])):
        return rows
    hashes = np.frombuffer(rows, np.uint64).reshape(-1, 1 + HASH_WORDS)[:, 1:]
    return rows_of(*ascending(timestamps, hashes))


def _times(rows: bytes) -> Words:
    """Return the timestamps of rows, in their order."""
    return np.frombuffer(rows, ">u8").reshape(-1, 1 + HASH_WORDS)[:, 0].astype(np.uint64)


def _bounds(index: int) -> tuple[SyncId, SyncId]:
    return SyncId(index << LEAF_BITS, ZERO_HASH), SyncId((index + 1) << LEAF_BITS, ZERO_HASH)
