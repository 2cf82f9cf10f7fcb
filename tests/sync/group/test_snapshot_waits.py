"""Waiting for a snapshot that a peer has left to us to begin: for how long, and who is asked."""

from sync.group.snapshots.staging import (
    DECIDED_MAX,
    DECIDED_WITHIN,
    SOUGHT_AFTER,
    SOUGHT_AGAIN,
    SOUGHT_LATER,
    SOUGHT_MAX,
    Snapshots,
)
from sync.machine import SECOND, ChannelId, Nanos, PeerId

LOBBY = ChannelId("c0" * 16)
SOURCE, OTHER = PeerId("aa" * 32), PeerId("bb" * 32)
LINKED = {SOURCE, OTHER}
NOW: Nanos = 1_750_000_000 * SECOND
LEFT: Nanos = NOW + 4 * SECOND


def waiting() -> Snapshots:
    """Return what waits since `NOW`, to which its source has left it to begin at `LEFT`."""
    made = Snapshots(LOBBY)
    made.speakers |= LINKED
    made.wait(NOW)
    made.seek(SOURCE, LEFT)
    return made


def test_what_arrives_waits_as_long_again_once_somebody_is_known_to_have_a_history() -> None:
    made = waiting()

    assert not made.is_over(NOW + DECIDED_WITHIN)
    made.seek(OTHER, LEFT + SECOND)

    assert made.is_over(LEFT + DECIDED_WITHIN), "once, however many say so"


def test_what_arrives_waits_on_while_a_session_may_decide_and_not_for_ever() -> None:
    made = Snapshots(LOBBY)
    made.wait(NOW)
    for waits in range(1, DECIDED_MAX // DECIDED_WITHIN):
        assert made.is_over(NOW + waits * DECIDED_WITHIN)
        assert made.waits_on(NOW + waits * DECIDED_WITHIN)
        assert not made.is_over(NOW + waits * DECIDED_WITHIN)
    assert made.is_over(NOW + DECIDED_MAX)
    assert not made.waits_on(NOW + DECIDED_MAX)


def test_who_left_it_to_us_is_asked_first_and_then_others_too() -> None:
    made = waiting()

    asked = [
        made.asks(LINKED, LEFT + SOUGHT_AFTER + number * SOUGHT_AGAIN, empty=True)
        for number in range(3)
    ]

    assert asked[0] == SOURCE
    assert {*asked} == LINKED


def test_after_some_tries_it_is_asked_for_less_often_and_not_given_up() -> None:
    made = waiting()
    at = LEFT + SOUGHT_AFTER
    for number in range(SOUGHT_MAX):
        assert made.asks(LINKED, at + number * SOUGHT_AGAIN, empty=True)
    last = at + (SOUGHT_MAX - 1) * SOUGHT_AGAIN

    assert made.asks(LINKED, last + SOUGHT_AGAIN, empty=True) is None
    assert made.asks(LINKED, last + SOUGHT_LATER, empty=True)


def test_who_is_as_empty_is_not_asked() -> None:
    made = waiting()
    made.found_empty(SOURCE, LEFT)

    assert made.asks(LINKED, LEFT + SOUGHT_AFTER, empty=True) == OTHER


def test_once_we_have_something_it_is_asked_for_once() -> None:
    made = waiting()
    at = LEFT + SOUGHT_AFTER

    asked = [made.asks(LINKED, at + n * SOUGHT_LATER, empty=False) for n in range(3)]

    assert asked == [SOURCE, None, None]
