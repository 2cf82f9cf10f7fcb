"""A history of more ids than a session has room for comes in several sessions, each message once.

The room is small here, so that 20,000 messages take as many sessions as 400,000.
"""

import pytest

from sync.machine import MILLISECOND, MINUTE, SECOND
from sync.manager.registry import WAKU_ONLY
from sync.sessions import claims
from sync.sim.network import Link
from sync.sim.rooms import CHANNEL
from sync.sim.world import Terms, World
from tests.support.storage.archives import archive, assert_equal

HISTORY = 20_000
ROOM = 20_000
UPLINK = 1_000_000
SLOW = Link(uplink=UPLINK, delay=(MILLISECOND, 10 * MILLISECOND))


@pytest.fixture
def _little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    part, of = claims.SHARE
    monkeypatch.setattr(claims, "CLAIMS_BYTES_MAX", ROOM * of // part * claims.CLAIM_BYTES)


@pytest.mark.slow
@pytest.mark.usefixtures("_little_room")
@pytest.mark.parametrize("first", [True, False])
def test_a_history_beyond_the_room_of_a_session_comes_in_parts(*, first: bool) -> None:
    # Whose key is the smaller one decides whose session goes on where both begin one.
    world = World(2, 0, SLOW, Terms(protocols=WAKU_ONLY))
    late, other = sorted(world.nodes, key=lambda one: one.identity.peer_id, reverse=not first)
    world.crash(late.number)
    history = archive("carol", HISTORY)
    world.preload(other.number, history)
    world.run(20 * SECOND)
    before = world.streams.uplinks.received[late.number]
    world.restart(late.number)
    began = world.now
    while len(late.disk.rows) < HISTORY:
        assert world.now < began + 5 * MINUTE, f"{len(late.disk.rows)} of {HISTORY} came"
        world.run(SECOND // 10)

    took = (world.now - began) / SECOND
    received = world.streams.uplinks.received[late.number] - before
    pushed = sum(len(one.payload) for one in history)
    assert received <= 1.15 * pushed, "some came twice"
    assert took <= 1.15 * received / UPLINK + 5, "nothing came for a while"
    assert late.runner is not None
    brought = [one.got for one in late.runner.groups[CHANNEL].sessions.shown if one.got > 1_000]
    assert len(brought) >= 2
    assert max(brought) <= ROOM
    world.run(20 * SECOND)
    assert_equal(world)
