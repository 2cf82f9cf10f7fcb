"""Meshes that are not full: what is new takes one live session a hop, once somebody was heard."""

from collections import Counter
from collections.abc import Iterable

import pytest

from sync.group.relays import RELAYED_WITHIN
from sync.machine import HOUR, MILLISECOND, MINUTE, SECOND, Nanos
from sync.manager.registry import WAKU_ONLY, WITH_P2PANDA
from sync.sessions.table import LIVE_FOR_OTHERS_MAX, LIVE_MAX
from sync.sim.network import PERFECT
from sync.sim.shapes import line, unlinked
from sync.sim.world import Terms, World
from tests.support.grids import with_grid

HEARD: Nanos = 60 * SECOND
"""By then a line of each has come everywhere by repairs and by comparing."""

LOGS = Terms(protocols=WITH_P2PANDA)
TWO_ROOMS = (4, 4)
RING = 6
HOP: Nanos = 150 * MILLISECOND
"""Two frames of at most 50 ms, and the turns of two nodes."""


def apart(rooms: tuple[int, ...], seed: int, walls: Iterable[tuple[int, int]] = ()) -> World:
    """Return a world where each reaches its room alone, and rooms have one link."""
    world = World(sum(rooms), seed, PERFECT, LOGS)
    world.network.cuts |= unlinked(rooms)
    for one, other in walls:
        world.wall_off(one, other)
    world.run(10 * SECOND)
    return world


def all_heard(world: World, rounds: int = 1) -> World:
    """Have everybody say a line, until everybody has heard of everybody."""
    for number in range(rounds):
        for node in world.nodes:
            world.write_text(node.number, f"line {number} of {node.number}")
        world.run(HEARD)
    assert world.converged()
    return world


def live(world: World) -> dict[int, int]:
    """Return the number of live sessions of each node."""
    return {
        node.number: node.runner.groups[world.channel].sessions.live
        for node in world.nodes
        if node.runner is not None
    }


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(("rooms", "hops"), [(line(3), 2), (line(5), 4), (TWO_ROOMS, 3)])
def test_a_line_takes_a_moment_a_hop(rooms: tuple[int, ...], hops: int, seed: int) -> None:
    world = all_heard(apart(rooms, seed))

    for number in (0, sum(rooms) - 1, len(rooms) // 2):
        world.write_text(number, f"again of {number}")
        world.run(hops * HOP)
        assert world.converged(), f"of {number}"

    world.check()


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.grid)])
def test_who_finds_no_place_with_the_bridge_hears_through_a_neighbour(seed: int) -> None:
    world = all_heard(apart((20, 20), seed), rounds=6)

    sessions = sum(live(world).values()) // 2

    assert min(live(world).values()) > 0
    assert LIVE_FOR_OTHERS_MAX < max(live(world).values()) <= LIVE_MAX
    assert sessions >= len(world.nodes) - 2, "a tree, or nearly"
    world.check()


def test_each_stores_each_line_once_and_few_copies_are_sent() -> None:
    world = all_heard(apart(TWO_ROOMS, 3))
    before = copies(world)
    peers = len(world.nodes)

    for number in range(2 * peers):
        world.write_text(number % peers, f"line {number}")
        world.run(SECOND)

    spread = copies(world) - before
    assert world.converged()
    assert spread.total() <= 1.5 * 2 * peers * (peers - 1)


def copies(world: World) -> Counter[int]:
    """Return how many messages came to each node, known ones too."""
    counted: Counter[int] = Counter()
    for node in world.nodes:
        if node.runner is not None:
            running = node.runner.groups[world.channel].sessions.running
            counted[node.number] += sum(one.got for one in running.values())
    return counted


@pytest.mark.parametrize("seed", with_grid([1, 2], range(3, 9)))
def test_a_relay_behind_a_firewall_begins_what_the_ends_cannot(seed: int) -> None:
    world = apart(line(3), seed, walls=[(0, 1), (2, 1)])
    all_heard(world, rounds=2)

    for writer in (0, 2):
        world.write_text(writer, f"again of {writer}")
        world.run(2 * HOP)
        assert world.converged(), f"of {writer}"

    world.check()


def test_a_relay_behind_a_firewall_stays_while_somebody_is_heard_through_it() -> None:
    world = all_heard(apart(line(3), 1, walls=[(2, 1)]), rounds=2)
    for number in range(5):
        world.write_text(0, f"line {number}")
        world.run(RELAYED_WITHIN // 2)

    world.write_text(0, "a last line")
    world.run(2 * HOP)
    assert world.converged()
    world.run(HOUR + MINUTE)

    assert set(live(world).values()) == {0}


@pytest.mark.parametrize("walls", [[], [(one, 0) for one in range(1, 5)]])
def test_in_a_full_mesh_nobody_is_live(walls: list[tuple[int, int]]) -> None:
    world = World(5, 1, terms=LOGS)
    world.network.walls |= set(walls)

    all_heard(world)

    assert set(live(world).values()) == {0}


def test_programs_of_before_relay_nothing() -> None:
    world = World(3, 1, terms=Terms(protocols=WAKU_ONLY))
    world.network.cuts |= unlinked(line(3))
    all_heard(world)

    assert set(live(world).values()) == {0}


def test_in_a_ring_everything_comes_and_no_storm_does() -> None:
    world = World(RING, 4, terms=LOGS)
    world.network.cuts |= {
        (one, other)
        for one in range(RING)
        for other in range(one + 1, RING)
        if other - one not in {1, RING - 1}
    }
    all_heard(world)

    for number in range(RING):
        world.write_text(number, f"around {number}")
        world.run(4 * HOP)
        assert world.converged()

    world.check()
    assert max(live(world).values()) == 2


def test_no_node_has_more_than_it_may_however_many_want_to() -> None:
    world = all_heard(apart((LIVE_MAX + 2, 2), 1))

    assert LIVE_FOR_OTHERS_MAX < max(live(world).values()) <= LIVE_MAX


def test_who_was_away_catches_up_and_hears_what_is_new_at_once() -> None:
    world = all_heard(apart(line(3), 1))
    world.crash(1)
    for number in (0, 2):
        world.write_text(number, f"meanwhile of {number}")
    world.run(5 * MINUTE)

    world.restart(1)
    world.run(30 * SECOND)
    caught_up = world.converged()
    world.write_text(0, "a last line")
    world.run(2 * HOP)

    assert caught_up
    assert world.converged()


def test_an_hour_without_such_a_line_ends_it_politely() -> None:
    world = all_heard(apart(line(3), 2))
    assert set(live(world).values()) == {1, 2}

    world.run(HOUR + MINUTE)

    assert set(live(world).values()) == {0}


def test_a_link_to_the_author_ends_it() -> None:
    world = all_heard(apart(line(3), 2))

    world.network.cuts.clear()
    world.heal()
    world.run(MINUTE)

    assert set(live(world).values()) == {0}
