"""The Merkle digest of an ordered set, against one written down from its documentation."""

from collections.abc import Iterator
from copy import deepcopy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from sync.structures import set_digest
from sync.structures.ordered_set import HASH_BYTES, ORIGIN, SyncId
from sync.structures.set_digest import (
    EMPTY_ROOT,
    END,
    LEAF_BITS,
    ROOT_LEVEL,
    ROW_BYTES,
    Digest,
    leaf_hash,
    node_hash,
    read_row,
    row,
)
from tests.support.sync.digests import SortedIds, held, plain_root, times
from tests.support.sync.waku.sets import numbered

BUCKET = 1 << LEAF_BITS

# Few buckets, next to each other and far apart, and few hashes: ids share leaves and nodes.
timestamps = (
    st.integers(0, 3 * BUCKET)
    | st.integers(0, 300).map(lambda leaf: leaf * BUCKET)
    | st.integers(0, END.timestamp - 1)
)
sync_ids = st.builds(SyncId, timestamps, st.sampled_from([bytes(32), b"\1" * 32, b"\xff" * 32]))
id_sets = st.sets(sync_ids, max_size=40)

GOLDEN = {
    "empty": (0, "4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a"),
    "one at zero": (1, "98d32af1bb0a740fd8508807f175cbf092a8ee12c7a478c4974b519bfd900c01"),
    "a bucket of three": (3, "2df220aaaaa8260360b805d4bb90c1019415c63cde913171e98696783d458ca8"),
    "a hundred, one a second": (
        100,
        "fefdaf716ab3c878cbfdc84ba0302c0a7b49f4b3645c244c392026810a186f81",
    ),
    "one in every level": (5, "8fd1aa821f766ad5a9aa0478a86d153eb4df3b41aa50521540da7be95835e8ff"),
}


def golden_set(name: str) -> list[SyncId]:
    match name:
        case "empty":
            return []
        case "one at zero":
            return [ORIGIN]
        case "a bucket of three":
            return [numbered(number) for number in range(3)]
        case "a hundred, one a second":
            return [numbered(number) for number in range(100)]
        case _:
            shifts = (0, 40, 46, 52, 58)
            return [numbered(shift, timestamp=1 << shift) for shift in shifts]


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_roots(name: str) -> None:
    items = golden_set(name)

    digest = Digest.of(SortedIds(items))

    assert (digest.count, digest.root.hex()) == GOLDEN[name]


def test_a_root_by_hand() -> None:
    low, high = SyncId(1, b"\2" * HASH_BYTES), SyncId(5 * BUCKET + 7, b"\3" * HASH_BYTES)
    first = leaf_hash(bytes(7) + b"\1" + b"\2" * 32)
    second = leaf_hash((5 * BUCKET + 7).to_bytes(8, "big") + b"\3" * 32)

    node = node_hash([(0, first), (5, second)])
    for _ in range(ROOT_LEVEL - 1):
        node = node_hash([(0, node)])

    assert Digest.of(SortedIds([low, high])).root == node


@given(sync_ids)
def test_a_row_is_its_id(sync_id: SyncId) -> None:
    assert read_row(row(sync_id)) == sync_id


@given(id_sets)
def test_a_digest_is_what_its_documentation_says(items: set[SyncId]) -> None:
    digest = Digest.of(SortedIds(items))

    assert digest.root == plain_root(items)
    assert digest.count == len(items)


@given(id_sets, id_sets)
def test_two_sets_have_one_root_only_if_they_are_equal(
    one: set[SyncId], other: set[SyncId]
) -> None:
    assert (Digest.of(SortedIds(one)).root == Digest.of(SortedIds(other)).root) is (one == other)


@given(id_sets, timestamps)
def test_a_floor_leaves_the_ids_from_it_on(items: set[SyncId], floor: int) -> None:
    kept = {item for item in items if item.timestamp >= floor}
    source = SortedIds(items)

    narrowed = Digest.of(source).above(source, floor)

    assert (narrowed.root, narrowed.count) == (plain_root(kept), len(kept))
    assert Digest.of(source, floor).root == narrowed.root
    assert narrowed.above(source, floor // 2).root == narrowed.root


@given(id_sets, timestamps, timestamps, st.binary(min_size=32, max_size=32))
def test_a_bound_leaves_the_ids_below_it(
    items: set[SyncId], floor: int, timestamp: int, cut: bytes
) -> None:
    bound = SyncId(min(timestamp, END.timestamp - 1), cut)
    kept = SortedIds(item for item in items if item < bound)

    narrowed = held(items).below(kept, bound.timestamp)
    both_ways = held(items).above(floor).below(kept, bound.timestamp)

    assert (narrowed.digest.root, narrowed.digest.count) == (plain_root(kept.items), len(kept))
    left = [item for item in kept.items if item.timestamp >= floor]
    assert (both_ways.digest.root, both_ways.digest.count) == (plain_root(left), len(left))


@given(id_sets, id_sets, timestamps)
def test_a_digest_with_a_floor_goes_on_above_it(
    items: set[SyncId], more: set[SyncId], floor: int
) -> None:
    source = SortedIds(items)
    digest = Digest.of(source, floor)

    for item in more - items:
        source.insert(item)
        digest.changed(item.timestamp)
    digest.refresh(source)

    assert digest.root == plain_root(item for item in items | more if item.timestamp >= floor)


@pytest.mark.parametrize("floor", [END.timestamp, 2**64 - 1])
def test_a_floor_above_everything_leaves_nothing(floor: int) -> None:
    source = SortedIds([ORIGIN, SyncId(END.timestamp - 1, b"\xff" * 32)])

    narrowed = Digest.of(source).above(source, floor)

    assert (narrowed.root, narrowed.count) == (EMPTY_ROOT, 0)


@given(id_sets, id_sets)
def test_ids_found_missing_are_added_without_a_trace(items: set[SyncId], more: set[SyncId]) -> None:
    before = held(items)

    together = before.with_found(SortedIds(items | more), times(more - items))

    extended, digest = together.digest, before.digest
    assert (extended.root, extended.count) == (plain_root(items | more), len(items | more))
    assert (digest.root, digest.count) == (plain_root(items), len(items))


def test_what_is_held_takes_in_what_was_found_even_twice() -> None:
    ours, found = numbered(1), numbered(2)

    together = held([ours]).with_found(SortedIds([ours, found]), times([found, found]))

    assert together.digest.root == plain_root([ours, found])
    assert together.leaf_rows(ours.timestamp >> LEAF_BITS) == row(ours) + row(found)


@given(id_sets, timestamps)
def test_what_is_held_above_a_floor_shows_no_row_below_it(items: set[SyncId], floor: int) -> None:
    narrowed = held(items).above(floor)

    leaves = narrowed.digest.leaves(ROOT_LEVEL, 0)
    rows = b"".join(map(narrowed.leaf_rows, leaves))

    assert rows == SortedIds(item for item in items if item.timestamp >= floor).rows(ORIGIN, END)


@given(id_sets)
def test_the_children_of_nodes_lead_to_every_leaf(items: set[SyncId]) -> None:
    digest = Digest.of(SortedIds(items))

    assert digest.leaves(ROOT_LEVEL, 0) == sorted({item.timestamp >> LEAF_BITS for item in items})
    assert node_hash(digest.children(ROOT_LEVEL, 0)) == digest.root
    assert sum(map(digest.leaf_count, digest.leaves(ROOT_LEVEL, 0))) == len(items)
    for index, child in digest.children(ROOT_LEVEL, 0):
        assert digest.holds(ROOT_LEVEL - 1, index)
        assert node_hash(digest.children(ROOT_LEVEL - 1, index)) == child


def test_a_change_that_was_not_noted_is_noticed() -> None:
    source = SortedIds([numbered(1)])
    digest = Digest.of(source)
    source.insert(numbered(2))

    with pytest.raises(AssertionError, match="not noted"):
        digest.refresh(source)


def test_a_stale_digest_answers_nothing() -> None:
    digest = Digest()
    digest.changed(1)

    with pytest.raises(AssertionError, match="refresh"):
        _ = digest.root


class Counted(SortedIds):
    """A source that counts the rows that are read of it."""

    read = 0

    def rows(self, lower: SyncId, upper: SyncId) -> bytes:
        rows = super().rows(lower, upper)
        self.read += len(rows) // ROW_BYTES
        return rows


@pytest.mark.parametrize("step", [1, BUCKET // 3, 2 * BUCKET])
def test_a_slice_reads_so_many_rows_however_many_are_in_a_bucket(
    step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(set_digest, "SLICE", 10)
    monkeypatch.setattr(set_digest, "LEAVES_AT_ONCE", 4)
    items = [SyncId(5 + step * number, bytes([number]) * 32) for number in range(95)]
    source, digest = Counted(items), Digest()
    digest.changed_all(times(items))

    reads = list(read_in_slices(digest, source))
    late = SyncId(items[-1].timestamp + 1, bytes(32))
    source.insert(late)
    digest.changed(late.timestamp)
    reads += read_in_slices(digest, source)

    assert len(reads) >= 10
    assert max(reads) <= 20
    assert digest.root == plain_root([*items, late])


def test_what_comes_into_a_bucket_that_is_half_hashed_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(set_digest, "SLICE", 10)
    items = [SyncId(10 * number, bytes([number]) * 32) for number in range(95)]
    source, digest = Counted(items), Digest()
    digest.changed_all(times(items))
    for _ in range(4):
        digest.refresh_some(source)
    copied = deepcopy(digest)

    more = [SyncId(time, b"\7" * 32) for time in (5, 900)]  # below and above what was hashed
    for one in more:
        source.insert(one)
        digest.changed(one.timestamp)
    digest.refresh(source)
    copied.refresh(SortedIds(items))

    assert digest.root == plain_root([*items, *more])
    assert copied.root == plain_root(items)


def read_in_slices(digest: Digest, source: Counted) -> Iterator[int]:
    """Yield how many rows each slice reads."""
    done = False
    while not done:
        source.read = 0
        done = digest.refresh_some(source)
        yield source.read


class DigestMachine(RuleBasedStateMachine):
    """Whatever comes and goes, a refreshed digest is one made from scratch."""

    def __init__(self) -> None:
        super().__init__()
        self.source = SortedIds()
        self.digest = Digest()
        self.frozen: list[tuple[Digest, bytes]] = []
        self.patched = pytest.MonkeyPatch()
        self.patched.setattr(set_digest, "SLICE", 2)
        self.patched.setattr(set_digest, "LEAVES_AT_ONCE", 3)

    def teardown(self) -> None:
        self.patched.undo()

    @rule(item=sync_ids)
    def insert(self, item: SyncId) -> None:
        if item not in self.source.items:
            self.source.insert(item)
        self.digest.changed(item.timestamp)

    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        if self.source.items:
            item = data.draw(st.sampled_from(self.source.items))
            self.source.items.remove(item)
            self.digest.changed(item.timestamp)

    @rule()
    def refresh_some(self) -> None:
        self.digest.refresh_some(self.source)

    @rule()
    def refresh(self) -> None:
        self.digest.refresh(self.source)

        assert self.digest.root == plain_root(self.source.items)
        assert self.digest.count == len(self.source.items)
        assert all(frozen.root == root for frozen, root in self.frozen)

    @rule()
    def freeze(self) -> None:
        self.digest.refresh(self.source)
        self.frozen.append((self.digest.copy(), self.digest.root))


TestDigest = DigestMachine.TestCase
TestDigest.settings = settings(max_examples=50, stateful_step_count=30)
