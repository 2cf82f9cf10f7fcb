"""Demos for tests: runs to their end, the screen with a scenario ready on it, and its words."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from math import inf
from typing import Any, Final

from textual.pilot import Pilot

from chat_tui.demo.app import DemoApp
from chat_tui.demo.pacing.score import Score, score_from, score_of
from chat_tui.demo.pacing.tour import Part
from chat_tui.demo.playback import Course
from chat_tui.demo.recording import Recording
from chat_tui.demo.run import Run
from chat_tui.demo.scenarios import scenario
from chat_tui.demo.screen import DemoScreen
from chat_tui.demo.stage import Stage
from chat_tui.widgets.canvas import Canvas
from chat_tui.wording.glyphs import UNICODE, Glyphs
from sync.machine import SECOND, Nanos

KIND_ENDS: Final = re.compile(
    r"(\d+ x )?(message|sync|request|answer|again|ranges|transfer|entry|operation|typing|page"
    r"|handshake|logs|hashes|filter|check|root|heads|symbols)"
    r"(, lost)?$|waited$|to ask$|to answer$"
)
CHART_LINE: Final = re.compile(r" ?\d+\.\d  ")
FRAMES: Final = str.maketrans(dict.fromkeys("\u2502\u258c|", " "))
SEED = 4
LOOK = SECOND // 10
WATCHED_MAX = 1_000
"""Seconds of a viewer that any scenario takes less than."""


def played(number: int, seed: int = SEED) -> Run:
    """A scenario played to its end."""
    run = Run(scenario(number), seed)
    run.finish()
    return run


def finished(number: int, seed: int = SEED) -> Run:
    """A scenario played to its end, once a process: to be read, and not to go on."""
    return _finished(number, seed)


@cache
def _finished(number: int, seed: int) -> Run:
    """The same; what is left out is part of what a cache goes by."""
    return played(number, seed)


@cache
def scored(number: int) -> Score:
    """The score of a scenario, found out once a process."""
    one = scenario(number)
    return score_of(one, SEED) if one.people else score_from(finished(number))


def told(run: Run) -> str:
    """Everything that was told, one sentence a line."""
    return "\n".join(said.plain for said in run.said)


class Timed(DemoScreen):
    """A demo whose viewer's time passes only when somebody says so."""

    def _tick(self) -> None:
        pass

    def let_pass(self, duration: Nanos) -> None:
        if self.stage is not None:
            self.stage.slice_s = inf  # what is shown depends on no computer
        super().let_pass(duration)

    def see(self, duration: Nanos) -> None:
        """Let the viewer's time pass, a tenth of a second at a time."""
        for _ in range(duration // LOOK):
            self.let_pass(LOOK)

    def watch_to_its_promises(self) -> None:
        """Let time pass until the promises are shown."""
        for _ in range(WATCHED_MAX):
            if self.showing.part is Part.CLOSING:
                return
            self.let_pass(SECOND)
        raise AssertionError("it never ends")


@asynccontextmanager
async def on_screen(
    number: int, size: tuple[int, int] = (80, 24), glyphs: Glyphs = UNICODE
) -> AsyncIterator[tuple[Pilot[Any], DemoScreen, Stage]]:
    """The demo's screen with a scenario ready, before its first step."""
    screen = DemoScreen(played=Recording(number, SEED), glyphs=glyphs, course=Course(paused=True))
    async with DemoApp(screen).run_test(size=size) as pilot:
        await ready(pilot)
        assert screen.stage is not None
        yield pilot, screen, screen.stage


async def ready(pilot: Pilot[Any]) -> None:
    """Wait for what is made ready, or played again, beside the screen."""
    await pilot.pause()
    screen = pilot.app.screen
    assert isinstance(screen, DemoScreen)
    while screen.player is None or screen.busy:
        await pilot.pause(0.01)
    await pilot.pause()


def lines(screen: DemoScreen) -> list[str]:
    """The lines of the canvas as they are painted."""
    return [line.plain for line in screen.query_one(Canvas).lines]


def words_of(text: str) -> str:
    """The words of some lines in one, without frames."""
    return " ".join(text.translate(FRAMES).split())


def assert_whole(text: str) -> None:
    """Assert that no sentence was cut; what a sentence quotes may be."""
    assert "\u2026" not in re.sub(r'"[^"]*"', "", text)


def assert_kinds_whole(lines: list[str]) -> None:
    """Assert that each line of the chart ends with its kind."""
    for line in lines:
        if CHART_LINE.match(line):
            assert KIND_ENDS.search(line.rstrip()), line
