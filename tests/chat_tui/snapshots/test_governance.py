"""Snapshots of a governed channel: acts among messages, what lost, what waits."""

from typing import Any

import pytest
from textual.app import App

from chat_tui.wording.glyphs import ASCII
from tests.support.chat_tui import governed_scenes
from tests.support.chat_tui.screenshots import NARROW, SMALL, WIDE
from tests.support.chat_tui.snap_compare import SnapCompare

pytestmark = pytest.mark.usefixtures("in_utc")


def a_day() -> App[Any]:
    return governed_scenes.screen_of(governed_scenes.a_day_of_governing())


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["narrow", "wide"])
def test_acts_stand_among_messages(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    assert snap_compare(a_day(), terminal_size=size)


def test_acts_in_a_narrow_window_and_ascii(snap_compare: SnapCompare) -> None:
    app = governed_scenes.screen_of(governed_scenes.a_day_of_governing(), glyphs=ASCII)

    assert snap_compare(app, terminal_size=SMALL)


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["narrow", "wide"])
def test_details_of_an_act_that_came_to_nothing(
    snap_compare: SnapCompare, size: tuple[int, int]
) -> None:
    keys = ["ctrl+t", "up", "up", "enter"]

    assert snap_compare(a_day(), terminal_size=size, press=keys)


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["narrow", "wide"])
@pytest.mark.parametrize("keys", [[], ["ctrl+t", "enter"]], ids=["folded", "opened"])
def test_lines_that_are_folded_away(
    snap_compare: SnapCompare, size: tuple[int, int], keys: list[str]
) -> None:
    app = governed_scenes.screen_of(governed_scenes.folded_away())

    assert snap_compare(app, terminal_size=size, press=keys)


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["narrow", "wide"])
@pytest.mark.parametrize("keys", [[], ["enter"]], ids=["rows", "opened"])
def test_the_tab_group(snap_compare: SnapCompare, size: tuple[int, int], keys: list[str]) -> None:
    assert snap_compare(a_day(), terminal_size=size, press=["f2", "7", "j", *keys])
