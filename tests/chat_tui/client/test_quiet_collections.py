"""Full garbage collections in quiet moments."""

import gc
from collections.abc import Iterator
from weakref import ref

import pytest

from chat_tui.client.quiet_collections import QUIET_S, WORTH, QuietCollections


class Knot:
    """Something that holds itself."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def by_hand() -> Iterator[None]:
    """Nothing is collected but by who is tested."""
    thresholds = gc.get_threshold()
    gc.set_threshold(0)
    yield
    gc.set_threshold(*thresholds)


def old_garbage(middle: int = WORTH) -> "ref[Knot]":
    """Return what was kept while the middle generation was collected so often, and is not now."""
    knot = Knot()
    gc.collect()
    for _ in range(middle):
        gc.collect(1)
    return ref(knot)


def test_a_quiet_moment_frees_what_hangs_together_in_cycles() -> None:
    quiet = QuietCollections()
    knot = old_garbage()

    quiet.look(QUIET_S / 2)

    assert knot() is None


def test_nothing_is_collected_while_much_happens() -> None:
    quiet = QuietCollections()
    knot = old_garbage()

    quiet.look(QUIET_S)
    quiet.look(QUIET_S * 2)
    kept = knot() is not None
    quiet.look(QUIET_S * 2 + 1)

    assert kept
    assert knot() is None


def test_nothing_is_collected_where_there_is_little_to_find() -> None:
    quiet = QuietCollections()
    knot = old_garbage(middle=WORTH - 1)

    quiet.look(0.0)

    assert knot() is not None
