"""Acts in governed channels, as the faces of the chat see them."""

from pathlib import Path

import pytest

from chat_tui.client.live import Client
from sync.errors import LocalError
from sync.machine import ChannelId
from sync.net.invite import decode
from sync.view.governance_infos import Role
from tests.support.chat_tui.chats import meet, opened, running
from tests.support.chat_tui.live_clients import Heard, lobby
from tests.support.sync.nodes import until

pytestmark = pytest.mark.net

NEVER = (3600.0, 3600.0)
"""Seconds until a program changes the secret because somebody who is out has it."""


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
        lines = await alice.history.page(team, before=None, limit=9)
        assert [line.text for line in lines if line.act is None] == ["hello"]


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


async def test_a_first_start_with_a_code_enters_once_somebody_is_there(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        team = await alice.governing.found("team")
        code = await alice.governing.invite(team)
        async with running(tmp_path, "bob", channel=code) as bob:
            assert bob.first_channel == team
            await bob.connect("127.0.0.1", alice.profile.settings.port or 0)

            await until(lambda: member(alice, team, bob), "bob is in")
            await until(lambda: member(bob, team, alice), "and knows who else is")


async def test_who_is_added_and_knows_nothing_of_the_channel_is_sent_its_code(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, "alice") as alice, running(tmp_path, "bob") as bob:
        heard = Heard(bob)
        team = await alice.governing.found("team")
        await meet(alice, bob)
        await until(lambda: alice.snapshot().peers, "alice sees bob")
        await alice.governing.add(team, bob.identity.peer_id, Role.READER)
        assert member(alice, team, bob)

        [text] = await heard.texts(1)
        assert text.startswith("You are in #team now.")
        await bob.governing.join(text.rpartition(" ")[2])
        await until(lambda: member(bob, team, bob), "bob knows that he is in")

        await alice.governing.remove(team, [bob.identity.peer_id])
        await alice.governing.add(team, bob.identity.peer_id)
        await until(lambda: role_of(bob, team, bob) is Role.MEMBER, "bob is in again")


async def test_who_leaves_has_the_channel_no_more(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        team = await alice.governing.found("team")
        await alice.governing.leave(team)

        assert team not in alice.memberships
        with pytest.raises(LocalError, match="/join it first"):
            await alice.governing.rotate(team)


async def test_a_leave_is_heard_by_whoever_is_there(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice, running(tmp_path, "bob") as bob:
        team = await alice.governing.found("team")
        await meet(alice, bob)
        await bob.governing.join(await alice.governing.invite(team))
        await until(lambda: member(alice, team, bob), "bob is in")

        await bob.governing.leave(team)

        await until(lambda: not member(alice, team, bob), "alice hears it")
        assert team not in bob.memberships
        assert not bob.memberships.leaving()


async def test_a_leave_made_alone_is_kept_until_somebody_has_heard_it(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice, running(tmp_path, "bob") as bob:
        team = await alice.governing.found("team")
        await meet(alice, bob)
        await bob.governing.join(await alice.governing.invite(team))
        await until(lambda: member(alice, team, bob), "bob is in")
    async with running(tmp_path, "bob") as bob:
        await bob.governing.leave(team)
        assert [one.channel for one in bob.memberships.leaving()] == [team]
        assert team not in {info.channel for info in bob.snapshot().channels}
    async with running(tmp_path, "bob") as bob, running(tmp_path, "alice") as alice:
        assert team not in bob.memberships
        await meet(alice, bob)

        await until(lambda: not member(alice, team, bob), "alice hears it")
        await until(lambda: not bob.memberships.leaving(), "bob knows that she did")
    async with opened(tmp_path, "bob") as bob:
        assert not bob.memberships.leaving()
        assert bob.memberships.has_left(team)


async def test_a_leave_that_is_heard_late_ends_no_channel_that_was_joined_again(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, "alice") as alice, running(tmp_path, "bob") as bob:
        team = await _both_in(alice, bob)
        code = await alice.governing.invite(team)
    async with running(tmp_path, "bob") as bob:
        await bob.governing.leave(team)
        await bob.governing.join(code)

        await bob.memberships.heard(team)

        assert team in bob._node.groups


def member(client: Client, channel: ChannelId, other: Client) -> bool:
    """Return whether somebody is in, as a client knows it."""
    info = next(one for one in client.snapshot().channels if one.channel == channel)
    assert info.governance is not None
    return other.identity.peer_id in {one.peer for one in info.governance.members}


def is_there(client: Client, channel: ChannelId, other: Client) -> bool:
    """Return whether a link to somebody carries a channel, as a client knows it."""
    info = next(one for one in client.snapshot().channels if one.channel == channel)
    return other.identity.peer_id in info.peers


def role_of(client: Client, channel: ChannelId, other: Client) -> Role:
    """Return somebody's role, as a client knows it."""
    info = next(one for one in client.snapshot().channels if one.channel == channel)
    assert info.governance is not None
    roles = {one.peer: one.role for one in info.governance.members}
    return roles.get(other.identity.peer_id, Role.NONE)


async def test_who_left_comes_back_by_a_code_that_is_asked_for_then(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice, running(tmp_path, "bob") as bob:
        alice._node.governing.epochs.rotate_after = NEVER
        team = await _both_in(alice, bob)
        code = await alice.governing.invite(team)
        await _leaves(alice, bob, team)

        new = await alice.governing.invite(team)
        assert new != code
        assert new == await alice.governing.invite(team)
        await bob.governing.join(new)

        await until(lambda: member(bob, team, bob), "bob is in again, and knows it")


async def test_a_new_code_lets_in_also_where_an_old_one_was_tried_before(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice, running(tmp_path, "bob") as bob:
        alice._node.governing.epochs.rotate_after = NEVER
        team = await _both_in(alice, bob)
        code = await alice.governing.invite(team)
        await _leaves(alice, bob, team)
        await bob.governing.join(code)
        await until(lambda: bob._node.governing.entering._tickets[team] == {}, "it was tried")

        await bob.governing.join(await alice.governing.invite(team, Role.READER))

        await until(lambda: role_of(bob, team, bob) is Role.READER, "bob is in again")


async def test_who_left_and_is_added_is_sent_the_code_and_is_there_once_they_have_joined(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, "alice") as alice, running(tmp_path, "bob") as bob:
        heard = Heard(bob)
        team = await _both_in(alice, bob)
        await _leaves(alice, bob, team)

        await alice.governing.add(team, bob.identity.peer_id)

        [text] = await heard.texts(1)
        added = is_there(alice, team, bob)
        await bob.governing.join(text.rpartition(" ")[2])
        await until(lambda: member(bob, team, bob), "bob is in again, and knows it")
        await until(lambda: is_there(alice, team, bob), "bob is there")
        assert not added


async def _both_in(alice: Client, bob: Client) -> ChannelId:
    """Found a channel, and have bob enter it by a code."""
    team = await alice.governing.found("team")
    await meet(alice, bob)
    await bob.governing.join(await alice.governing.invite(team))
    await until(lambda: member(bob, team, bob), "bob is in")
    return team


async def _leaves(alice: Client, bob: Client, team: ChannelId) -> None:
    """Have bob leave, and wait until alice has heard it."""
    await bob.governing.leave(team)
    await until(lambda: not member(alice, team, bob), "alice hears it")
    await until(lambda: team not in bob._node.groups, "bob has let go of it")
