"""Snapshots of reading, down to the cell. Look at a difference before `--snapshot-update`."""

from collections.abc import Callable
from typing import Any

import pytest
from textual.app import App
from textual.pilot import Pilot

from chat_tui.details.message_screen import DetailsScreen
from chat_tui.transcript.choice_screens import BareScreen, ChoiceScreen
from chat_tui.wording.glyphs import ASCII, UNICODE, Glyphs
from tests.support.chat_tui import scenes
from tests.support.chat_tui.readings import (
    command,
    long_talk,
    marked_talk,
    paint,
    press,
    short_talk,
    shown,
    until,
)
from tests.support.chat_tui.screenshots import NARROW, WIDE

SnapCompare = Callable[..., bool]

both = pytest.mark.parametrize("size", [NARROW, WIDE], ids=["narrow", "wide"])

pytestmark = pytest.mark.usefixtures("in_utc")


def morning(glyphs: Glyphs = UNICODE) -> App[Any]:
    return scenes.screen_of(scenes.morning_in_many_scripts(), glyphs=glyphs)


async def select(pilot: Pilot[Any]) -> None:
    await pilot.pause()
    await pilot.press("ctrl+t", "k", "k")
    await until(pilot, lambda: "Esc back" in shown(pilot.app))
    await paint(pilot.app, pilot)  # type: ignore[arg-type]  # marks in the scroll bar, too


async def search(pilot: Pilot[Any]) -> None:
    await pilot.pause()
    await command(pilot, "/search projector cable")
    await until(pilot, lambda: "hit 1 of" in shown(pilot.app))


async def ask_for_words(pilot: Pilot[Any]) -> None:
    await pilot.pause()
    await pilot.press("ctrl+f")
    pilot.app.screen.query_one("#search").cursor_blink = False  # type: ignore[attr-defined]
    await pilot.press("ctrl+f", *"cable")
    await until(pilot, lambda: " hit" in shown(pilot.app))


async def link(pilot: Pilot[Any]) -> None:
    await pilot.pause()
    await pilot.press("ctrl+t", "k", "k", "o")
    await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceScreen))
    await pilot.press("down")
    await pilot.pause()


async def marked(pilot: Pilot[Any]) -> None:
    await pilot.pause()
    await press(pilot, "ctrl+t", "k")
    await until(pilot, lambda: "Esc back" in shown(pilot.app))


async def unfolded(pilot: Pilot[Any]) -> None:
    await pilot.pause()
    await press(pilot, "ctrl+t", "enter")
    await until(pilot, lambda: "f fold" in shown(pilot.app))


async def mentions(pilot: Pilot[Any]) -> None:
    await pilot.pause()
    await command(pilot, "/mentions")
    await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceScreen))
    await pilot.press("up")
    await pilot.pause()


async def details(pilot: Pilot[Any]) -> None:
    await select(pilot)
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(pilot.app.screen, DetailsScreen))
    await pilot.pause()


async def bare(pilot: Pilot[Any]) -> None:
    await pilot.pause()
    await pilot.press("f9")
    await until(pilot, lambda: isinstance(pilot.app.screen, BareScreen))
    await pilot.pause()


@both
def test_a_selected_message(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    assert snap_compare(morning(), terminal_size=size, run_before=select)


def test_a_selected_message_in_ascii(snap_compare: SnapCompare) -> None:
    assert snap_compare(morning(ASCII), terminal_size=NARROW, run_before=select)


def test_a_selected_message_on_the_smallest_screen(snap_compare: SnapCompare) -> None:
    assert snap_compare(morning(), terminal_size=(60, 16), run_before=select)


@both
def test_hits_of_a_search(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    app = scenes.screen_of(short_talk())

    assert snap_compare(app, terminal_size=size, run_before=search)


@both
def test_the_search_and_what_it_finds(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    app = scenes.screen_of(short_talk())

    assert snap_compare(app, terminal_size=size, run_before=ask_for_words)


@both
def test_the_question_before_a_link(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    app = scenes.screen_of(short_talk())

    assert snap_compare(app, terminal_size=size, run_before=link)


@both
def test_marked_up_messages_and_a_folded_one(
    snap_compare: SnapCompare, size: tuple[int, int]
) -> None:
    app = scenes.screen_of(marked_talk())

    assert snap_compare(app, terminal_size=size, run_before=marked)


@both
def test_an_unfolded_message(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    app = scenes.screen_of(marked_talk())

    assert snap_compare(app, terminal_size=size, run_before=unfolded)


@both
def test_the_list_of_mentions(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    app = scenes.screen_of(long_talk())

    assert snap_compare(app, terminal_size=size, run_before=mentions)


@both
def test_the_details_of_a_message(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    assert snap_compare(morning(), terminal_size=size, run_before=details)


def test_the_bare_view(snap_compare: SnapCompare) -> None:
    assert snap_compare(morning(), terminal_size=NARROW, run_before=bare)
