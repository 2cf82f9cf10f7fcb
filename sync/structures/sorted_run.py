"""A sorted run of ids in numpy columns, with the running fingerprint of all before every fourth.

The fingerprint of a range is the difference of two running ones, so it costs two look-ups however
many ids are in it, and at most three more ids at each. The group decides what fingerprints are made
of, and how two are combined.

Rule: the rows of a run are never changed or moved in place, only rows behind its end are written;
so whoever holds the arrays and an end has a snapshot. (`inserted` makes a new run.)
"""

import sys
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Final, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Words: TypeAlias = NDArray[np.uint64]
Positions: TypeAlias = NDArray[np.intp]
Flags: TypeAlias = NDArray[np.bool_]

HASH_BYTES: Final = 32
ZERO_HASH: Final = bytes(HASH_BYTES)

TIMESTAMP_MAX: Final = 2**63 - 1
"""14/WAKU2-MESSAGE timestamps are signed; this one, in the year 2262, bounds them from above."""

ROW_BYTES: Final = 8 + HASH_BYTES
"""An id as a row: its timestamp, big-endian, and its hash, so that rows order like ids."""

HASH_WORDS: Final = 4
"""A hash is held as four 64-bit words of its raw bytes."""

CAPACITY_MIN: Final = 64
"""The first allocation, 3 kB; from there it grows by an eighth, so an append is O(1)."""


class SyncId(NamedTuple):
    """A message as reconciliation sees it: `timestamp` in 0..2^64-1 ns, `hash` of 32 bytes.

    They order by timestamp, then by hash (Waku Sync, "SyncID").
    """

    timestamp: int
    hash: bytes


class Columns(NamedTuple):
    """Ids, (n) and (n, 4): where many are kept, a tenth of the objects, and faster to work on."""

    timestamps: Words
    hashes: Words


def sync_ids(timestamps: Iterable[int], hashes: Iterable[bytes]) -> list[SyncId]:
    """Return ids from their parts: a third of the time of a call for each."""
    return list(map(_sync_id, zip(timestamps, hashes, strict=True)))


_sync_id: Final[Callable[[tuple[int, bytes]], SyncId]] = partial(tuple.__new__, SyncId)


def columns_of(sync_ids: Sequence[SyncId]) -> Columns:
    """Return ids as columns, in their order."""
    raw = b"".join([sync_id.hash for sync_id in sync_ids])
    timestamps = np.array([sync_id.timestamp for sync_id in sync_ids], np.uint64)
    return Columns(timestamps, np.frombuffer(raw, np.uint64).reshape(-1, HASH_WORDS))


def values_of(ids: Columns) -> list[SyncId]:
    """Return ids as values, in their order."""
    return sync_ids(ids.timestamps.tolist(), split(ids.hashes))


def split(hashes: Words) -> list[bytes]:
    """Return the bytes of each hash."""
    raw = hashes.tobytes()
    return [raw[at : at + HASH_BYTES] for at in range(0, len(raw), HASH_BYTES)]


def joined(parts: Sequence[Columns]) -> Columns:
    """Return the ids of all parts, in their order."""
    if not parts:
        return columns_of(())
    return Columns(
        np.concatenate([part.timestamps for part in parts]),
        np.concatenate([part.hashes for part in parts]),
    )


class Group(Protocol):
    """Group of fingerprints: values of `width` words that can be added and subtracted."""

    @property
    def width(self) -> int:
        """Words of one value."""

    def values(self, timestamps: Words, hashes: Words) -> Words:
        """Return the values of n ids, (n, width), from their columns, (n) and (n, 4)."""

    def running(self, values: Words) -> Words:
        """Return the sum of all values up to and with each."""

    def add(self, left: Words, right: Words) -> Words:
        """Return the sums, row by row."""

    def subtract(self, left: Words, right: Words) -> Words:
        """Return the differences, row by row."""


BLOCK: Final = 4
"""Ids for which one running fingerprint is kept, 32 bytes: one for each id would be two fifths of a
set's memory, and one for eight would make looking up a range twice as long."""

SUMMED_TOGETHER: Final = 512
"""Blocks whose sums are made at once: of many, new memory would take longer than the sums."""


class Xor:
    """XOR of the hashes (Waku Sync, "Fingerprint"): each value is its own inverse."""

    width = HASH_WORDS

    def values(self, timestamps: Words, hashes: Words) -> Words:  # by hash alone
        """See `Group`."""
        return hashes

    def running(self, values: Words) -> Words:
        """See `Group`."""
        return np.bitwise_xor.accumulate(values, axis=0)

    def add(self, left: Words, right: Words) -> Words:
        """See `Group`."""
        return np.bitwise_xor(left, right)

    subtract = add


@dataclass(slots=True, eq=False)
class Run:
    """Ids in rising order, each once: rows `start` to `end` of three columns.

    Hashes are kept word by word, so that whoever looks for some among all reads one word of each.
    `totals` has a row more than whole blocks: row n is the sum of the values of all rows before
    block n. Whoever looks at a row adds those of its own block.
    """

    group: Group
    timestamps: Words
    hashes: Words
    totals: Words
    start: int = 0
    end: int = 0

    @classmethod
    def empty(cls, group: Group) -> "Run":
        """Return a run without ids."""
        return cls.of(group, np.empty(0, np.uint64), np.empty((0, HASH_WORDS), np.uint64))

    @classmethod
    def of(cls, group: Group, timestamps: Words, hashes: Words) -> "Run":
        """Return a run of these columns, which rise; 48 bytes an id."""
        count = len(timestamps)
        totals = np.zeros((count // BLOCK + 1, group.width), np.uint64)
        run = cls(group, timestamps, np.asfortranarray(hashes), totals, 0, count)
        run._sum_up(0)
        return run

    @classmethod
    def with_room(cls, group: Group, count: int) -> "Run":
        """Return a run without ids that has room for so many, and for an eighth more."""
        capacity = count + max(CAPACITY_MIN, count // 8)
        totals = np.empty((capacity // BLOCK + 1, group.width), np.uint64)
        totals[0] = 0
        return cls(group, np.empty(capacity, np.uint64), _room(capacity), totals)

    def __len__(self) -> int:
        return self.end - self.start

    @property
    def room(self) -> int:
        """Number of ids that may be appended before the columns are copied."""
        return len(self.timestamps) - self.end

    @property
    def memory(self) -> int:
        """Bytes of the columns."""
        return self.timestamps.nbytes + self.hashes.nbytes + self.totals.nbytes

    def sums_before(self, rows: Positions) -> Words:
        """Return the sum of the values before each of these rows, (...) -> (..., width).

        Sums are those from some row on, the same one for all: only differences say something.
        """
        flat = rows.ravel()
        sums = self.totals[flat // BLOCK]
        beyond = flat % BLOCK
        for back in range(1, BLOCK):
            at = np.flatnonzero(beyond >= back)
            before = flat[at] - back
            values = self.group.values(self.timestamps[before], self.hashes[before])
            sums[at] = self.group.add(sums[at], values)
        return sums.reshape(*rows.shape, self.group.width)

    def id_at(self, row: int) -> SyncId:
        """Return the id in a row."""
        return SyncId(int(self.timestamps[row]), bytes(self.hashes[row]))

    def row_of(self, sync_id: SyncId) -> int:
        """Return the first row whose id is not below `sync_id`."""
        timestamps = self.timestamps[self.start : self.end]
        timestamp = np.uint64(sync_id.timestamp)
        first = self.start + int(timestamps.searchsorted(timestamp))
        if sync_id.hash == ZERO_HASH or first == self.end or self.timestamps[first] != timestamp:
            return first
        last = self.start + int(timestamps.searchsorted(timestamp, "right"))
        return first + bisect_left(range(first, last), sync_id.hash, key=self._hash)

    def rows_of(self, timestamps: Words) -> Positions:
        """Return for each timestamp the first row that is not below it."""
        return self.start + self.timestamps[self.start : self.end].searchsorted(timestamps)

    def has_at(self, timestamps: Words) -> Flags:
        """Return for each timestamp whether an id here has it."""
        rows = self.rows_of(timestamps)
        there = rows < self.end
        there[there] = self.timestamps[rows[there]] == timestamps[there]
        return there

    def holds(self, row: int, sync_id: SyncId) -> bool:
        """Return whether `sync_id` is the id in `row`, which may be the end."""
        return row < self.end and self.id_at(row) == sync_id

    def is_above(self, sync_id: SyncId) -> bool:
        """Return whether `sync_id` is above all ids here."""
        if self.end == self.start:
            return True
        newest = self.timestamps[self.end - 1]
        return bool(newest < sync_id.timestamp) or (
            bool(newest == sync_id.timestamp) and self._hash(self.end - 1) < sync_id.hash
        )

    def columns(self, first: Positions, last: Positions) -> Columns:
        """Return the ids in the rows from each `first` to its `last`, (n) each, in one."""
        if len(first) and (first[1:] == last[:-1]).all():
            whole = slice(first[0], last[-1])
            return Columns(self.timestamps[whole], self.hashes[whole])
        counts = last - first
        ends = np.cumsum(counts)
        size = int(ends[-1]) if len(ends) else 0
        rows = np.arange(size) + np.repeat(first - (ends - counts), counts)
        return Columns(self.timestamps[rows], self.hashes[rows])

    def items(self, first: Positions, last: Positions) -> list[tuple[SyncId, ...]]:
        """Return the ids in the rows from each `first` to its `last`, (n) each; n tuples."""
        if not len(first) or not (ids := values_of(self.columns(first, last))):
            return [()] * len(first)
        edges = [0, *np.cumsum(last - first).tolist()]
        return [tuple(ids[lower:upper]) for lower, upper in pairwise(edges)]

    def append(self, sync_id: SyncId) -> None:
        """Add an id above all others; O(1) amortised."""
        end = self.end
        if end == len(self.timestamps):
            self._grow(max(CAPACITY_MIN, len(self) + len(self) // 8))
            end = self.end
        self.timestamps[end] = sync_id.timestamp
        self.hashes[end] = np.frombuffer(sync_id.hash, np.uint64)
        self.end = end + 1
        self._sum_up(end)

    def inserted(self, row: int, sync_id: SyncId) -> "Run":
        """Return a run with an id more, before the one in `row`: for short runs."""
        at = row - self.start
        return Run.of(
            self.group,
            np.insert(self.timestamps[self.start : self.end], at, sync_id.timestamp),
            np.insert(
                self.hashes[self.start : self.end], at, np.frombuffer(sync_id.hash, np.uint64), 0
            ),
        )

    def merged(self, timestamps: Words, hashes: Words) -> "Run":
        """Return a run with these ids more, which may come in any order, or be here already."""
        return Run.of(
            self.group,
            *ascending(
                np.concatenate((self.timestamps[self.start : self.end], timestamps)),
                np.concatenate((self.hashes[self.start : self.end], hashes)),
            ),
        )

    def places_for(self, late: "Run") -> Positions:
        """Return for each id of another run, none of which is here, before which one it belongs."""
        timestamps = late.timestamps[late.start : late.end]
        rows = self.rows_of(timestamps)
        for at in np.flatnonzero(self.has_at(timestamps)).tolist():
            rows[at] = self.row_of(late.id_at(late.start + at))
        return rows - self.start

    def extend(self, timestamps: Words, hashes: Words) -> None:
        """Add ids above all others that rise: O(their number), where there is room."""
        if self.room < len(timestamps):
            count = len(self) + len(timestamps)
            self._grow(count + count // 8)
        end, last = self.end, self.end + len(timestamps)
        self.timestamps[end:last], self.hashes[end:last] = timestamps, hashes
        self.end = last
        self._sum_up(end)

    def snapshot(self) -> "Run":
        """Return this run as it is now."""
        return replace(self)

    def _hash(self, row: int) -> bytes:
        return bytes(self.hashes[row])

    def _sum_up(self, since: int) -> None:
        """Sum the blocks that are whole now, and were not while the end was at `since`."""
        whole = self.end // BLOCK
        for block in range(since // BLOCK, whole, SUMMED_TOGETHER):
            last = min(block + SUMMED_TOGETHER, whole)
            rows = slice(block * BLOCK, last * BLOCK)
            values = self.group.values(self.timestamps[rows], self.hashes[rows])
            running = self.group.running(_sums(self.group, values))
            self.totals[block + 1 : last + 1] = self.group.add(
                running, self.totals[block : block + 1]
            )

    def _grow(self, capacity: int) -> None:
        """Copy the ids into columns of `capacity` rows, leaving the old ones to the snapshots."""
        first = self.start - self.start % BLOCK  # so that blocks stay the same
        count = self.end - first
        capacity += self.start - first
        timestamps = np.empty(capacity, np.uint64)
        hashes = _room(capacity)
        totals = np.empty((capacity // BLOCK + 1, self.group.width), np.uint64)
        timestamps[:count] = self.timestamps[first : self.end]
        hashes[:count] = self.hashes[first : self.end]
        whole = count // BLOCK + 1
        totals[:whole] = self.totals[first // BLOCK : first // BLOCK + whole]
        self.timestamps, self.hashes, self.totals = timestamps, hashes, totals
        self.start, self.end = self.start - first, count


def _sums(group: Group, values: Words) -> Words:
    """Return the sum of each block of values, (blocks * BLOCK, width) -> (blocks, width)."""
    blocks = values.reshape(-1, BLOCK, group.width)
    sums = blocks[:, 0]
    for at in range(1, BLOCK):
        sums = group.add(sums, blocks[:, at])
    return sums


def _room(count: int) -> Words:
    """Return room for so many hashes, of which each word has a column of its own."""
    return np.empty((count, HASH_WORDS), np.uint64, order="F")


def ascending(timestamps: Words, hashes: Words) -> tuple[Words, Words]:
    """Return the columns in rising order, each id once; fast where they are sorted already."""
    order = np.argsort(timestamps, kind="stable")
    timestamps, hashes = timestamps[order], hashes[order]
    ties = np.zeros(len(order) + 1, np.bool_)
    ties[1:-1] = timestamps[1:] == timestamps[:-1]
    tied = np.flatnonzero(ties[1:] | ties[:-1])
    if len(tied):
        # Read as big-endian numbers the words order like the bytes they hold.
        numbers = hashes[tied].view(">u8")
        words = [numbers[:, word] for word in range(HASH_WORDS - 1, -1, -1)]
        hashes[tied] = hashes[tied[np.lexsort((*words, timestamps[tied]))]]
        same = ties[1:-1] & np.all(hashes[1:] == hashes[:-1], axis=1)
        if same.any():
            first_of_its_kind = np.ones(len(order), np.bool_)
            first_of_its_kind[1:] = ~same
            return timestamps[first_of_its_kind], hashes[first_of_its_kind]
    return timestamps, hashes


def rows_of(timestamps: Words, hashes: Words) -> bytes:
    """Return ids as rows of 40 bytes, which sort as they do, from their columns, (n) and (n, 4)."""
    rows = np.empty((len(timestamps), 1 + HASH_WORDS), np.uint64)
    rows[:, 0] = timestamps.byteswap() if sys.byteorder == "little" else timestamps
    rows[:, 1:] = hashes
    return rows.tobytes()
