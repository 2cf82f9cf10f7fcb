"""One hash over an ordered set of ids, kept up to date bucket by bucket.

Exact input of the hash:
1. A row is an id in 40 bytes: the timestamp, 8 bytes big-endian, and the hash. Rows order like ids.
2. A leaf is the bucket of the ids with one `timestamp >> 40`, its index: 18 minutes. Its hash is
   SHA-256 of a byte 00 and its rows, rising.
3. Leaves are level 0. The children of node i of level 1 to 4 are the nodes one level down whose
   index `>> 6` is i; so level 4 has one node, 0, the root. The hash of a node is SHA-256 of a byte
   01 and, for each child that holds an id, rising: its index, 8 bytes big-endian, and its hash.
4. A bucket without ids has no hash; the root of the empty set is SHA-256 of the byte 01 alone.

A digest never holds ids, only hashes and counts: under 200 bytes a bucket with any, 0.5 MB for a
month of them. It reads the rows of a bucket from where they are when it must hash them.
"""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from heapq import nsmallest
from typing import Final, Protocol

import numpy as np
from msgspec import Struct

from sync.machine import Nanos
from sync.structures.ordered_set import HASH_BYTES, ORIGIN, ZERO_HASH, SyncId
from sync.structures.sorted_run import Words

TIMESTAMP_BYTES: Final = 8

ROW_BYTES: Final = TIMESTAMP_BYTES + HASH_BYTES

LEAF_BITS: Final = 40
"""A bucket is 2^40 ns, 18 minutes: a busy day is 80 buckets, and one of them some 17 kB when a
million messages lie in a month."""

FANOUT_BITS: Final = 6
"""64 children a node: one insert hashes its bucket and four nodes of at most 2.6 kB."""

ROOT_LEVEL: Final = 4
"""40 + 4 x 6 bits are the 64 of a timestamp."""

END: Final = SyncId(2**64 - 1, ZERO_HASH)
"""Above every id a digest covers: the last nanosecond that fits into 64 bits is left out."""


class RowSource(Protocol):
    """Source of the ids that a digest covers."""

    def rows(self, lower: SyncId, upper: SyncId) -> bytes:
        """Return the rows from `lower`, inclusive, to `upper`, exclusive, rising."""

    def buckets(self, lower: Words, upper: Words, most: int) -> list[memoryview]:
        """Return the rows of the first of these ranges, one at least, that have `most` ids."""

    def bound_after(self, lower: SyncId, upper: SyncId, most: int) -> SyncId:
        """Return a bound above `lower`, up to `upper`, with about `most` ids between."""

    def __len__(self) -> int: ...


def row(sync_id: SyncId) -> bytes:
    """Return an id as its 40 bytes."""
    return sync_id.timestamp.to_bytes(TIMESTAMP_BYTES, "big") + sync_id.hash


def read_row(data: bytes) -> SyncId:
    """Return the id of a row."""
    return SyncId(int.from_bytes(data[:TIMESTAMP_BYTES], "big"), data[TIMESTAMP_BYTES:])


def split_rows(rows: bytes) -> list[bytes]:
    """Cut rows apart."""
    return [rows[at : at + ROW_BYTES] for at in range(0, len(rows), ROW_BYTES)]


def leaf_hash(rows: bytes | memoryview) -> bytes:
    """Hash a bucket, of at least one id."""
    hashed = hashlib.sha256(b"\0")
    hashed.update(rows)
    return hashed.digest()


def node_hash(children: Iterable[tuple[int, bytes]]) -> bytes:
    """Hash a node from the indexes and hashes of its children that hold ids, rising."""
    parts = [b"\1"]
    for index, child in children:
        parts += (index.to_bytes(TIMESTAMP_BYTES, "big"), child)
    return hashlib.sha256(b"".join(parts)).digest()


SLICE: Final = 16_384
"""Ids that are hashed at one time, some 2 ms."""

LEAVES_AT_ONCE: Final = 256
"""Buckets of these, at most."""

EMPTY_ROOT: Final = node_hash([])


@dataclass(slots=True)
class Partial:
    """A bucket of which the rows below `at` are hashed."""

    index: int
    at: SyncId
    hashed: "hashlib._Hash" = field(default_factory=lambda: hashlib.sha256(b"\0"))
    count: int = 0


class Digest:
    """The hashes of all buckets of a set, from `floor` on, and of the nodes above them.

    Its answers stand for the last `refresh`; `of` and the methods that return a digest return a
    fresh one.
    """

    def __init__(self, floor: Nanos = 0) -> None:
        """Begin with the empty set; ids below `floor`, a retention floor, never count."""
        self._floor = floor
        self._hashes: list[dict[int, bytes]] = [{} for _ in range(ROOT_LEVEL + 1)]
        self._counts: dict[int, int] = {}
        self._count = 0
        self._stale: set[int] = set()
        self._partial: Partial | None = None

    @classmethod
    def of(cls, source: RowSource, floor: Nanos = 0) -> "Digest":
        """Digest a whole set at once; holds all its rows meanwhile, 40 bytes an id."""
        digest = cls(floor)
        rows = memoryview(source.rows(SyncId(floor, ZERO_HASH), END))
        if rows:
            leaves = np.frombuffer(rows, ">u8").reshape(-1, ROW_BYTES // 8)[:, 0] >> LEAF_BITS
            starts = [0, *(np.flatnonzero(leaves[1:] != leaves[:-1]) + 1).tolist(), len(leaves)]
            indexes = leaves[starts[:-1]].tolist()
            for at, index in enumerate(indexes):
                digest._put(index, rows[ROW_BYTES * starts[at] : ROW_BYTES * starts[at + 1]])
            digest._climb(set(indexes))
        return digest

    def __getstate__(self) -> dict[str, object]:
        """Leave out half a hash, which cannot be copied: its bucket is hashed anew."""
        return {**self.__dict__, "_partial": None}

    @property
    def floor(self) -> Nanos:
        """Only ids from this timestamp on count."""
        return self._floor

    @property
    def count(self) -> int:
        """Number of ids the digest covers."""
        assert not self._stale, "refresh comes first"
        return self._count

    @property
    def root(self) -> bytes:
        """The hash over everything."""
        assert not self._stale, "refresh comes first"
        return self._hashes[ROOT_LEVEL].get(0, EMPTY_ROOT)

    def children(self, level: int, index: int) -> list[tuple[int, bytes]]:
        """Return index and hash of each child of a node of level 1 to 4 that holds ids, rising."""
        assert not self._stale, "refresh comes first"
        return self._children(level, index)

    def _children(self, level: int, index: int) -> list[tuple[int, bytes]]:
        hashes = self._hashes[level - 1]
        first = index << FANOUT_BITS
        end = first + (1 << FANOUT_BITS)
        return [(child, hashes[child]) for child in range(first, end) if child in hashes]

    def leaves(self, level: int, index: int) -> list[int]:
        """Return the indexes of all leaves with ids under a node, rising."""
        indexes = [index]
        for above in range(level, 0, -1):
            indexes = [child for node in indexes for child, _ in self.children(above, node)]
        return indexes

    def holds(self, level: int, index: int) -> bool:
        """Return whether there are ids under a node."""
        return index in self._hashes[level]

    def leaf_count(self, index: int) -> int:
        """Return the number of ids in a leaf; 0 if it does not exist."""
        return self._counts.get(index, 0)

    def bounds(self, index: int) -> tuple[SyncId, SyncId]:
        """Return the lower and upper bound of what counts of a leaf."""
        lower = max(index << LEAF_BITS, self._floor)
        upper = min((index + 1) << LEAF_BITS, END.timestamp)
        return SyncId(lower, ZERO_HASH), SyncId(upper, ZERO_HASH)

    def changed(self, timestamp: Nanos) -> None:
        """Note that an id of this timestamp was added to the set or left it."""
        assert ORIGIN.timestamp <= timestamp < END.timestamp, f"{timestamp} has no bucket"
        if timestamp >= self._floor:
            index = timestamp >> LEAF_BITS
            self._stale.add(index)
            partial = self._partial
            if partial is not None and partial.index == index and timestamp <= partial.at.timestamp:
                self._partial = None  # it is in what was hashed, or was

    def changed_all(self, timestamps: Words) -> None:
        """Note that ids of these timestamps were added to the set or left it."""
        leaves = timestamps[timestamps >= np.uint64(self._floor)] >> np.uint64(LEAF_BITS)
        begins = np.ones(len(leaves), np.bool_)
        begins[1:] = leaves[1:] != leaves[:-1]
        self._stale.update(leaves[begins].tolist())
        self._partial = None

    def refresh(self, source: RowSource) -> None:
        """Hash the buckets with changes anew, and what is above them."""
        while not self.refresh_some(source):
            pass
        assert self._floor or self._count == len(source), "a change of the set was not noted"

    def refresh_some(self, source: RowSource) -> bool:
        """Hash a slice of these buckets, the lowest first; returns whether none is left."""
        if self._partial is not None:
            self._hash_on(self._partial, source)
        elif self._stale:
            self._hash_lowest(nsmallest(LEAVES_AT_ONCE, self._stale), source)
        return not self._stale

    def _hash_lowest(self, indexes: list[int], source: RowSource) -> None:
        """Hash buckets, the first of which may be too large to be hashed at once."""
        bounds = [self.bounds(index) for index in indexes]
        if source.bound_after(*bounds[0], SLICE) < bounds[0][1]:
            self._partial = Partial(indexes[0], bounds[0][0])
            self._hash_on(self._partial, source)
            return
        edges = np.array([[bound.timestamp for bound in each] for each in bounds], np.uint64)
        buckets = source.buckets(edges[:, 0], edges[:, 1], SLICE)
        done = indexes[: len(buckets)]
        for index, rows in zip(done, buckets, strict=True):
            self._put(index, rows)
        self._stale.difference_update(done)
        self._climb(set(done))

    def _hash_on(self, partial: "Partial", source: RowSource) -> None:
        """Hash a slice of one bucket."""
        upper = self.bounds(partial.index)[1]
        bound = source.bound_after(partial.at, upper, SLICE)
        rows = source.rows(partial.at, bound)
        partial.hashed.update(rows)
        partial.count += len(rows) // ROW_BYTES
        partial.at = bound
        if bound == upper:
            self._partial = None
            self._set(partial.index, partial.count, partial.hashed.digest())
            self._stale.discard(partial.index)
            self._climb({partial.index})

    def copy(self) -> "Digest":
        """Return a digest of its own that starts out equal: what a session freezes."""
        copied = Digest(self._floor)
        copied._hashes = [hashes.copy() for hashes in self._hashes]
        copied._counts = self._counts.copy()
        copied._count = self._count
        copied._stale = self._stale.copy()
        return copied

    def above(self, source: RowSource, floor: Nanos) -> "Digest":
        """Return the digest of the ids from `floor` on; only the bucket it cuts is hashed anew."""
        assert not self._stale, "refresh comes first"
        if floor <= self._floor:
            return self.copy()
        cut = min(floor, END.timestamp) >> LEAF_BITS
        narrowed = self._only(floor, lambda level, at: at > cut >> FANOUT_BITS * level)
        if floor < END.timestamp:
            narrowed.changed(floor)
            narrowed.refresh(source)
        return narrowed

    def below(self, source: RowSource, timestamp: Nanos) -> "Digest":
        """Return the digest of `source`: our ids up to some of this timestamp, which it cuts."""
        assert not self._stale, "refresh comes first"
        cut = timestamp >> LEAF_BITS
        narrowed = self._only(self._floor, lambda level, at: at < cut >> FANOUT_BITS * level)
        narrowed.changed(timestamp)
        narrowed.refresh(source)
        return narrowed

    def _only(self, floor: Nanos, keeps: Callable[[int, int], bool]) -> "Digest":
        """Return a digest of the nodes that `keeps` takes, asked by level and index."""
        chosen = Digest(floor)
        chosen._counts = {at: count for at, count in self._counts.items() if keeps(0, at)}
        chosen._count = sum(chosen._counts.values())
        chosen._hashes = [
            {at: kept for at, kept in hashes.items() if keeps(level, at)}
            for level, hashes in enumerate(self._hashes)
        ]
        return chosen

    def _put(self, index: int, rows: bytes | memoryview) -> None:
        """Take in the rows of a leaf as they now are."""
        self._set(index, len(rows) // ROW_BYTES, leaf_hash(rows) if rows else b"")

    def _set(self, index: int, count: int, hashed: bytes) -> None:
        """Keep how many ids a leaf has, and its hash."""
        self._count += count - self._counts.get(index, 0)
        if count:
            self._counts[index] = count
            self._hashes[0][index] = hashed
        else:
            self._counts.pop(index, None)
            self._hashes[0].pop(index, None)

    def _climb(self, indexes: set[int]) -> None:
        """Hash all nodes above these leaves anew."""
        for level in range(1, ROOT_LEVEL + 1):
            indexes = {index >> FANOUT_BITS for index in indexes}
            for index in indexes:
                if children := self._children(level, index):
                    self._hashes[level][index] = node_hash(children)
                else:
                    self._hashes[level].pop(index, None)


class Held(Struct, frozen=True):
    """The ids one side holds and their digest, which two sides compare."""

    source: RowSource
    digest: Digest

    def on_top(self, together: RowSource, timestamps: Words) -> "Held":
        """Return it with ids of these timestamps more, its digest yet to be refreshed.

        `together` holds them too.
        """
        digest = self.digest.copy()
        digest.changed_all(timestamps)
        return Held(together, digest)

    def with_found(self, together: RowSource, timestamps: Words) -> "Held":
        """Return it with what was found missing, which `together` holds too."""
        held = self.on_top(together, timestamps)
        held.digest.refresh(together)
        return held

    def above(self, floor: Nanos) -> "Held":
        """Return what is left of it from a retention floor on."""
        return Held(self.source, self.digest.above(self.source, floor))

    def below(self, source: RowSource, timestamp: Nanos) -> "Held":
        """Return what is left of it in `source`, which ends with some ids of this timestamp."""
        return Held(source, self.digest.below(source, timestamp))

    def leaf_rows(self, index: int) -> bytes:
        """Return the rows of one bucket, as far as they count."""
        return self.source.rows(*self.digest.bounds(index))
