"""A firewall lets one end of a link dial alone: it begins what the other one cannot.

Nodes here lose every broadcast, so that nothing but sessions brings anything.
"""

import random

import pytest

from sync.calimero.state.contents import Topic
from sync.group.state_beats import EVERY
from sync.machine import SECOND, Nanos
from sync.manager.registry import WITH_STATE
from sync.sim.network import Link
from sync.sim.rooms import CHANNEL
from sync.sim.world import Terms, World
from tests.support.grids import with_grid
from tests.support.storage.archives import assert_equal, divided, preloaded, scattered

MUTE = Link(loss=1.0)
SEEDS = with_grid([0, 1], range(2, 10))
MET: Nanos = 6 * SECOND
"""By then both have found each other."""

AT_ONCE: Nanos = 4 * SECOND
"""For a session, once it is clear that the peer cannot begin it."""


def walled(seed: int, *, behind: str) -> World:
    """Two who differ in some lines; whoever has the smaller or the larger key lets nobody dial."""
    left, right = divided(scattered(200), 20, "uniform", random.Random(seed))
    world = preloaded([left, right], seed, World(2, seed, MUTE, Terms()))
    smaller, larger = sorted((0, 1), key=lambda one: world.nodes[one].identity.peer_id)
    outside, inside = (larger, smaller) if behind == "smaller" else (smaller, larger)
    world.wall_off(outside, inside)
    return world


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("behind", ["smaller", "larger"])
def test_who_lets_nobody_dial_compares_histories_all_the_same(behind: str, seed: int) -> None:
    world = walled(seed, behind=behind)

    world.run(MET + AT_ONCE)

    assert_equal(world)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("behind", ["smaller", "larger"])
def test_who_lets_nobody_dial_compares_state_all_the_same(behind: str, seed: int) -> None:
    """After two beats with another root, as where both can dial; it was after three."""
    world = World(2, seed, terms=Terms(protocols=WITH_STATE))
    smaller, larger = sorted((0, 1), key=lambda one: world.nodes[one].identity.peer_id)
    outside, inside = (larger, smaller) if behind == "smaller" else (smaller, larger)
    world.wall_off(outside, inside)
    world.write_text(0, "hello")
    world.run(20 * SECOND)
    world.network.lose_at = world.network.frames
    world.set_state(0, Topic("tea"))
    world.run(SECOND)
    assert len(roots(world)) == 2

    world.run(2 * EVERY)

    assert len(roots(world)) == 1


def roots(world: World) -> set[bytes]:
    found = set()
    for node in world.nodes:
        assert node.runner is not None
        found.add(node.runner.groups[CHANNEL].stating.registers.tree.root)
    return found
