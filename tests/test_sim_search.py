"""What others name and nobody has: how much is asked for it, and what honest gaps get meanwhile."""

from sync.machine import MINUTE, SECOND
from sync.sim.world import World
from tests.hostiles import Mallory

PEERS = 8


def met(seed: int, *, size: int = PEERS) -> World:
    """A world in which everybody has said something, and all is quiet."""
    world = World(size, seed)
    world.run(10 * SECOND)
    for number in range(size):
        world.write(number, f"hello from {number}")
    world.run(MINUTE)
    return world


def sessions_a_minute(world: World, minutes: int) -> list[int]:
    """Let time pass; returns how many sessions were over in each minute, each counted once."""
    counts = []
    for _ in range(minutes):
        before = len(world.witness.sessions)
        world.run(MINUTE)
        counts.append((len(world.witness.sessions) - before) // 2)
    return counts


def test_a_line_that_names_what_nobody_has_is_searched_for_ever_less() -> None:
    world = met(1)
    mallory = Mallory(world, 7)

    mallory.name_what_nobody_wrote(mallory.author("one"), ["nothing"])
    counts = sessions_a_minute(world, 10)

    everybody = PEERS * (PEERS - 1)
    assert max(counts) <= everybody
    assert sum(counts[5:]) <= 2 * everybody
    assert sum(counts) <= 5 * everybody
    world.check_bounds()
