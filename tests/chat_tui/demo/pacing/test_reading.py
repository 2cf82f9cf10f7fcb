"""The sentence of now: a turning point stands until it is read, whatever is told meanwhile."""

import pytest

from chat_tui.demo.cast import Said, Weight
from chat_tui.demo.pacing.reading import READ_LEAST, READ_MOST, sentence_of_now, time_to_read
from sync.machine import MILLISECOND, SECOND
from tests.support.chat_tui.demos import finished, scored

ROUTINE, EVENT, TURN = Weight


def told(*times_and_weights: tuple[int, Weight]) -> list[Said]:
    """Sentences of a second each to read, at these tenths of a second."""
    return [Said(at * SECOND // 10, 0, "said", "", weight) for at, weight in times_and_weights]


def of_now(said: list[Said], now: int) -> int:
    return sentence_of_now(said, now * SECOND // 10, lambda when: when)


def test_it_takes_as_long_as_it_is_within_bounds() -> None:
    lengths = [time_to_read(Said(0, 0, "x" * length, "")) for length in (1, 100, 101, 1_000)]

    assert lengths[0] == READ_LEAST
    assert lengths[0] < lengths[1] < lengths[2] < lengths[3]
    assert lengths[3] == READ_MOST


def test_a_turning_point_stands_until_it_is_read_then_the_newest_does() -> None:
    said = told((0, TURN), (2, ROUTINE), (4, EVENT), (6, ROUTINE))

    assert [of_now(said, now) for now in (6, 14, 15, 18, 19, 40)] == [0, 0, 2, 2, 3, 3]


def test_a_turning_point_gives_way_to_the_next_at_once() -> None:
    assert of_now(told((0, TURN), (1, TURN), (2, EVENT)), 3) == 1


def test_the_viewers_time_counts() -> None:
    said = told((0, TURN), (2, ROUTINE))

    assert sentence_of_now(said, SECOND, lambda when: when) == 0
    assert sentence_of_now(said, SECOND, lambda when: when * 4) == 1


@pytest.mark.parametrize("number", [3, 4])
def test_whoever_watches_can_read_why_a_line_is_held_back(number: int) -> None:
    run = finished(number)
    bent = scored(number).bent
    [held] = [
        at for at, one in enumerate(run.said) if " back and starts a random wait" in one.plain
    ]
    begins = bent.viewed(run.said[held].at)

    stands = 0
    while stands < READ_MOST:
        now = bent.simulated(begins + stands)
        said = [one for one in run.said if one.at <= now]
        if sentence_of_now(said, now, bent.viewed) != held:
            break
        stands += 100 * MILLISECOND

    assert stands >= 3 * SECOND
