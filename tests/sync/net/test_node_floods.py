"""A flood among real nodes with real disks, on 127.0.0.1."""

from pathlib import Path

import pytest

from tests.support.sync.eve import Eve, joined
from tests.support.sync.nodes import HOST, TEA, Host, host, meet, stations, until

pytestmark = pytest.mark.net

LINES = 2_000


def waiting(one: Host) -> int:
    """Count the messages that wait there, according to its snapshot."""
    return sum(peer.waiting for peer in one.node.snapshot().peers)


async def test_a_line_of_a_friend_is_shown_long_before_a_flood_is_read(tmp_path: Path) -> None:
    eve = Eve()
    flood = [eve.author.write("flood", after=eve.author.entries[-2:]) for _ in range(LINES)]
    async with (
        host(tmp_path, "alice", "tea") as alice,
        host(tmp_path, "bob", "tea") as bob,
        stations(eve),
    ):
        await meet(alice, bob)
        await joined(eve, alice)
        await eve.mesh.connect(HOST, bob.port)
        await until(lambda: len(eve.shared) == 2, "eve is linked to both")
        for line in flood:
            eve.mesh.broadcast(TEA, line.payload)
        eve.mesh.flush()
        await until(lambda: waiting(alice), "the backlog is shown")
        await bob.write(TEA, "a line of a friend")
        await until(lambda: "a line of a friend" in alice.texts(), "alice has it")
        before = alice.texts().count("flood")
        await until(lambda: alice.texts().count("flood") == LINES, "nothing of the flood is lost")

        assert before < LINES // 2
