"""A whole run in one value: who writes how much, what goes wrong, and what came of it.

The same scenario gives the same outcome, down to its digest. Tests, the demo and sweeps over
parameters all run through here.
"""

import hashlib
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import TypeAlias, assert_never

from sync.group.values import Deliver
from sync.machine import MILLISECOND, MINUTE, SECOND, Nanos
from sync.runner import Release
from sync.sds.message import LAN, Delivery, Parameters
from sync.sim.network import PERFECT, Link
from sync.sim.world import World

STEP: Nanos = 250 * MILLISECOND
"""How exactly the times of an outcome are known."""

JOINING: Nanos = 6 * SECOND
"""All nodes have found each other by then."""


@dataclass(frozen=True, slots=True)
class Partition:
    """The first `side` nodes and the others do not reach each other for a while."""

    at: Nanos
    lasts: Nanos
    side: int


@dataclass(frozen=True, slots=True)
class Crash:
    """A node stops as in a power cut, and starts again from its disk."""

    at: Nanos
    lasts: Nanos
    node: int


@dataclass(frozen=True, slots=True)
class FullDisk:
    """A node's commits fail for a while; what its person writes meanwhile is refused."""

    at: Nanos
    lasts: Nanos
    node: int


Trouble: TypeAlias = Partition | Crash | FullDisk


@dataclass(frozen=True, slots=True)
class Scenario:
    """What happens. Times count from the moment all nodes have found each other."""

    peers: int
    messages: int
    link: Link = PERFECT
    seed: int = 0
    every: Nanos = 200 * MILLISECOND
    """Between two lines, each of a node drawn at random."""
    troubles: tuple[Trouble, ...] = ()
    clocks: tuple[Nanos, ...] = ()
    """How far each node's wall clock is ahead; empty where all are right."""
    within: Nanos = 10 * MINUTE
    """How long after the last line and trouble logs may differ and marks be missing."""
    parameters: Parameters = LAN


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it. Times count from the last line and trouble."""

    converged: bool
    seconds_to_converge: float
    settled: bool
    """Whether every line is acknowledged and nothing is missing."""
    seconds_to_settle: float
    written: int
    """Lines shown to their authors as sent."""
    deliveries: int
    """Lines shown, at all nodes together."""
    gaps: int
    failed: int
    """Lines that were marked failed at the end."""
    frames: int
    frame_bytes: int
    sessions: int
    """Reconciliation sessions ended, counted on both sides."""
    session_bytes: int
    refused: int
    """Inputs a node refused: none among honest nodes."""
    digest: str
    """SHA-256 over all that every node let out, and over all logs."""


def run(scenario: Scenario) -> Outcome:
    """Play `scenario` to its end.

    Raises:
        AssertionError: an invariant of DESIGN 8 does not hold; the message begins with the seed.
    """
    world = World(
        scenario.peers, scenario.seed, scenario.link, scenario.parameters, scenario.clocks
    )
    record = Record()
    world.listeners.append(record.note)
    try:
        return _play(scenario, world, record)
    except AssertionError as error:
        raise AssertionError(f"seed {scenario.seed}: {error} in {scenario}") from error


@dataclass(slots=True)
class Record:
    """What nodes let out: counted, and chained into one digest."""

    chain: bytes = b""
    deliveries: int = 0

    def note(self, node: int, release: Release) -> None:
        """Take note of one release."""
        self.deliveries += isinstance(release.effect, Deliver)
        self.add(f"{node} {release.effect}")

    def add(self, line: str) -> None:
        """Add a line to the digest."""
        self.chain = hashlib.sha256(self.chain + line.encode()).digest()


def _play(scenario: Scenario, world: World, record: Record) -> Outcome:
    world.run(JOINING)
    began = world.now
    for at, act in _acts(scenario, world):
        world.run(began + at - world.now)
        act()
    ended = world.now
    until = ended + scenario.within
    converged_at = _wait(world, world.converged, until)
    _wait(world, world.settled, until)
    while not world.converged() and world.now < until:
        # Logs that were equal differ again once somebody has committed the last line.
        converged_at = _wait(world, world.converged, until)
        _wait(world, world.settled, until)
    if world.converged():
        world.check()
    record.add(str(world.logs()))
    witness = world.witness
    return Outcome(
        converged=world.converged(),
        seconds_to_converge=(converged_at - ended) / SECOND,
        settled=world.settled(),
        seconds_to_settle=(world.now - ended) / SECOND,
        written=len(witness.sent),
        deliveries=record.deliveries,
        gaps=witness.gaps,
        failed=sum(mark is Delivery.FAILED for mark in witness.marks.values()),
        frames=world.network.frames,
        frame_bytes=world.network.frame_bytes,
        sessions=len(witness.sessions),
        session_bytes=world.streams.sent_bytes,
        refused=len(witness.failures),
        digest=record.chain.hex(),
    )


def _wait(world: World, condition: Callable[[], bool], until: Nanos) -> Nanos:
    """Let time pass, at least one step, until `condition` holds; returns when it did."""
    world.run(STEP)
    while not condition() and world.now < until:
        world.run(STEP)
    return world.now


def _acts(scenario: Scenario, world: World) -> list[tuple[Nanos, Callable[[], None]]]:
    """Return what happens when, in order."""
    rng = random.Random(scenario.seed)  # noqa: S311  # a seeded run, not a secret
    acts: list[tuple[Nanos, Callable[[], None]]] = []
    for number in range(scenario.messages):
        writer = rng.randrange(scenario.peers)
        acts.append((number * scenario.every, partial(world.write, writer, f"line {number}")))
    for trouble in scenario.troubles:
        begin, end = _trouble(trouble, world)
        acts += [(trouble.at, begin), (trouble.at + trouble.lasts, end)]
    return sorted(acts, key=itemgetter(0))


def _trouble(trouble: Trouble, world: World) -> tuple[Callable[[], None], Callable[[], None]]:
    """Return how it begins and how it ends."""
    match trouble:
        case Partition(side=side):
            sides = set(range(side)), set(range(side, len(world.nodes)))
            return partial(world.partition, *sides), world.heal
        case Crash(node=node):
            return partial(world.crash, node), partial(world.restart, node)
        case FullDisk(node=node):
            return partial(world.fill_disk, node), partial(world.free_disk, node)
        case _:
            assert_never(trouble)
