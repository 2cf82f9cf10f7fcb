"""A click on the scrubber shows that moment, forth and back, and time goes on from there or not."""

import pytest

from chat_tui.demo.app import DemoApp
from chat_tui.demo.pacing.tour import Part
from chat_tui.demo.painting.scrubber import place_of, time_of
from chat_tui.demo.playback import Course
from chat_tui.demo.recording import Recording
from chat_tui.demo.scenarios import SCENARIOS, scenario
from chat_tui.demo.stage import Stage
from sync.machine import SECOND
from tests.support.chat_tui.demos import SEED, Timed, lines, on_screen, ready, scored

pytestmark = pytest.mark.usefixtures("in_utc")

LINE = 1
"""The second line of the screen has the scrubber."""


def span(text: str) -> tuple[int, int]:
    """First cell of the scrubber, and the one behind it."""
    signs = [at for at, sign in enumerate(text) if sign in "\u2501\u2500\u25cf\u254b\u2717"]
    return signs[0], signs[-1] + 1


async def test_clicks_go_forth_and_back_and_to_the_promises() -> None:
    async with on_screen(3) as (pilot, screen, stage):
        first, behind = span(lines(screen)[LINE])
        score = screen.showing.score
        assert score is not None
        middle = first + (behind - first) // 2
        await pilot.click("#canvas", offset=(middle, LINE))
        await ready(pilot)
        later = screen.showing.now
        assert later >= time_of(middle - first, score, behind - first)
        assert stage.step_number > 0

        await pilot.click("#canvas", offset=(first + 5, LINE))
        await ready(pilot)
        assert score.began < screen.showing.now < later
        assert stage.step_number > 0
        assert "in the past" in lines(screen)[LINE]

        _, behind = span(lines(screen)[LINE])
        await pilot.click("#canvas", offset=(behind - 1, LINE))
        await ready(pilot)
        assert screen.showing.part is Part.CLOSING
        assert "Every promise holds." in "\n".join(lines(screen))


async def test_time_that_runs_goes_on_from_there() -> None:
    screen = Timed(played=Recording(3, SEED), course=Course())
    async with DemoApp(screen).run_test(size=(80, 24)) as pilot:
        await ready(pilot)
        screen.let_pass(4 * SECOND)
        first, behind = span(lines(screen)[LINE])
        await pilot.click("#canvas", offset=(first + (behind - first) // 2, LINE))
        await ready(pilot)
        there = screen.showing.now
        screen.let_pass(SECOND)
        assert screen.showing.now > there


async def test_a_click_elsewhere_does_nothing() -> None:
    async with on_screen(3) as (pilot, screen, _):
        before = lines(screen)
        for offset in ((0, LINE), (79, LINE), (40, 0), (40, 5)):
            await pilot.click("#canvas", offset=offset)
        await ready(pilot)
        assert lines(screen) == before


@pytest.mark.parametrize("number", [one.number for one in SCENARIOS if not one.people])
def test_a_moment_looks_the_same_however_one_came_there(number: int) -> None:
    one = scenario(number)
    score = scored(number)
    straight, back = Stage(one, SEED), Stage(one, SEED)
    straight.slice_s = float("inf")
    back.seek(score.ends)
    assert back.over
    for share in (4, 2):
        when = score.began + (score.ends - score.began) // share
        straight.advance(when - straight.now)
        back.seek(when)
        assert [said.plain for said in back.shot.said] == [
            said.plain for said in straight.shot.said
        ]
        assert abs(back.now - straight.now) < SECOND


@pytest.mark.parametrize("width", [10, 50, 120])
def test_each_cell_stands_for_a_moment_that_stands_in_it(width: int) -> None:
    score = scored(3)

    for cell in range(width):
        assert abs(place_of(time_of(cell, score, width), score, width) - cell) <= 1
    assert time_of(width - 1, score, width) == score.ends
