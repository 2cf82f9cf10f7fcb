"""The first paint of a start: the newest lines in their final form, and nothing before them."""

from typing import Any

import pytest
from textual.css.stylesheet import Stylesheet
from textual.screen import Screen

from chat_tui.settings.schema import THEME
from tests.support.chat_tui.readings import reading, short_talk


@pytest.mark.parametrize("size", [(80, 24), (140, 40), (60, 16)])
async def test_the_first_paint_has_the_newest_line_and_the_final_form(
    size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    paints: list[tuple[str, frozenset[str]]] = []
    paint = Screen._compositor_refresh

    def noted(screen: Screen[Any]) -> None:
        paint(screen)
        text = "\n".join(strip.text for strip in screen._compositor.render_strips())
        paints.append((text, frozenset(screen.classes)))

    monkeypatch.setattr(Screen, "_compositor_refresh", noted)
    async with reading(short_talk(), size) as (app, _):
        text, classes = paints[0]

        assert "malice? no, just the cable" in text
        assert classes == frozenset(app.screen.classes)


async def test_the_style_is_read_once_and_has_the_colours_that_are_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read_again: list[Stylesheet] = []
    reparse = Stylesheet.reparse

    def noted(stylesheet: Stylesheet) -> None:
        read_again.append(stylesheet)
        reparse(stylesheet)

    monkeypatch.setattr(Stylesheet, "reparse", noted)
    scene = short_talk()
    async with reading(scene) as (app, pilot):
        assert read_again == []
        dark = app.screen.styles.background

        app._chat.settings.change(THEME, "textual-light")
        await pilot.pause()

        assert len(read_again) == 1
        assert app.screen.styles.background != dark
