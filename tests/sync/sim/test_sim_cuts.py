"""A session cut anywhere: it is tried again, both end up equal, and nobody is told so too early.

Nodes here lose every broadcast, so that nothing but sessions brings anything.
"""

import random

import pytest

from sync.group.values import SessionEnded
from sync.machine import MILLISECOND, MINUTE, SECOND
from sync.runner.batch import Release
from sync.sim.network import Link
from sync.sim.world import World
from sync.structures.ordered_set import SyncId
from tests.support.grids import with_grid
from tests.support.storage.archives import assert_equal, divided, ids, preloaded, scattered

MUTE = Link(loss=1.0)
SEEDS = with_grid([0], [1])
DIFFERENCES = 12


class Watch:
    """Holds what is claimed of a session against what both sides had when they met."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.began_with = [set(ids(world, node.number)) for node in world.nodes]
        self.ended: list[tuple[int, SessionEnded]] = []
        world.listeners.append(self.note)

    def note(self, number: int, release: Release) -> None:
        if not isinstance(release.effect, SessionEnded):
            return
        ended = release.effect
        self.ended.append((number, ended))
        if ended.converged:
            lacked = self.lacked(number)
            assert not lacked, f"seed={self.world.seed}: {ended} lacks {len(lacked)}"

    def lacked(self, number: int) -> set[SyncId]:
        """Return the ids that any node began with and node `number` lacks on its disk."""
        rows = self.world.nodes[number].disk.rows.values()
        hashes = {row.message.waku_hash for row in rows}
        return {one for began in self.began_with for one in began if one.hash not in hashes}


def cut_world(seed: int, cut_at: int | None) -> tuple[World, Watch]:
    """Two nodes that differ, whose streams carry everything but item `cut_at`."""
    pool = scattered(400)
    left, right = divided(pool, DIFFERENCES, "uniform", random.Random(seed))
    world = preloaded([left, right], seed, World(2, seed, MUTE))
    world.streams.cut_at = cut_at
    return world, Watch(world)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_a_session_cut_at_any_item_is_repeated_and_never_claims_too_much(seed: int) -> None:
    whole, _ = cut_world(seed, None)
    whole.run(MINUTE)
    items = whole.streams.carried
    assert items > 2 * DIFFERENCES

    for cut_at in range(items):
        world, watch = cut_world(seed, cut_at)
        world.run(2 * MINUTE)

        told = f"cut at {cut_at} of {items}: {watch.ended}"
        assert world.converged(), told
        assert_equal(world)


def chat(seed: int, lose_at: int | None) -> World:
    """Two write at the same time and to each other; one frame of all is lost."""
    world = World(2, seed)
    world.network.lose_at = lose_at
    world.run(6 * SECOND)
    for number in range(6):
        world.write_text(number % 2, f"line {number}")
        world.run(300 * MILLISECOND)
    world.run(2 * MINUTE)
    return world


@pytest.mark.parametrize("seed", SEEDS)
def test_any_frame_may_be_lost(seed: int) -> None:
    frames = chat(seed, None).network.frames
    assert frames > 10

    for lose_at in range(frames):
        world = chat(seed, lose_at)

        assert len(world.logs()[0]) == 6, f"seed={seed} without frame {lose_at}"
        assert_equal(world)


@pytest.mark.parametrize("seed", SEEDS)
def test_streams_that_break_again_and_again_get_there(seed: int) -> None:
    dice = random.Random(seed)
    world, watch = cut_world(seed, dice.randrange(40))
    for _ in range(10):
        world.run(5 * SECOND)
        world.streams.cut_at = world.streams.carried + dice.randrange(1, 20)
    world.streams.cut_at = None
    world.run(5 * MINUTE)

    assert world.converged(), f"seed={seed}: {watch.ended}"
    assert_equal(world)
