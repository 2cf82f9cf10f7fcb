"""Time that bends: what a viewer has time to see, and that the map never jumps."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from chat_tui.demo.pacing.bending import (
    FLIGHT_LEAST,
    FLIGHT_MOST,
    GAP,
    GAP_MOST,
    SLOWED_MOST,
    WHOLE,
    Bent,
    Timetable,
)
from sync.machine import MILLISECOND, SECOND

times = st.integers(0, 60 * SECOND)
trips = st.lists(
    st.tuples(times, st.integers(1, 2 * SECOND)).map(lambda trip: (trip[0], sum(trip))),
    max_size=30,
)


def test_a_frame_of_forty_milliseconds_is_seen_for_more_than_a_second() -> None:
    bent = Bent(0, 10 * SECOND, Timetable([(SECOND, SECOND + 40 * MILLISECOND)]))

    assert bent.viewed(SECOND + 40 * MILLISECOND) - bent.viewed(SECOND) >= SECOND


turns = st.lists(st.tuples(times, st.integers(0, 7 * SECOND)), max_size=10).map(sorted)


@given(trips, trips, turns)
def test_whatever_is_on_its_way_is_seen_for_long_enough(
    flights: list[tuple[int, int]], quick: list[tuple[int, int]], turns: list[tuple[int, int]]
) -> None:
    bent = Bent(0, 63 * SECOND, Timetable(flights, quick, turns=turns))

    for begins, ends in (*flights, *quick):
        # each corner may round down by a nanosecond
        parts = 2 * (len(flights) + len(quick)) + len(turns)
        assert bent.viewed(ends) - bent.viewed(begins) >= FLIGHT_LEAST - 2 * parts - 2


@given(trips, st.lists(times, max_size=30), trips, turns)
def test_a_wait_of_seconds_passes_in_one(
    flights: list[tuple[int, int]],
    marks: list[int],
    waits: list[tuple[int, int]],
    turns: list[tuple[int, int]],
) -> None:
    bent = Bent(0, 63 * SECOND, Timetable(flights, waits=waits, marks=marks, turns=turns))
    corners = sorted({0, 63 * SECOND, *(at for trip in flights for at in trip)})

    for begins, ends in pairwise(corners):
        if not any(a <= begins and ends <= b for a, b in flights):
            passes = bent.viewed(ends) - bent.viewed(begins)
            waited = any(a < ends and b > begins for a, b in waits)
            most = GAP_MOST if waited else GAP
            assert passes <= min(most, ends - begins) + len(marks) + len(turns) + 1


@given(trips, st.lists(times, max_size=30), turns)
def test_the_map_rises_and_leads_back(
    flights: list[tuple[int, int]], marks: list[int], turns: list[tuple[int, int]]
) -> None:
    bent = Bent(0, 63 * SECOND, Timetable(flights, marks=marks, turns=turns))

    seen = [bent.simulated(bent.length * part // 200) for part in range(201)]
    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == (0, 63 * SECOND)
    for part in range(201):
        viewed = bent.length * part // 200
        there = bent.simulated(viewed)
        # a nanosecond of the viewer's is up to some thousand simulated ones
        assert abs(bent.simulated(bent.viewed(there)) - there) < MILLISECOND


def test_a_run_with_many_frames_is_shown_faster_but_never_too_fast() -> None:
    def run(frames: int) -> Bent:
        sets_out = [n * 60 * SECOND // frames for n in range(frames)]
        return Bent(0, 60 * SECOND, Timetable([(at, at + 1) for at in sets_out]))

    few, many, most = run(10), run(50), run(200)

    assert few.length < many.length <= WHOLE
    assert FLIGHT_LEAST < many.pace.flight < few.pace.flight
    assert most.pace.flight == FLIGHT_LEAST


def test_what_says_nothing_new_is_quick() -> None:
    trip = (SECOND, SECOND + MILLISECOND)
    news, routine = (
        Bent(0, 2 * SECOND, Timetable([trip])),
        Bent(0, 2 * SECOND, Timetable((), [trip])),
    )

    assert news.viewed(trip[1]) - news.viewed(trip[0]) == FLIGHT_MOST
    assert routine.viewed(trip[1]) - routine.viewed(trip[0]) == FLIGHT_LEAST


def test_what_is_on_its_way_is_slowed_down_until_a_turning_point_is_read() -> None:
    flights = [(2 * SECOND, 3 * SECOND), (6 * SECOND, 7 * SECOND)]
    told = [SECOND, 4 * SECOND, 8 * SECOND]

    def between(to_read: int) -> int:
        turns = [(at, to_read) for at in told]
        bent = Bent(0, 9 * SECOND, Timetable(flights, turns=turns))
        return bent.viewed(told[1]) - bent.viewed(told[0])

    as_it_is = between(0)
    assert between(as_it_is - 1) == as_it_is
    assert abs(between(3 * SECOND) - 3 * SECOND) < MILLISECOND
    slowest = as_it_is + (SLOWED_MOST - 1) * FLIGHT_MOST
    assert abs(between(60 * SECOND) - slowest) < MILLISECOND


def test_turning_points_of_one_moment_are_read_together() -> None:
    flights, moment = [(2 * SECOND, 3 * SECOND)], SECOND
    turns = [(moment, 2 * SECOND), (moment + MILLISECOND, 2 * SECOND)]
    bent = Bent(0, 4 * SECOND, Timetable(flights, turns=turns))

    assert abs(bent.length - bent.viewed(moment) - 4 * SECOND) < 2 * MILLISECOND


def test_before_and_after_time_goes_as_it_does() -> None:
    bent = Bent(10 * SECOND, 20 * SECOND)

    assert bent.simulated(bent.length + SECOND) == 21 * SECOND
    assert bent.viewed(9 * SECOND) == -SECOND


def test_a_map_through_corners_is_even_between_them() -> None:
    bent = Bent.through((0, 0), (10 * SECOND, 20 * SECOND), (60 * SECOND, 30 * SECOND))

    seen = [bent.simulated(at * SECOND) // SECOND for at in (0, 10, 20, 25, 30)]
    assert seen == [0, 5, 10, 35, 60]
