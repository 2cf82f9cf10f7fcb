"""Time window of a session: everything, or only messages up to an age."""

import pytest

from sync.group import values
from sync.machine import HOUR, MILLISECOND, SECOND, Nanos
from sync.sessions.session import SPAN_OFFSET
from tests.support.sync.entries import CHANNEL, Author
from tests.support.sync.groups import NOW
from tests.support.sync.pairs import Pair, pair

WINDOWS: tuple[Nanos | None, ...] = (HOUR, 24 * HOUR, None)


def written(age: Nanos, name: str) -> values.StoredMessage:
    """A message that is so old."""
    at = NOW - age
    return Author(name, CHANNEL).write(f"{age} ago", created_ns=at, lamport=at // MILLISECOND)


def written_after(parent: values.StoredMessage) -> values.StoredMessage:
    """A message of an hour ago that names `parent`."""
    at = NOW - HOUR
    return Author("dave", CHANNEL).write(
        "see above", after=[parent], created_ns=at, lamport=at // MILLISECOND
    )


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


def test_what_is_just_being_broadcast_is_compared_by_a_session_of_everything_alone() -> None:
    both = pair()
    inside, young = written(SPAN_OFFSET + 1, "carol"), written(SPAN_OFFSET, "dave")
    for message in (inside, young):
        both.other.hear(message)

    both.start(both.one, span=HOUR)
    both.run()
    of_the_window = both.one.shown()
    both.start(both.one)
    both.run()

    assert of_the_window == [inside.entry.message_id]
    assert both.one.shown() == [inside.entry.message_id, young.entry.message_id]
    assert converged(both) == [True] * 4
    assert [ended.need + ended.have for ended in both.ended] == [1] * 4


@pytest.mark.parametrize("beginner", ["one", "other"])
def test_a_window_that_ends_proves_nothing_of_what_is_younger(beginner: str) -> None:
    both = pair()
    begins = both.one if beginner == "one" else both.other
    old = both.one.write("a while ago", NOW - SPAN_OFFSET - SECOND)
    both.other.hear(old)
    young = both.one.write("just now")

    both.start(begins, span=HOUR)
    both.run()

    assert converged(both) == [True, True]
    assert both.results() == {"equal"}
    assert [*both.one.group.sds.outgoing.pending] == [young.entry.message_id]


def test_an_end_that_the_peer_set_is_not_taken_for_everything() -> None:
    both = pair()
    gone = Author("carol", CHANNEL).write("too old", created_ns=NOW - 50 * HOUR)
    names_it = written_after(gone)
    both.one.retention = 24 * HOUR
    both.one.start()
    both.one.hear(names_it)
    both.other.hear(names_it)

    both.start(both.other, span=48 * HOUR)
    both.run()
    after_the_window = both.one.shown()
    both.start(both.other)
    both.run()

    assert after_the_window == []  # it may still be found
    assert both.one.shown() == [names_it.entry.message_id]


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
