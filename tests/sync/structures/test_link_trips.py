"""Slow links: their steps, what a channel is told of them, and how much longer is waited."""

import pytest

from sync.machine import MILLISECOND, MINUTE, SECOND, Nanos, PeerId
from sync.structures.link_trips import (
    GROWN_MAX,
    SLOW_FROM,
    SLOW_MAX,
    Patience,
    grown,
    slow_links,
    step,
)

ALICE, BOB, EVE = PeerId("alice"), PeerId("bob"), PeerId("eve")


@pytest.mark.parametrize(
    ("trips", "expected"),
    [
        ([], None),
        ([9 * SECOND], None),
        ([MILLISECOND, 999 * MILLISECOND], 0),
        ([9 * SECOND, MILLISECOND, 9 * SECOND], 0),
        ([SLOW_FROM, SLOW_FROM], SLOW_FROM),
        ([3 * SECOND, 5 * SECOND], 4 * SECOND),
        ([5 * SECOND, 5 * SECOND, MILLISECOND, MILLISECOND], 8 * SECOND),
        ([MINUTE, MINUTE], SLOW_MAX),
    ],
)
def test_a_step_is_the_worst_of_two_trips_in_a_row(
    trips: list[Nanos], expected: Nanos | None
) -> None:
    assert step(trips) == expected


def test_a_channel_is_as_slow_as_its_fastest_link_whoever_else_is_slow_on_purpose() -> None:
    assert slow_links({ALICE: 2 * SECOND, EVE: SLOW_MAX}) == (
        ((ALICE, 2 * SECOND), (EVE, SLOW_MAX)),
        2 * SECOND,
    )
    assert slow_links({ALICE: 0, EVE: SLOW_MAX}) == (((EVE, SLOW_MAX),), 0)


def test_a_link_dialled_anew_is_as_slow_as_the_one_before_until_it_is_measured() -> None:
    before = ((ALICE, SLOW_MAX),)

    assert slow_links({ALICE: None, BOB: None}, before) == (before, SLOW_MAX)
    assert slow_links({ALICE: 0, BOB: None}, before) == ((), 0)


def test_nothing_is_waited_for_longer_on_a_fast_link() -> None:
    for limit in (3 * SECOND, 5 * SECOND, MINUTE):
        assert grown(limit, 0) == limit


def test_whoever_is_slow_on_purpose_holds_a_place_four_times_as_long_at_most() -> None:
    waited = [grown(5 * SECOND, trip * SECOND) for trip in (1, 2, 4, 8, 16)]

    assert waited == sorted(waited)
    assert waited[1] == 2 * 5 * SECOND
    assert waited[-1] == GROWN_MAX * 5 * SECOND
    assert grown(5 * SECOND, MINUTE) == GROWN_MAX * 5 * SECOND


def test_patience_is_that_of_the_link_as_it_is_now() -> None:
    patience = Patience()
    ask = patience.grown
    before = ask(MINUTE)

    patience.trip = 2 * SECOND

    assert (before, ask(MINUTE)) == (MINUTE, 2 * MINUTE)
