"""Rows by buckets on top of a set, compared with a plain set of both."""

from hypothesis import given
from hypothesis import strategies as st

from sync.structures.ordered_set import OrderedSet, SyncId
from sync.structures.row_sets import Rows, Together, rising
from sync.structures.set_digest import LEAF_BITS, ROOT_LEVEL, Digest, Held, row
from tests.support.sync.digests import plain_root

HASHES = [bytes(32), b"\1" * 32, b"\0" * 31 + b"\1", b"\xff" * 32]
near_an_edge = st.integers(-3, 3).map(lambda near: (5 << LEAF_BITS) + near)
timestamps = near_an_edge | st.integers(0, 2**63 - 1)
sync_ids = st.builds(SyncId, timestamps, st.sampled_from(HASHES))


def on_top(below: list[SyncId], more: list[SyncId]) -> Held:
    """Return a set with `more` on top of it."""
    items = OrderedSet()
    items.extend(below)
    rows = Rows()
    for one in more:
        rows.add(one)
    assert len(rows) == len(more)
    frozen = items.frozen()
    held = Held(frozen, Digest.of(frozen))
    return held.with_found(Together(frozen, rows.buckets), rows.timestamps)


@given(st.lists(sync_ids), st.lists(sync_ids))
def test_a_set_and_what_lies_on_top_have_the_digest_of_both_whatever_the_order(
    below: list[SyncId], more: list[SyncId]
) -> None:
    held = on_top(below, more)

    everything = set(below) | set(more)
    leaves = held.digest.leaves(ROOT_LEVEL, 0)
    assert held.digest.root == plain_root(everything)
    assert held.digest.count == len(held.source) == len(everything)
    assert b"".join(map(held.leaf_rows, leaves)) == b"".join(map(row, sorted(everything)))


@given(st.lists(sync_ids), st.lists(sync_ids), timestamps)
def test_a_floor_cuts_the_bucket_that_it_falls_into(
    below: list[SyncId], more: list[SyncId], floor: int
) -> None:
    held = on_top(below, more).above(floor)

    left = {one for one in {*below, *more} if one.timestamp >= floor}
    assert held.digest.root == plain_root(left)
    assert held.digest.count == len(left)


@given(st.lists(sync_ids))
def test_rows_rise_and_are_there_once(items: list[SyncId]) -> None:
    assert rising(b"".join(map(row, items))) == b"".join(map(row, sorted(set(items))))
