"""Clicks on channels, people, the header and the last line do what their keys and commands do."""

import pytest
from textual.pilot import Pilot

from chat_tui.screens.palette import Palette
from chat_tui.screens.peers import PeersScreen
from chat_tui.widgets.text_screen import TextScreen
from tests.support.chat_tui import scenes
from tests.support.chat_tui.readings import reading, shown

pytestmark = pytest.mark.slow


async def click(pilot: Pilot[None], words: str, *, at: int = 0) -> None:
    """Click the first place where these words stand on the screen."""
    lines = shown(pilot.app).split("\n")
    y = next(y for y, line in enumerate(lines) if words in line)
    await pilot.click(offset=(lines[y].index(words) + at, y))
    await pilot.pause()


async def test_a_person_in_the_list_is_shown_among_the_peers() -> None:
    async with reading(scenes.morning(), (140, 40)) as (app, pilot):
        await click(pilot, "● carol")

        screen = app.screen
        assert isinstance(screen, PeersScreen)
        chosen = screen.chosen
        assert chosen is not None
        assert chosen.nick == "carol"


@pytest.mark.parametrize(
    ("words", "opens"),
    [("#lobby", Palette), ("others here", PeersScreen), ("000D-A6EF", TextScreen)],
)
async def test_parts_of_the_header_open_what_they_are_about(words: str, opens: type) -> None:
    async with reading(scenes.morning(), (140, 40)) as (app, pilot):
        await click(pilot, words)
        await pilot.pause()

        if opens is TextScreen:
            assert "Your key: 000D-A6EF" in shown(app)
        else:
            assert isinstance(app.screen, opens)


async def test_how_well_everybody_agrees_opens_the_tab_now() -> None:
    async with reading(scenes.morning(), (80, 24)) as (app, pilot):
        await click(pilot, "1 missing")

        assert "[0Now]" in shown(app)


async def test_a_key_of_the_last_line_is_clicked() -> None:
    async with reading(scenes.morning(), (80, 24)) as (app, pilot):
        await click(pilot, "Peers")

        assert isinstance(app.screen, PeersScreen)


async def test_a_text_that_can_be_clicked_looks_as_before() -> None:
    async with reading(scenes.morning(), (140, 40)) as (app, _):
        sidebar = app.query_one("#sidebar")
        styles = [segment.style for segment in sidebar.render_line(3)]

        assert not any(style is not None and style.underline for style in styles)
