"""A screen that was laid out once for each size: another layout changes nothing, to the cell."""

import random
from collections.abc import Callable
from typing import Final

import pytest
from textual.content import Content
from textual.pilot import Pilot

from chat_tui.app.app import ChatApp
from chat_tui.transcript.scroll_marks import signs_of
from chat_tui.widgets.composer import Composer
from chat_tui.widgets.text_screen import TextScreen
from chat_tui.wording.glyphs import UNICODE
from sync.machine import HOUR, SECOND
from tests.support.chat_tui.readings import long_talk, marked_talk, press, reading, shown
from tests.support.chat_tui.scenes import Scene

KEYS: Final = (
    *("f1", "f2", "f3", "f4", "f5", "f8", "f9", "f12", "escape", "ctrl+t", "ctrl+f", "alt+s"),
    *("up", "down", "pageup", "pagedown", "home", "end", "ctrl+home", "ctrl+end", "enter", "tab"),
    *("a", "v", "f", "t", "r", "e", "n", "1", "3", "5", "ctrl+j", "backspace"),
)
LINES: Final = (
    "/set compact on",
    "/set compact off",
    "/set sidebar on",
    "/set theme light",
    "/grep apple",
    "/nothing of that name",
    f"/topic {'a topic that is cut, ' * 5}",
    "/status in a room",
)
WIDTHS: Final = (20, 40, 60, 79, 80, 100, 120, 140, 200)
HEIGHTS: Final = (5, 8, 12, 16, 24, 30, 40, 60)
SOME: Final = 8
MANY: Final = 80


async def step(draw: random.Random, app: ChatApp, pilot: Pilot[None]) -> str:
    """Do something that may change sizes; returns what."""
    match draw.randrange(5):
        case 0:
            size = draw.choice(WIDTHS), draw.choice(HEIGHTS)
            await pilot.resize_terminal(*size)
            return f"{size[0]} x {size[1]}"
        case 1:
            text = draw.choice(["word " * draw.randint(1, 80), "a\n" * draw.randint(1, 12), ""])
            app.screen_stack[0].query_one(Composer).text = text
            return f"{len(text)} characters"
        case 2:
            line = draw.choice(LINES)
            for composer in app.screen.query(Composer):
                composer.text = line
                await pilot.press("enter")
            return line
        case _:
            key = draw.choice(KEYS)
            await pilot.press(key)
            return key


def cells(app: ChatApp) -> str:
    """The screen, without the marks in the scroll bar: they follow within a second."""
    return shown(app).translate({ord(sign): " " for sign in signs_of(UNICODE).values()})


async def settled(pilot: Pilot[None]) -> None:
    for _ in range(4):
        await pilot.pause()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("talk", "seed", "steps"),
    [
        (marked_talk, 9, SOME),
        (marked_talk, 18, SOME),
        (long_talk, 16, SOME),
        *(pytest.param(long_talk, seed, MANY, marks=pytest.mark.grid) for seed in range(4)),
    ],
)
async def test_another_layout_changes_nothing(
    talk: Callable[[], Scene], seed: int, steps: int
) -> None:
    draw = random.Random(seed)
    async with reading(talk(), size=(120, 40)) as (app, pilot):
        for _ in range(steps):
            done = await step(draw, app, pilot)
            await settled(pilot)
            once = cells(app)
            app.screen.refresh(layout=True)
            await settled(pilot)

            assert cells(app) == once, done


async def test_a_text_over_the_chat_is_wrapped_for_another_width_at_once() -> None:
    async with reading(marked_talk(), size=(120, 40)) as (app, pilot):
        await press(pilot, "f1")
        await pilot.resize_terminal(60, 40)
        await settled(pilot)
        resized = cells(app)
        await press(pilot, "escape", "f1")
        await settled(pilot)

        assert cells(app) == resized


async def test_a_text_over_the_chat_is_asked_once_for_each_width(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("chat_tui.widgets.text_screen.REFRESH_S", HOUR / SECOND)
    async with reading(marked_talk(), size=(120, 40)) as (app, pilot):
        asked: list[int] = []

        def text() -> Content:
            asked.append(app.size.width)
            return Content("words")

        app.push_screen(TextScreen("Words", text))
        await settled(pilot)
        await pilot.resize_terminal(60, 40)
        await settled(pilot)

    assert asked == [120, 60]


async def test_marks_are_where_they_belong_in_a_bar_of_another_height_at_once() -> None:
    async with reading(long_talk(), size=(80, 40)) as (app, pilot):
        await press(pilot, "ctrl+home")
        app.transcript.show_marks()
        assert app.transcript.marks
        await pilot.resize_terminal(80, 16)
        await settled(pilot)
        resized = app.transcript.marks
        app.transcript.show_marks()

        assert app.transcript.marks == resized
