"""In ASCII mode, all of the program's own output is ASCII: on every screen, in every word."""

from pathlib import Path
from typing import Any

import pytest
from rich.segment import Segment
from textual.app import App
from textual.color import Color

from chat_tui.demo.app import DemoApp
from chat_tui.demo.screen import DemoScreen
from chat_tui.screens.first_run import Answers, FirstRun
from chat_tui.settings.schema import GLYPHS
from chat_tui.terminal.ascii_filter import AsciiSigns
from chat_tui.wording.glyphs import ASCII
from tests.support.chat_tui import scenes
from tests.support.chat_tui.demos import ready
from tests.support.chat_tui.live_screens import until
from tests.support.chat_tui.readings import command, reading, short_talk


def drawn(app: App[Any]) -> str:
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


WRITTEN = {"\u2615"}
"""Emoji of the conversations."""


def strange(text: str) -> set[str]:
    """The signs beyond ASCII, but for letters: those are what people wrote."""
    return {sign for sign in text if not sign.isascii() and not sign.isalpha()} - WRITTEN


@pytest.mark.parametrize(
    "line",
    [
        "", "/help", "/peers", "/invite", "/info", "/verify bob", "/search projector", "/mentions",
        "/bare", "/settings", "/buffers", "/graph", "/bloom", "/sessions", "/wire", "/trace",
        "/whois bob", "/status", "/keys", "/doctor",
    ],
)  # fmt: skip
async def test_every_screen_is_ascii(line: str) -> None:
    async with reading(scenes.morning(), (140, 40), ASCII) as (app, pilot):
        await pilot.press("ctrl+t")
        if line == "/settings":
            await pilot.press("f6")
        elif line:
            await pilot.press("tab")
            await command(pilot, line)
        await pilot.pause()

        assert strange(drawn(app)) == set()


async def test_the_palette_the_first_run_and_the_demo_are_ascii(tmp_path: Path) -> None:
    async with reading(short_talk(), (80, 24), ASCII) as (app, pilot):
        await pilot.press("ctrl+p")
        assert strange(drawn(app)) == set()
    asked = FirstRun(Answers("alice", "", tmp_path), lambda _: None, glyphs=ASCII)
    async with asked.run_test(size=(80, 24)) as first:
        await first.pause()
        assert drawn(asked).isascii()
        assert "Welcome" in drawn(asked)
    demo = DemoApp(DemoScreen(glyphs=ASCII))
    async with demo.run_test(size=(120, 40)) as played:
        await ready(played)
        assert drawn(demo).isascii()


async def test_the_setting_changes_what_is_on_the_screen_both_ways() -> None:
    async with reading(short_talk(), (80, 24)) as (app, pilot):

        def is_ascii() -> bool:
            return not strange(drawn(app))

        await until(pilot, lambda: "\u00b7" in drawn(app))
        app._chat.settings.change(GLYPHS, "ascii")
        await until(pilot, is_ascii)
        app._chat.settings.change(GLYPHS, "unicode")
        await until(pilot, lambda: "\u00b7" in drawn(app))


def test_a_sign_becomes_another_of_the_same_width_and_letters_stay() -> None:
    def signs(text: str) -> str:
        [segment] = AsciiSigns().apply([Segment(text)], Color(0, 0, 0))
        return segment.text

    assert signs("a \u00b7 b\u2026 \u201cc\u201d \u2192 d") == 'a | b. "c" > d'
    assert signs("caf\u00e9 \u4f60\u597d") == "caf\u00e9 \u4f60\u597d"
