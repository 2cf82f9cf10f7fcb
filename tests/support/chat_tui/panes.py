"""Alice's screen with the debug pane open, over a real engine in the simulator."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from textual.pilot import Pilot
from textual.widgets import Static

from chat_tui.app.app import ChatApp
from chat_tui.debug.pane import DebugPane
from chat_tui.widgets.panel import Panel
from chat_tui.wording.glyphs import UNICODE, Glyphs
from sync.machine import SECOND
from tests.support.chat_tui import scenes
from tests.support.chat_tui.readings import press
from tests.support.chat_tui.scenes import Scene

WIDE = (140, 40)


class Screen:
    """Alice's screen with the pane open."""

    def __init__(self, app: ChatApp, pilot: Pilot[None], scene: Scene) -> None:
        self.app, self.pilot, self.scene = app, pilot, scene

    @property
    def pane(self) -> DebugPane:
        return self.app.query_one(DebugPane)

    async def press(self, *keys: str) -> None:
        await press(self.pilot, *keys)

    async def second(self) -> None:
        """Let a second pass, in the world and on the screen."""
        self.scene.world.run(SECOND)
        self.app._tick()
        await self.pilot.pause()

    def lines(self) -> list[str]:
        listing = self.pane.listing
        return [listing.render_line(y).text.rstrip() for y in range(listing.size.height)]

    def text(self) -> str:
        return "\n".join(self.lines())

    def tabs(self) -> str:
        return str(self.pane.query_one("#debug-tabs", Static).visual)

    def hint(self) -> str:
        return str(self.pane.query_one("#debug-hint", Static).visual)

    def keys(self) -> str:
        """The last line of the screen."""
        return self.app.query_one("#keys", Panel).render().plain.rstrip()

    async def click_key(self, word: str) -> None:
        """Click a word in the last line."""
        at = self.keys().index(f" {word}") + 1
        await self.pilot.click("#keys", offset=(at + 1, 0))  # one cell of padding
        await self.pilot.pause()

    def selected(self) -> list[str]:
        return [line for line in self.lines() if line.startswith(">")]


@asynccontextmanager
async def opened(
    scene: Callable[[], Scene] = scenes.repairing,
    *keys: str,
    size: tuple[int, int] = WIDE,
    glyphs: Glyphs = UNICODE,
) -> AsyncIterator[Screen]:
    made = scene()
    app = scenes.screen_of(made, glyphs=glyphs)
    async with app.run_test(size=size) as pilot:
        screen = Screen(app, pilot, made)
        await screen.press("f2", *keys)
        yield screen
