"""Troubles of a world at places that are drawn, and their mending."""

import random
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from sync.machine import MILLISECOND, MINUTE, SECOND, Nanos
from sync.sim.network import Link
from sync.sim.world import World

LINKS: Final = (
    Link(),
    Link(delay=(1 * MILLISECOND, 80 * MILLISECOND), loss=0.15, duplicate=0.05),
    Link(delay=(1 * MILLISECOND, 400 * MILLISECOND), loss=0.3),
)

NEAR: Final[Sequence[Nanos]] = (0, 3 * MINUTE, -3 * MINUTE)
"""Clocks that are right, or wrong by what is let pass."""

FAR: Final[Sequence[Nanos]] = (*NEAR, 20 * MINUTE, -20 * MINUTE)
"""The same, and by more."""

Acts: TypeAlias = tuple[tuple[int, Callable[[int], None]], ...]
"""Weights, and what happens at a node."""


class Troubles:
    """Troubles of the first `size` nodes of a world."""

    def __init__(self, world: World, rng: random.Random, size: int) -> None:
        self.world, self.rng, self.size = world, rng, size
        self.clocks = FAR

    def happen(self, acts: Acts, count: int) -> None:
        """Let so many acts happen, each at a node, while one or the other thing is mended."""
        rng = self.rng
        weights, kinds = zip(*acts, strict=True)
        for _ in range(count):
            [act] = rng.choices(kinds, weights)
            act(rng.randrange(self.size))
            self.world.run(rng.randrange(100 * MILLISECOND, 4 * SECOND))
            if rng.random() < 0.35:
                self.mend(rng.randrange(self.size))
            if rng.random() < 0.05:
                self.world.heal()

    def end(self) -> None:
        """Mend everything, and let those start again who met a commit they were doomed in."""
        self.world.heal()
        for number in range(self.size):
            self.mend(number)
            self.world.set_clock(number, 0)
        self.world.run(5 * MINUTE)
        for number in range(self.size):
            self.world.restart(number)

    def is_up(self, number: int) -> bool:
        """Return whether a node runs."""
        return self.world.nodes[number].runner is not None

    def crash(self, number: int) -> None:
        """Stop a node, noticed or not."""
        self.world.crash(number, unnoticed=self.rng.random() < 0.5)

    def refuse(self, number: int) -> None:
        """Let a disk be full, unreadable or slow."""
        world = self.world
        match self.rng.randrange(3):
            case 0:
                world.fill_disk(number)
            case 1:
                world.break_disk(number)
            case _:
                world.slow_disk(number, self.rng.choice((100 * MILLISECOND, 2 * SECOND)))

    def cut(self, number: int) -> None:
        """Let nodes not hear each other, or one not the other, or streams stand still."""
        world, rng, size = self.world, self.rng, self.size
        other = (number + rng.randrange(1, size)) % size
        match rng.randrange(3):
            case 0:
                nodes = rng.sample(range(size), size)
                at = rng.randrange(1, size - 1)
                world.partition(set(nodes[:at]), set(nodes[at:]))
            case 1:
                world.make_one_way(number, other)
            case _:
                world.stall(number, other)

    def set_clock(self, number: int) -> None:
        """Set a wall clock right or wrong."""
        self.world.set_clock(number, self.rng.choice(self.clocks))

    def mend(self, number: int) -> None:
        """Let a node's disk be well, and the node up."""
        self.world.free_disk(number)
        self.world.mend_disk(number)
        self.world.slow_disk(number, 0)
        self.world.restart(number)
