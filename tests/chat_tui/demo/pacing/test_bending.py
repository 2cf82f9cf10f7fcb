"""Time that bends: what a viewer has time to see, and that the map never jumps."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from chat_tui.demo.pacing.bending import FLIGHT_LEAST, GAP_MOST, WHOLE, Bent
from sync.machine import MILLISECOND, SECOND

times = st.integers(0, 60 * SECOND)
trips = st.lists(
    st.tuples(times, st.integers(1, 2 * SECOND)).map(lambda trip: (trip[0], sum(trip))),
    max_size=30,
)


def test_a_frame_of_forty_milliseconds_is_seen_for_more_than_a_second() -> None:
    bent = Bent(0, 10 * SECOND, [(SECOND, SECOND + 40 * MILLISECOND)])

    assert bent.viewed(SECOND + 40 * MILLISECOND) - bent.viewed(SECOND) >= SECOND


@given(trips)
def test_whatever_is_on_its_way_is_seen_for_long_enough(flights: list[tuple[int, int]]) -> None:
    bent = Bent(0, 63 * SECOND, flights)

    for begins, ends in flights:
        # each corner may round down by a nanosecond
        assert bent.viewed(ends) - bent.viewed(begins) >= FLIGHT_LEAST - 2 * len(flights) - 2


@given(trips, st.lists(times, max_size=30))
def test_a_wait_of_seconds_passes_in_one(flights: list[tuple[int, int]], marks: list[int]) -> None:
    bent = Bent(0, 63 * SECOND, flights, marks)
    corners = sorted({0, 63 * SECOND, *(at for trip in flights for at in trip)})

    for begins, ends in pairwise(corners):
        if not any(a <= begins and ends <= b for a, b in flights):
            passes = bent.viewed(ends) - bent.viewed(begins)
            assert passes <= min(GAP_MOST, ends - begins) + len(marks) + 1


@given(trips, st.lists(times, max_size=30))
def test_the_map_rises_and_leads_back(flights: list[tuple[int, int]], marks: list[int]) -> None:
    bent = Bent(0, 63 * SECOND, flights, marks)

    seen = [bent.simulated(bent.length * part // 200) for part in range(201)]
    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == (0, 63 * SECOND)
    for part in range(201):
        viewed = bent.length * part // 200
        there = bent.simulated(viewed)
        # a nanosecond of the viewer's is up to some thousand simulated ones
        assert abs(bent.simulated(bent.viewed(there)) - there) < MILLISECOND


def test_a_run_with_many_frames_is_shown_faster_but_never_too_fast() -> None:
    few = Bent(0, 60 * SECOND, [(n * SECOND, n * SECOND + 1) for n in range(10)])
    many = Bent(0, 60 * SECOND, [(n * SECOND, n * SECOND + 1) for n in range(50)])
    most = Bent(0, 60 * SECOND, [(n * SECOND // 4, n * SECOND // 4 + 1) for n in range(200)])

    assert few.length < many.length <= WHOLE
    assert FLIGHT_LEAST < many.pace.flight < few.pace.flight
    assert most.pace.flight == FLIGHT_LEAST


def test_before_and_after_time_goes_as_it_does() -> None:
    bent = Bent(10 * SECOND, 20 * SECOND)

    assert bent.simulated(bent.length + SECOND) == 21 * SECOND
    assert bent.viewed(9 * SECOND) == -SECOND


def test_a_map_through_corners_is_even_between_them() -> None:
    bent = Bent.through((0, 0), (10 * SECOND, 20 * SECOND), (60 * SECOND, 30 * SECOND))

    seen = [bent.simulated(at * SECOND) // SECOND for at in (0, 10, 20, 25, 30)]
    assert seen == [0, 5, 10, 35, 60]
