"""Demos for tests: runs to their end, and the screen with a scenario ready on it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from math import inf
from typing import Any

from textual.pilot import Pilot

from chat_tui.demo.app import DemoApp
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

SEED = 4
LOOK = SECOND // 10
WATCHED_MAX = 1_000
"""Seconds of a viewer that any scenario takes less than."""


def finished(number: int, seed: int = SEED) -> Run:
    """A scenario played to its end."""
    run = Run(scenario(number), seed)
    run.finish()
    return run


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
