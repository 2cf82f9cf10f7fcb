"""Repainting while idle: nothing, or only the line that differs."""

from collections.abc import Callable
from typing import Any

import pytest
from textual.app import App, ComposeResult
from textual.content import Content
from textual.geometry import Region
from textual.screen import Screen

from chat_tui.widgets.panel import Panel
from sync.machine import MINUTE, SECOND
from tests.support.chat_tui.paints import PaintsNoted
from tests.support.chat_tui.readings import reading, short_talk, shown


@pytest.fixture(name="paints")
def counted_paints(monkeypatch: pytest.MonkeyPatch) -> list[Screen[Any]]:
    """The screen, once for each time it was painted."""
    paints: list[Screen[Any]] = []
    paint: Callable[[Screen[Any]], None] = Screen._compositor_refresh

    def noted(screen: Screen[Any]) -> None:
        paint(screen)
        paints.append(screen)

    monkeypatch.setattr(Screen, "_compositor_refresh", noted)
    return paints


async def test_seconds_in_which_nothing_happens_paint_nothing(paints: list[Screen[Any]]) -> None:
    scene = short_talk()
    async with reading(scene, (140, 40)) as (app, pilot):
        scene.world.run(MINUTE)  # until there is nothing new to say of the last line
        app._tick()
        await pilot.pause()
        before, paints[:] = shown(app), []

        for _ in range(40):
            scene.world.run(SECOND)
            app._tick()
            await pilot.pause()

        assert shown(app) == before
        assert paints == []


class Noting(Panel, PaintsNoted):
    """A panel that notes what it asks to be painted."""


class OnePanel(App[None]):
    """Nothing but a panel."""

    CSS = "#panel { width: 12; height: auto; padding: 0 1; }"

    def __init__(self, text: Content) -> None:
        super().__init__()
        self.panel = Noting(id="panel")
        self.panel.show(text)

    def compose(self) -> ComposeResult:
        yield self.panel

    def lines(self) -> list[str]:
        return [line.strip() for line in shown(self).split("\n") if line.strip()]


def people(*lines: str) -> Content:
    return Content("\n").join([Content(line) for line in lines])


async def test_a_panel_paints_the_lines_that_differ() -> None:
    app = OnePanel(people("bob 11 ms", "carol 3 ms", "dave 25 ms"))
    async with app.run_test(size=(40, 12)) as pilot:
        app.panel.asked = []
        app.panel.show(people("bob 12 ms", "carol 3 ms", "dave 5 ms"))
        await pilot.pause()

        assert app.panel.asked == [Region(0, 0, 10, 1), Region(0, 2, 10, 1)]
        assert app.lines() == ["bob 12 ms", "carol 3 ms", "dave 5 ms"]


async def test_a_panel_paints_a_line_in_another_colour() -> None:
    app = OnePanel(people("bob", "carol"))
    async with app.run_test(size=(40, 12)) as pilot:
        app.panel.asked = []
        app.panel.show(Content("\n").join([Content("bob"), Content.styled("carol", "bold")]))
        await pilot.pause()

        assert app.panel.asked == [Region(0, 1, 10, 1)]
        assert app.panel.render_line(1)._segments[0].style.bold  # type: ignore[union-attr]


async def test_a_panel_of_wrapped_lines_is_painted_whole() -> None:
    app = OnePanel(people("a line of words", "bob"))
    async with app.run_test(size=(40, 12)) as pilot:
        app.panel.asked = []
        app.panel.show(people("a line of words", "eve"))
        await pilot.pause()

        assert app.panel.asked == ["all"]
        assert app.lines() == ["a line of", "words", "eve"]


@pytest.mark.parametrize(
    ("now", "asked"),
    [
        (("bob", "carol"), "layout"),
        (("bobby",), Region(0, 0, 10, 1)),
        (("東京",), Region(0, 0, 10, 1)),
    ],
)
async def test_a_panel_of_another_height_is_laid_out_anew(
    now: tuple[str, ...], asked: Region | str
) -> None:
    app = OnePanel(people("bob"))
    async with app.run_test(size=(40, 12)) as pilot:
        app.panel.asked = []
        app.panel.show(people(*now))
        await pilot.pause()

        assert app.panel.asked[:1] == [asked]
        assert app.lines() == list(now)
