"""The ordered set against a plain sorted list."""

import hashlib
import sys
from bisect import bisect_left, insort
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from sync.structures import ordered_set, rebuilding
from sync.structures.ordered_set import (
    HASH_BYTES,
    ORIGIN,
    ZERO_HASH,
    OrderedSet,
    SyncId,
    rungs,
    shortened,
)
from sync.structures.sorted_run import BLOCK, CAPACITY_MIN, Group, Run, Words, Xor, columns_of
from tests.support.storage.rows import sync_rows

END = SyncId(2**64 - 1, b"\xff" * HASH_BYTES)

# Few timestamps and few hash bytes, so that ids collide, share prefixes and neighbour each other.
hashes = st.lists(st.sampled_from([0, 1, 0x35, 0xFF]), max_size=3).map(
    lambda head: bytes(head).ljust(HASH_BYTES, b"\0")
) | st.binary(min_size=HASH_BYTES, max_size=HASH_BYTES)
timestamps = st.integers(0, 5) | st.integers(0, 2**64 - 1)
sync_ids = st.builds(SyncId, timestamps, hashes)


def numbered(number: int, timestamp: int | None = None) -> SyncId:
    """An id with a hash like those of real messages."""
    digest = hashlib.sha256(str(number).encode()).digest()
    return SyncId(number if timestamp is None else timestamp, digest)


def filled(items: list[SyncId]) -> OrderedSet:
    ordered = OrderedSet()
    ordered.extend(items)
    return ordered


def xor(items: list[SyncId]) -> bytes:
    total = 0
    for item in items:
        total ^= int.from_bytes(item.hash, "big")
    return total.to_bytes(HASH_BYTES, "big")


def between(items: list[SyncId], lower: SyncId, upper: SyncId) -> list[SyncId]:
    return items[bisect_left(items, lower) : bisect_left(items, upper)]


class Sum128:
    """Another group: sums modulo 2^128 of something made of an id; two words, low first."""

    width = 2

    def values(self, timestamps: Words, hashes: Words) -> Words:
        return np.stack((timestamps ^ hashes[:, 0], hashes[:, 1]), axis=-1)

    def running(self, values: Words) -> Words:
        low = np.cumsum(values[:, 0])
        carried = low < np.concatenate((np.zeros(1, np.uint64), low[:-1]))
        return np.stack((low, np.cumsum(values[:, 1] + carried.astype(np.uint64))), axis=-1)

    def add(self, left: Words, right: Words) -> Words:
        low = left[..., 0] + right[..., 0]
        carry = (low < left[..., 0]).astype(np.uint64)
        return np.stack((low, left[..., 1] + right[..., 1] + carry), axis=-1)

    def subtract(self, left: Words, right: Words) -> Words:
        borrow = (left[..., 0] < right[..., 0]).astype(np.uint64)
        low = left[..., 0] - right[..., 0]
        return np.stack((low, left[..., 1] - right[..., 1] - borrow), axis=-1)


def sum128(items: list[SyncId]) -> bytes:
    """The plain model of `Sum128`."""
    total = 0
    for timestamp, digest in items:
        low = timestamp ^ int.from_bytes(digest[:8], sys.byteorder)
        total += low + (int.from_bytes(digest[8:16], sys.byteorder) << 64)
    low, high = total % 2**64, (total >> 64) % 2**64
    return low.to_bytes(8, sys.byteorder) + high.to_bytes(8, sys.byteorder)


class OrderedSetMachine(RuleBasedStateMachine):
    """Whatever is done to both, the set answers like a sorted list without duplicates."""

    group: Group = ordered_set.XOR
    total = staticmethod(xor)

    def __init__(self) -> None:
        super().__init__()
        self.patched = pytest.MonkeyPatch()
        self.patched.setattr(ordered_set, "LATE_MAX", 5)  # so that both runs become one, often
        for module in (ordered_set, rebuilding):
            self.patched.setattr(module, "SLICE", 4)  # in several steps
        self.ordered = OrderedSet(self.group)
        self.plain: list[SyncId] = []
        self.snapshots: list[tuple[OrderedSet, list[SyncId]]] = []

    def teardown(self) -> None:
        self.patched.undo()

    @rule(item=sync_ids)
    def insert(self, item: SyncId) -> None:
        new = item not in self.plain

        assert self.ordered.insert(item) is new
        if new:
            insort(self.plain, item)

    @rule(items=st.lists(sync_ids, max_size=20))
    def add_for_later(self, items: list[SyncId]) -> None:
        for item in items:
            self.ordered.add(item)

        self.plain = sorted({*self.plain, *items})

    @rule(items=st.lists(sync_ids, max_size=20))
    def extend(self, items: list[SyncId]) -> None:
        self.ordered.extend(items)

        self.plain = sorted({*self.plain, *items})

    @rule()
    def begin_anew_from_its_rows(self) -> None:
        self.ordered = OrderedSet(self.group)
        self.ordered.restore(sync_rows((item.timestamp, item.hash) for item in self.plain))

    @rule(bound=sync_ids)
    def prune(self, bound: SyncId) -> None:
        self.ordered.prune(bound)

        self.plain = [item for item in self.plain if item >= bound]

    @rule()
    def freeze(self) -> None:
        self.snapshots.append((self.ordered.frozen(), list(self.plain)))

    @rule(bound=sync_ids, items=st.lists(sync_ids, max_size=20))
    def freeze_with_an_end_and_with_more(self, bound: SyncId, items: list[SyncId]) -> None:
        below = between(self.plain, ORIGIN, bound)
        snapshot = self.ordered.below(bound)

        self.snapshots.append((snapshot, below))
        self.snapshots.append((snapshot.together(columns_of(items)), sorted({*below, *items})))

    @rule(bounds=st.tuples(sync_ids, sync_ids), parts=st.integers(2, 9))
    def ask_about_a_range(self, bounds: tuple[SyncId, SyncId], parts: int) -> None:
        lower, upper = sorted(bounds)
        expected = between(self.plain, lower, upper)

        assert self.ordered.items(lower, upper) == expected
        assert self.ordered.count(lower, upper) == len(expected)
        assert self.ordered.fingerprint(lower, upper) == self.total(expected)
        assert (lower in self.ordered) is (lower in self.plain)
        rows = sync_rows((item.timestamp, item.hash) for item in expected)
        assert self.ordered.rows(lower, upper) == rows

    @rule(wanted=st.lists(sync_ids, min_size=2, max_size=9), parts=st.integers(2, 9))
    def ask_about_many_ranges(self, wanted: list[SyncId], parts: int) -> None:
        bounds = sorted(wanted)
        expected = [between(self.plain, *pair) for pair in pairwise(bounds)]

        places = self.ordered.places(bounds)
        lower, upper = places[:-1], places[1:]

        assert (upper - lower).sum(axis=1).tolist() == [len(items) for items in expected]
        totals = self.ordered.fingerprints(lower, upper)
        assert [bytes(total) for total in totals] == [self.total(items) for items in expected]
        cuts = self.ordered.cuts(lower, upper, parts).tolist()
        for items, timestamps in zip(expected, cuts, strict=True):
            assert timestamps == sorted(timestamps) or not items
            assert not items or {*timestamps} <= {item.timestamp for item in items}

    @invariant()
    def snapshots_stay_as_they_were(self) -> None:
        assert len(self.ordered) == len(self.plain)
        for snapshot, plain in self.snapshots:
            assert snapshot.items(ORIGIN, END) == between(plain, ORIGIN, END)


class Sum128Machine(OrderedSetMachine):
    """The same, with fingerprints of another group."""

    group = Sum128()
    total = staticmethod(sum128)


TestOrderedSet = OrderedSetMachine.TestCase
TestOrderedSet.settings = settings(max_examples=30, stateful_step_count=20)
TestSum128 = Sum128Machine.TestCase
TestSum128.settings = settings(max_examples=15, stateful_step_count=20)


def test_an_empty_range_has_the_zero_fingerprint() -> None:
    ordered = filled([numbered(5)])

    assert ordered.fingerprint(SyncId(6, ZERO_HASH), END) == ZERO_HASH
    assert ordered.fingerprint(ORIGIN, ORIGIN) == ZERO_HASH


def test_the_upper_bound_is_exclusive_and_the_lower_inclusive() -> None:
    low, middle, high = numbered(1, 7), numbered(2, 7), numbered(3, 7)
    items = sorted([low, middle, high])
    ordered = filled(items)

    assert ordered.items(items[0], items[2]) == items[:2]


@pytest.mark.parametrize(("group", "total"), [(Xor(), xor), (Sum128(), sum128)])
@pytest.mark.parametrize("pruned", range(2 * BLOCK))
def test_what_grows_after_it_was_pruned_has_the_same_fingerprints(
    group: Group, total: Callable[[list[SyncId]], bytes], pruned: int
) -> None:
    items = [numbered(number, 10 * number) for number in range(3 * CAPACITY_MIN)]
    ordered = OrderedSet(group)
    for item in items[:CAPACITY_MIN]:
        ordered.insert(item)
    ordered.prune(items[pruned])
    snapshot = ordered.frozen()
    for item in items[CAPACITY_MIN:]:
        ordered.insert(item)

    for at in range(pruned, CAPACITY_MIN):
        assert snapshot.fingerprint(items[at], END) == total(items[at:CAPACITY_MIN])
    for at in range(pruned, len(items)):
        assert ordered.fingerprint(items[at], END) == total(items[at:])
        assert ordered.fingerprint(ORIGIN, items[at]) == total(items[pruned:at])


def test_a_snapshot_takes_no_inserts() -> None:
    snapshot = filled([numbered(1)]).frozen()

    with pytest.raises(AssertionError):
        snapshot.insert(numbered(2))
    with pytest.raises(AssertionError):
        snapshot.extend([numbered(2)])


def test_inserting_in_rising_and_in_falling_order_gives_the_same_set() -> None:
    items = [numbered(number) for number in range(300)]
    rising, falling = OrderedSet(), OrderedSet()

    for item in items:
        rising.insert(item)
    for item in reversed(items):
        falling.insert(item)

    assert rising.items(ORIGIN, END) == falling.items(ORIGIN, END) == items


class Counting(Xor):
    """The group of all sets, which counts the rows that are summed up."""

    def __init__(self) -> None:
        self.rows = 0

    def values(self, timestamps: Words, hashes: Words) -> Words:
        self.rows += len(timestamps)
        return super().values(timestamps, hashes)


def test_no_id_that_is_added_moves_more_than_a_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordered_set, "LATE_MAX", 256)
    for module in (ordered_set, rebuilding):
        monkeypatch.setattr(module, "SLICE", 10_000)
    counting, copied, grow = Counting(), list[int](), Run._grow

    def counted(run: Run, capacity: int) -> None:
        copied.append(len(run))
        grow(run, capacity)

    monkeypatch.setattr(Run, "_grow", counted)
    ordered = OrderedSet(counting)
    items = [numbered(number, 10 * number) for number in range(110_000)]
    ordered.restore(sync_rows((item.timestamp, item.hash) for item in items))
    assert len(ordered) == len(items), "what was restored is read when somebody looks"
    late = [numbered(number, 50 * number + 1) for number in range(2_000)]
    newer = [numbered(number, 10 * number) for number in range(110_000, 130_000)]
    most = 0
    for item in [*late, *newer]:
        counting.rows = 0
        ordered.add(item)
        most = max(most, counting.rows)

    assert most <= 10_000 + 2 * len(late)
    assert max(copied, default=0) <= 10_000
    assert ordered.items(ORIGIN, END) == sorted([*items, *late, *newer])


@pytest.mark.parametrize(
    "look", [len, OrderedSet.frozen, lambda ordered: ordered.add(numbered(9, 90))]
)
def test_what_is_restored_is_read_when_somebody_looks(look: Callable[[OrderedSet], object]) -> None:
    ordered, items = OrderedSet(), [numbered(number, 10 * number) for number in range(8)]
    ordered.restore(sync_rows((item.timestamp, item.hash) for item in items))
    assert (ordered.added, len(ordered._long)) == (8, 0)
    assert ordered.memory >= 8 * 40
    with pytest.raises(AssertionError, match="once"):
        ordered.restore(b"")

    look(ordered)
    assert ordered.items(ORIGIN, END)[:8] == items
    assert ordered.added == len(ordered) >= 8


def test_a_very_long_set_is_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordered_set, "UNREAD_MAX", 7)
    ordered, items = OrderedSet(), [numbered(number, 10 * number) for number in range(8)]
    ordered.restore(sync_rows((item.timestamp, item.hash) for item in items))

    assert len(ordered._long) == 8


def test_what_is_put_on_top_of_a_snapshot_copies_nothing_of_it() -> None:
    counting = Counting()
    ordered = OrderedSet(counting)
    items = [numbered(number, 10 * number) for number in range(20_000)]
    ordered.extend(items)
    more = [numbered(number, 10 * number + 5) for number in range(5_000)]

    counting.rows = 0
    together = ordered.frozen().together(columns_of([*more, *items[:100]]))

    assert counting.rows == len(more)
    assert together.items(ORIGIN, END) == sorted([*items, *more])


def test_a_split_by_count_has_even_parts_and_timestamp_only_bounds() -> None:
    ordered = filled([numbered(number) for number in range(100_000)])

    bounds = ordered.split(ORIGIN, END, 8)

    sizes = [ordered.count(*pair) for pair in zip([ORIGIN, *bounds[:-1]], bounds, strict=True)]
    assert sizes == [12_500] * 8
    assert all(bound.hash == ZERO_HASH for bound in bounds[:-1])


@given(st.sets(sync_ids, min_size=1), st.integers(2, 9))
def test_split_bounds_rise_and_survive_their_own_encoding(items: set[SyncId], parts: int) -> None:
    lower, upper = ORIGIN, END

    bounds = filled(list(items)).split(lower, upper, parts)

    assert len(bounds) <= parts
    assert bounds[-1] == upper
    for previous, bound in zip([lower, *bounds], bounds[:-1], strict=False):
        assert previous < bound < upper
        assert shortened(bound, previous) == bound


def test_ids_of_one_timestamp_are_told_apart_by_repeated_splits() -> None:
    items = sorted(numbered(number, timestamp=9) for number in range(10_000))
    ordered = filled(items)
    pending, rounds = [(ORIGIN, END)], 0

    while pending:
        rounds += 1
        bounds = [(lower, *ordered.split(lower, upper, 8)) for lower, upper in pending]
        parts = [pair for cuts in bounds for pair in pairwise(cuts)]
        pending = [pair for pair in parts if ordered.count(*pair) > 100]

    assert rounds <= 5


@given(st.tuples(sync_ids, sync_ids).filter(lambda pair: pair[0] != pair[1]))
def test_rungs_lead_up_to_any_bound(pair: tuple[SyncId, SyncId]) -> None:
    previous, bound = sorted(pair)

    ladder = list(rungs(previous, bound))

    assert ladder[-1] == bound
    assert len(ladder) <= 1 + HASH_BYTES
    for below, rung in zip([previous, *ladder], ladder, strict=False):
        assert below < rung
        assert shortened(rung, below) == rung
