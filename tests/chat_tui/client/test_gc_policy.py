"""Tuning of Python's cyclic garbage collector."""

import gc
from collections.abc import Iterator

import pytest

from chat_tui.client.gc_policy import FULL_EVERY, MIDDLE_EVERY, YOUNG_MAX, settle


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """The collector of the tests is as it was."""
    thresholds = gc.get_threshold()
    yield
    gc.set_threshold(*thresholds)
    gc.unfreeze()


def test_what_a_start_leaves_is_left_alone_and_only_looking_through_everything_is_rare() -> None:
    kept: list[list[int]] = [[], []]  # something to look through

    settle()

    assert gc.get_freeze_count() > len(kept)
    assert gc.get_threshold() == (YOUNG_MAX, MIDDLE_EVERY, FULL_EVERY)
