"""Mode 0, mode 1, delta sync and Waku Sync, over the same two pasts, end in the same bytes."""

from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.sync.meetings.pasts import (
    BOTH,
    LAST,
    PASTS,
    Line,
    brought_together,
    features,
    met,
    pasts,
)

PROTOCOLS: Final = ("waku", "logheight", "sets", "delta")
FRONTIER: Final = Line(LAST, holders=BOTH)
"""A newest line that both know: without one, delta sync is not for them."""


@pytest.mark.parametrize("feature", PASTS)
def test_each_difficulty_alone_ends_in_the_same_bytes(feature: str) -> None:
    past, own = [*PASTS[feature], FRONTIER], (0, 0)
    assert feature in features(met(past, own))

    assert_alike(past, own)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(pasts, st.tuples(st.integers(0, 3), st.integers(0, 3)))
def test_all_protocols_end_in_the_same_bytes(past: list[Line], own: tuple[int, int]) -> None:
    assert_alike([*past, FRONTIER], own)


def assert_alike(past: list[Line], own: tuple[int, int]) -> None:
    waku, *others = [brought_together(past, own, by) for by in PROTOCOLS]

    assert [other == waku for other in others] == [True] * len(others)
