"""An ordered set of ids and the questions range-based set reconciliation asks of it.

Rules:
1. Order is (timestamp, hash); a range includes its lower and excludes its upper bound.
2. A snapshot never changes, whatever is inserted afterwards.
3. A bound is shortened to what its delta encoding carries before anything is computed over the
   range it limits: both sides must mean the same range.

Two runs: one of nearly all ids, which grows at its end, and a short one of ids that came late. A
question goes to both, and their answers are added.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sync.structures.sorted_run import (
    HASH_BYTES,
    HASH_WORDS,
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
    "sync_ids",
    "values_of",
]

Places: TypeAlias = NDArray[np.intp]
"""Where bounds stand, (n, 2): rows of the long run and of the short one."""

XOR: Final = Xor()

LATE_MAX = 2048
"""Ids that may be in the short run: one more takes 30 us. Then both become one, which at a million
ids takes 0.2 s, 90 us for each of these."""

PENDING_MAX: Final = 256
"""Ids that wait until somebody looks; 50 kB."""

ORIGIN: Final = SyncId(0, ZERO_HASH)
"""The lower bound of the first range of every payload."""


class Bounds(NamedTuple):
    """From `lower`, inclusive, to `upper`, exclusive and above it (Waku Sync, "RangeBounds")."""

    lower: SyncId
    upper: SyncId


EVERYTHING: Final = Bounds(ORIGIN, SyncId(TIMESTAMP_MAX, ZERO_HASH))
"""The whole channel."""


def shortened(bound: SyncId, previous: SyncId) -> SyncId:
    """Return `bound` cut to what delta encoding after the lower `previous` keeps of it.

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


def rows_of(timestamps: Words, hashes: Words) -> bytes:
    """Return ids as rows of 40 bytes, which sort as they do, from their columns, (n) and (n, 4)."""
    rows = np.empty((len(timestamps), 1 + HASH_WORDS), np.uint64)
    rows[:, 0] = timestamps.byteswap() if sys.byteorder == "little" else timestamps
    rows[:, 1:] = hashes
    return rows.tobytes()


class OrderedSet:
    """A set of `SyncId`, sorted, 72 bytes each, with the fingerprint of any range at once.

    Args:
        group: what fingerprints are made of.
    """

    __slots__ = ("_frozen", "_group", "_late", "_long", "_pending")

    def __init__(self, group: Group = XOR) -> None:
        self._group = group
        self._long = Run.empty(group)
        self._late = Run.empty(group)
        self._pending: list[SyncId] = []
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
        return len(self._long) + len(self._late) + len(self._pending)

    @property
    def memory(self) -> int:
        """Bytes of all columns, with what they have to spare."""
        return sum(run.memory for run in self._runs())

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

    def restore(self, rows: bytes) -> None:
        """Take in a whole set, ascending, 40 bytes an id: timestamp, big-endian, and hash."""
        words = np.frombuffer(rows, np.uint64).reshape(-1, 1 + HASH_WORDS)
        timestamps = words[:, 0].byteswap() if sys.byteorder == "little" else words[:, 0].copy()
        self.fill(timestamps, words[:, 1:].copy())

    def fill(self, timestamps: Words, hashes: Words) -> None:
        """Take in a whole set by its columns, (n) and (n, 4), ascending; they are kept as such."""
        assert not self._long, "a set is filled once"
        self._long = Run.of(self._group, timestamps, hashes)

    def prune(self, bound: SyncId) -> None:
        """Forget all ids below `bound`; O(log n), the memory is freed as the set grows."""
        assert not self._frozen, "a snapshot stays as it is"
        self._put_in()
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
        """Return a snapshot with these ids more, in any order, some perhaps already here."""
        snapshot = self.frozen()
        snapshot._merge(more)  # noqa: SLF001
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
        self._unite_if_full()
        return True

    def _put_in(self) -> None:
        """Put in what waits, which is mostly new: the rest of it all together."""
        if not self._pending:
            return
        pending, self._pending = sorted(self._pending), []
        newer = next((at for at, one in enumerate(pending) if self._long.is_above(one)), None)
        self._merge(columns_of(pending[:newer]))
        for sync_id in [] if newer is None else dict.fromkeys(pending[newer:]):
            self._long.append(sync_id)

    def _merge(self, more: Columns) -> None:
        """Add many ids at once: to the short run, while that stays short."""
        timestamps, hashes = more
        if not len(timestamps):
            return
        if len(timestamps) > LATE_MAX:
            self._unite()
            self._long = self._long.merged(timestamps, hashes)
            return
        known = [
            at
            for at in np.flatnonzero(self._long.has_at(timestamps)).tolist()
            if self._is_long_held(SyncId(int(timestamps[at]), bytes(hashes[at])))
        ]
        self._late = self._late.merged(np.delete(timestamps, known), np.delete(hashes, known, 0))
        if self._late and self._long.is_above(self._late.id_at(self._late.end - 1)):
            self._unite()
        self._unite_if_full()

    def _is_long_held(self, sync_id: SyncId) -> bool:
        return self._long.holds(self._long.row_of(sync_id), sync_id)

    def _unite_if_full(self) -> None:
        if len(self._late) > LATE_MAX:
            self._unite()

    def _unite(self) -> None:
        """Make one run of the two."""
        if not self._late:
            return
        self._long, self._late = self._long.united(self._late), Run.empty(self._group)

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
        long, late = (
            self._group.subtract(run.totals[run.row_of(upper)], run.totals[run.row_of(lower)])
            for run in self._runs()
        )
        return self._group.add(long[None], late[None]).tobytes()

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
        self._put_in()
        places = self.places_of(np.array([bound.timestamp for bound in bounds], np.uint64))
        for at, bound in enumerate(bounds):
            if bound.hash != ZERO_HASH:
                places[at] = [run.row_of(bound) for run in self._runs()]
        return places

    def places_of(self, timestamps: Words) -> Places:
        """Return where bounds without a hash stand."""
        return np.stack([run.rows_of(timestamps) for run in self._runs()], axis=-1)

    def fingerprints(self, lower: Places, upper: Places) -> Words:
        """Return the sums over ranges, (n, width); see `places`."""
        long, late = (
            self._group.subtract(run.totals[upper[..., at]], run.totals[lower[..., at]])
            for at, run in enumerate(self._runs())
        )
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
