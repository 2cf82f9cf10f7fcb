"""Snapshots of the screens, down to the cell. Look at a difference before `--snapshot-update`."""

from typing import Any

import pytest
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Input

from chat_tui.wording.glyphs import ASCII
from sync.machine import SECOND
from tests.support.chat_tui import scenes
from tests.support.chat_tui.screenshots import NARROW, WIDE
from tests.support.chat_tui.snap_compare import SnapCompare

pytestmark = pytest.mark.usefixtures("in_utc")


def morning() -> App[Any]:
    return scenes.screen_of(scenes.morning_in_many_scripts())


async def hold_the_cursor(pilot: Pilot[Any]) -> None:
    """Stop the cursors of input fields from blinking."""
    for field in pilot.app.query(Input):
        field.cursor_blink = False


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["narrow", "wide"])
def test_main_screen(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    assert snap_compare(morning(), terminal_size=size)


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["narrow", "wide"])
def test_protocol_drawer(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    assert snap_compare(morning(), terminal_size=size, press=["f2"])


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["narrow", "wide"])
def test_asking_and_answering_count_down(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    app = scenes.screen_of(scenes.repairing())

    assert snap_compare(app, terminal_size=size, press=["f2"])


def test_the_protocol_in_ascii(snap_compare: SnapCompare) -> None:
    app = scenes.screen_of(scenes.repairing(), glyphs=ASCII)

    assert snap_compare(app, terminal_size=WIDE, press=["f2"])


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["narrow", "wide"])
def test_history_on_its_way(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    app = scenes.screen_of(scenes.coming_back(), play=scenes.history)

    assert snap_compare(app, terminal_size=size)


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["narrow", "wide"])
def test_a_card_for_each_reconciliation(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    app = scenes.screen_of(scenes.coming_back(), play=scenes.history)

    async def open_and_scroll(pilot: Pilot[Any]) -> None:
        await pilot.pause()
        await pilot.press("f2", "alt+pagedown")

    assert snap_compare(app, terminal_size=size, run_before=open_and_scroll)


def test_history_on_its_way_in_ascii(snap_compare: SnapCompare) -> None:
    app = scenes.screen_of(scenes.coming_back(), glyphs=ASCII, play=scenes.history)

    async def open_drawer(pilot: Pilot[Any]) -> None:
        await pilot.pause()
        await pilot.press("f2")

    assert snap_compare(app, terminal_size=WIDE, run_before=open_drawer)


def test_reading_further_up(snap_compare: SnapCompare) -> None:
    assert snap_compare(morning(), terminal_size=NARROW, press=["pageup"])


def test_help(snap_compare: SnapCompare) -> None:
    assert snap_compare(morning(), terminal_size=WIDE, press=["f1"])


def test_peers(snap_compare: SnapCompare) -> None:
    assert snap_compare(morning(), terminal_size=NARROW, press=["f3"])


def test_first_run(snap_compare: SnapCompare) -> None:
    assert snap_compare(scenes.first_run(), terminal_size=NARROW, run_before=hold_the_cursor)


def test_nothing_written_yet(snap_compare: SnapCompare) -> None:
    assert snap_compare(scenes.screen_of(scenes.empty()), terminal_size=NARROW)


def test_somebody_is_typing(snap_compare: SnapCompare) -> None:
    scene = scenes.empty()
    scene.world.tell_typing(scenes.BOB)
    scene.world.run(SECOND)

    assert snap_compare(scenes.screen_of(scene), terminal_size=NARROW)


def test_what_went_wrong_is_said_whole_above_the_input(snap_compare: SnapCompare) -> None:
    app = scenes.screen_of(scenes.empty())

    assert snap_compare(app, terminal_size=NARROW, press=[*"/jion", "enter"])
