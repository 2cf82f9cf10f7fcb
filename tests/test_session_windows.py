"""What a session compares: everything, or what is at most so old."""

import pytest

from sync.group import values
from sync.group.sessions import SPAN_OFFSET
from sync.machine import HOUR, MILLISECOND, SECOND, Nanos
from tests.entries import CHANNEL, Author
from tests.groups import NOW
from tests.pairs import Pair, pair

WINDOWS: tuple[Nanos | None, ...] = (HOUR, 24 * HOUR, None)


def written(age: Nanos, name: str) -> values.StoredMessage:
    """A message that is so old."""
    at = NOW - age
    return Author(name, CHANNEL).write(f"{age} ago", created_ns=at, lamport=at // MILLISECOND)


def converged(both: Pair) -> list[bool]:
    return [ended.converged for ended in both.ended]


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("age", [HOUR // 2, HOUR, 23 * HOUR, 100 * HOUR])
def test_a_session_brings_what_is_in_its_window(age: Nanos, window: Nanos | None) -> None:
    both = pair()
    both.one.write("now")
    both.start(both.one)
    both.run()
    both.ended.clear()
    old = written(age, "carol")
    both.other.hear(old)  # it came to one of them only after they had met

    both.start(both.one, span=window)
    both.run()

    brought = old.entry.message_id in both.one.shown()
    assert brought is (window is None or age <= window + SPAN_OFFSET)
    assert converged(both) == [True, True]


def test_a_window_begins_a_little_earlier_than_it_says() -> None:
    both = pair()
    inside, outside = written(HOUR + SPAN_OFFSET, "carol"), written(HOUR + 21 * SECOND, "dave")
    for message in (inside, outside):
        both.other.hear(message)

    both.start(both.one, span=HOUR)
    both.run()

    assert both.one.shown() == [inside.entry.message_id]


@pytest.mark.parametrize("window", WINDOWS)
def test_a_session_of_everything_mends_what_a_window_left_out(window: Nanos | None) -> None:
    both = pair()
    ages = (HOUR // 2, 3 * HOUR, 50 * HOUR)
    for age in ages:
        both.one.hear(written(age, f"carol {age}"))
        both.other.hear(written(age + SECOND, f"dave {age}"))

    both.start(both.one, span=window)
    both.run()
    both.start(both.other)
    both.run()

    assert both.one.shown() == both.other.shown()
    assert len(both.one.shown()) == 2 * len(ages)
    assert converged(both) == [True] * 4
