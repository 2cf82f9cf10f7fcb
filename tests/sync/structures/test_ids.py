"""Ids as rows: they read as a tuple of ids would."""

import hypothesis.strategies as st
from hypothesis import given

from sync.structures.ids import READ_AT_ONCE, Ids
from sync.structures.ordered_set import SyncId, columns_of
from tests.support.sync.waku.sets import numbered

sync_ids = st.builds(SyncId, st.integers(0, 2**64 - 1), st.binary(min_size=32, max_size=32))


@given(st.lists(sync_ids, max_size=20), st.integers(-25, 25), st.integers(-25, 25))
def test_they_are_read_like_a_tuple(items: list[SyncId], begin: int, end: int) -> None:
    ids, plain = Ids.of(items), tuple(items)

    assert (len(ids), list(ids), hash(ids)) == (len(plain), items, hash(plain))
    assert ids == plain
    assert plain == ids
    assert ids[begin:end] == plain[begin:end]
    assert [ids[at] for at in range(-len(ids), len(ids))] == [*plain, *plain]
    assert Ids.of_columns(columns_of(items)) == ids
    assert ids.hashes == b"".join(one.hash for one in items)
    assert list(ids.columns.timestamps) == [one.timestamp for one in items]


def test_others_differ() -> None:
    ids = Ids.of([numbered(1), numbered(2)])

    assert ids not in ((), (numbered(1),), (numbered(2), numbered(1)), {numbered(1), numbered(2)})


def test_many_are_read_one_after_the_other() -> None:
    items = [numbered(number) for number in range(2 * READ_AT_ONCE + 1)]

    assert tuple(Ids.of(items)) == tuple(items)
