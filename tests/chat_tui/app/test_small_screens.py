"""Small screens: what has no room in a line wraps, hangs, and is never cut."""

import re
from collections.abc import Callable

import pytest
from textual.events import Paste

from chat_tui.commands.table import GROUPS
from chat_tui.debug.list_view import Listing
from chat_tui.debug.styled_lines import detail_lines
from chat_tui.debug.tab_table import TABS
from chat_tui.keys.table import USUAL
from chat_tui.screens.help import MEANING_CELLS, WORD_CELLS, full_help
from chat_tui.widgets.status_line import Sentence, StatusLine
from chat_tui.wording.glyphs import UNICODE
from tests.support.chat_tui import scenes
from tests.support.chat_tui.readings import press, reading, shown, until

QUOTED = re.compile("\u201c[^\u201d\n]*")
"""Quotes of what somebody wrote, which may be shortened; the row opens to all of it."""
CUT = re.compile("(?<![0-9a-fL])\u2026")
"""End of a sentence that is cut: ids, and Lamport times, are shortened on purpose."""

WIDE = (120, 30)
"""Columns and lines where the protocol's pane stands beside the conversation."""

LONG = (
    "Somebody far away has written so many words that no line of a small window has room for "
    "all of them at once, to its very end."
)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(60, 16), (80, 24), (140, 40)])
async def test_a_sentence_above_the_input_is_never_cut(size: tuple[int, int]) -> None:
    async with reading(scenes.morning(), size) as (app, pilot):
        status = app.query_one(StatusLine)
        status.show(LONG)
        await pilot.pause()
        words = " ".join(shown(app).split())

        assert all(word in words for word in LONG.split())
        assert "end." in words


@pytest.mark.slow
async def test_a_sentence_that_fits_has_one_line_again() -> None:
    async with reading(scenes.morning(), (60, 16)) as (app, pilot):
        status = app.query_one(StatusLine)
        status.show(LONG)
        await pilot.pause()
        status.show("All is well.")
        await pilot.pause()

        assert app.query_one(Sentence).size.height == 1


@pytest.mark.slow
async def test_a_sentence_has_its_lines_as_soon_as_a_chip_takes_some_of_its_room() -> None:
    async with reading(scenes.morning(), (80, 24)) as (app, pilot):
        await press(pilot, "pageup")
        at_once = shown(app)
        app._tick()
        await pilot.pause()

        assert "End: newest" in at_once
        assert shown(app) == at_once


@pytest.mark.slow
@pytest.mark.parametrize("keys", [("f2",), ("alt+o",), ("ctrl+p",)])
async def test_no_window_is_too_narrow_for_what_is_open(keys: tuple[str, ...]) -> None:
    async with reading(scenes.morning(), WIDE) as (app, pilot):
        await press(pilot, *keys)
        for size in ((53, 24), (50, 24), (3, 10), (1, 1)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            await pilot.resize_terminal(*WIDE)
            await pilot.pause()

        assert app.is_running


@pytest.mark.slow
@pytest.mark.parametrize("size", [(50, 24), (80, 12), (20, 5)])
async def test_keys_reach_the_input_while_the_window_is_too_small(size: tuple[int, int]) -> None:
    async with reading(scenes.morning(), (80, 24)) as (app, pilot):
        await press(pilot, "t", "h")
        await pilot.resize_terminal(*size)
        await press(pilot, "o", "x", "backspace", "s")
        assert "Please enlarge" in shown(app)
        app.post_message(Paste("e of before"))
        await pilot.resize_terminal(80, 24)
        await pilot.pause()

        assert app.composer.text == "those of before"
        assert app.composer.text in shown(app)


@pytest.mark.slow
async def test_a_window_that_is_too_small_leaves_the_keys_of_a_selection_to_the_input() -> None:
    async with reading(scenes.morning(), (80, 24)) as (app, pilot):
        await press(pilot, "ctrl+t")
        assert app.transcript.has_focus
        await pilot.resize_terminal(50, 24)
        await pilot.pause()
        await press(pilot, "h", "i")
        await pilot.resize_terminal(80, 24)
        await pilot.pause()

        assert app.composer.text == "hi"


@pytest.mark.slow
@pytest.mark.parametrize("key", ["ctrl+t", "f2"])
async def test_a_window_that_is_enlarged_again_gives_the_keys_back(key: str) -> None:
    async with reading(scenes.morning(), WIDE) as (app, pilot):
        await press(pilot, key)
        before = app.composer.screen.focused
        for size in ((50, 24), (20, 5), WIDE):
            await pilot.resize_terminal(*size)
            await pilot.pause()
        await until(pilot, lambda: app.composer.screen.focused is before)
        await press(pilot, "j")

        assert app.composer.text == ""


@pytest.mark.slow
async def test_who_writes_in_a_window_too_small_keeps_the_keys_when_it_is_enlarged() -> None:
    async with reading(scenes.morning(), WIDE) as (app, pilot):
        await press(pilot, "ctrl+t")
        await pilot.resize_terminal(20, 5)
        await pilot.pause()
        await press(pilot, "h")
        await pilot.resize_terminal(*WIDE)
        await pilot.pause()
        await press(pilot, "i")

        assert app.composer.text == "hi"


@pytest.mark.parametrize("width", [60, 80])
async def test_what_stands_where_no_message_is_wraps(width: int) -> None:
    async with reading(scenes.empty(), (width, 24)) as (app, pilot):
        await pilot.pause()
        words = " ".join(shown(app).split())

    assert "Whatever is written here, everybody on this network can read, also later." in words


@pytest.mark.slow
@pytest.mark.parametrize("scene", [scenes.morning, scenes.repairing, scenes.coming_back])
@pytest.mark.parametrize("width", [60, 80, 140])
async def test_the_pane_cuts_no_sentence_in_any_tab_or_row(
    width: int, scene: Callable[[], scenes.Scene]
) -> None:
    async with reading(scene(), (width, 24)) as (app, pilot):
        await pilot.press("f2")
        listing = app.query_one(Listing)
        for number in range(len(TABS)):
            await pilot.press(str(number))
            await pilot.pause()
            lines = [*listing._lines]
            room = listing.width
            opened = [line.opens() for line in lines if line.opens is not None]
            details = [one for each in opened for one in detail_lines(each, room, UNICODE)]
            for content in (line.content for line in (*lines, *details)):
                assert content.cell_length <= room
                assert not CUT.search(QUOTED.sub("", content.plain)), content.plain


@pytest.mark.parametrize("width", [57, 77, 97])
def test_lines_of_the_help_fit_and_what_wraps_hangs(width: int) -> None:
    lines = full_help(UNICODE, USUAL, width).plain.split("\n")

    assert max(map(len, lines)) <= width
    wrapped = [line for line in lines if line.startswith(" " * (WORD_CELLS + 1))]
    assert wrapped
    assert all(line[WORD_CELLS + 1] != " " for line in wrapped)
    assert not any(line.startswith(" ") for line in lines if line not in wrapped)


@pytest.mark.parametrize("width", [17, 27, WORD_CELLS + MEANING_CELLS])
def test_meanings_stand_below_their_words_where_two_columns_have_no_room(width: int) -> None:
    lines = full_help(UNICODE, USUAL, width).plain.split("\n")
    wrapped = [line for line in lines if line.startswith("  ")]

    assert max(len(line) for line in wrapped) <= width
    assert all(line[2] != " " for line in wrapped)
    assert len(lines) < 2 * sum(map(len, lines)) / width, "most lines are at least half full"


def test_the_help_has_a_group_for_each_kind_of_command() -> None:
    lines = full_help(UNICODE, USUAL).plain.split("\n")

    for title, commands in GROUPS:
        at = lines.index(f"COMMANDS: {title}")
        group = lines[at + 1 : lines.index("", at)]
        named = [line.split()[0] for line in group if line.startswith("/")]
        assert named == [command.names[0] for command in commands]
