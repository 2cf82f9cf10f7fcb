"""The ordered set against a plain sorted list."""

import hashlib
from bisect import bisect_left, insort
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from sync.ranges import HASH_BYTES, ORIGIN, ZERO_HASH, OrderedSet, SyncId, rungs, shortened
from tests.rows import sync_rows

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


class OrderedSetMachine(RuleBasedStateMachine):
    """Whatever is done to both, the set answers like a sorted list without duplicates."""

    def __init__(self) -> None:
        super().__init__()
        self.ordered = OrderedSet()
        self.plain: list[SyncId] = []
        self.snapshots: list[tuple[OrderedSet, list[SyncId]]] = []

    @rule(item=sync_ids)
    def insert(self, item: SyncId) -> None:
        new = item not in self.plain

        assert self.ordered.insert(item) is new
        if new:
            insort(self.plain, item)

    @rule(items=st.lists(sync_ids, max_size=20))
    def extend(self, items: list[SyncId]) -> None:
        self.ordered.extend(items)

        self.plain = sorted({*self.plain, *items})

    @rule()
    def begin_anew_from_its_rows(self) -> None:
        self.ordered = OrderedSet()
        self.ordered.restore(sync_rows((item.timestamp, item.hash) for item in self.plain))

    @rule()
    def freeze(self) -> None:
        self.snapshots.append((self.ordered.frozen(), list(self.plain)))

    @rule(bounds=st.tuples(sync_ids, sync_ids), parts=st.integers(2, 9))
    def ask_about_a_range(self, bounds: tuple[SyncId, SyncId], parts: int) -> None:
        lower, upper = sorted(bounds)
        expected = between(self.plain, lower, upper)

        assert self.ordered.items(lower, upper) == expected
        assert self.ordered.count(lower, upper) == len(expected)
        assert self.ordered.fingerprint(lower, upper) == xor(expected)
        assert (lower in self.ordered) is (lower in self.plain)

    @invariant()
    def snapshots_stay_as_they_were(self) -> None:
        for snapshot, plain in self.snapshots:
            assert snapshot.items(ORIGIN, END) == between(plain, ORIGIN, END)


TestOrderedSet = OrderedSetMachine.TestCase
TestOrderedSet.settings = settings(max_examples=30, stateful_step_count=20, deadline=None)


def test_an_empty_range_has_the_zero_fingerprint() -> None:
    ordered = filled([numbered(5)])

    assert ordered.fingerprint(SyncId(6, ZERO_HASH), END) == ZERO_HASH
    assert ordered.fingerprint(ORIGIN, ORIGIN) == ZERO_HASH


def test_the_upper_bound_is_exclusive_and_the_lower_inclusive() -> None:
    low, middle, high = numbered(1, 7), numbered(2, 7), numbered(3, 7)
    items = sorted([low, middle, high])
    ordered = filled(items)

    assert ordered.items(items[0], items[2]) == items[:2]


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
