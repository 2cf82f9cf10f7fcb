"""Bloom filters over message ids: nothing held is missed, and as often wrong as theory says."""

import hashlib
import math
import random
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sync.calimero.log.delta_filter import BITS_PER_ID, IdFilter, K

THEORY = (1 - math.exp(-K / BITS_PER_ID)) ** K
"""Share of ids that seem to be in a filter and are not, by the textbook."""


def ids(rng: random.Random) -> Iterator[bytes]:
    while True:
        yield hashlib.sha256(rng.randbytes(16)).digest()


@given(st.sets(st.binary(min_size=32, max_size=32), max_size=200))
def test_what_is_in_a_filter_is_never_missed(held: set[bytes]) -> None:
    held_in_order = sorted(held)
    made = IdFilter.of(held_in_order)

    assert made.lacking(held_in_order) == []
    assert all(one in made for one in held_in_order)


def test_a_filter_of_nothing_has_nothing_and_no_bytes() -> None:
    made = IdFilter.of([])

    assert made == IdFilter(0, b"")
    assert bytes(32) not in made
    assert made.lacking([bytes(32)]) == [bytes(32)]


@pytest.mark.parametrize("size", [1, 4, 16, 100, 1_000, 10_000])
def test_a_filter_of_any_size_is_wrong_at_most_a_fifth_more_often_than_theory_says(
    size: int,
) -> None:
    rng = random.Random(size)
    fresh = ids(rng)
    asked = wrong = 0
    while asked < 200_000:
        made = IdFilter.of([next(fresh) for _ in range(size)])
        others = [next(fresh) for _ in range(max(1_000, 2 * size))]
        wrong += len(others) - len(made.lacking(others))
        asked += len(others)

    assert wrong / asked <= 1.2 * THEORY
    if size >= 1_000:
        assert wrong / asked >= THEORY / 1.2, "a filter that is better than theory is too large"


def test_the_bytes_of_a_filter_stay_as_they_are() -> None:
    held = [hashlib.sha256(bytes([number])).digest() for number in range(4)]

    assert IdFilter.of(held) == IdFilter(8, bytes.fromhex("1523000c195005025001a0314608"))
