"""Real nodes of a governed channel: a newcomer learns who is in, then takes a snapshot."""

import asyncio
from pathlib import Path

import pytest

from sync.calimero.governance.ops import Role
from sync.calimero.state.contents import StateKind, Topic
from sync.machine import MINUTE, ChannelId
from sync.manager import presences
from sync.view.view import SyncShown
from tests.support.sync.coded import enter, founded, governance, in_as
from tests.support.sync.nodes import Host, host, meet, until

pytestmark = pytest.mark.net

LINES = 40


def held(member: Host, channel: ChannelId) -> int:
    return len(member.node.groups[channel].sds.log.order)


def root(member: Host, channel: ChannelId) -> bytes:
    return member.node.groups[channel].holdings.frozen()[1].digest.root


async def test_who_enters_by_a_code_pulls_governance_and_takes_the_rest_by_snapshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presences, "PRESENCE_WITHIN", MINUTE)  # it comes late on a busy machine
    async with (
        host(tmp_path, "alice") as alice,
        host(tmp_path, "bob") as bob,
        host(tmp_path, "carol") as carol,
    ):
        team = await founded(alice)
        code = await alice.node.governing.invite(team)
        await enter(bob, code)
        await meet(bob, alice)
        await in_as(bob, team, Role.MEMBER, alice)
        await asyncio.gather(*[bob.write(team, f"of bob {number}") for number in range(LINES)])
        await asyncio.gather(*[alice.write(team, f"of alice {number}") for number in range(LINES)])
        await until(lambda: held(alice, team) == held(bob, team) == 2 * LINES, "both have all")
        await alice.node.set_state(team, StateKind.TOPIC, Topic("tea at four"))
        await alice.node.governing.remove(team, [bob.me], "spam")
        await in_as(bob, team, Role.NONE, alice)
        code = await alice.node.governing.invite(team)

        await enter(carol, code)
        await meet(carol, alice)
        await in_as(carol, team, Role.MEMBER, alice)
        await until(lambda: held(carol, team) == 2 * LINES, "carol has all")

        taken = [one.result for one in carol.shown(SyncShown) if one.protocol == "snapshot"]
        assert taken == [f"{2 * LINES} messages"]
        assert governance(carol, team).heads == governance(alice, team).heads
        assert root(carol, team) == root(alice, team)
        topic = carol.node.snapshot().channels[0].state.topic
        assert topic is not None
        assert topic.text == "tea at four"
