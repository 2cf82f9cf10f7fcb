"""A terminal has what is there, whatever comes at the same time: keys, other sizes, messages."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Final

import pytest
from rich.console import RenderableType
from textual import events
from textual.pilot import Pilot
from textual.screen import Screen

from chat_tui.app.app import ChatApp
from chat_tui.widgets.composer import Composer
from tests.support.chat_tui.paints import Cells, due, taken
from tests.support.chat_tui.readings import long_talk, reading, until
from tests.support.grids import with_grid

SIZES: Final = [(width, height) for width in (40, 60, 80, 120) for height in (8, 16, 24, 40)]
KEYS: Final = (
    *("enter", "enter", "enter", "escape", "ctrl+j", "up", "down", "pageup", "end", "tab"),
    *("f1", "f2", "f3", "f8", "ctrl+f", "alt+s", "a", "b", "v"),
)
"""No palette: Enter may choose to quit there."""
PASTES: Final = ("one\ntwo\nthree", "word " * 40, "/set compact on", "/set sidebar on", "/nothing")
STEPS: Final = 12
ROUNDS: Final = 4


class Terminal:
    """The cells of a terminal in which a chat runs; it forgets all when it gets another size."""

    def __init__(self, app: ChatApp, monkeypatch: pytest.MonkeyPatch) -> None:
        self.app = app
        self.has: Cells = {}
        self._display = app._display
        monkeypatch.setattr(app, "_display", self._take)
        app.refresh()

    def _take(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        self.has.update(taken(self.app, renderable))
        self._display(screen, renderable)

    @property
    def seen(self) -> Cells:
        """The cells in sight: a window that became smaller may have more."""
        width, height = self.app.screen.size
        return {(y, x): one for (y, x), one in self.has.items() if y < height and x < width}

    async def resize(self, pilot: Pilot[None], draw: random.Random) -> None:
        size = draw.choice([one for one in SIZES if one != tuple(self.app.size)])
        self.has.clear()
        await pilot.resize_terminal(*size)


async def settled(pilot: Pilot[None]) -> None:
    for _ in range(8):
        await pilot.pause()


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", with_grid([2, 5, 6], [seed for seed in range(40) if seed not in {2, 5, 6}])
)
async def test_a_terminal_has_what_is_there(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(seed)
    async with reading(long_talk(), size=(80, 24)) as (app, pilot):
        terminal = Terminal(app, monkeypatch)
        await settled(pilot)

        def paste() -> Awaitable[None]:
            app.screen_stack[0].query_one(Composer).post_message(events.Paste(draw.choice(PASTES)))
            return asyncio.sleep(0)

        acts: list[Callable[[], Awaitable[object]]] = [
            lambda: terminal.resize(pilot, draw),
            lambda: pilot.press(draw.choice(KEYS)),
            lambda: pilot.press("enter"),
            paste,
        ]
        for _ in range(ROUNDS):
            numbers = draw.choices(range(len(acts)), k=STEPS // ROUNDS)
            await asyncio.gather(*(acts[number]() for number in numbers))
            await settled(pilot)

            await until(pilot, lambda: terminal.seen == due(app))  # a tick may come in between
