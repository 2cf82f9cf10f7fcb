"""Conversations worth reading, and what a person sees of them."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from textual.app import App
from textual.message import Message
from textual.pilot import Pilot

from chat_tui.app.app import ChatApp
from chat_tui.settings import schema
from chat_tui.widgets.composer import Composer
from chat_tui.wording.glyphs import UNICODE, Glyphs
from sync.machine import SECOND
from tests.support.chat_tui import scenes
from tests.support.chat_tui.scenes import ALICE, BOB, Scene
from tests.support.copies import made_once

LINK = "https://example.com/plan?day=3"
PASTED = 200
"""Lines of a paste: those that are folded away are 188."""

LONG = 900
"""Lines of the long conversation: several pages more than the first."""


@made_once
def short_talk() -> Scene:
    """A few lines with everything a reader can do something with."""
    scene = Scene("alice", "bob")
    scene.sleep_until(scenes.MONDAY_MORNING)
    scene.say(BOB, "Alice, the projector is in room 2")
    scene.say(ALICE, "thank you, and the cable?")
    scene.say(BOB, f"see {LINK}, and http://ex\u0430mple.com/b (look twice)")
    scene.say(BOB, "@alice the projector needs the long cable\nand a table")
    scene.say(ALICE, "malice? no, just the cable")
    return scene


@made_once
def marked_talk() -> Scene:
    """Messages with markup, the last one a paste that is folded."""
    scene = Scene("alice", "bob")
    scene.sleep_until(scenes.MONDAY_MORNING)
    scene.say(BOB, f"run `make test`, *now* or **never**; see {LINK}, it is *.py all the same")
    scene.say(ALICE, "> run it now, I have waited all morning for it and longer than I wanted\nok")
    scene.say(BOB, "- an item that fills more than one line of the screen, which is indented\n- no")
    scene.say(ALICE, "```python\ndef answer(x: int) -> str:\n    return f'{x + 1}'  # so\n```")
    scene.say(BOB, "\n".join(f"log line {number}" for number in range(PASTED)))
    return scene


@made_once
def long_talk() -> Scene:
    """Many lines, a second apart; every hundredth names alice and an apple."""
    scene = Scene("alice", "bob")
    scene.sleep_until(scenes.MONDAY_MORNING)
    for number in range(LONG):
        text = f"alice, apple {number}" if number % 100 == 50 else f"line {number}"
        scene.say(BOB, text, then=SECOND)
    return scene


@asynccontextmanager
async def reading(
    scene: Scene,
    size: tuple[int, int] = (80, 24),
    glyphs: Glyphs = UNICODE,
    hook: Callable[[Message], None] | None = None,
) -> AsyncIterator[tuple[ChatApp, Pilot[None]]]:
    """Alice's screen, with the newest lines on it."""
    app = scenes.screen_of(scene, glyphs=glyphs)
    async with app.run_test(size=size, message_hook=hook) as pilot:
        await pilot.pause()
        yield app, pilot


async def until(pilot: Pilot[Any], true: Callable[[], object]) -> None:
    """Let the screen work until something is true of it."""
    for _ in range(200):
        if true():
            return
        await pilot.pause()
    raise AssertionError("it never became true")


def shown(app: App[Any]) -> str:
    """All the text on the screen."""
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


def selected(app: ChatApp) -> str:
    """The text of the selected message, empty if none is."""
    row = app.transcript.selected()
    return "" if row is None else row.text


def top_lines(app: ChatApp) -> list[str]:
    """Return the lines that the transcript shows."""
    height = app.transcript.size.height
    return [app.transcript.render_line(y).text.rstrip() for y in range(height)]


async def command(pilot: Pilot[None], text: str) -> None:
    """Write a line and send it."""
    pilot.app.query_one(Composer).insert(text)
    await pilot.press("enter")
    await pilot.pause()


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Press keys one by one, each answered before the next."""
    for key in keys:
        await pilot.press(key)
        await pilot.pause()


def change_keys(app: ChatApp, **keys: str) -> None:
    """Give rows of the table of keys another key each, as `/set` does."""
    for id_, key in keys.items():
        app._chat.settings.change(schema.KEY_SETTINGS[id_], (key,))


async def paint(app: ChatApp, pilot: Pilot[None]) -> None:
    """Let the screen show all that came, in as many slices as this computer needs."""
    while True:
        app.call_next(app._paint)
        app.call_next(app._tick)
        await pilot.pause()
        await pilot.pause()
        if not app._feed._batch:
            return


def is_selected(app: ChatApp, text: str) -> bool:
    return selected(app) == text
