"""Union of stretches of numbers, and the stretches between them."""

from hypothesis import given
from hypothesis import strategies as st

from storage.archive.seq_ranges import Stretch, between, together

NUMBERS = st.integers(0, 60)
STRETCHES = st.lists(st.tuples(NUMBERS, NUMBERS).map(lambda ends: (min(ends), max(ends))))


def numbers(stretches: list[Stretch]) -> list[int]:
    """All numbers, as often as they are in one."""
    return [number for first, last in stretches for number in range(first, last + 1)]


@given(STRETCHES)
def test_together_are_the_same_numbers_once_and_in_order(stretches: list[Stretch]) -> None:
    assert numbers(together(stretches)) == sorted(set(numbers(stretches)))


@given(STRETCHES)
def test_between_is_what_none_of_them_has(stretches: list[Stretch]) -> None:
    had = set(numbers(stretches))
    inside = set(range(min(had), max(had) + 1)) if had else set()

    assert numbers(between(stretches)) == sorted(inside - had)
    assert len(between(stretches)) == max(0, len(together(stretches)) - 1)
