"""Ids by their hashes alone, `sync.sketch.lookup`."""

from hypothesis import given
from hypothesis import strategies as st

from sync.sketch.lookup import STEP, Lookup
from sync.structures.ordered_set import ORIGIN, OrderedSet, SyncId, columns_of
from sync.structures.sorted_run import values_of

words = st.sampled_from([bytes(8), b"\1" * 8, b"\1" * 7 + b"\2"])
"""So few that hashes often share some, and often all."""
hashes = st.lists(words, min_size=4, max_size=4).map(b"".join)
ids = st.builds(SyncId, st.integers(0, 5), hashes)


def found(held: OrderedSet, wanted: set[bytes]) -> list[SyncId]:
    """Return what a whole scan finds."""
    lookup = Lookup(held.parts(ORIGIN), columns_of([SyncId(0, one) for one in wanted]).hashes)
    while not lookup.over:
        lookup.step()
    return values_of(lookup.found)


@given(st.lists(ids, unique=True), st.sets(hashes))
def test_those_wanted_are_found_where_words_are_shared(
    held: list[SyncId], wanted: set[bytes]
) -> None:
    both = OrderedSet()
    for one in held:
        both.insert(one)
    assert found(both, wanted) == sorted(one for one in held if one.hash in wanted)


def test_a_scan_of_many_steps_finds_what_is_at_their_ends() -> None:
    held = OrderedSet()
    held.extend(SyncId(number, number.to_bytes(32, "little")) for number in range(2 * STEP + 1))
    at = [0, STEP - 1, STEP, 2 * STEP - 1, 2 * STEP]
    wanted = {number.to_bytes(32, "little") for number in [*at, 2 * STEP + 1]}
    assert [one.timestamp for one in found(held, wanted)] == at
