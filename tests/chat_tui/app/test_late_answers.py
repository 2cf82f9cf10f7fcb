"""Answers of commands that take their time, while somebody writes on."""

from pathlib import Path

import pytest
from textual.pilot import Pilot

from chat_tui.app.app import ChatApp
from chat_tui.client.live import Client
from chat_tui.transcript.choice_screens import ChoiceScreen
from chat_tui.widgets.messages import Submitted
from tests.support.chat_tui.chats import opened
from tests.support.chat_tui.live_clients import lobby
from tests.support.chat_tui.live_screens import screen, until
from tests.support.chat_tui.readings import shown

pytestmark = pytest.mark.net

DONE = "/grep is done. Enter in an empty input opens"
ENDLESS = "(a+)+$"
"""A pattern that takes for ever on a line of many a and one b."""


async def write(app: ChatApp, pilot: Pilot[None], alice: Client, text: str) -> None:
    await alice.send_text(lobby(alice), text)
    await until(pilot, lambda: text in shown(app))


async def begin_while_it_looks(app: ChatApp, pilot: Pilot[None], alice: Client, text: str) -> None:
    """Begin a text before /grep has found something."""
    await write(app, pilot, alice, "a pump")
    app.composer.post_message(Submitted("/grep pu.p"))
    app.composer.text = text
    await until(pilot, lambda: DONE in shown(app))


async def test_a_list_that_comes_late_leaves_the_keys_to_who_writes(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice") as alice, screen(alice) as (app, pilot):
        await begin_while_it_looks(app, pilot, alice, "hello")
        await pilot.press("enter")
        await until(pilot, lambda: "alice hello" in " ".join(shown(app).split()))
        await until(pilot, lambda: DONE in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ChoiceScreen))
        listed = shown(app)

    assert "1 message of 1 matches pu.p" in listed


async def test_a_screen_that_comes_late_does_not_cover_one_that_is_open(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice") as alice, screen(alice) as (app, pilot):
        await write(app, pilot, alice, "a pump")
        app.composer.post_message(Submitted("/grep pu.p"))
        app.action_help()
        helping = app.screen

        def below() -> str:
            return str(app.screen_stack[0].query_one("#status").render())

        await until(pilot, lambda: "/grep is done" in below())
        assert app.screen is helping
        await pilot.press("escape", "enter")
        await until(pilot, lambda: isinstance(app.screen, ChoiceScreen))


async def test_what_waits_is_forgotten_with_the_next_command(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice") as alice, screen(alice) as (app, pilot):
        await begin_while_it_looks(app, pilot, alice, "/topic pumps")
        await pilot.press("enter")
        await until(pilot, lambda: "/grep is done" not in shown(app))
        await pilot.press("enter")
        await pilot.pause()
        assert not isinstance(app.screen, ChoiceScreen)


async def test_a_command_that_takes_long_says_that_it_is_at_work(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice") as alice, screen(alice) as (app, pilot):
        await write(app, pilot, alice, "a" * 40 + "b")
        app.composer.post_message(Submitted(f"/grep {ENDLESS}"))
        await until(pilot, lambda: "/grep is at work; what you write meanwhile" in shown(app))
