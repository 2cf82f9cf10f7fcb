"""The tour on a virtual viewer's clock: parts, what holds it up, and that there is much to see."""

from math import inf

import pytest

from chat_tui.demo.crowd import ASKS, field_of
from chat_tui.demo.pacing.bending import FLIGHT_LEAST
from chat_tui.demo.pacing.score import score_of
from chat_tui.demo.pacing.showing import Showing
from chat_tui.demo.pacing.tour import CLOSING_FOR, OPENING_FOR, Part, Tour
from chat_tui.demo.painting.field import FLASH
from chat_tui.demo.scenario import Scenario
from chat_tui.demo.scenarios import SCENARIOS, scenario
from chat_tui.demo.stage import Stage
from sync.machine import MILLISECOND, SECOND
from tests.support.chat_tui.demos import SEED, scored

SAMPLE = 100 * MILLISECOND
WITH_CHART = [one.number for one in SCENARIOS if not one.people]


def unhurried(one: Scenario) -> Stage:
    """Return a stage on which a step may compute as long as it takes: on any computer the same."""
    stage = Stage(one, SEED)
    stage.slice_s = inf
    return stage


def test_the_sentence_stands_for_three_seconds_and_what_is_left_is_the_scenarios() -> None:
    tour = Tour()
    durations = (OPENING_FOR - SECOND, 3 * SECOND, SECOND)
    passed = [(tour.let_pass(duration), tour.part) for duration in durations]

    assert passed == [(0, Part.OPENING), (2 * SECOND, Part.PLAYING), (SECOND, Part.PLAYING)]


def test_promises_stand_for_a_while_before_the_next_is_due() -> None:
    tour = Tour(Part.PLAYING)
    tour.close()

    assert tour.let_pass(CLOSING_FOR - 1) == 0
    assert not tour.is_next_due
    tour.let_pass(1)
    assert tour.is_next_due


def test_a_tour_that_was_held_up_goes_on_no_more() -> None:
    tour = Tour(Part.PLAYING, goes_on=False)
    tour.close()
    tour.let_pass(CLOSING_FOR)

    assert not tour.is_next_due


@pytest.mark.parametrize("number", WITH_CHART)
def test_mostly_something_is_on_its_way_and_each_frame_for_long_enough(number: int) -> None:
    one, score = scenario(number), scored(number)
    showing = Showing(None, 1.0, running=True)
    showing.begin(unhurried(one), score)
    player = showing.player
    assert isinstance(player, Stage)
    samples = seen = 0

    while not player.over:
        showing.let_pass(SAMPLE)
        if showing.part is Part.PLAYING and not player.over:
            samples += 1
            flights = player.traffic.flights
            seen += any(flight.sent_at <= player.now < flight.at for flight in flights)

    assert samples * SAMPLE > 20 * SECOND
    assert seen >= 0.6 * samples, f"{seen} of {samples}"
    for flight in player.traffic.flights:
        if flight.at <= score.ends:
            took = score.bent.viewed(flight.at) - score.bent.viewed(flight.sent_at)
            assert took >= FLIGHT_LEAST - MILLISECOND


@pytest.mark.slow
@pytest.mark.parametrize("people", [32, pytest.param(256, marks=pytest.mark.grid)])
def test_in_a_crowd_mostly_somebody_answers_or_a_frame_is_on_its_way(people: int) -> None:
    one = scenario(next(one.number for one in SCENARIOS if one.people), people)
    showing = Showing(None, 1.0, running=True)
    score = score_of(one, SEED)
    stage = unhurried(one)
    showing.begin(stage, score)
    samples = seen = 0

    while not stage.over and stage.now < score.ends:
        showing.let_pass(SAMPLE)
        if showing.part is Part.PLAYING and not stage.over:
            samples += 1
            now = score.bent.viewed(stage.now)
            flashes = any(now - score.bent.viewed(at) < FLASH for _, at in stage.run.answers)
            flights = stage.traffic.flights[-100:]
            asks = ASKS in field_of(stage.run.world, ()).states
            seen += flashes or asks or any(f.sent_at <= stage.now < f.at for f in flights)

    assert seen >= 0.6 * samples, f"{seen} of {samples}"


def test_the_same_viewers_time_shows_the_same() -> None:
    one = scenario(3)
    shown = []
    for step in (SAMPLE, 3 * SAMPLE):
        showing = Showing(None, 1.0, running=True)
        showing.begin(unhurried(one), scored(one.number))
        for _ in range(30 * SECOND // step):
            showing.let_pass(step)
        assert showing.player is not None
        shown.append((showing.now // MILLISECOND, showing.player.shot.said))

    assert shown[0] == shown[1]


@pytest.mark.parametrize(("speed", "lasts"), [(0.25, 4.0), (4.0, 0.25)])
def test_speed_is_a_factor_of_the_viewers_time(speed: float, lasts: float) -> None:
    one = scenario(2)
    took = []
    for factor in (1.0, speed):
        showing = Showing(None, factor, running=True)
        showing.begin(unhurried(one), scored(one.number))
        passed = 0
        while showing.player is not None and not showing.player.over:
            showing.let_pass(SAMPLE // 10)
            passed += SAMPLE // 10
        took.append(passed - OPENING_FOR)

    assert took[1] == pytest.approx(took[0] * lasts, rel=0.02)


def test_what_stands_still_lets_no_time_pass() -> None:
    one = scenario(2)
    showing = Showing(None, 1.0, running=False)
    showing.begin(unhurried(one), scored(one.number))
    began = showing.now

    showing.let_pass(10 * SECOND)

    assert (showing.now, showing.part) == (began, Part.OPENING)
