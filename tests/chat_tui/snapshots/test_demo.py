"""Snapshots of the demo, down to the cell. Look at a difference before `--snapshot-update`."""

from collections.abc import Callable
from typing import Any

import pytest
from textual.pilot import Pilot

from chat_tui.demo.app import DemoApp
from chat_tui.demo.playback import Course
from chat_tui.demo.recording import Recording
from chat_tui.demo.screen import DemoScreen
from chat_tui.wording.glyphs import ASCII, UNICODE, Glyphs
from sync.machine import SECOND
from tests.support.chat_tui.demos import SEED, ready
from tests.support.chat_tui.screenshots import NARROW, WIDE

SnapCompare = Callable[..., bool]
SMALL = (60, 16)

pytestmark = pytest.mark.usefixtures("in_utc")


def demo(number: int, glyphs: Glyphs = UNICODE, people: int | None = None) -> DemoApp:
    played = Recording(number, SEED, people=people)
    return DemoApp(DemoScreen(played=played, glyphs=glyphs, course=Course(paused=True)))


def until(sentence: str, *keys: str) -> Callable[[Pilot[Any]], Any]:
    """Step until something is told, then press keys; an empty sentence means the end."""

    async def play(pilot: Pilot[Any]) -> None:
        await ready(pilot)
        screen = pilot.app.screen
        assert isinstance(screen, DemoScreen)
        stage = screen.stage
        assert stage is not None
        while not stage.over and (
            not sentence or not stage.shot.said or sentence not in stage.shot.said[-1].plain
        ):
            stage.forward()
        await pilot.press(*keys)
        screen.action_speed(0)
        await pilot.pause()

    return play


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["narrow", "wide"])
@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (3, "back and starts a random wait"),
        (4, "and waits"),
        (5, "1 part equal"),
        (8, 'bob passes "and now?" on'),
        (14, "6 wanted, 6 owed"),
    ],
)
def test_a_moment(
    snap_compare: SnapCompare, number: int, sentence: str, size: tuple[int, int]
) -> None:
    assert snap_compare(demo(number), terminal_size=size, run_before=until(sentence))


@pytest.mark.parametrize("size", [SMALL, NARROW], ids=["small", "narrow"])
def test_the_end(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    assert snap_compare(demo(3), terminal_size=size, run_before=until(""))


def test_formulas(snap_compare: SnapCompare) -> None:
    play = until("back and starts a random wait", "e")

    assert snap_compare(demo(3), terminal_size=WIDE, run_before=play)


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["narrow", "wide"])
def test_the_protocol_of_the_selected_one(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    play = until("back and starts a random wait", "tab", "tab", "d")

    assert snap_compare(demo(3), terminal_size=size, run_before=play)


@pytest.mark.parametrize("size", [SMALL, NARROW, WIDE], ids=["small", "narrow", "wide"])
def test_a_crowd(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    async def play(pilot: Pilot[Any]) -> None:
        await ready(pilot)
        screen = pilot.app.screen
        assert isinstance(screen, DemoScreen)
        assert screen.stage is not None
        stage = screen.stage
        while stage.now < stage.run.began + 9 * SECOND:
            stage.run.happen(stage.run.began + 9 * SECOND)
        stage._fresh = None
        screen.paint()
        await pilot.pause()

    assert snap_compare(demo(7, people=64), terminal_size=size, run_before=play)


@pytest.mark.parametrize("size", [SMALL, NARROW, WIDE], ids=["small", "narrow", "wide"])
def test_the_sentence_at_the_beginning(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    async def play(pilot: Pilot[Any]) -> None:
        await ready(pilot)

    assert snap_compare(demo(8), terminal_size=size, run_before=play)


def test_ascii(snap_compare: SnapCompare) -> None:
    play = until("is lost on its way")

    assert snap_compare(demo(3, ASCII), terminal_size=NARROW, run_before=play)


def test_frames_on_their_way_in_slow_motion(snap_compare: SnapCompare) -> None:
    async def play(pilot: Pilot[Any]) -> None:
        await until('writes "now?"', "-", "-")(pilot)
        screen = pilot.app.screen
        assert isinstance(screen, DemoScreen)
        assert screen.stage is not None
        screen.stage.advance(SECOND // 100)
        screen.paint()
        await pilot.pause()

    assert snap_compare(demo(3), terminal_size=NARROW, run_before=play)
