"""Heads answer as a plain list does, and bounds tell neighbours apart as short as can be."""

from hypothesis import given
from hypothesis import strategies as st

from sync.p2panda.bounds import Place, between, rank
from sync.p2panda.heads import MODULUS, Heads, lift
from tests.support.sync.heights import KEYS, heights

keys = st.sampled_from(KEYS) | st.binary(min_size=32, max_size=32)
cut = st.tuples(keys, st.integers(0, 32)).map(lambda both: Place(both[0][: both[1]]))
bounds = cut | st.builds(Place, keys, st.integers(0, 5), st.integers(0, 4))


def listed(items: list[Place], lower: Place, upper: Place) -> list[Place]:
    """Return the items in [lower, upper) on the circle, by looking at each."""
    ordered = sorted(items, key=lambda item: rank(item, lower))
    if lower == upper:
        return ordered
    return [item for item in ordered if rank(item, lower) < rank(upper, lower)]


def test_an_item_is_lifted_as_the_specification_of_our_wire_says() -> None:
    key = bytes.fromhex("2f8e50c2ede6d936ecc3144187ff1c273808185cfbc5ff3d3748d1ff7353fc96")

    assert lift(Place(key, 0xA9537767DD42B046, 65)) == 0x1EF6EC0DA1917F7F94CCFE55C11DE4FE


@given(heights, bounds, bounds)
def test_ranges_on_the_circle_hold_what_a_list_says(
    items: list[Place], lower: Place, upper: Place
) -> None:
    heads = Heads(items)
    found = listed(items, lower, upper)

    assert heads.within(lower, upper) == found
    assert heads.count(lower, upper) == len(found)
    assert int.from_bytes(heads.fingerprint(lower, upper)) == sum(map(lift, found)) % MODULUS


@given(heights, bounds, bounds, st.integers(2, 9))
def test_the_parts_of_a_range_tile_it_and_none_is_empty(
    items: list[Place], lower: Place, upper: Place, parts: int
) -> None:
    heads = Heads(items)
    found = heads.within(lower, upper)
    if not found:
        return
    uppers = heads.split(lower, upper, parts)

    tiles = [heads.within(*pair) for pair in zip([lower, *uppers], uppers, strict=False)]
    assert uppers[-1] == upper
    assert len(uppers) <= parts
    assert all(tiles)
    assert [item for tile in tiles for item in tile] == found
    assert len(uppers) > 1 or len(found) == 1, "a range of two is split"


@given(bounds, st.builds(Place, keys, st.integers(0, 5), st.integers(1, 4)))
def test_a_bound_is_the_shortest_that_tells_neighbours_apart(lower: Place, item: Place) -> None:
    if lower >= item:
        return
    bound = between(lower, item)

    assert lower < bound <= item
    if lower.key != item.key:
        assert bound.log == bound.height == 0
        assert Place(bound.key[:-1]) <= lower, "one byte less would not do"


def test_cuts_are_made_where_the_author_changes() -> None:
    authors = [bytes([number]) * 32 for number in range(8)]
    heads = Heads(Place(key, log, 1) for key in authors for log in range(10))
    start = heads.beginning()

    uppers = heads.split(start, start, 7)

    assert all(len(bound.key) == 1 for bound in uppers)
