"""The tour on the screen: it plays at once, goes on by itself, and waits for whoever meddles."""

from itertools import pairwise

import pytest

from chat_tui.demo.acts import Loss
from chat_tui.demo.app import DemoApp
from chat_tui.demo.playback import Course
from chat_tui.demo.recording import Recording
from chat_tui.demo.scenarios import SCENARIOS
from chat_tui.settings.preferences import Preferences, checked_wishes
from chat_tui.widgets.canvas import Canvas
from sync.machine import SECOND
from tests.support.chat_tui.demos import SEED, Timed, lines, ready

pytestmark = pytest.mark.usefixtures("in_utc")
LAST = len(SCENARIOS)


async def test_it_plays_at_once_from_the_sentence_on() -> None:
    screen = Timed(played=Recording(3, SEED))
    async with DemoApp(screen).run_test(size=(80, 24)) as pilot:
        await ready(pilot)
        screen.let_pass(SECOND)
        screen.let_pass(SECOND)
        assert "You will see" in "\n".join(lines(screen))
        assert "playing" in lines(screen)[1]
        began = screen.showing.now
        screen.let_pass(SECOND)
        screen.let_pass(SECOND)
        assert screen.showing.now > began


@pytest.mark.parametrize("width", [60, 80, 140])
async def test_each_opens_with_the_tour_and_the_signs_of_what_will_be_seen(width: int) -> None:
    screen = Timed(played=Recording(3, SEED))
    async with DemoApp(screen).run_test(size=(width, 24)) as pilot:
        await ready(pilot)
        screen.let_pass(SECOND)
        text = "\n".join(lines(screen))
        assert "\u25b6  3  A message is lost" in text
        assert "  1  Hello, and what the marks mean" in text
        signs = [sign in text for sign in ("answer", "maybe received", "asks who has a line")]
        assert signs == [width >= 80, width >= 80, width >= 140]
        screen.see(4 * SECOND)
        assert "Hello, and what the marks mean" not in "\n".join(lines(screen))


@pytest.mark.parametrize(
    ("keys", "number"), [("12", 12), ("11", 11), ("10", 10), ("19", 9), ("22", 2), ("112", 2)]
)
async def test_two_digits_choose_one_that_one_digit_cannot(keys: str, number: int) -> None:
    screen = Timed(played=Recording(3, SEED))
    async with DemoApp(screen).run_test(size=(80, 24)) as pilot:
        await ready(pilot)
        await pilot.press(*keys)
        await ready(pilot)
        assert f"DEMO  {number}/{LAST}" in lines(screen)[0]


async def test_a_second_digit_after_the_opening_chooses_another() -> None:
    screen = Timed(played=Recording(3, SEED))
    async with DemoApp(screen).run_test(size=(80, 24)) as pilot:
        await ready(pilot)
        await pilot.press("1")
        await ready(pilot)
        screen.see(4 * SECOND)
        await pilot.press("2")
        await ready(pilot)
        assert f"DEMO  2/{LAST}" in lines(screen)[0]


async def test_after_the_promises_comes_the_next_and_after_the_last_the_first() -> None:
    screen = Timed(played=Recording(LAST, SEED))
    async with DemoApp(screen).run_test(size=(80, 24)) as pilot:
        await ready(pilot)
        for number in (1, 2):
            screen.watch_to_its_promises()
            assert "Every promise holds." in "\n".join(lines(screen))
            for _ in range(6):
                screen.let_pass(SECOND)
            await ready(pilot)
            assert f"DEMO  {number}/{LAST}" in lines(screen)[0]
            assert "playing" in lines(screen)[1]


@pytest.mark.parametrize(("number", "alone"), [(LAST, False), (2, True)])
async def test_once_ends_after_the_last(number: int, alone: bool) -> None:
    screen = Timed(played=Recording(number, SEED), course=Course(once=True, alone=alone))
    app = DemoApp(screen)
    async with app.run_test(size=(80, 24)) as pilot:
        await ready(pilot)
        screen.watch_to_its_promises()
        for _ in range(6):
            screen.let_pass(SECOND)
        await pilot.pause()
        assert app._exit


@pytest.mark.parametrize("key", ["l", "L", "D", "U", "x", "p", "o"])
async def test_whoever_changes_the_network_holds_the_tour_up_until_the_next_key(key: str) -> None:
    screen = Timed(played=Recording(2, SEED))
    async with DemoApp(screen).run_test(size=(80, 24)) as pilot:
        await ready(pilot)
        screen.let_pass(4 * SECOND)
        await pilot.press(key, key)
        screen.watch_to_its_promises()
        for _ in range(20):
            screen.let_pass(SECOND)
        assert f"DEMO  2/{LAST}" in lines(screen)[0]
        assert "the tour waits: [n] goes on" in "\n".join(lines(screen))
        await pilot.press("n")
        await ready(pilot)
        assert f"DEMO  3/{LAST}" in lines(screen)[0]
        assert screen.showing.tour.goes_on


async def test_what_will_happen_is_found_out_again_after_meddling() -> None:
    screen = Timed(played=Recording(2, SEED))
    async with DemoApp(screen).run_test(size=(80, 24)) as pilot:
        await ready(pilot)
        before = screen.showing.score
        assert before is not None
        assert not any(lost for _, lost in before.events)
        await pilot.press("L", "L", "L")
        assert screen.stage is not None
        assert screen.stage.acts[-1].act == Loss(40)
        while screen.showing.score is before or screen.workers:
            await pilot.pause(0.01)
        after = screen.showing.score
        assert after is not None
        assert any(lost for _, lost in after.events)


async def test_stepping_stops_time_and_space_lets_it_run_again() -> None:
    screen = Timed(played=Recording(3, SEED))
    async with DemoApp(screen).run_test(size=(80, 24)) as pilot:
        await ready(pilot)
        await pilot.press("right", "right", "left")
        assert "paused, in the past" in lines(screen)[1]
        now = screen.showing.now
        screen.let_pass(SECOND)
        assert screen.showing.now == now
        await pilot.press("space")
        for _ in range(4):
            screen.let_pass(SECOND)
        assert screen.showing.now > now


async def test_whoever_steps_to_the_promises_and_lets_time_run_sees_the_next() -> None:
    screen = Timed(played=Recording(2, SEED))
    async with DemoApp(screen).run_test(size=(80, 24)) as pilot:
        await ready(pilot)
        screen.watch_to_its_promises()
        await pilot.press("left", "right", "right", "space")
        for _ in range(8):
            screen.let_pass(SECOND)
        await ready(pilot)
        assert f"DEMO  3/{LAST}" in lines(screen)[0]


def settings(*pairs: str, preset: str | None = None) -> Preferences:
    return Preferences(None, checked_wishes(pairs, preset))


@pytest.mark.parametrize(
    ("chosen", "moves"),
    [
        (settings(), True),
        (settings("animations=off"), True),
        (settings("motion=off"), False),
        (settings("low_bandwidth=on"), False),
        (settings(preset="ssh"), False),
    ],
    ids=["usual", "no animations", "no motion", "slow line", "ssh"],
)
async def test_it_moves_whatever_animations_are_and_without_motion_time_runs(
    chosen: Preferences, moves: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = Timed(played=Recording(3, SEED))
    async with DemoApp(screen, chosen).run_test(size=(80, 24)) as pilot:
        await ready(pilot)
        screen.see(10 * SECOND)
        shown: list[list[str]] = []
        canvas = screen.query_one(Canvas)
        monkeypatch.setattr(canvas, "show", lambda new: shown.append([one.plain for one in new]))
        began = screen.showing.now
        screen.see(10 * SECOND)

        assert screen.showing.now > began
        changes = sum(one != other for one, other in pairwise(shown))
        assert changes >= 10  # once a second at least
        assert len(shown) == (100 if moves else 20)
        heads = {line.index("▶") for lines in shown for line in lines if "▶" in line[10:]}
        assert (len(heads) > 20) == moves
