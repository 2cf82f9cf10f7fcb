"""Real nodes with long histories: many logs of which a few grew, and a newcomer stopped midway."""

from pathlib import Path

import pytest

from sync.machine import HOUR, ChannelId
from sync.manager.registry import WITH_CALIMERO, WITH_STATE
from sync.view.view import SyncShown
from tests.support.storage.archives import histories, in_causal_order
from tests.support.sync.meetings.stocks import NAME, TEA, stock
from tests.support.sync.nodes import Host, host, meet, until

pytestmark = [pytest.mark.net, pytest.mark.slow]

GROWN = 50


def held(member: Host, channel: ChannelId = TEA) -> int:
    return len(member.node._runner.groups[channel].sds.log.order)


@pytest.mark.parametrize("entries", [10, pytest.param(100, marks=pytest.mark.grid)])
async def test_of_a_thousand_logs_fifty_grew(tmp_path: Path, entries: int) -> None:
    async with host(tmp_path, "clock") as member:
        ended = member.node.clock.now() - 2 * HOUR
    logs = histories(1_000, entries, ended, TEA)
    everything = in_causal_order(logs)
    grown = {log[-1].entry.message_id for log in logs[:GROWN]}
    await stock(tmp_path, "alice", everything)
    await stock(tmp_path, "bob", [one for one in everything if one.entry.message_id not in grown])

    async with (
        host(tmp_path, "alice", NAME, protocols=WITH_CALIMERO) as alice,
        host(tmp_path, "bob", NAME, protocols=WITH_CALIMERO) as bob,
    ):
        assert held(bob) == len(everything) - GROWN
        await meet(alice, bob)
        await until(lambda: held(bob) == len(everything), "bob has the new ones")
        await until(lambda: by_logs(bob), "the session is over")

    [session] = by_logs(bob)
    assert (session.protocol, session.got) == ("sets", GROWN)
    assert session.bytes_in + session.bytes_out < 22_000 + GROWN * 400


async def test_a_newcomer_stopped_three_times_takes_everything_once(tmp_path: Path) -> None:
    async with host(tmp_path, "clock") as member:
        ended = member.node.clock.now() - 2 * HOUR
    everything = in_causal_order(histories(10, 1_000, ended, TEA))
    await stock(tmp_path, "alice", everything)
    async with host(tmp_path, "alice", NAME, protocols=WITH_STATE) as alice:
        for share in (2_000, 4_000, 6_000):
            async with host(tmp_path, "bob", NAME, protocols=WITH_STATE) as bob:
                await meet(alice, bob)
                await reach(bob, share)
        async with host(tmp_path, "bob", NAME, protocols=WITH_STATE) as bob:
            before = held(bob)
            await meet(alice, bob)
            await reach(bob, len(everything))
            await until(lambda: by_logs(bob), "the session is over")

    assert before < len(everything)
    assert sum(one.got for one in by_logs(bob)) <= len(everything) - before


async def reach(member: Host, count: int) -> None:
    await until(lambda: held(member) >= count, f"{count} have come")


def by_logs(member: Host) -> list[SyncShown]:
    return [one for one in member.shown(SyncShown) if one.protocol != "waku" and one.got]
