"""Backlogs: what was written alone is acknowledged as soon as somebody has it."""

import pytest

from sync.machine import HOUR, MILLISECOND, SECOND, Nanos
from sync.manager.registry import WITH_P2PANDA
from sync.sim.measure import Sent, Sort
from sync.sim.world import Terms, World

LINES = 300
STEP: Nanos = 100 * MILLISECOND
SYNC_MESSAGES_MAX = 16


def alone(seed: int, age: Nanos) -> World:
    """Return a world of two in which one has written `LINES` alone, and then waited for `age`."""
    world = World(2, seed, terms=Terms(protocols=WITH_P2PANDA))
    world.crash(1)
    world.run(SECOND)
    for number in range(LINES):
        world.write_text(0, f"line {number}")
    world.run(SECOND + age)
    world.restart(1)
    return world


def pending(world: World) -> int:
    """Return how many lines of the one who was alone wait for an acknowledgement."""
    runner = world.nodes[0].runner
    assert runner is not None
    return len(runner.groups[world.channel].sds.outgoing.pending)


def run_until_there(world: World) -> None:
    for _ in range(300):
        if world.converged():
            return
        world.run(STEP)
    raise AssertionError("the lines do not come")


@pytest.mark.parametrize("age", [0, 3 * HOUR])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_was_written_alone_is_ticked_within_a_second_of_its_coming(
    seed: int, age: Nanos
) -> None:
    world = alone(seed, age)
    waiting = pending(world)
    before = world.meter.sent.get(Sort.SYNC, Sent()).frames

    run_until_there(world)
    world.run(SECOND)

    assert waiting == LINES, "else nothing is shown"
    assert pending(world) == 0
    assert world.meter.sent.get(Sort.SYNC, Sent()).frames - before <= SYNC_MESSAGES_MAX
    world.check()
