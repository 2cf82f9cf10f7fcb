"""All ways to compare messages, over the same two pasts, end in the same bytes."""

from collections.abc import Iterator
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sync.sessions import selection
from sync.sketch import prefix
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

PROTOCOLS: Final = ("waku", "logheight", "sets", "delta", "sketch")
FRONTIER: Final = Line(LAST, holders=BOTH)
"""A newest line that both know: without one, delta sync is not for them."""


@pytest.fixture(autouse=True, scope="module")
def _symbols_of_one() -> Iterator[None]:
    """Have symbols kept of any number of messages."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prefix, "SKETCH_IDS_MIN", 0)
        patch.setattr(selection, "SKETCH_IDS_MIN", 0)
        yield


@pytest.mark.parametrize("feature", PASTS)
def test_each_difficulty_alone_ends_in_the_same_bytes(feature: str) -> None:
    past, own = [*PASTS[feature], FRONTIER], (0, 0)
    assert feature in features(met(past, own))

    assert_alike(past, own)


@pytest.mark.slow
@settings(max_examples=15)
@given(pasts, st.tuples(st.integers(0, 3), st.integers(0, 3)))
def test_all_protocols_end_in_the_same_bytes(past: list[Line], own: tuple[int, int]) -> None:
    assert_alike([*past, FRONTIER], own)


@pytest.mark.grid
@settings(max_examples=400)
@given(pasts, st.tuples(st.integers(0, 3), st.integers(0, 3)))
def test_of_many_more_pasts_too(past: list[Line], own: tuple[int, int]) -> None:
    assert_alike([*past, FRONTIER], own)


def assert_alike(past: list[Line], own: tuple[int, int]) -> None:
    waku, *others = [brought_together(past, own, by) for by in PROTOCOLS]

    assert [other == waku for other in others] == [True] * len(others)
