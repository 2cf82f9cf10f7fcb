"""A transcript in a small application, and its lines as drawn."""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from textual.app import App, ComposeResult
from textual.pilot import Pilot

from chat_tui.model.conversation import Conversation
from chat_tui.transcript.transcript import Transcript
from chat_tui.widgets.messages import FollowChanged, OlderWanted
from sync.view.view import Line
from tests.support.chat_tui.conversations import NOON, conversation, line
from tests.support.chat_tui.paints import PaintsNoted


class Recording(Transcript, PaintsNoted):
    """A transcript that notes what it asks to be painted."""


class Screen(App[None]):
    """Nothing but a transcript."""

    def __init__(self, held: Conversation) -> None:
        super().__init__()
        self.animation_level = "none"
        self.transcript = Recording(held, now=NOON)
        self.wishes: list[OlderWanted] = []
        self.follows: list[bool] = []

    def compose(self) -> ComposeResult:
        yield self.transcript

    def on_older_wanted(self, wish: OlderWanted) -> None:
        self.wishes.append(wish)

    def on_follow_changed(self, change: FollowChanged) -> None:
        self.follows.append(change.follow)

    def shown(self) -> list[str]:
        height = self.transcript.size.height
        return [self.transcript.render_line(y).text.rstrip() for y in range(height)]

    def arrive(self, *lines: Line) -> None:
        held = self.transcript.conversation
        for each in lines:
            self.transcript.apply(held.arrive(each))


def painted(app: Screen) -> list[str]:
    """Return what a terminal would show; it is older than `shown` where painting was forgotten."""
    return [strip.text for strip in app.screen._compositor.render_strips()]


@asynccontextmanager
async def screen(
    *lines: Line, size: tuple[int, int] = (80, 20)
) -> AsyncIterator[tuple[Screen, Pilot[None]]]:
    app = Screen(conversation(*lines))
    async with app.run_test(size=size) as pilot:
        yield app, pilot


def lines_of(count: int, *, step: int = 1) -> list[Line]:
    """Messages of one to four lines at 80 columns."""
    draw = random.Random(7)
    words = ["projector", "room", "switch", "the", "a", "cable"]
    return [
        line(at * step, f"m{at} " + " ".join(draw.choices(words, k=draw.randrange(1, 30))))
        for at in range(count)
    ]
