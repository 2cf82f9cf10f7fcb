"""A newcomer among many fetches the history once, from all of them, whoever stops or lies.

Everybody sends 2 Mbit/s at most, so that bytes and seconds are those of a slow network.
"""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from sync.group.values import PAGE
from sync.machine import MILLISECOND, MINUTE, SECOND, Nanos
from sync.manager.registry import WAKU_ONLY, WITH_P2PANDA
from sync.sessions.protocol import Protocols
from sync.sessions.session import STALLED_AFTER
from sync.sim.network import Link
from sync.sim.node import Node
from sync.sim.rooms import CHANNEL
from sync.sim.world import Terms, World
from tests.support.grids import with_grid
from tests.support.storage.archives import archive, assert_equal, divided, preloaded, scattered

pytestmark = pytest.mark.slow

HISTORY = 3_000
SLOW = Link(uplink=250_000, delay=(MILLISECOND, 10 * MILLISECOND))
SEEDS = with_grid([0], [1, 2])


@dataclass(frozen=True)
class Fetched:
    """Time and bytes received from the first link until all was there."""

    seconds: float
    size: int


def before_joining(peers: int, seed: int, protocols: Protocols = WAKU_ONLY) -> World:
    """Many who share a history; the last one, who has nothing, is not there yet."""
    world = World(peers + 1, seed, SLOW, Terms(protocols=protocols))
    world.crash(peers)
    for number in range(peers):
        world.preload(number, archive("carol", HISTORY))
    world.run(20 * SECOND)
    return world


def fetch(world: World, within: Nanos = 2 * MINUTE) -> Fetched:
    """Let the last one join, until it holds everything, and then for a while."""
    late = world.nodes[-1]
    received = world.streams.uplinks.received
    before = received[late.number]
    world.restart(late.number)
    run_until(world, lambda: bool(late.joined))
    began = world.now
    run_until(world, lambda: len(late.disk.rows) == HISTORY, within)
    took = world.now - began
    world.run(30 * SECOND)
    return Fetched(took / SECOND, received[late.number] - before)


def run_until(world: World, holds: Callable[[], bool], within: Nanos = MINUTE) -> None:
    until = world.now + within
    while not holds():
        assert world.now < until, "it never came so far"
        world.run(5 * MILLISECOND)


def leads(world: World) -> Node | None:
    """Return the node whose session brings what is missing, once that is found out."""
    runner = world.nodes[-1].runner
    assert runner is not None
    leader = runner.groups[CHANNEL].sessions.leader
    if leader is None or leader.exchanged is None:
        return None
    return next(node for node in world.nodes if node.identity.peer_id == leader.peer)


@pytest.mark.parametrize("seed", SEEDS)
def test_four_peers_send_the_history_once_and_faster_than_one(seed: int) -> None:
    alone = fetch(before_joining(1, seed))
    world = before_joining(4, seed)

    among_four = fetch(world)

    assert among_four.size <= 1.1 * alone.size, f"seed={seed}"
    assert among_four.seconds <= 0.6 * alone.seconds, f"seed={seed}"
    assert_equal(world)


@pytest.mark.parametrize("peers", [4, pytest.param(16, marks=pytest.mark.grid)])
def test_by_author_logs_one_sends_the_history_in_under_half_the_bytes(peers: int) -> None:
    by_transfer = fetch(before_joining(1, 0))
    alone = fetch(before_joining(1, 0, WITH_P2PANDA))
    world = before_joining(peers, 0, WITH_P2PANDA)

    among_many = fetch(world)

    assert among_many.size <= 1.1 * alone.size
    assert among_many.size < 0.5 * by_transfer.size
    assert_equal(world)


@pytest.mark.parametrize("seed", SEEDS)
def test_who_brings_author_logs_and_crashes_is_replaced_within_seconds(seed: int) -> None:
    alone = fetch(before_joining(1, seed, WITH_P2PANDA))
    world = before_joining(4, seed, WITH_P2PANDA)
    late = world.nodes[-1]
    before = world.streams.uplinks.received[late.number]
    world.restart(late.number)
    run_until(world, lambda: len(late.disk.rows) > HISTORY // 3)
    runner = late.runner
    assert runner is not None
    [bringing] = [one for one in runner.groups[CHANNEL].sessions.by_peer.values() if one.got]
    crashed = next(one for one in world.nodes if one.identity.peer_id == bringing.peer)
    held, crashed_at = len(late.disk.rows), world.now

    world.crash(crashed.number)
    run_until(world, lambda: len(late.disk.rows) > held + 2 * PAGE)
    took = world.now - crashed_at
    run_until(world, lambda: len(late.disk.rows) == HISTORY)
    size = world.streams.uplinks.received[late.number] - before
    world.restart(crashed.number)
    world.run(MINUTE)

    assert took < 5 * SECOND, f"seed={seed}"
    assert size <= 1.1 * alone.size, f"seed={seed}"
    assert_equal(world)


@pytest.mark.grid
def test_sixteen_peers_send_the_history_once() -> None:
    alone = fetch(before_joining(1, 0))
    world = before_joining(16, 0)

    among_sixteen = fetch(world)

    assert among_sixteen.size <= 1.1 * alone.size
    assert_equal(world)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_the_first_peer_claims_and_never_sends_comes_from_others(seed: int) -> None:
    world = before_joining(4, seed)
    late = world.nodes[-1]
    world.restart(late.number)
    run_until(world, lambda: leads(world) is not None)
    liar = leads(world)
    assert liar is not None
    world.streams.uplinks.stop((liar.number, late.number, CHANNEL), world.now)
    liar.disk._by_hash.clear()  # it knows of messages that it never sends
    began = world.now

    run_until(world, lambda: len(late.disk.rows) == HISTORY)
    took = world.now - began
    world.run(2 * MINUTE)

    assert took < 3 * STALLED_AFTER, f"seed={seed}"
    assert_equal(world)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_share_that_does_not_come_is_asked_elsewhere_within_seconds(seed: int) -> None:
    world = before_joining(4, seed)
    late = world.nodes[-1]
    world.restart(late.number)
    run_until(world, lambda: leads(world) is not None and len(late.joined) == 4)
    honest = leads(world)
    assert honest is not None
    for node in world.nodes[:-1]:
        if node is not honest and node.number % 2:
            node.disk._by_hash.clear()
    began = world.now

    run_until(world, lambda: len(late.disk.rows) == HISTORY)
    took = world.now - began
    world.run(2 * MINUTE)

    assert took < 4 * STALLED_AFTER, f"seed={seed}"
    assert_equal(world)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_leader_that_crashes_is_replaced_without_fetching_anything_twice(seed: int) -> None:
    alone = fetch(before_joining(1, seed))
    world = before_joining(4, seed)
    late = world.nodes[-1]
    before = world.streams.uplinks.received[late.number]
    world.restart(late.number)
    run_until(world, lambda: len(late.disk.rows) > HISTORY // 3)
    leader = leads(world)
    assert leader is not None

    world.crash(leader.number)
    run_until(world, lambda: len(late.disk.rows) == HISTORY)
    size = world.streams.uplinks.received[late.number] - before
    world.restart(leader.number)
    world.run(MINUTE)

    assert size <= 1.2 * alone.size, f"seed={seed}"
    assert_equal(world)


@pytest.mark.parametrize("seed", SEEDS)
def test_two_halves_that_lack_much_of_each_other_both_get_it(seed: int) -> None:
    world = World(4, seed, SLOW)
    left, right = divided(scattered(2_000), 1_000, "uniform", world.rng)
    preloaded([left, left, right, right], seed, world)

    world.run(2 * MINUTE)

    assert len(world.nodes[0].disk.rows) == 2_000, f"seed={seed}"
    assert_equal(world)
