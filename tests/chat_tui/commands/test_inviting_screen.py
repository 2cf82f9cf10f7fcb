"""Invitations on the screen, between two live chats: sent, taken with a key, and what is said."""

from pathlib import Path

import pytest

from chat_tui.commands.command import At
from chat_tui.commands.table import Commands
from chat_tui.wording.sentences import channel_title
from sync.view.governance_infos import Role
from tests.support.chat_tui.live_screens import beside_bob, until
from tests.support.chat_tui.readings import press, shown


@pytest.mark.net
@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_one_key_on_an_invitation_brings_alice_in_and_nothing_says_that_she_is_not(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async with beside_bob(tmp_path, size) as (app, pilot, bob):
        plans = await bob.governing.found("plans")
        await Commands(bob).run("/invite alice", At(plans))
        client = app._chat

        def role() -> Role | None:
            infos = {channel_title(info): info for info in client.snapshot().channels}
            governance = infos["#plans"].governance if "#plans" in infos else None
            return None if governance is None else governance.role

        await until(pilot, lambda: "@bob" in map(channel_title, client.snapshot().channels))
        await press(pilot, "alt+down")
        await until(pilot, lambda: "▸ join #plans" in shown(app))
        await press(pilot, "ctrl+t")
        await until(pilot, lambda: "J join #plans" in shown(app))
        await press(pilot, "J")
        await until(pilot, lambda: role() is Role.MEMBER)
        await until(pilot, lambda: "bob founded #plans" in shown(app))
        app._tick()
        in_it = shown(app)
        await press(pilot, *"hi", "enter")
        await until(pilot, lambda: "alice  hi" in shown(app))

    assert "as soon as somebody is here" not in in_it
    assert "to #plans" in in_it
