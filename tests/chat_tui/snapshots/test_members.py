"""Screens about who is in, down to the cell. Look at a difference before `--snapshot-update`."""

from collections.abc import Callable
from typing import Any, Final

import pytest
from textual.pilot import Pilot

from chat_tui.wording.glyphs import ASCII
from sync.view.governance_infos import Role
from tests.support.chat_tui.governed import (
    all_on_alice,
    governance,
    removed,
    screen_of,
    with_others,
)
from tests.support.chat_tui.readings import command
from tests.support.chat_tui.screenshots import NARROW, WIDE

SnapCompare = Callable[..., bool]

SIZES = pytest.mark.parametrize("size", [NARROW, WIDE], ids=["narrow", "wide"])

pytestmark = pytest.mark.usefixtures("in_utc")

ALONE: Final = with_others(all_on_alice())


async def open_members(pilot: Pilot[Any]) -> None:
    await pilot.pause()
    await command(pilot, "/members")
    await pilot.pause()
    await pilot.press("down")


@SIZES
def test_everybody_who_is_in(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    assert snap_compare(screen_of(ALONE), terminal_size=size, run_before=open_members)


def test_everybody_who_is_in_on_the_smallest_screen_in_ascii(snap_compare: SnapCompare) -> None:
    app = screen_of(ALONE, ASCII)

    assert snap_compare(app, terminal_size=(60, 16), run_before=open_members)


@SIZES
def test_somebody_who_was_removed(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    app = screen_of(removed(reason="spam, and again after we had talked about it twice already"))

    assert snap_compare(app, terminal_size=size)


@SIZES
def test_a_reader(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    assert snap_compare(screen_of(governance(Role.READER)), terminal_size=size)
