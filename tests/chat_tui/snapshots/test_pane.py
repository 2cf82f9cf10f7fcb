"""Snapshots of the debug pane's tabs. Look at a difference before `--snapshot-update`."""

from collections.abc import Callable
from typing import Any

import pytest
from textual.pilot import Pilot

from chat_tui.app.app import ChatApp
from chat_tui.debug.pane import DebugPane
from chat_tui.wording.glyphs import ASCII
from tests.support.chat_tui import scenes
from tests.support.chat_tui.screenshots import NARROW, WIDE

SnapCompare = Callable[..., bool]

TABS = {
    "now": "0",
    "buffers": "1",
    "causal": "2",
    "bloom": "3",
    "wire": "5",
    "trace": "6",
    "group": "7",
}
SIZES = pytest.mark.parametrize("size", [NARROW, WIDE], ids=["narrow", "wide"])

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("in_utc")]


def pressing(*keys: str) -> Callable[[Pilot[Any]], Any]:
    """Press keys one by one: a graph is read from the disk between two of them."""

    async def press(pilot: Pilot[Any]) -> None:
        for key in keys:
            await pilot.press(key)
            await pilot.pause()
        await pilot.pause()

    return press


def repairing(*, ascii_only: bool = False) -> ChatApp:
    scene = scenes.repairing()
    return scenes.screen_of(scene, glyphs=ASCII) if ascii_only else scenes.screen_of(scene)


@SIZES
@pytest.mark.parametrize("tab", TABS)
def test_a_tab(snap_compare: SnapCompare, tab: str, size: tuple[int, int]) -> None:
    press = pressing("f2", TABS[tab], "j")

    assert snap_compare(repairing(), terminal_size=size, run_before=press)


@SIZES
def test_the_sessions(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    scene = scenes.coming_back()
    scenes.history(scene)
    press = pressing("f2", "4", "j")

    assert snap_compare(scenes.screen_of(scene), terminal_size=size, run_before=press)


@SIZES
def test_an_opened_request(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    press = pressing("f2", "j", "j", "enter")

    assert snap_compare(repairing(), terminal_size=size, run_before=press)


def test_an_opened_frame_fills_the_screen(snap_compare: SnapCompare) -> None:
    press = pressing("f2", "5", "f", "j", "enter")

    assert snap_compare(repairing(), terminal_size=WIDE, run_before=press)


def test_a_payload_and_its_ranges(snap_compare: SnapCompare) -> None:
    scene = scenes.coming_back()
    scenes.history(scene)

    async def open_ours(pilot: Pilot[Any]) -> None:
        await pressing("f2", "4", "f", "j")(pilot)
        listing = pilot.app.query_one(DebugPane).listing
        [row] = [one.key for one in listing._lines if one.key.endswith("carol/rt 1/2")]
        listing.select(row)
        await pressing("enter")(pilot)

    assert snap_compare(scenes.screen_of(scene), terminal_size=WIDE, run_before=open_ours)


@SIZES
def test_the_terms_of_a_tab(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    press = pressing("f2", "question_mark")

    assert snap_compare(repairing(), terminal_size=size, run_before=press)


def test_a_frozen_pane_in_ascii(snap_compare: SnapCompare) -> None:
    press = pressing("f2", "2", "space")

    assert snap_compare(repairing(ascii_only=True), terminal_size=NARROW, run_before=press)
