"""A simulated network: what happens to a frame or a stream between two nodes.

Frames (SDS broadcasts) may be lost, delayed, doubled and overtaken. Streams (sessions, transfers)
are reliable and ordered while their ends can reach each other, and cut when they cannot.
"""

import random
from dataclasses import dataclass, field
from itertools import combinations

from sync.machine import MILLISECOND, SECOND, Nanos


@dataclass(frozen=True, slots=True)
class Link:
    """How bad the network is; probabilities are per frame and receiver."""

    loss: float = 0.0
    delay: tuple[Nanos, Nanos] = (1 * MILLISECOND, 50 * MILLISECOND)
    duplicate: float = 0.0
    reorder: float = 0.0
    """Share of frames that take `reorder_by` longer, and so are overtaken."""
    reorder_by: Nanos = 2 * SECOND


PERFECT = Link()
HOSTILE = Link(loss=0.1, duplicate=0.05, reorder=0.05)


@dataclass(slots=True)
class Network:
    """Who can reach whom, and when what is sent arrives. Nodes are numbers from 0."""

    size: int
    link: Link
    rng: random.Random
    cut: set[tuple[int, int]] = field(default_factory=set)
    """Pairs (lower, higher) that cannot reach each other."""
    frames: int = 0
    frame_bytes: int = 0

    def reachable(self, one: int, other: int) -> bool:
        """Whether the two can reach each other."""
        return (min(one, other), max(one, other)) not in self.cut

    def partition(self, *sides: set[int]) -> None:
        """Let only the nodes of one side reach each other; who is named nowhere is alone."""
        side_of = {node: number for number, side in enumerate(sides) for node in side}
        self.cut = {
            (one, other)
            for one, other in combinations(range(self.size), 2)
            if one not in side_of or side_of.get(one) != side_of.get(other)
        }

    def heal(self) -> None:
        """Let everybody reach everybody."""
        self.cut = set()

    def arrivals(self, sent_at: Nanos, size: int) -> list[Nanos]:
        """Return when the copies of one frame of `size` bytes arrive: none, one or two."""
        self.frames += 1
        self.frame_bytes += size
        if self.rng.random() < self.link.loss:
            return []
        copies = 2 if self.rng.random() < self.link.duplicate else 1
        return [sent_at + self.latency() + self._detour() for _ in range(copies)]

    def latency(self) -> Nanos:
        """Draw the time one trip takes."""
        return self.rng.randint(*self.link.delay)

    def _detour(self) -> Nanos:
        return self.link.reorder_by if self.rng.random() < self.link.reorder else 0
