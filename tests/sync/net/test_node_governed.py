"""Governed channels of whole nodes on 127.0.0.1: ops reach everybody, and decide who gets what."""

from pathlib import Path

import pytest

from sync.calimero.governance.ops import Leave, Role, SetRole
from sync.errors import LocalError
from sync.machine import SECOND
from tests.support.sync.governed_nodes import (
    add,
    enter,
    found,
    governance,
    key_of,
    role,
    same_heads,
)
from tests.support.sync.nodes import HOST, host, meet, until

pytestmark = pytest.mark.net


async def test_who_is_let_in_learns_of_it_and_both_read_each_other(tmp_path: Path) -> None:
    async with host(tmp_path, "alice", "tea") as alice, host(tmp_path, "bob", "tea") as bob:
        club = await found(alice)
        await enter(bob, club)
        await meet(alice, bob)
        await until(lambda: governance(bob, club).dag.acts, "bob has the genesis")
        assert role(bob, club, bob) is Role.NONE

        await add(alice, club, bob)
        await same_heads(club, alice, bob)
        await until(lambda: bob.me in alice.node.groups[club.channel].peers, "bob is in")
        await until(lambda: alice.me in bob.node.groups[club.channel].peers, "alice is in")
        await bob.write(club.channel, "thank you")
        await until(lambda: "thank you" in alice.texts(), "alice reads it")
        await alice.write(club.channel, "welcome")
        await until(lambda: "welcome" in bob.texts(), "bob reads it")


async def test_an_op_reaches_everybody_at_once(tmp_path: Path) -> None:
    async with (
        host(tmp_path, "alice") as alice,
        host(tmp_path, "bob") as bob,
        host(tmp_path, "carol") as carol,
    ):
        club = await found(alice)
        await enter(bob, club)
        await enter(carol, club)
        await add(alice, club, bob)
        await add(alice, club, carol)
        await alice.node.mesh.connect(HOST, bob.port)
        await alice.node.mesh.connect(HOST, carol.port)
        await same_heads(club, alice, bob, carol)
        for one in (bob, carol):
            await until(lambda: one.me in alice.node.groups[club.channel].peers, "in")  # noqa: B023

        began = alice.node.clock.now()
        await alice.node.act(club.channel, SetRole(key_of(bob), Role.ADMIN))
        await same_heads(club, alice, bob, carol)

        assert alice.node.clock.now() - began < SECOND  # before any heartbeat
        assert role(carol, club, bob) is Role.ADMIN


async def test_what_may_not_be_done_is_said_and_changes_nothing(tmp_path: Path) -> None:
    async with host(tmp_path, "alice") as alice, host(tmp_path, "bob") as bob:
        club = await found(alice)
        before = governance(alice, club).heads

        with pytest.raises(LocalError, match="They are not in this channel"):
            await alice.node.act(club.channel, SetRole(key_of(bob), Role.ADMIN))
        with pytest.raises(LocalError, match="not in that channel"):
            await bob.node.act(club.channel, Leave())

        assert governance(alice, club).heads == before
