"""Bell, notices and title: what a person hears of a chat that they do not look at."""

from textual import events
from textual.pilot import Pilot

from chat_tui.app.app import ChatApp
from chat_tui.settings import schema
from sync.machine import SECOND, Nanos
from tests.support.chat_tui import scenes
from tests.support.chat_tui.readings import reading
from tests.support.chat_tui.scenes import ALICE, BOB, Scene


def hear(app: ChatApp) -> list[str]:
    """Return a list that collects what the terminal is told from now on."""
    told: list[str] = []
    app._announcer._write = told.append
    return told


async def let_say(scene: Scene, pilot: Pilot[None], text: str, then: Nanos = SECOND) -> None:
    scene.say(BOB, text, then=then)
    pilot.app.call_next(pilot.app._tick)  # type: ignore[attr-defined]  # it is a ChatApp
    await pilot.pause()


async def test_nothing_rings_while_the_channel_is_looked_at() -> None:
    scene = scenes.empty()
    async with reading(scene) as (app, pilot):
        told = hear(app)
        await let_say(scene, pilot, "alice, look")

        assert told == []


async def test_in_another_window_a_mention_rings_and_the_title_counts_until_one_looks() -> None:
    scene = scenes.empty()
    async with reading(scene) as (app, pilot):
        told = hear(app)
        app.post_message(events.AppBlur())
        await pilot.pause()
        await let_say(scene, pilot, "anybody there?")
        await let_say(scene, pilot, "alice, look")
        away = list(told)
        app.post_message(events.AppFocus())
        await pilot.pause()
        app._tick()

        assert away == ["\x1b]2;(1) chat-tui\x1b\\", "\x07", "\x1b]2;(2) chat-tui\x1b\\"]
        assert told[len(away) :] == ["\x1b]2;chat-tui\x1b\\"]


async def test_own_messages_ring_nothing_in_any_window() -> None:
    scene = scenes.empty()
    scene.chat.settings.change(schema.ALERTS, "all")
    async with reading(scene) as (app, pilot):
        told = hear(app)
        app.post_message(events.AppBlur())
        await pilot.pause()
        scene.say(ALICE, "alice here", then=SECOND)
        await pilot.pause()

        assert told == []


async def test_a_desktop_notice_goes_the_way_that_was_set() -> None:
    scene = scenes.empty()
    settings = scene.chat.settings
    settings.change(schema.DESKTOP, "osc777")
    settings.change(schema.TITLE, False)
    settings.change(schema.BELL, False)
    async with reading(scene) as (app, pilot):
        told = hear(app)
        app.post_message(events.AppBlur())
        await pilot.pause()
        await let_say(scene, pilot, "alice; look")

        assert told == ["\x1b]777;notify;chat-tui;bob: alice, look\x1b\\"]
