"""Contrast as it is painted: every sign on a screen can be read, in every theme.

`test_themes` tests the colours by their names; a screen that puts one on another ground fails here.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from textual.app import App
from textual.color import Color
from textual.widgets import Input

from chat_tui.demo.app import DemoApp
from chat_tui.demo.recording import Recording
from chat_tui.settings.schema import THEME, THEMES
from chat_tui.terminal.themes import RULE_CONTRAST, TEXT_CONTRAST, contrast, legible_theme
from tests.support.chat_tui import scenes
from tests.support.chat_tui.demos import LOOK, SEED, WATCHED_MAX, Timed, lines, ready
from tests.support.chat_tui.readings import reading, short_talk
from tests.support.grids import with_grid

pytestmark = pytest.mark.usefixtures("in_utc")

COMPUTABLE = [theme for theme in THEMES if theme != "ansi"]
LINES = range(0x2500, 0x2580)
"""Frames and rules, whose place says all."""
BLOCKS = range(0x2580, 0x25A0)
"""Bars and curves, which are seen, not read."""

CROWD = 32

ROUNDED = 0.05
"""Loss of contrast in eight bits, of a colour that was blended with its ground."""

TABS = "01234567"

MOMENTS = [
    (3, "You will see"), (3, "to ask"), (7, "has asked"), (9, "operation"), (11, "entry"),
    (13, "page"), (14, "symbols"), (14, "pure in wave"), (14, "Every promise holds."),
]  # fmt: skip
"""Scenarios of the demo, and words by which the moment is known that is looked at."""


def painted(app: App[Any]) -> Iterator[tuple[str, Color, Color]]:
    """Every run of signs on the screen, with its colours."""
    for strip in app.screen._compositor.render_strips():
        for segment in strip:
            style = segment.style
            if segment.text.strip() and style is not None and style.color and style.bgcolor:
                pair = Color.from_rich_color(style.color), Color.from_rich_color(style.bgcolor)
                yield segment.text, *(pair[::-1] if style.reverse else pair)


def too_faint(app: App[Any]) -> list[tuple[str, str, float]]:
    """Whatever has too little contrast, and how much it has."""
    found: list[tuple[str, str, float]] = []
    for text, colour, ground in painted(app):
        signs = [ord(sign) for sign in text if not sign.isspace() and ord(sign) not in LINES]
        read = any(sign not in BLOCKS for sign in signs)
        has = contrast(colour, ground)
        if signs and has < (TEXT_CONTRAST if read else RULE_CONTRAST) - ROUNDED:
            found.append((app.theme, text.strip(), round(has, 2)))
    return found


def is_most_of(text: str, said: str) -> bool:
    """True for words that a field says, which may be cut, and have a cursor on the first sign."""
    return text in said and len(text) > len("Part of")


async def test_a_conversation_takes_up_the_colours_of_another_theme() -> None:
    async with reading(short_talk()) as (app, pilot):
        for theme in ("textual-light", "nord"):
            app._chat.settings.change(THEME, theme)
            await pilot.pause()
            assert not too_faint(app)


@pytest.mark.parametrize("key", ["ctrl+p", "ctrl+f"])
async def test_a_field_says_legibly_what_it_takes(key: str) -> None:
    """Of a screen over another one, which is dimmed on purpose, the field alone counts."""
    faint: list[tuple[str, str, float]] = []
    async with reading(short_talk()) as (app, pilot):
        await pilot.press(key)
        await pilot.pause()
        for theme in COMPUTABLE:
            app._chat.settings.change(THEME, theme)
            await pilot.pause()
            said = app.screen.query_one(Input).placeholder
            shown = [text.strip() for text, _, _ in painted(app)]
            assert any(is_most_of(text, said) for text in shown)
            faint += [one for one in too_faint(app) if is_most_of(one[1], said)]
    assert not faint


@pytest.mark.slow
@pytest.mark.grid
async def test_the_pane_and_what_is_beside_it() -> None:
    app = scenes.screen_of(scenes.repairing())
    faint: list[tuple[str, str, float]] = []
    async with app.run_test(size=(140, 40)) as pilot:
        await pilot.press("f2")
        for theme in COMPUTABLE:
            app._chat.settings.change(THEME, theme)
            for tab in TABS:
                await pilot.press(tab)
                faint += too_faint(app)
    assert not faint


@pytest.mark.slow
@pytest.mark.parametrize("in_turn", with_grid([3], [1]))
@pytest.mark.parametrize(("number", "word"), MOMENTS, ids=[word for _, word in MOMENTS])
async def test_the_demo(number: int, word: str, in_turn: int) -> None:
    """Each theme at every third moment, and in the whole grid at each."""
    themes = COMPUTABLE[MOMENTS.index((number, word)) % in_turn :: in_turn]
    screen = Timed(played=Recording(number, SEED, people=CROWD))
    app = DemoApp(screen)
    faint: list[tuple[str, str, float]] = []
    async with app.run_test(size=(140, 40)) as pilot:
        await ready(pilot)
        for _ in range(WATCHED_MAX):
            if word in "\n".join(lines(screen)):
                break
            screen.let_pass(LOOK)
        assert word in "\n".join(lines(screen))
        for theme in themes:
            app.register_theme(legible_theme(theme))
            app.theme = theme
            screen.paint()
            await pilot.pause()
            faint += too_faint(app)
    assert not faint
