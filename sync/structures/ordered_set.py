"""An ordered set of ids and the questions range-based set reconciliation asks of it.

Rules:
1. Order is (timestamp, hash); a range includes its lower and excludes its upper bound.
2. A snapshot never changes, whatever is inserted afterwards.
3. A bound is shortened to what its delta encoding carries before anything is computed over the
   range it limits: both sides must mean the same range.

Two runs: one of nearly all ids, which grows at its end, and a short one of ids that came late. A
question goes to both, and their answers are added.
"""

from collections.abc import Iterable, Sequence
from heapq import merge
from itertools import pairwise
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sync.structures.bounds import EVERYTHING, ORIGIN, Bounds, rungs, shortened
from sync.structures.rebuilding import SLICE, Rebuilding, rebuilt
from sync.structures.sorted_run import (
    HASH_BYTES,
    HASH_WORDS,
    ROW_BYTES,
    TIMESTAMP_MAX,
    ZERO_HASH,
    Columns,
    Group,
    Run,
    SyncId,
    Words,
    Xor,
    ascending,
    columns_of,
    joined,
    rows_of,
    sync_ids,
    values_of,
)

__all__ = [
    "EVERYTHING",
    "HASH_BYTES",
    "ORIGIN",
    "TIMESTAMP_MAX",
    "ZERO_HASH",
    "Bounds",
    "Columns",
    "OrderedSet",
    "Places",
    "SyncId",
    "columns_of",
    "joined",
    "rows_of",
    "rungs",
    "shortened",
    "sync_ids",
    "values_of",
]

Places: TypeAlias = NDArray[np.intp]
"""Where bounds stand, (n, 2): rows of the long run and of the short one."""

XOR: Final = Xor()

LATE_MAX = 2048
"""Ids in the short run from which on both are made one; one more takes 30 us. At a million ids that
takes 0.2 s in all, a slice whenever ids are put in. Meanwhile the short run may have more."""

ROOM: Final = 32
"""A run whose room is less than this part of it is made anew, in the same way, with more."""

PENDING_MAX: Final = 256
"""Ids that wait until somebody looks; 50 kB."""

UNREAD_MAX: Final = 200_000
"""Ids of a restored set that wait until somebody looks: to read them keeps the loop for 10 to 20
ms. More are read at once: at a start nothing of the channel is on the screen yet."""


class OrderedSet:
    """A set of `SyncId`, sorted, 48 bytes each, with the fingerprint of any range at once.

    Args:
        group: what fingerprints are made of.
    """

    __slots__ = ("_frozen", "_group", "_late", "_long", "_pending", "_rebuilding", "_unread")

    def __init__(self, group: Group = XOR) -> None:
        self._group = group
        self._long = Run.empty(group)
        self._late = Run.empty(group)
        self._pending: list[SyncId] = []
        self._unread = b""
        """Rows of a whole set, read when somebody looks."""
        self._rebuilding: Rebuilding | None = None
        self._frozen = False

    def __len__(self) -> int:
        self._put_in()
        return len(self._long) + len(self._late)

    def __contains__(self, sync_id: SyncId) -> bool:
        self._put_in()
        return any(run.holds(run.row_of(sync_id), sync_id) for run in self._runs())

    @property
    def added(self) -> int:
        """Number of ids added and still here, without merging the pending ones."""
        restored = len(self._unread) // ROW_BYTES
        return restored + len(self._long) + len(self._late) + len(self._pending)

    @property
    def memory(self) -> int:
        """Bytes of all columns, with what they have to spare."""
        return sum([run.memory for run in self._runs()], len(self._unread))

    # --- Inserting -----------------------------------------------------------------------------

    def add(self, sync_id: SyncId) -> None:
        """Add one id when somebody looks: most come in while no session runs."""
        assert not self._frozen, "a snapshot takes no inserts"
        self._pending.append(sync_id)
        if len(self._pending) >= PENDING_MAX:
            self._put_in()

    def insert(self, sync_id: SyncId) -> bool:
        """Add one id; False when it is already there."""
        assert not self._frozen, "a snapshot takes no inserts"
        self._put_in()
        return self._insert(sync_id)

    def extend(self, sync_ids: Iterable[SyncId]) -> None:
        """Add many ids, in any order, some perhaps already there."""
        assert not self._frozen, "a snapshot takes no inserts"
        self._put_in()
        self._merge(columns_of(list(sync_ids)))
        self._tend()

    def restore(self, rows: bytes) -> None:
        """Take in a whole set, ascending, 40 bytes an id: timestamp, big-endian, and hash."""
        assert not self.added, "a set is filled once"
        self._unread = rows
        if len(rows) > UNREAD_MAX * ROW_BYTES:
            self._read()

    def fill(self, timestamps: Words, hashes: Words) -> None:
        """Take in a whole set by its columns, (n) and (n, 4), ascending; they are kept as such."""
        assert not self.added, "a set is filled once"
        self._long = Run.of(self._group, timestamps, hashes)

    def prune(self, bound: SyncId) -> None:
        """Forget all ids below `bound`; O(log n), the memory is freed as the set grows."""
        assert not self._frozen, "a snapshot stays as it is"
        self._put_in()
        self._rebuilding = None
        for run in self._runs():
            run.start = run.row_of(bound)

    def frozen(self) -> "OrderedSet":
        """Return a snapshot that takes no inserts and shows none."""
        self._put_in()
        snapshot = OrderedSet(self._group)
        snapshot._long, snapshot._late = self._long.snapshot(), self._late.snapshot()
        snapshot._frozen = True
        return snapshot

    def below(self, bound: SyncId) -> "OrderedSet":
        """Return a snapshot of the ids below `bound`; O(log n)."""
        snapshot = self.frozen()
        for run in snapshot._runs():  # noqa: SLF001
            run.end = run.row_of(bound)
        return snapshot

    def together(self, more: Columns) -> "OrderedSet":
        """Return a snapshot with these ids more, in any order, some perhaps already here.

        They all are in its short run, which may be long: no id of the other one is copied.
        """
        snapshot = self.frozen()
        if len(more.timestamps):
            snapshot._late = self._late.merged(*self._unknown(more))  # noqa: SLF001
        return snapshot

    def _insert(self, sync_id: SyncId) -> bool:
        if self._long.is_above(sync_id):
            self._long.append(sync_id)
            return True
        row = self._late.row_of(sync_id)
        if self._late.holds(row, sync_id):
            return False
        if self._is_long_held(sync_id):
            return False
        self._late = self._late.inserted(row, sync_id)
        self._tend()
        return True

    def _put_in(self) -> None:
        """Put in what waits, which is mostly new: the rest of it all together."""
        if self._unread:
            self._read()
        if not self._pending:
            return
        pending, self._pending = sorted(self._pending), []
        newer = next((at for at, one in enumerate(pending) if self._long.is_above(one)), None)
        self._merge(columns_of(pending[:newer]))
        if newer is not None:
            self._long.extend(*columns_of(list(dict.fromkeys(pending[newer:]))))
        self._tend()

    def _read(self) -> None:
        """Put in what was restored."""
        words = np.frombuffer(self._unread, np.uint64).reshape(-1, 1 + HASH_WORDS)
        self._unread = b""
        self._long = Run.with_room(self._group, len(words))
        self._long.extend(words[:, 0].view(">u8").astype(np.uint64), words[:, 1:])

    def _merge(self, more: Columns) -> None:
        """Add many ids at once: to the short run, while that stays short."""
        timestamps, hashes = more
        if not len(timestamps):
            return
        if len(timestamps) > LATE_MAX:
            self._unite()
            self._long = self._long.merged(timestamps, hashes)
            return
        self._late = self._late.merged(*self._unknown(more))
        if self._late and self._long.is_above(self._late.id_at(self._late.end - 1)):
            self._unite()

    def _unknown(self, more: Columns) -> Columns:
        """Return these ids but for those of the long run."""
        timestamps, hashes = more
        known = [
            at
            for at in np.flatnonzero(self._long.has_at(timestamps)).tolist()
            if self._is_long_held(SyncId(int(timestamps[at]), bytes(hashes[at])))
        ]
        return Columns(np.delete(timestamps, known), np.delete(hashes, known, 0))

    def _is_long_held(self, sync_id: SyncId) -> bool:
        return self._long.holds(self._long.row_of(sync_id), sync_id)

    def _tend(self) -> None:
        """Go on with a run that is made anew; begin one where many are late, or room is short."""
        long = self._long
        if self._rebuilding is None:
            short = len(long) > SLICE and long.room < len(long) // ROOM
            if len(self._late) <= LATE_MAX and not short:
                return
            self._rebuilding = Rebuilding(long, self._late)
        if (run := self._rebuilding.step()) is not None:
            self._late = self._rebuilding.rest_of(self._late)
            self._long, self._rebuilding = run, None

    def _unite(self) -> None:
        """Make one run of the two at once."""
        if self._late:
            self._long, self._late = rebuilt(self._long, self._late), Run.empty(self._group)
        self._rebuilding = None

    def _runs(self) -> tuple[Run, Run]:
        return self._long, self._late

    # --- One range -----------------------------------------------------------------------------

    def count(self, lower: SyncId, upper: SyncId) -> int:
        """Return the number of ids in the range."""
        self._put_in()
        return sum(run.row_of(upper) - run.row_of(lower) for run in self._runs())

    def fingerprint(self, lower: SyncId, upper: SyncId) -> bytes:
        """Return the sum over the range (Waku Sync, "Fingerprint"); zeros when it is empty."""
        self._put_in()
        places = np.array([[run.row_of(bound) for run in self._runs()] for bound in (lower, upper)])
        return self.fingerprints(places[:1], places[1:]).tobytes()

    def items(self, lower: SyncId, upper: SyncId) -> list[SyncId]:
        """Return the ids in the range, rising."""
        places = self.places([lower, upper])
        return list(self.items_of(places[:1], places[1:])[0])

    def rows(self, lower: SyncId, upper: SyncId) -> bytes:
        """Return the ids in the range, rising, as rows of 40 bytes that sort as they do."""
        self._put_in()
        parts = [(run, run.row_of(lower), run.row_of(upper)) for run in self._runs()]
        timestamps = np.concatenate([run.timestamps[first:last] for run, first, last in parts])
        hashes = np.concatenate([run.hashes[first:last] for run, first, last in parts])
        if all(first < last for _, first, last in parts):
            timestamps, hashes = ascending(timestamps, hashes)
        return rows_of(timestamps, hashes)

    def buckets(self, lower: Words, upper: Words, most: int) -> list[memoryview]:
        """Return the rows of ranges of whole timestamps, which rise; as many as have `most` ids.

        The first range is whole however many it has.
        """
        first, last = self.places_of(lower), self.places_of(upper)
        ends = np.cumsum((last - first).sum(axis=1))
        count = max(1, int(ends.searchsorted(most, "right")))
        rows = memoryview(rows_of(*self.columns(first[:count], last[:count])))
        edges = [0, *(ROW_BYTES * ends[:count]).tolist()]
        return [rows[begin:end] for begin, end in pairwise(edges)]

    def bound_after(self, lower: SyncId, upper: SyncId, most: int) -> SyncId:
        """Return a bound above `lower`, up to `upper`, with about `most` ids between."""
        self._put_in()
        run = self._long
        row = run.row_of(lower) + most
        return min(run.id_at(row), upper) if row < run.end else upper

    def parts(self, lower: SyncId) -> list[Columns]:
        """Return views of all ids from `lower` on, each part rising; no insert changes them."""
        self._put_in()
        return [
            Columns(run.timestamps[first : run.end], run.hashes[first : run.end])
            for run, first in [(run, run.row_of(lower)) for run in self._runs()]
        ]

    def split(self, lower: SyncId, upper: SyncId, parts: int) -> list[SyncId]:
        """Cut the range into at most `parts` sub-ranges of about equally many ids.

        Returns the upper bounds of the sub-ranges, rising, the last being `upper`. A bound has a
        hash only where the one before it has the same timestamp, and then as few bytes of it as
        its encoding carries; where thousands of ids share a timestamp the cut may therefore be
        uneven, but each further cut reaches at least one byte deeper.

        The cuts are even by the run that has more of the range; in the next round it may be the
        other one that has.
        """
        self._put_in()
        places = [(run, run.row_of(lower), run.row_of(upper)) for run in self._runs()]
        run, first, last = max(places, key=lambda place: place[2] - place[1])
        bounds, previous = [], lower
        for part in range(1, parts):
            row = first + (last - first) * part // parts
            if row > first and (wanted := run.id_at(row)) > previous:
                previous = shortened(wanted, previous)
                bounds.append(previous)
        return [*bounds, upper]

    # --- Many ranges at once -------------------------------------------------------------------

    def places(self, bounds: Sequence[SyncId]) -> Places:
        """Return where bounds stand."""
        places = self.places_of(np.array([bound.timestamp for bound in bounds], np.uint64))
        for at, bound in enumerate(bounds):
            if bound.hash != ZERO_HASH:
                places[at] = [run.row_of(bound) for run in self._runs()]
        return places

    def places_of(self, timestamps: Words) -> Places:
        """Return where bounds without a hash stand."""
        self._put_in()
        return np.stack([run.rows_of(timestamps) for run in self._runs()], axis=-1)

    def fingerprints(self, lower: Places, upper: Places) -> Words:
        """Return the sums over ranges, (n, width); see `places`."""
        return self.fingerprints_between(np.stack((lower, upper), axis=1))[:, 0]

    def fingerprints_between(self, edges: Places) -> Words:
        """Return the sums between bounds that follow one another.

        Args:
            edges: places, (..., n + 1, 2).

        Returns:
            (..., n, width).
        """
        sums = [run.sums_before(edges[..., at]) for at, run in enumerate(self._runs())]
        long, late = [self._group.subtract(one[..., 1:, :], one[..., :-1, :]) for one in sums]
        return self._group.add(long, late)

    def items_of(self, lower: Places, upper: Places) -> list[tuple[SyncId, ...]]:
        """Return the ids of ranges, rising, n tuples; see `places`."""
        long, late = (run.items(lower[:, at], upper[:, at]) for at, run in enumerate(self._runs()))
        return [tuple(merge(ids, few)) if few else ids for ids, few in zip(long, late, strict=True)]

    def columns(self, lower: Places, upper: Places) -> Columns:
        """Return the ids of ranges that rise, one after another; see `places`."""
        long, late = (
            run.columns(lower[:, at], upper[:, at]) for at, run in enumerate(self._runs())
        )
        return Columns(*ascending(*joined([long, late]))) if len(late.timestamps) else long

    def cuts(self, lower: Places, upper: Places, parts: int) -> Words:
        """Return the timestamps of the ids at which to cut ranges evenly, (n, `parts` - 1).

        As `split` does, but where ids share a timestamp neighbouring cuts may be equal.
        """
        counts = upper - lower
        steps = np.arange(1, parts)
        # (ranges, cuts, runs): behind a run that has less of the range, any row of it will do.
        rows = lower[:, None] + counts[:, None] * steps[:, None] // parts
        long, late = (
            run.timestamps[np.minimum(rows[..., at], max(run.end - 1, 0))]
            if run.end
            else np.zeros(rows.shape[:2], np.uint64)
            for at, run in enumerate(self._runs())
        )
        return np.where((counts[:, 0] >= counts[:, 1])[:, None], long, late)
