"""Announcements between simulated nodes: who may ask whom, and what cuts and crashes leave."""

import pytest

from sync.group import values
from sync.machine import MINUTE, SECOND, ChannelId
from sync.manager.announcing import TAKEN_BURST, Announcing
from sync.manager.registry import WAKU_ONLY
from sync.p2panda.announcements import schema_id
from sync.p2panda.messages import Announce, encode
from sync.sessions.protocol import Protocols
from sync.sim.rooms import CHANNEL, further_channel
from sync.sim.world import Terms, World
from sync.view.frame_tap import Tap
from sync.view.view import FrameKind
from sync.waku.session import WAKU_SYNC
from tests.support.toy.session import ANNOUNCED

FAMILY = Protocols((WAKU_SYNC, ANNOUNCED))
PLANS = further_channel(1)
SEEDS = range(3)


def announcing(world: World, number: int) -> Announcing:
    """The machine of a node that is up."""
    runner = world.nodes[number].runner
    assert runner is not None
    return runner.announcing


def may_request(world: World, one: int, other: int, channel: ChannelId = CHANNEL) -> bool:
    """Return whether a node may ask another, as both of them see it, which is the same."""
    seen = announcing(world, one).may_request(world.nodes[other].identity.peer_id, channel)
    given = announcing(world, other).announced_to(world.nodes[one].identity.peer_id, channel)
    assert seen == given
    return seen


def pairs(world: World) -> list[tuple[int, int]]:
    """All ordered pairs of nodes."""
    numbers = range(len(world.nodes))
    return [(one, other) for one in numbers for other in numbers if one != other]


@pytest.mark.parametrize("seed", SEEDS)
def test_each_announces_to_each_the_channels_that_both_are_in(seed: int) -> None:
    world = World(4, seed, terms=Terms(protocols=FAMILY, rooms=(frozenset({0, 1}),)))
    world.run(10 * SECOND)

    assert all(may_request(world, *pair) for pair in pairs(world))
    assert may_request(world, 0, 1, PLANS)
    stranger = world.nodes[2].identity.peer_id
    assert not announcing(world, 0).announced_to(stranger, PLANS)
    for node in world.nodes:
        assert node.disk.counter >= world.began
    world.check()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_cut_forgets_and_a_heal_announces_anew(seed: int) -> None:
    world = World(3, seed, terms=Terms(protocols=FAMILY))
    world.run(10 * SECOND)
    counters = [node.disk.counter for node in world.nodes]

    world.partition({0}, {1, 2})
    world.run(30 * SECOND)

    assert not may_request(world, 0, 1)
    assert may_request(world, 1, 2)
    world.heal()
    world.run(30 * SECOND)
    assert all(may_request(world, *pair) for pair in pairs(world))
    assert all(
        node.disk.counter > before for node, before in zip(world.nodes, counters, strict=True)
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_after_a_crash_it_announces_above_what_it_announced_before(seed: int) -> None:
    world = World(2, seed, terms=Terms(protocols=FAMILY))
    world.run(10 * SECOND)
    before = world.nodes[0].disk.counter
    world.crash(0)
    world.set_clock(0, -5 * MINUTE)  # so that time alone would give a lower one

    world.restart(0)
    world.run(20 * SECOND)

    assert world.nodes[0].disk.counter > before
    assert may_request(world, 1, 0)
    assert may_request(world, 0, 1)


def test_what_a_full_disk_did_not_take_is_not_sent_and_announced_once_it_does() -> None:
    world = World(2, 1, terms=Terms(protocols=FAMILY))
    world.fill_disk(0)
    world.run(20 * SECOND)
    first, second = (node.identity.peer_id for node in world.nodes)
    assert world.nodes[0].disk.counter == 0
    assert announcing(world, 1).standing(first) is not None
    assert not announcing(world, 1).may_request(first, CHANNEL)
    assert announcing(world, 0).may_request(second, CHANNEL)

    world.free_disk(0)
    world.run(20 * SECOND)

    assert may_request(world, 1, 0)


def test_without_such_a_protocol_nothing_is_said() -> None:
    world = World(2, 1, terms=Terms(protocols=WAKU_ONLY))
    for node in world.nodes:
        node.tap = Tap()
    world.run(10 * SECOND)

    for node in world.nodes:
        assert node.tap is not None
        assert FrameKind.ANNOUNCE not in {frame.kind for frame in node.tap.frames()}
        assert node.disk.counter == 0


def test_a_flood_of_announcements_takes_effect_slowly_and_delays_nobody() -> None:
    world = World(3, 1, terms=Terms(protocols=FAMILY))
    world.run(10 * SECOND)
    eve = world.nodes[2].identity.peer_id
    for number in range(1_000):
        payload = encode(Announce(1, world.now + number, (schema_id(CHANNEL),)))
        world.give(0, values.LogsAnnounced(eve, payload))
    world.write_text(1, "hello")
    world.run(SECOND)

    refused = [one for one in world.witness.failures if one.event.peer == eve]  # type: ignore[union-attr]  # of announcements
    assert 1_000 - TAKEN_BURST - 16 <= len(refused) <= 1_000 - TAKEN_BURST
    assert {str(one.error) for one in refused} == {"announces author logs over 8 times a second"}
    assert world.converged()
    world.check_bounds()
