"""Finding in all channels: the panel, /grep and /mentions, and the way to another channel."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
from textual.pilot import Pilot

from chat_tui.app.app import ChatApp
from chat_tui.client.live import Client
from chat_tui.commands.command import At
from chat_tui.commands.table import Commands
from sync.machine import ChannelId
from tests.support.chat_tui.chats import meet, opened, running
from tests.support.chat_tui.live_clients import Heard, lobby
from tests.support.chat_tui.live_screens import screen, until
from tests.support.chat_tui.readings import selected, shown

pytestmark = pytest.mark.net


@asynccontextmanager
async def in_two_channels(
    data_dir: Path, size: tuple[int, int] = (100, 30)
) -> AsyncIterator[tuple[ChatApp, Pilot[None], Client, ChannelId]]:
    """Alice's screen, open at #lobby, and #plans, where bob has named her."""
    async with (
        opened(data_dir, "alice") as alice,
        running(data_dir, "bob") as bob,
        screen(alice, size) as (app, pilot),
    ):
        await alice.memberships.join("#plans")
        plans = await bob.memberships.join("#plans")
        from_alice = Heard(alice)
        await meet(bob, alice)
        await bob.send_text(plans, "alice, the pump is at https://example.com/pump")
        await from_alice.texts(1)
        await alice.send_text(lobby(alice), "a pump is no plum")
        await from_alice.texts(2)
        await until(pilot, lambda: "a pump is no plum" in shown(app))
        yield app, pilot, alice, plans


def is_said(app: ChatApp, words: str) -> bool:
    return words in shown(app)


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_a_hit_of_another_channel_is_gone_to_and_the_next_one_is_back_here(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async with in_two_channels(tmp_path, size) as (app, pilot, alice, plans):
        await pilot.press("ctrl+f", "ctrl+f", *"plum")
        await until(pilot, lambda: "1 hit" in shown(app))
        of_open_channel = shown(app)
        await pilot.press(*["backspace"] * 3, *"ump")
        await until(pilot, lambda: "2 hits" in shown(app))
        listed = shown(app)
        await pilot.press("down", "enter")
        await until(pilot, lambda: app.transcript.conversation.channel == plans)
        await until(pilot, lambda: "the pump is at" in selected(app))
        await until(pilot, lambda: "hit 2 of 2" in shown(app))
        there = shown(app).splitlines()[0]
        await pilot.press("N")
        await until(pilot, lambda: selected(app) == "a pump is no plum")
        here = app.transcript.conversation.channel

    assert "#lobby alice: a pump is no plum" in of_open_channel, "all channels are searched"
    assert "#plans bob: alice, the pump is" in listed
    assert "#lobby alice: a pump is" in listed
    assert there.strip().startswith("#plans")
    assert here == lobby(alice)


async def test_filters_of_the_panel_reach_over_channels(tmp_path: Path) -> None:
    async with in_two_channels(tmp_path) as (app, pilot, _alice, _plans):
        await pilot.press("ctrl+f")
        for text, says in [
            ("from:bob in:#plans has:link", "1 hit"),
            ("in:#plans before:yesterday has:link", "No message here fits"),
            ("pump in:all since:today", "2 hits"),
            ("from:me in:all", "1 hit"),
        ]:
            app.screen.query_one("#search").value = text  # type: ignore[attr-defined]
            await until(pilot, partial(is_said, app, says))


async def test_grep_and_mentions_are_of_all_channels_unless_one_says_here(tmp_path: Path) -> None:
    async with in_two_channels(tmp_path) as (app, pilot, alice, plans):
        here = At(lobby(alice))
        said = [
            (await Commands(alice).run(line, here)).text
            for line in ("/grep pu.p", "/grep here pu.p", "/mentions", "/mentions here")
        ]
        app.action_submit("/mentions")
        await until(pilot, lambda: "Enter goes" in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: app.transcript.conversation.channel == plans)
        await until(pilot, lambda: "the pump is at" in selected(app))

    assert said[0].startswith("2 messages of 2 match pu.p")
    assert "#plans bob" in said[0]
    assert said[1].startswith("1 message of 1 matches pu.p")
    assert said[2].startswith("1 message names alice")
    assert said[3] == "Nobody has mentioned alice here."
