"""Snapshots of message details. Look at a difference before `--snapshot-update`."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from textual.pilot import Pilot

from chat_tui.details.message_screen import DetailsScreen
from chat_tui.wording.glyphs import ASCII
from tests.support.chat_tui import scenes, stories
from tests.support.chat_tui.readings import shown, until
from tests.support.chat_tui.screenshots import NARROW, WIDE

SnapCompare = Callable[..., bool]

SIZES = pytest.mark.parametrize("size", [NARROW, WIDE], ids=["narrow", "wide"])

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("in_utc")]


def details(up: int, *keys: str) -> Callable[[Pilot[Any]], Any]:
    """Open the message so many above the newest, and press keys there."""

    async def press(pilot: Pilot[Any]) -> None:
        await pilot.pause()
        await pilot.press("ctrl+t", *["k"] * up, "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, DetailsScreen))
        await until(pilot, lambda: "In short" in shown(pilot.app))
        await pilot.press(*keys)
        await pilot.pause()

    return press


@SIZES
def test_a_repaired_message(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    app = scenes.screen_of(stories.repaired())

    assert snap_compare(app, terminal_size=size, run_before=details(2))


@SIZES
def test_the_history_of_a_repaired_message(
    snap_compare: SnapCompare, size: tuple[int, int]
) -> None:
    app = scenes.screen_of(stories.repaired())

    assert snap_compare(app, terminal_size=size, run_before=details(2, "pagedown"))


@SIZES
def test_its_bytes(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    app = scenes.screen_of(stories.repaired())

    assert snap_compare(app, terminal_size=size, run_before=details(2, "d"))


@SIZES
def test_an_acknowledged_message(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    app = scenes.screen_of(stories.repaired())

    assert snap_compare(app, terminal_size=size, run_before=details(0))


@SIZES
def test_a_possibly_acknowledged_message(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    app = scenes.screen_of(scenes.morning())

    assert snap_compare(app, terminal_size=size, run_before=details(0))


def test_a_message_that_nobody_is_known_to_have(snap_compare: SnapCompare) -> None:
    app = scenes.screen_of(scenes.morning())

    assert snap_compare(app, terminal_size=WIDE, run_before=details(1))


@SIZES
def test_an_edited_message(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    app = scenes.screen_of(asyncio.run(stories.changed()))

    assert snap_compare(app, terminal_size=size, run_before=details(0))


@SIZES
def test_a_deleted_message(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    app = scenes.screen_of(asyncio.run(stories.changed(deleted=True)))

    assert snap_compare(app, terminal_size=size, run_before=details(0))


def test_the_smallest_screen_in_ascii(snap_compare: SnapCompare) -> None:
    app = scenes.screen_of(stories.repaired(), glyphs=ASCII)

    assert snap_compare(app, terminal_size=(60, 16), run_before=details(2))
