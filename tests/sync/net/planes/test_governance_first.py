"""Real nodes of a governed channel of four: who is in is known alike before lines are compared."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from storage.sqlite.journal import SqliteJournal
from sync.calimero.governance.ops import Role, SetRole
from sync.group.values import OpsArrived
from sync.view.governance_infos import PendingShown
from sync.view.view import SyncShown
from tests.support.sync.governed_nodes import (
    Club,
    add,
    enter,
    found,
    governance,
    key_of,
    role,
    same_heads,
)
from tests.support.sync.nodes import HOST, Host, host, until

pytestmark = pytest.mark.net

LINES = 8
OPS = 8
FIRST = "goes on by governance: who is in is known differently"


def held(one: Host, club: Club) -> int:
    return len(one.node.groups[club.channel].sds.log.order)


async def linked(club: Club, one: Host, other: Host) -> None:
    await one.node.mesh.connect(HOST, other.port)
    await same_heads(club, one, other)
    for here, there in ((one, other), (other, one)):
        await until(lambda: there.me in here.node.groups[club.channel].peers, "linked")  # noqa: B023


async def told(club: Club, teller: Host, *others: Host) -> None:
    """Give others all acts without a link, as a carried file would."""
    acts = [act.id for act in governance(teller, club).dag.acts]
    journal = SqliteJournal(teller.database, teller.me)
    contents = await journal.load_ops(club.channel, acts)
    for one in others:
        one.node.queue_input(club.channel, OpsArrived(teller.me, contents))
    await same_heads(club, teller, *others)


@asynccontextmanager
async def four(tmp_path: Path) -> AsyncIterator[tuple[Host, Host, Host, Host]]:
    async with (
        host(tmp_path, "alice") as alice,
        host(tmp_path, "bob") as bob,
        host(tmp_path, "carol") as carol,
        host(tmp_path, "dave") as dave,
    ):
        yield alice, bob, carol, dave


async def test_two_halves_that_governed_apart_pull_acts_first_and_then_lines(
    tmp_path: Path,
) -> None:
    async with four(tmp_path) as everybody:
        alice, bob, carol, dave = everybody
        club = await found(alice)
        for one, named in ((bob, Role.MEMBER), (carol, Role.ADMIN), (dave, Role.MEMBER)):
            await enter(one, club)
            await add(alice, club, one, named)
        await told(club, alice, bob, carol, dave)
        await linked(club, alice, bob)
        await linked(club, carol, dave)
        for by, about in ((alice, bob), (carol, dave)):
            for number in range(OPS):
                new = Role.MEMBER if number % 2 else Role.READER
                await by.node.act(club.channel, SetRole(key_of(about), new))
            await same_heads(club, by, about)
            await asyncio.gather(*[by.write(club.channel, f"{number}") for number in range(LINES)])
            await until(lambda: held(about, club) == LINES, "both have it")  # noqa: B023

        await bob.node.mesh.connect(HOST, carol.port)
        await until(lambda: all(held(one, club) == 2 * LINES for one in everybody), "all is here")
        await same_heads(club, *everybody)

        assert {role(one, club, dave) for one in everybody} == {Role.MEMBER}
        assert not [event for one in everybody for event in one.shown(PendingShown)]
        met = [one for one in bob.shown(SyncShown) if one.peer == carol.me and not one.of_state]
        assert met[0].result == FIRST, "before any line is compared"
        assert any(one.got and one.outcome == "converged" for one in met[1:])
