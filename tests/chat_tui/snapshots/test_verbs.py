"""Snapshots of what one does with a message. Look at a difference before `--snapshot-update`."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from textual.pilot import Pilot

from chat_tui.transcript.choice_screens import ChoiceScreen
from chat_tui.wording.invitations import invitation_to
from sync.machine import ChannelId
from sync.net.invite import Invite, encode
from tests.support.chat_tui import scenes
from tests.support.chat_tui.readings import command, marked_talk, press, short_talk, shown, until
from tests.support.chat_tui.scenes import BOB, Scene
from tests.support.chat_tui.screenshots import NARROW, WIDE

SnapCompare = Callable[..., bool]
Act = Callable[[Pilot[Any]], Awaitable[None]]

both = pytest.mark.parametrize("size", [NARROW, WIDE], ids=["narrow", "wide"])

pytestmark = pytest.mark.usefixtures("in_utc")

CODE = encode(Invite("plans", ChannelId("ab" * 16), b"s" * 16, "lan"))


def invited() -> Scene:
    scene = short_talk()
    scene.say(BOB, invitation_to("#plans", CODE))
    return scene


async def select(pilot: Pilot[Any]) -> None:
    await pilot.pause()
    await press(pilot, "ctrl+t")
    await until(pilot, lambda: "Esc back" in shown(pilot.app))


async def quote(pilot: Pilot[Any]) -> None:
    await select(pilot)
    await press(pilot, "k", "q")
    await until(pilot, lambda: "> bob: @alice" in shown(pilot.app))


async def edit(pilot: Pilot[Any]) -> None:
    await select(pilot)
    await press(pilot, "e")
    await until(pilot, lambda: "/edit" in shown(pilot.app))


async def pin(pilot: Pilot[Any]) -> None:
    await select(pilot)
    await press(pilot, "p")
    await until(pilot, lambda: "p unpin" in shown(pilot.app))


async def refused(pilot: Pilot[Any]) -> None:
    await pilot.pause()
    await command(pilot, "/recat tada")
    await until(pilot, lambda: "Did you mean /react" in shown(pilot.app))


async def back(pilot: Pilot[Any]) -> None:
    await select(pilot)
    await press(pilot, "backspace")
    await until(pilot, lambda: "nothing to come back from" in shown(pilot.app))


async def grep(pilot: Pilot[Any]) -> None:
    await pilot.pause()
    await command(pilot, "/grep ca.le")
    await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceScreen))


async def raw(pilot: Pilot[Any]) -> None:
    await pilot.pause()
    await press(pilot, "ctrl+t", "k", "v")


@both
@pytest.mark.parametrize("act", [quote, edit, pin, refused, back, grep])
def test_after(snap_compare: SnapCompare, act: Act, size: tuple[int, int]) -> None:
    app = scenes.screen_of(short_talk())

    assert snap_compare(app, terminal_size=size, run_before=act)


@both
def test_an_invitation_that_is_selected(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    app = scenes.screen_of(invited())

    assert snap_compare(app, terminal_size=size, run_before=select)


@both
def test_a_message_without_its_markup(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    app = scenes.screen_of(marked_talk())

    assert snap_compare(app, terminal_size=size, run_before=raw)
