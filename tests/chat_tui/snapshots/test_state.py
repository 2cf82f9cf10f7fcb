"""Snapshots of what a channel knows besides its lines: a topic, a pinned line, who has read."""

from typing import Any

import pytest
from textual.app import App

from chat_tui.settings.schema import READ_MARKS
from chat_tui.wording.glyphs import ASCII, UNICODE, Glyphs
from sync.calimero.state.contents import Pin, Read, StateKind, Topic
from sync.machine import SECOND
from tests.support.chat_tui import scenes
from tests.support.chat_tui.readings import short_talk
from tests.support.chat_tui.scenes import ALICE, BOB
from tests.support.chat_tui.screenshots import NARROW, SMALL, WIDE
from tests.support.chat_tui.snap_compare import SnapCompare

pytestmark = pytest.mark.usefixtures("in_utc")


def a_channel_with_state(glyphs: Glyphs = UNICODE) -> App[Any]:
    scene = short_talk()
    topic = Topic("demo of the projector on Friday at three, room 2; bring the long cable")
    scene.world.set_state(BOB, topic)
    for number in (0, 3):
        name = bytes.fromhex(scene.world.nodes[ALICE].disk.lines()[number][1])
        scene.world.set_state(BOB, Pin(), kind=StateKind.PIN, name=name)
        scene.world.run(SECOND)
    return scenes.screen_of(scene, glyphs=glyphs)


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["narrow", "wide"])
def test_topic_and_pins(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    assert snap_compare(a_channel_with_state(), terminal_size=size)


def test_topic_and_pins_in_a_small_window_and_ascii(snap_compare: SnapCompare) -> None:
    assert snap_compare(a_channel_with_state(ASCII), terminal_size=SMALL)


def a_line_that_was_read() -> App[Any]:
    scene = short_talk()
    scene.chat.settings.change(READ_MARKS, "on")
    lamport, message_id, *_ = scene.world.nodes[ALICE].disk.lines()[4]
    scene.world.set_state(BOB, Read(lamport, bytes.fromhex(message_id)))
    scene.world.run(SECOND)
    return scenes.screen_of(scene)


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["narrow", "wide"])
def test_who_has_read(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    assert snap_compare(a_line_that_was_read(), terminal_size=size)


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["narrow", "wide"])
def test_list_of_pins(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    keys = [*"/pins", "enter"]

    assert snap_compare(a_channel_with_state(), terminal_size=size, press=keys)
