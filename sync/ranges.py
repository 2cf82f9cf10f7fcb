"""An ordered set of ids and the questions range-based set reconciliation asks of it.

Rules:
1. Order is (timestamp, hash); a range includes its lower and excludes its upper bound.
2. What a snapshot shows never changes, whatever is inserted afterwards.
3. A bound is shortened to what its delta encoding carries before anything is computed over the
   range it limits: both sides must mean the same range.
"""

import sys
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sync.machine import Nanos

Words: TypeAlias = NDArray[np.uint64]

HASH_BYTES = 32
ZERO_HASH = bytes(HASH_BYTES)

HASH_WORDS = 4
"""A hash is held as four 64-bit words of its raw bytes: XOR does not care about byte order."""

LATE_MAX = 256
"""Ids that wait for their places at most; 50 kB."""

CAPACITY_MIN = 64
"""The first allocation, 2.5 kB; from there it grows by an eighth, so a tail insert is O(1)."""


@dataclass(frozen=True, slots=True, order=True)
class SyncId:
    """A message as reconciliation sees it: `timestamp` in 0..2^64-1 ns, `hash` of 32 bytes."""

    timestamp: Nanos
    hash: bytes


ORIGIN = SyncId(0, ZERO_HASH)
"""The lower bound of the first range of every payload."""


def shortened(bound: SyncId, previous: SyncId) -> SyncId:
    """What is left of `bound` when it is delta encoded after `previous`, which is below it.

    With another timestamp the hash is not sent and means zero; with the same one the hash ends
    with the first byte that differs. The result is above `previous` and not above `bound`.
    """
    if bound.timestamp != previous.timestamp:
        return SyncId(bound.timestamp, ZERO_HASH)
    length = 1 + next(at for at in range(HASH_BYTES) if bound.hash[at] != previous.hash[at])
    return SyncId(bound.timestamp, bound.hash[:length].ljust(HASH_BYTES, b"\0"))


def rungs(previous: SyncId, bound: SyncId) -> Iterator[SyncId]:
    """Yield the bounds that lead from `previous` up to `bound`, each encodable after the last.

    One where only the timestamp matters; at most 33, one more for each byte of the hash.
    """
    while previous != bound:
        previous = shortened(bound, previous)
        yield previous


@dataclass(slots=True, eq=False)
class OrderedSet:
    """A set of `SyncId`, sorted, in two numpy columns with spare capacity at the tail."""

    _timestamps: Words = field(default_factory=lambda: np.empty(0, np.uint64), repr=False)
    _hashes: Words = field(default_factory=lambda: np.empty((0, HASH_WORDS), np.uint64), repr=False)
    _count: int = 0
    _shared: bool = False
    """Whether a snapshot reads these columns: then the first `_count` rows stay as they are."""
    _frozen: bool = False
    _late: list[SyncId] = field(default_factory=list, repr=False)
    """Ids that wait to be put in their places until somebody looks."""

    def __len__(self) -> int:
        self._put_in()
        return self._count

    def __contains__(self, sync_id: SyncId) -> bool:
        self._put_in()
        position = self._position(sync_id)
        return position < self._count and self._item(position) == sync_id

    def add(self, sync_id: SyncId) -> None:
        """Add one id when somebody looks: most come in while no session runs."""
        assert not self._frozen, "a snapshot takes no inserts"
        self._late.append(sync_id)
        if len(self._late) >= LATE_MAX:
            self._put_in()

    def insert(self, sync_id: SyncId) -> bool:
        """Add one id; False when it is already there. O(1) amortised at the tail, else O(n)."""
        assert not self._frozen, "a snapshot takes no inserts"
        self._put_in()
        return self._insert(sync_id)

    def _put_in(self) -> None:
        if not self._late:
            return
        late, self._late = self._late, []
        if len(late) > self._count // 8:
            self.extend(late)  # one sort of everything, which is little
        else:
            for sync_id in late:
                self._insert(sync_id)

    def _insert(self, sync_id: SyncId) -> bool:
        position = self._position(sync_id)
        if position < self._count and self._item(position) == sync_id:
            return False
        if self._count == len(self._timestamps) or (self._shared and position < self._count):
            self._move_to(max(CAPACITY_MIN, self._count + self._count // 8))
        end = self._count
        self._timestamps[position + 1 : end + 1] = self._timestamps[position:end]
        self._hashes[position + 1 : end + 1] = self._hashes[position:end]
        self._timestamps[position] = sync_id.timestamp
        self._hashes[position] = np.frombuffer(sync_id.hash, np.uint64)
        self._count = end + 1
        return True

    def extend(self, sync_ids: Iterable[SyncId]) -> None:
        """Add many ids, in any order, some perhaps already there: one sort of everything."""
        assert not self._frozen, "a snapshot takes no inserts"
        self._put_in()
        added = list(sync_ids)
        if not added:
            return
        raw = b"".join(sync_id.hash for sync_id in added)
        added_timestamps = np.array([sync_id.timestamp for sync_id in added], np.uint64)
        added_hashes = np.frombuffer(raw, np.uint64).reshape(-1, HASH_WORDS)
        timestamps = np.concatenate((self._timestamps[: self._count], added_timestamps))
        hashes = np.concatenate((self._hashes[: self._count], added_hashes))
        # Read as big-endian numbers the words order like the bytes they hold.
        numbers = hashes.view(">u8")
        order = np.lexsort((*(numbers[:, word] for word in (3, 2, 1, 0)), timestamps))
        timestamps, hashes = timestamps[order], hashes[order]
        first_of_its_kind = np.ones(len(order), np.bool_)
        first_of_its_kind[1:] = (timestamps[1:] != timestamps[:-1]) | np.any(
            hashes[1:] != hashes[:-1], axis=1
        )
        self._timestamps, self._hashes = timestamps[first_of_its_kind], hashes[first_of_its_kind]
        self._count, self._shared = len(self._timestamps), False

    def restore(self, rows: bytes) -> None:
        """Take in a whole set, ascending, 40 bytes an id: timestamp, big-endian, and hash."""
        assert not self._count, "a set is restored once"
        words = np.frombuffer(rows, np.uint64).reshape(-1, 1 + HASH_WORDS)
        self._timestamps = words[:, 0].byteswap() if sys.byteorder == "little" else words[:, 0]
        self._hashes = words[:, 1:].copy()
        self._count, self._shared = len(words), False

    def count(self, lower: SyncId, upper: SyncId) -> int:
        """How many ids are in the range."""
        return self._position(upper) - self._position(lower)

    def fingerprint(self, lower: SyncId, upper: SyncId) -> bytes:
        """XOR of the hashes in the range (Waku Sync, "Fingerprint"); zeros when it is empty."""
        rows = self._hashes[self._position(lower) : self._position(upper)]
        return bytes(np.bitwise_xor.reduce(rows, axis=0))

    def items(self, lower: SyncId, upper: SyncId) -> list[SyncId]:
        """Return the ids in the range, rising."""
        first, last = self._position(lower), self._position(upper)
        raw = self._hashes[first:last].tobytes()
        return [
            SyncId(timestamp, raw[HASH_BYTES * at : HASH_BYTES * (at + 1)])
            for at, timestamp in enumerate(self._timestamps[first:last].tolist())
        ]

    def split(self, lower: SyncId, upper: SyncId, parts: int) -> list[SyncId]:
        """Cut the range into at most `parts` sub-ranges of about equally many ids.

        Returns the upper bounds of the sub-ranges, rising, the last being `upper`. A bound has a
        hash only where the one before it has the same timestamp, and then as few bytes of it as
        its encoding carries; where thousands of ids share a timestamp the cut may therefore be
        uneven, but each further cut reaches at least one byte deeper.
        """
        first, last = self._position(lower), self._position(upper)
        bounds, previous = [], lower
        for part in range(1, parts):
            position = first + (last - first) * part // parts
            if position > first and (wanted := self._item(position)) > previous:
                previous = shortened(wanted, previous)
                bounds.append(previous)
        return [*bounds, upper]

    def frozen(self) -> "OrderedSet":
        """Return a snapshot that takes no inserts and shows none; costs nothing until one comes."""
        self._put_in()
        self._shared = True
        return replace(self, _frozen=True)

    def _position(self, sync_id: SyncId) -> int:
        """Return the index of the first id that is not below `sync_id`."""
        timestamps = self._timestamps[: self._count]
        timestamp = np.uint64(sync_id.timestamp)
        first = int(timestamps.searchsorted(timestamp, "left"))
        if sync_id.hash == ZERO_HASH:
            return first
        last = int(timestamps.searchsorted(timestamp, "right"))
        return first + bisect_left(range(first, last), sync_id.hash, key=self._hash)

    def _hash(self, position: int) -> bytes:
        return bytes(self._hashes[position])

    def _item(self, position: int) -> SyncId:
        return SyncId(int(self._timestamps[position]), self._hash(position))

    def _move_to(self, capacity: int) -> None:
        """Copy the columns into new ones of `capacity` rows, leaving the old to the snapshots."""
        timestamps = np.empty(capacity, np.uint64)
        hashes = np.empty((capacity, HASH_WORDS), np.uint64)
        timestamps[: self._count] = self._timestamps[: self._count]
        hashes[: self._count] = self._hashes[: self._count]
        self._timestamps, self._hashes, self._shared = timestamps, hashes, False
