"""Screens about people, down to the cell. Look at a difference before `--snapshot-update`."""

from collections.abc import Callable
from typing import Any

import pytest
from textual.app import App
from textual.pilot import Pilot

from chat_tui.app.overlays import doctor_content
from chat_tui.client.doctor.findings import Finding
from chat_tui.screens.peers import code_screen
from chat_tui.text.qr import half_blocks
from chat_tui.widgets.text_screen import TextScreen
from chat_tui.wording.glyphs import ASCII, UNICODE, Glyphs
from tests.support.chat_tui import scenes
from tests.support.chat_tui.screenshots import NARROW, WIDE

SnapCompare = Callable[..., bool]

SIZES = pytest.mark.parametrize("size", [NARROW, WIDE], ids=["narrow", "wide"])

pytestmark = pytest.mark.usefixtures("in_utc")


def known(*, glyphs: Glyphs = UNICODE, changed: bool = False) -> App[Any]:
    """Alice's screen: bob is verified; with `changed`, carol goes by his name, in Cyrillic."""
    scene = scenes.morning()
    book, now = scene.chat.people.book, scene.snapshot().now
    peers = [node.identity.peer_id for node in scene.world.nodes]
    book.verify(peers[scenes.BOB], "bob", now)
    if changed:
        book.read(peers[scenes.CAROL], "B\u043eb", now)
    return scenes.screen_of(scene, glyphs=glyphs)


@SIZES
def test_everybody_in_a_table(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    assert snap_compare(known(), terminal_size=size, press=["f3", "down"])


def test_everybody_in_ascii(snap_compare: SnapCompare) -> None:
    assert snap_compare(known(glyphs=ASCII), terminal_size=NARROW, press=["f3"])


@SIZES
def test_comparing_words(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    assert snap_compare(known(), terminal_size=size, press=["f3", "v"])


def test_comparing_words_on_the_smallest_screen(snap_compare: SnapCompare) -> None:
    assert snap_compare(known(), terminal_size=(60, 16), press=["f3", "v"])


@SIZES
def test_a_changed_key(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    assert snap_compare(known(changed=True), terminal_size=size)


def test_a_changed_key_in_ascii(snap_compare: SnapCompare) -> None:
    app = known(changed=True, glyphs=ASCII)

    assert snap_compare(app, terminal_size=NARROW, press=["f3", "down"])


def test_what_is_known_of_one(snap_compare: SnapCompare) -> None:
    assert snap_compare(known(), terminal_size=NARROW, press=["f3", "enter"])


@SIZES
def test_what_the_doctor_found(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    findings = [
        Finding("network interface", "192.168.1.20 (eth0)"),
        Finding("announcement heard back", "not within 3 s", "Allow UDP port 5353."),
        Finding("Java for the audit pipeline", "none", "Only audits need it.", warning=True),
    ]

    async def push(pilot: Pilot[Any]) -> None:
        content = doctor_content(findings, "All tests are done.", pilot.app.size.width)
        pilot.app.push_screen(TextScreen("Doctor", lambda: content))
        await pilot.pause()

    assert snap_compare(known(), terminal_size=size, run_before=push)


@SIZES
def test_an_invite_with_its_code(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    code = "chat1-" + "abcdefgh23" * 10

    async def push(pilot: Pilot[Any]) -> None:
        lines = half_blocks(code)
        pilot.app.push_screen(code_screen("Invite to #build", "Only for them:", code, lines))
        await pilot.pause()

    assert snap_compare(known(), terminal_size=size, run_before=push)
