"""Scenes in the pictures of the program, each with the keys that a person pressed in it.

Everything on them comes from the simulator on a fixed seed and from its clock, so a picture is a
function of the code alone. Arranged are only what the doctor found, for it tests the computer it
runs on, and who is in the channel of the pictures about members.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from chat_tui.app.app import ChatApp
from chat_tui.app.overlays import doctor_content
from chat_tui.client.doctor.findings import Finding
from chat_tui.demo.app import DemoApp
from chat_tui.demo.recording import Recording
from chat_tui.settings import schema
from chat_tui.transcript.find_screen import FindScreen
from chat_tui.widgets.text_screen import TextScreen
from sync.machine import SECOND
from tests.support.chat_tui import scenes
from tests.support.chat_tui.demos import SEED, Timed, ready
from tests.support.chat_tui.governed import all_on_alice, removed, screen_of, with_others
from tests.support.chat_tui.readings import command, marked_talk, shown, until

Act: TypeAlias = Callable[[Pilot[Any]], Awaitable[None]]

SMALL, NARROW, WIDE = (60, 16), (80, 24), (140, 40)


@dataclass(frozen=True, slots=True)
class Picture:
    """A screen of `size` (columns, lines) after somebody did `act` there."""

    app: Callable[[], App[Any]]
    size: tuple[int, int]
    act: Act


def pressing(*keys: str) -> Act:
    """Press keys one by one: after some of them the disk is read."""

    async def press(pilot: Pilot[Any]) -> None:
        await pilot.pause()
        for key in keys:
            await pilot.press(key)
            await pilot.pause()

    return press


# -- whose screen ----------------------------------------------------------------------------------


def morning() -> ChatApp:
    return scenes.screen_of(scenes.morning())


def themed(theme: str) -> Callable[[], ChatApp]:
    def app() -> ChatApp:
        scene = scenes.morning()
        scene.chat.settings.change(schema.THEME, theme)
        return scenes.screen_of(scene)

    return app


def known(*, impostor: bool = False) -> ChatApp:
    """Alice has verified bob; maybe carol goes by his name now, with a Cyrillic letter in it."""
    scene = scenes.morning()
    now = scene.snapshot().now
    peers = [node.identity.peer_id for node in scene.world.nodes]
    scene.chat.people.book.verify(peers[scenes.BOB], "bob", now)
    if impostor:
        scene.chat.people.book.read(peers[scenes.CAROL], "B\u043eb", now)
    return scenes.screen_of(scene)


def ahead() -> ChatApp:
    return scenes.screen_of(scenes.ahead_of_time())


def governed() -> ChatApp:
    """Alice, on whom all depends, with erin, who asks, and mallory, who was removed."""
    return screen_of(with_others(all_on_alice()))


def repairing() -> ChatApp:
    return scenes.screen_of(scenes.repairing())


def syncing() -> ChatApp:
    """Alice is back, and part of what she missed comes while she looks."""
    return scenes.screen_of(scenes.coming_back(), play=scenes.history)


def waiting() -> ChatApp:
    return scenes.screen_of(scenes.alone())


def demo(number: int) -> Callable[[], DemoApp]:
    return lambda: DemoApp(Timed(played=Recording(number, SEED)))


# -- what was done there ---------------------------------------------------------------------------


async def select(pilot: Pilot[Any]) -> None:
    """Put the cursor on the second message from below."""
    await pressing("ctrl+t", "k", "k")(pilot)
    await until(pilot, lambda: "Enter details" in shown(pilot.app))


async def open_details(pilot: Pilot[Any]) -> None:
    await select(pilot)
    await pressing("enter")(pilot)


async def search(pilot: Pilot[Any]) -> None:
    await pilot.pause()
    await command(pilot, "/search cable")
    settled = ("hit 1 of 2", "End: newest", "r reply")
    await until(pilot, lambda: all(word in shown(pilot.app) for word in settled))


async def look_for(pilot: Pilot[Any]) -> None:
    await pressing("ctrl+f", *"cable")(pilot)
    screen = pilot.app.screen
    assert isinstance(screen, FindScreen)
    await until(
        pilot, lambda: screen._hits is not None and screen.query_one(Input).value == "cable"
    )
    await until(pilot, lambda: " hit" in shown(pilot.app))
    await pilot.pause()


async def open_members(pilot: Pilot[Any]) -> None:
    await pilot.pause()
    await command(pilot, "/members")
    await pressing("down")(pilot)


async def choose_a_theme(pilot: Pilot[Any]) -> None:
    await pressing("f6")(pilot)
    choices = pilot.app.screen.query_one(OptionList)
    choices.highlighted = choices.get_option_index(schema.THEME.name)
    await pressing("right")(pilot)


async def see_the_doctor(pilot: Pilot[Any]) -> None:
    findings = [
        Finding("Python", "3.11.7"),
        Finding("profile and database", "sound, in /home/alice/.local/share/chat-tui/default"),
        Finding("disk", "writable, 48.2 GB free"),
        Finding("network interface", "192.168.1.20 (wlan0)"),
        Finding("multicast", "joined 224.0.0.251"),
        Finding("UDP port 5353", "can be used"),
        Finding(
            "announcement heard back",
            "not within 3 s",
            "A firewall or the access point drops multicast: allow UDP port 5353, "
            "or use /connect HOST:PORT.",
        ),
        Finding("TCP port", "46021 was reached by this computer; nobody who is here dialled it"),
        Finding("other chats", "none is announced here now", tested=False),
    ]
    content = doctor_content(findings, "All tests are done.", pilot.app.size.width)
    await pilot.pause()
    pilot.app.push_screen(TextScreen("Doctor", lambda: content))
    await pilot.pause()


def watching(seconds: float, *keys: str) -> Act:
    """Watch a scenario of the demo for so long, from its sentence on; then press keys."""

    async def watch(pilot: Pilot[Any]) -> None:
        await ready(pilot)
        screen = pilot.app.screen
        assert isinstance(screen, Timed)
        screen.see(int(seconds * SECOND))
        await pressing(*keys)(pilot)
        screen.paint()
        await pilot.pause()

    return watch


nothing: Final = pressing()

PICTURES: Final = {
    "main_wide": Picture(morning, WIDE, nothing),
    "main_narrow": Picture(morning, NARROW, nothing),
    "main_small": Picture(morning, SMALL, nothing),
    "details": Picture(repairing, NARROW, open_details),
    "details_wide": Picture(morning, WIDE, open_details),
    "answers": Picture(lambda: scenes.screen_of(scenes.answers()), NARROW, pressing("ctrl+t")),
    "markup": Picture(lambda: scenes.screen_of(marked_talk()), WIDE, pressing("ctrl+t", "j")),
    "search": Picture(morning, NARROW, search),
    "search_panel": Picture(morning, WIDE, look_for),
    "repair_wide": Picture(repairing, WIDE, pressing("f2", "1", "j")),
    "repair_narrow": Picture(repairing, NARROW, pressing("f2", "1", "j")),
    "debug_causal": Picture(repairing, WIDE, pressing("f2", "2")),
    "debug_bloom": Picture(repairing, WIDE, pressing("f2", "3")),
    "debug_now": Picture(repairing, WIDE, pressing("f2", "0", "j")),
    "debug_wire": Picture(repairing, WIDE, pressing("f2", "5", "j")),
    "debug_trace": Picture(repairing, WIDE, pressing("f2", "6", "j")),
    "debug_opened": Picture(repairing, WIDE, pressing("f2", "j", "j", "enter")),
    "sync_wide": Picture(syncing, WIDE, pressing("f2", "4", "j")),
    "sync_narrow": Picture(syncing, NARROW, nothing),
    "peers": Picture(known, NARROW, pressing("f3", "down")),
    "members": Picture(governed, NARROW, open_members),
    "removed": Picture(lambda: screen_of(removed(reason="spam")), NARROW, nothing),
    "verify": Picture(known, NARROW, pressing("f3", "v")),
    "changed_key": Picture(lambda: known(impostor=True), NARROW, nothing),
    "clock": Picture(ahead, NARROW, nothing),
    "demo_opening": Picture(demo(3), WIDE, watching(2)),
    "demo_wide": Picture(demo(3), WIDE, watching(14.5)),
    "demo_narrow": Picture(demo(5), NARROW, watching(40)),
    "demo_small": Picture(demo(4), SMALL, watching(29)),
    "demo_crowd": Picture(demo(7), WIDE, watching(12.5)),
    "demo_protocol": Picture(demo(3), WIDE, watching(14.5, "tab", "tab", "d")),
    "demo_promises": Picture(demo(9), NARROW, watching(80)),
    "settings": Picture(morning, WIDE, choose_a_theme),
    "palette": Picture(morning, NARROW, pressing("ctrl+p", *"pe")),
    "first_run": Picture(scenes.first_run, NARROW, nothing),
    "waiting": Picture(waiting, NARROW, nothing),
    "doctor": Picture(morning, NARROW, see_the_doctor),
    "help": Picture(morning, WIDE, pressing("f1")),
    "light": Picture(themed("textual-light"), WIDE, pressing("f2")),
    "high_contrast": Picture(themed("high-contrast"), NARROW, nothing),
}
