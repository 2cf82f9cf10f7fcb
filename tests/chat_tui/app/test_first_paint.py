"""The first paint of a start: the newest lines in their final form, and nothing before them."""

import asyncio
from collections import Counter
from typing import Any

import pytest
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.geometry import Size
from textual.screen import Screen
from textual.widget import Widget

from chat_tui.settings.schema import GLYPHS, THEME
from chat_tui.terminal.front_to_back import FrontModal
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


@pytest.mark.parametrize("size", [(80, 24), (140, 40), (60, 16), (40, 10)])
@pytest.mark.parametrize("character_set", ["unicode", "ascii"])
async def test_a_style_given_at_mounting_is_that_of_the_first_paint(
    size: tuple[int, int], character_set: str
) -> None:
    scene = short_talk()
    scene.chat.settings.change(GLYPHS, character_set)
    async with reading(scene, size) as (app, _):
        nodes = list(app.screen.walk_children(with_self=True))
        before = [dict(node.styles.base.get_rules()) for node in nodes]

        app.screen.update_node_styles(animate=False)

        assert [dict(node.styles.base.get_rules()) for node in nodes] == before


async def test_each_widget_gets_its_style_once_before_the_first_paint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    styled: Counter[DOMNode] = Counter()
    apply, paint = Stylesheet.apply, Screen._compositor_refresh
    painted: list[None] = []

    def noted(
        stylesheet: Stylesheet,
        node: DOMNode,
        *,
        animate: bool = False,
        cache: dict[tuple[Any, ...], Any] | None = None,
    ) -> None:
        if not painted:
            styled[node] += 1
        apply(stylesheet, node, animate=animate, cache=cache)

    def noted_paint(screen: Screen[Any]) -> None:
        painted.append(None)
        paint(screen)

    monkeypatch.setattr(Stylesheet, "apply", noted)
    monkeypatch.setattr(Screen, "_compositor_refresh", noted_paint)
    async with reading(short_talk(), (140, 40)) as (app, _):
        again = {node for node, times in styled.items() if times > 1 and isinstance(node, Widget)}

        assert app.transcript in styled
        assert again <= {app.composer}  # which has the keys by then


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


@pytest.mark.parametrize("size", [(80, 24), (140, 40), (60, 16)])
@pytest.mark.parametrize("key", ["f1", "f3", "f6", "ctrl+p"])
async def test_a_screen_over_the_chat_keeps_the_styles_of_its_mounting(
    key: str, size: tuple[int, int]
) -> None:
    async with reading(short_talk(), size) as (app, pilot):
        await pilot.press(key)
        await pilot.pause()
        nodes = list(app.screen.walk_children(with_self=True))
        before = [dict(node.styles.base.get_rules()) for node in nodes]

        app.screen.update_node_styles(animate=False)

        assert isinstance(app.screen, FrontModal)
        assert [dict(node.styles.base.get_rules()) for node in nodes] == before


async def test_keys_are_heard_between_the_picture_of_a_screen_and_its_resize(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    happened: list[str] = []
    paint, resize = Screen._compositor_refresh, Screen._screen_resized

    def painted(screen: Screen[Any]) -> None:
        paint(screen)
        if isinstance(screen, FrontModal):
            asyncio.get_running_loop().call_soon(happened.append, "a turn of the loop")

    def resized(screen: Screen[Any], size: Size) -> None:
        if isinstance(screen, FrontModal):
            happened.append("resized")
        resize(screen, size)

    async with reading(short_talk(), (140, 40)) as (_, pilot):
        monkeypatch.setattr(Screen, "_compositor_refresh", painted)
        monkeypatch.setattr(Screen, "_screen_resized", resized)

        await pilot.press("f1")
        await pilot.pause()

    assert happened[:2] == ["a turn of the loop", "resized"]
