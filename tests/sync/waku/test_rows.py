"""Rows appended together make what they make one by one: gaps skipped, item sets joined."""

import random
from typing import Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sync.structures.ordered_set import ORIGIN, ZERO_HASH, Bounds, SyncId, columns_of
from sync.waku.answer import Answer
from sync.waku.message import ITEM_BYTES_MAX, RANGE_BYTES_MAX, Fingerprint, Items, ItemSet
from sync.waku.ranges import FINGERPRINT, ITEM_SET, RECONCILED, Content
from sync.waku.rows import Rows, in_order
from tests.support.sync.waku.sets import numbered

STEP: Final = 10


def told(dice: random.Random, count: int) -> list[tuple[Bounds, Content]]:
    """Ranges with what they hold, some next to each other."""
    ranges: list[tuple[Bounds, Content]] = []
    at = dice.choice([0, STEP])
    for _ in range(count):
        at += dice.choice([0, 0, STEP])
        bounds = Bounds(SyncId(at, ZERO_HASH), SyncId(at + STEP, ZERO_HASH))
        ids = tuple(numbered(at + one, at + one) for one in range(dice.choice([0, 1, 2, 5])))
        items = Items(ids, reconciled=dice.random() < 0.3)
        ranges.append((bounds, dice.randbytes(32) if dice.random() < 0.3 else items))
        at += STEP
    return ranges


def rows(ranges: list[tuple[Bounds, Content]]) -> Rows:
    sets = [content for _, content in ranges if isinstance(content, Items)]
    prints = b"".join(content for _, content in ranges if isinstance(content, bytes))
    kinds = [
        (RECONCILED if content.reconciled else ITEM_SET)
        if isinstance(content, Items)
        else FINGERPRINT
        for _, content in ranges
    ]
    return Rows(
        np.array([bounds.lower.timestamp for bounds, _ in ranges], np.uint64),
        np.array([bounds.upper.timestamp for bounds, _ in ranges], np.uint64),
        np.array(kinds, np.uint8),
        np.array(
            [len(one.elements) if isinstance(one, Items) else 0 for _, one in ranges], np.intp
        ),
        np.frombuffer(prints, np.uint64).reshape(-1, 4),
        columns_of([one for content in sets for one in content.elements]),
    )


@pytest.mark.parametrize("most", [-1, 0, 3, 100])
@given(st.integers(0, 2**32), st.integers(0, 12), st.integers(0, 12))
def test_rows_are_appended_as_one_by_one(most: int, seed: int, before: int, count: int) -> None:
    ranges = told(random.Random(seed), before + count)
    together, single = Answer(joined_max=most), Answer(joined_max=most)
    for bounds, content in ranges[:before]:
        for answer in (together, single):
            assert content is not None
            answer.add(bounds, content)
    for bounds, content in ranges[before:]:
        assert content is not None
        single.add(bounds, content)

    together.add_rows(rows(ranges[before:]))

    assert together == single
    assert together.ranges.contents() == single.ranges.contents()


@given(st.integers(0, 2**32), st.integers(1, 12))
def test_blocks_of_rows_are_put_in_order(seed: int, count: int) -> None:
    dice = random.Random(seed)
    ranges = told(dice, count)
    parts: list[list[tuple[Bounds, Content]]] = [[], [], []]
    for one in ranges:
        dice.choice(parts).append(one)

    ordered, whole = in_order([rows(part) for part in parts]), rows(ranges)

    for column in ("lower", "upper", "kinds", "counts", "fingerprints"):
        assert np.array_equal(getattr(ordered, column), getattr(whole, column)), column
    assert ordered.ids.timestamps.tolist() == whole.ids.timestamps.tolist()
    assert ordered.ids.hashes.tobytes() == whole.ids.hashes.tobytes()


def test_two_sets_next_to_each_other_are_one_and_a_gap_is_a_skip() -> None:
    answer = Answer(joined_max=100)
    bounds = [Bounds(SyncId(at, ZERO_HASH), SyncId(at + STEP, ZERO_HASH)) for at in (10, 20, 40)]
    ids = [numbered(at, at) for at in (12, 22)]
    room = answer.room

    answer.add_rows(
        rows(
            [
                (bounds[0], Items((ids[0],), reconciled=False)),
                (bounds[1], Items((ids[1],), reconciled=False)),
                (bounds[2], bytes([7]) * 32),
            ]
        )
    )

    skip, joined, gap, last = answer.ranges
    assert skip.bounds == Bounds(ORIGIN, bounds[0].lower)
    expected = Bounds(bounds[0].lower, bounds[1].upper)
    assert joined == ItemSet(expected, tuple(ids), reconciled=False)
    assert gap.bounds == Bounds(bounds[1].upper, bounds[2].lower)
    assert last == Fingerprint(bounds[2], bytes([7]) * 32)
    assert answer.room == room - 4 * RANGE_BYTES_MAX - 2 * ITEM_BYTES_MAX
