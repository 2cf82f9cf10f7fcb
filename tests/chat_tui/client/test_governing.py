"""Acts in governed channels, as the faces of the chat see them."""

from pathlib import Path

import pytest

from sync.errors import LocalError
from sync.net.invite import decode
from sync.view.governance_infos import Role
from tests.support.chat_tui.chats import opened, running
from tests.support.chat_tui.live_clients import lobby

pytestmark = pytest.mark.net


async def test_a_founded_channel_is_among_ours_and_is_there_after_a_restart(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        team = await alice.governing.found("team")
        await alice.send_text(team, "hello")
        info = next(one for one in alice.snapshot().channels if one.channel == team)
        second = await alice.governing.found("#team")

        assert info.governance is not None
        assert info.governance.role is Role.OWNER
        assert alice.memberships[second].name == "team-2"
    async with opened(tmp_path, "alice") as alice:
        assert alice.memberships[team].governed
        assert [line.text for line in await alice.history.page(team, before=None, limit=9)] == [
            "hello"
        ]


async def test_a_successor_s_code_is_posted_where_it_goes_on_from(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        plans = await alice.memberships.create("plans")
        successor = await alice.governing.govern(plans)
        [line] = await alice.history.page(plans, before=None, limit=9)

        code = decode(line.text.rpartition(" ")[2])
        assert line.text.startswith("#plans goes on as a governed channel.")
        assert (code.channel, code.name) == (successor, "plans")
        with pytest.raises(LocalError, match="governed already"):
            await alice.governing.govern(successor)
        with pytest.raises(LocalError, match="open to everybody"):
            await alice.governing.govern(lobby(alice))


async def test_a_governed_channel_gives_no_code_that_old_programs_read(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        team = await alice.governing.found("team")

        with pytest.raises(LocalError, match="/invite"):
            alice.memberships.invite(team)
        assert decode(await alice.governing.invite(team)).entry is not None


async def test_a_code_makes_a_channel_ours_though_nobody_is_there(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        team = await alice.governing.found("team")
        code = await alice.governing.invite(team)
    async with running(tmp_path, "bob") as bob:
        assert await bob.governing.join(code) == team
        with pytest.raises(LocalError, match="not known yet"):
            await bob.send_text(team, "anybody?")
        with pytest.raises(LocalError, match="no invite code"):
            await bob.governing.join("#team")
    async with opened(tmp_path, "bob") as bob:
        assert bob.memberships[team].genesis == alice.memberships[team].genesis


async def test_who_leaves_has_the_channel_no_more(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        team = await alice.governing.found("team")
        await alice.governing.leave(team)

        assert team not in alice.memberships
        with pytest.raises(LocalError, match="/join it first"):
            await alice.governing.rotate(team)
