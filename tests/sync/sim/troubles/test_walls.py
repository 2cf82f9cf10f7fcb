"""A firewall lets one end of a link dial alone: it begins what the other one cannot.

Nodes here lose every broadcast, so that nothing but sessions brings anything.
"""

import random

import pytest

from sync.machine import SECOND, Nanos
from sync.sim.network import Link
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
