"""Results kept for the very object they were made of."""

from sync.structures.made_once import KEPT, made_once


def test_the_same_object_has_one_result_and_an_equal_one_its_own() -> None:
    made: list[list[int]] = []

    @made_once
    def sums(source: list[int]) -> int:
        made.append(source)
        return sum(source)

    one, equal = [1, 2], [1, 2]
    assert [sums(one), sums(one), sums(equal), sums(one)] == [3] * 4
    assert [id(source) for source in made] == [id(one), id(equal)]


def test_no_more_than_the_last_ones_are_kept() -> None:
    made = 0

    @made_once
    def size(source: list[int]) -> int:
        nonlocal made
        made += 1
        return len(source)

    sources = [[number] for number in range(KEPT + 1)]
    for source in [*sources, *sources]:
        size(source)

    assert made == 2 * len(sources)
