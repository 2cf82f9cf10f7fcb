"""Several newcomers at once: each takes the snapshot, whoever of the others it has met before."""

import pytest

from sync.machine import SECOND, Nanos
from sync.manager.registry import WITH_CALIMERO
from sync.sessions.session import OFFERED
from sync.sessions.values import Plane, SessionEnded
from sync.sim.world import Terms, World
from tests.support.grids import with_grid
from tests.support.storage.archives import archive

HISTORY = 1_500
NEWCOMERS = range(1, 6)
SEEDS = with_grid(range(3), range(3, 16))

THERE: Nanos = 6 * SECOND
"""For links, handshakes and a snapshot, from the starts on."""


LINES = 12
"""Lines that are written meanwhile."""


def arriving(seed: int) -> World:
    """Return a world in which several begin at once who have nothing, and one who has all talks."""
    world = World(1 + len(NEWCOMERS), seed, terms=Terms(protocols=WITH_CALIMERO))
    for number in NEWCOMERS:
        world.crash(number)
    world.preload(0, archive("carol", HISTORY))
    world.run(20 * SECOND)
    for number in NEWCOMERS:
        world.restart(number)
    for number in range(LINES):
        world.write_text(0, f"live {number}")
        world.run(THERE // LINES)
    return world


def begun(world: World) -> list[SessionEnded]:
    """Return how sessions over messages ended for whoever began them."""
    return [one for one in world.witness.sessions if one.plane is Plane.LOG and one.why != OFFERED]


@pytest.mark.parametrize("seed", SEEDS)
def test_each_takes_one_snapshot_of_everything_and_history_by_nothing_else(seed: int) -> None:
    world = arriving(seed)

    ended = [one.result for one in begun(world) if one.protocol == "snapshot"]
    snapshots = [result for result in ended if not result.startswith("put off")]

    assert len(snapshots) == len(NEWCOMERS)
    assert all(result.startswith("1,5") for result in snapshots), "of everything that is there"
    assert max(one.got for one in begun(world)) <= LINES
    held = [len(world.nodes[number].disk.rows) for number in NEWCOMERS]
    assert min(held) > HISTORY


def test_who_is_met_where_nobody_has_anything_is_heard_at_once() -> None:
    world = World(3, 1, terms=Terms(protocols=WITH_CALIMERO))
    world.run(5 * SECOND)

    world.write_text(0, "first")
    world.run(SECOND)

    assert [len(node.disk.rows) for node in world.nodes] == [1, 1, 1]


@pytest.mark.parametrize("seed", SEEDS)
def test_who_is_left_to_begin_and_writes_before_that_begins_all_the_same(seed: int) -> None:
    world = World(2, seed, terms=Terms(protocols=WITH_CALIMERO))
    source, newcomer = sorted((0, 1), key=lambda one: world.nodes[one].identity.peer_id)
    world.crash(newcomer)
    world.preload(source, archive("carol", HISTORY))
    world.run(20 * SECOND)
    world.restart(newcomer)
    until = world.now + THERE
    while not begun(world):
        assert world.now < until, "they never met"
        world.run(SECOND // 100)

    world.write_text(newcomer, "mine")
    world.run(5 * SECOND)

    assert len(world.nodes[newcomer].disk.rows) == HISTORY + 1


@pytest.mark.parametrize("seed", SEEDS)
def test_who_comes_later_with_a_history_is_asked_for_it_at_once(seed: int) -> None:
    world = World(3, seed, terms=Terms(protocols=WITH_CALIMERO))
    source = min(range(3), key=lambda one: world.nodes[one].identity.peer_id)
    world.preload(source, archive("carol", HISTORY))
    world.crash(source)
    world.run(30 * SECOND)

    world.restart(source)
    world.run(THERE)

    assert {len(node.disk.rows) for node in world.nodes} == {HISTORY}
