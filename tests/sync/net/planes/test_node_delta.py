"""Delta sync of whole nodes on 127.0.0.1: holes are found by themselves, by kind and reason."""

from pathlib import Path

import pytest

from sync.machine import HOUR
from sync.view.view import SyncShown
from tests.support.storage.archives import archive
from tests.support.sync.entries import identity
from tests.support.sync.meetings.stocks import TEA, stock
from tests.support.sync.nodes import Host, host, meet, until

pytestmark = pytest.mark.net

LINES = 200


def held(member: Host) -> int:
    return len(member.node.groups[TEA].sds.log.order)


def sessions_of(member: Host) -> list[SyncShown]:
    return [one for one in member.events if isinstance(one, SyncShown) and not one.of_state]


async def stocked(tmp_path: Path, *lacking: set[int]) -> None:
    """Give alice and bob the same past, but for lines at some places."""
    async with host(tmp_path, "clock") as member:
        began = member.node.clock.now() - 2 * HOUR
    past = archive("carol", LINES, began, channel=TEA)
    for name, but in zip(("alice", "bob"), lacking, strict=True):
        await stock(tmp_path, name, [one for at, one in enumerate(past) if at not in but])


async def test_one_lost_line_is_found_by_delta_sync_on_a_new_link(tmp_path: Path) -> None:
    await stocked(tmp_path, set(), {LINES // 2})

    async with host(tmp_path, "alice", "tea") as alice, host(tmp_path, "bob", "tea") as bob:
        assert held(bob) == LINES - 1
        await meet(alice, bob)
        await until(lambda: held(bob) == LINES, "bob has the line")
        await until(lambda: sessions_of(alice) and sessions_of(bob), "the session is over")

    [ours], [theirs] = sessions_of(alice), sessions_of(bob)
    for one in (ours, theirs):
        assert (one.protocol, one.result) == ("delta", "reconciled")
    assert sorted([ours.why, theirs.why]) == ["new link", "the peer began it"]
    assert (ours.have, theirs.need, theirs.got) == (1, 1, 1)
    assert theirs.bytes_in + theirs.bytes_out < 3_000


async def test_holes_of_both_are_filled_in_one_session(tmp_path: Path) -> None:
    await stocked(tmp_path, set(range(40, 80)), {5, 17, 100, 101, 150})

    async with host(tmp_path, "alice", "tea") as alice, host(tmp_path, "bob", "tea") as bob:
        await meet(alice, bob)
        await until(lambda: held(alice) == held(bob) == LINES, "both have all")
        await until(lambda: sessions_of(alice) and sessions_of(bob), "the session is over")

    assert [one.protocol for one in sessions_of(alice)] == ["delta"]
    assert sum(one.got for one in sessions_of(alice)) == 40
    assert sum(one.got for one in sessions_of(bob)) == 5


async def test_a_person_may_ask_for_delta_sync_alone(tmp_path: Path) -> None:
    await stocked(tmp_path, set(), set())

    async with host(tmp_path, "alice", "tea") as alice, host(tmp_path, "bob", "tea") as bob:
        await meet(alice, bob)
        await until(lambda: sessions_of(alice), "the first session is over")
        alice.events.clear()
        alice.node.ask_sync(TEA, identity("bob").peer_id, "delta")
        await until(lambda: sessions_of(alice), "it is over")

    [session] = sessions_of(alice)
    assert (session.protocol, session.why) == ("delta", "asked by the person")
    assert session.result == "both have the same"
