"""Slow links between real nodes: their machines are told, and told when that is over."""

from pathlib import Path

import pytest

from sync.group import values
from sync.machine import SECOND
from tests.support.sync.nodes import TEA, host, meet, until

pytestmark = pytest.mark.net


async def test_the_machines_are_told_of_a_slow_link_and_when_it_is_fast_again(
    tmp_path: Path,
) -> None:
    async with host(tmp_path, "alice", "tea") as alice, host(tmp_path, "bob", "tea") as bob:
        await meet(alice, bob)
        mesh, engine = alice.node.mesh, alice.node.engine
        link = mesh.peers.link_to(bob.me, TEA)
        assert link is not None
        group = engine.runner.groups[TEA]
        assert group.timed == values.LinksTimed(())

        link.rtts.extend([8 * SECOND] * 2)  # as if the last pongs had come so late
        link.ping(alice.clock.now(), alice.clock.wall())
        await until(lambda: group.timed.pace == 8 * SECOND, "it is told")
        told = group.timed
        link.rtts.clear()
        link.rtts.append(0)
        link.ping(alice.clock.now(), alice.clock.wall())
        await until(lambda: group.timed.pace == 0, "it is told again")

        assert told.slow == ((bob.me, 8 * SECOND),)
        assert group.timed == values.LinksTimed(())
