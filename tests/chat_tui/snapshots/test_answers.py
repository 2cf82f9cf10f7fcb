"""Snapshots of answers and reactions. Look at a difference before `--snapshot-update`."""

from collections.abc import Callable
from typing import Any

import pytest
from textual.app import App
from textual.pilot import Pilot

from chat_tui.transcript.choice_screens import ChoiceScreen
from chat_tui.wording.glyphs import ASCII, UNICODE, Glyphs
from tests.support.chat_tui import scenes
from tests.support.chat_tui.readings import press, selected, shown, until
from tests.support.chat_tui.screenshots import NARROW, WIDE

SnapCompare = Callable[..., bool]
both = pytest.mark.parametrize("size", [NARROW, WIDE], ids=["narrow", "wide"])

pytestmark = pytest.mark.usefixtures("in_utc")


def talk(glyphs: Glyphs = UNICODE) -> App[Any]:
    return scenes.screen_of(scenes.answers(), glyphs=glyphs)


async def select_reply(pilot: Pilot[Any]) -> None:
    await pilot.pause()
    await press(pilot, "ctrl+t")
    await until(pilot, lambda: "Esc back" in shown(pilot.app))


async def write_reply(pilot: Pilot[Any]) -> None:
    await select_reply(pilot)
    await press(pilot, "r", *"thank you")


async def thread(pilot: Pilot[Any]) -> None:
    await select_reply(pilot)
    await press(pilot, "home")
    await until(pilot, lambda: selected(pilot.app).startswith("the projector"))  # type: ignore[arg-type]
    await press(pilot, "t")
    await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceScreen))


async def react(pilot: Pilot[Any]) -> None:
    await select_reply(pilot)
    await press(pilot, "plus")
    await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceScreen))


async def delete(pilot: Pilot[Any]) -> None:
    await select_reply(pilot)
    await press(pilot, "k", "delete")
    await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceScreen))


@both
def test_a_selected_reply_and_its_keys(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    assert snap_compare(talk(), terminal_size=size, run_before=select_reply)


def test_replies_in_ascii(snap_compare: SnapCompare) -> None:
    assert snap_compare(talk(ASCII), terminal_size=NARROW, run_before=select_reply)


def test_replies_on_the_smallest_screen(snap_compare: SnapCompare) -> None:
    assert snap_compare(talk(), terminal_size=(60, 16), run_before=select_reply)


@both
def test_a_reply_that_is_written(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    assert snap_compare(talk(), terminal_size=size, run_before=write_reply)


@both
def test_all_that_answers_a_message(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    assert snap_compare(talk(), terminal_size=size, run_before=thread)


@both
def test_the_list_of_emoji(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    assert snap_compare(talk(), terminal_size=size, run_before=react)


@both
def test_the_question_before_a_deletion(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    assert snap_compare(talk(), terminal_size=size, run_before=delete)
