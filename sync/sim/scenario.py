"""A whole run in one value: who writes how much, what goes wrong, and what came of it.

The same scenario gives the same outcome, down to its digest. Tests, the demo and sweeps over
parameters all run through here.
"""

import gc
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from operator import itemgetter
from typing import Final, TypeAlias, assert_never

from msgspec import Struct, field

from sync.calimero.state.contents import Topic
from sync.group.values import Status
from sync.machine import MILLISECOND, MINUTE, SECOND, Nanos
from sync.manager.registry import WITH_P2PANDA
from sync.sds.message import Delivery
from sync.sds.parameters import LAN, Parameters
from sync.sds.repair import Window
from sync.sessions.protocol import Protocols
from sync.sessions.values import Plane
from sync.sim.invariants import Witness, check_repair
from sync.sim.measure import Repairs, Sent, Sort, Spread
from sync.sim.network import PERFECT, Link
from sync.sim.node import Node
from sync.sim.recording import Recording
from sync.sim.shapes import unlinked
from sync.sim.world import Terms, World

STEP: Nanos = 250 * MILLISECOND
"""Interval at which we look whether a run is over."""

TOPIC_EVERY: Final = 3
"""Acts of a scenario of which one sets a topic as well, where topics are compared."""

JOINING: Nanos = 6 * SECOND
"""All nodes of a mesh have found each other by then."""

MESH_MAX = 24
"""Peers up to which each pair has a link, as on a LAN; beyond, one broadcast reaches everybody."""


class Partition(Struct, frozen=True):
    """For a while, `side` nodes from number `first` on and the others do not reach each other."""

    at: Nanos
    lasts: Nanos
    side: int
    first: int = 0


class Crash(Struct, frozen=True):
    """A node stops as in a power cut, and starts again from its disk.

    Where `in_commit`, it stops in the midst of the first commit it begins from `at` on; if it
    begins none before `at + lasts`, not at all.
    """

    at: Nanos
    lasts: Nanos
    node: int
    in_commit: bool = False


class FullDisk(Struct, frozen=True):
    """A node's commits fail for a while; what its person writes meanwhile is refused."""

    at: Nanos
    lasts: Nanos
    node: int


class ClockJump(Struct, frozen=True):
    """A node's wall clock is `offset` ahead of the right time for a while."""

    at: Nanos
    lasts: Nanos
    node: int
    offset: Nanos


Tell: TypeAlias = Callable[[float], None]
"""Hears what share of a run is over, 0 to 1."""

WRITING = 0.9
"""Share of a run told when its last line is written; how long convergence takes nobody knows."""

Trouble: TypeAlias = Partition | Crash | FullDisk | ClockJump


class Scenario(Struct, frozen=True):
    """Plan of a run. Times count from the moment all nodes have found each other."""

    peers: int
    messages: int
    link: Link = PERFECT
    seed: int = 0
    every: Nanos = 200 * MILLISECOND
    """Between two lines, each of a node drawn at random."""
    troubles: tuple[Trouble, ...] = ()
    clocks: tuple[Nanos, ...] = ()
    """Lead of each node's wall clock; empty where all are right."""
    within: Nanos = 10 * MINUTE
    """Time after the last line and trouble for which logs may differ."""
    settle: bool = False
    """Whether the run goes on, as long, until every line is acknowledged."""
    parameters: Parameters = LAN
    reconcile: bool = False
    """Whether nodes also compare what they hold (Waku Sync); else SDS and SDS-R repair alone."""
    protocols: Protocols = WITH_P2PANDA
    """Protocols by which they compare it."""
    hostile: int = 0
    """Number of hostile peers, the last ones: they write nothing, and act."""
    work: Nanos = 0
    """Time a peer takes to handle an input, so that turns end early; 0 for no time."""
    mesh: bool | None = None
    """Whether each pair has a link, or one broadcast reaches all; None: as `MESH_MAX` says."""
    rooms: tuple[int, ...] = ()
    """Sizes of rooms with one link to the next (`sync.sim.shapes`); empty: each reaches each."""

    @property
    def honest(self) -> int:
        """Number of peers that are not hostile."""
        return self.peers - self.hostile

    @property
    def sets_topics(self) -> bool:
        """True if people set topics too, for their programs to compare."""
        return any(one.plane is Plane.STATE for one in self.protocols)

    @property
    def is_mesh(self) -> bool:
        """True if each pair has a link."""
        if self.hostile or self.rooms:
            return True
        return self.peers <= MESH_MAX if self.mesh is None else self.mesh


class Outcome(Struct, frozen=True):
    """Result of a run. Times count from the last line and trouble."""

    converged: bool
    seconds_to_converge: float
    """0 where everybody had everything before."""
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
    latency_ms: Spread
    """From a line's being shown at its author to its being shown at each other node."""
    sent: dict[Sort, Sent]
    """Bytes sent, each frame counted once, however many receive it."""
    frames: int
    """Frames sent, each counted once for every receiver."""
    frame_bytes: int
    frames_received: int
    """Of the frames, how many reached a node that was up."""
    repairs: Repairs
    hints: int
    """Lines marked "possibly acknowledged"."""
    false_hints: int
    """Of these, because of the filter of a peer that did not hold the line."""
    sessions: int
    """Reconciliation sessions ended, counted on both sides."""
    session_bytes: int
    refused: int
    """Inputs a node refused: none among honest nodes."""
    honest: int
    """Number of people who are not hostile."""
    hostile_acts: dict[str, int]
    """Acts of hostile members, and how often."""
    refused_for: dict[str, int]
    """Inputs that honest people refused or declined, by the reason."""
    parked: int
    """Lines that wait at honest people for their time."""
    seconds: float
    """Length of the run, in its own time."""
    digest: str
    """SHA-256 over when every node let out how much, what it sent, and over all logs."""
    sessions_by: dict[str, int] = field(default_factory=dict)
    """Their ends by the names of protocols."""


class Recorded(Struct, frozen=True):
    """Records of a run: its protocol logs and, however it ends, its nodes."""

    recording: Recording
    ended: Callable[[Sequence[Node]], None]


def run(
    scenario: Scenario, tell: Tell = lambda _: None, recorded: Recorded | None = None
) -> Outcome:
    """Play `scenario` to its end; `tell` hears how far it is, and 1 when it is over.

    Raises:
        AssertionError: an invariant of PROTOCOL 9 does not hold; the message begins with the seed.
    """
    try:
        with _collecting_garbage_afterwards():
            return _play(scenario, tell, recorded)
    except AssertionError as error:
        raise AssertionError(f"seed {scenario.seed}: {error} in {scenario}") from error
    finally:
        tell(1)


@contextmanager
def _collecting_garbage_afterwards() -> Iterator[None]:
    """Look for circular garbage once, at the end, and only in what was made meanwhile.

    A world keeps all it makes until it ends, so looking through a million objects now and then
    finds nothing, and takes a quarter of a run of a thousand nodes.
    """
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.collect()
        gc.enable()
        gc.unfreeze()


def _play(scenario: Scenario, tell: Tell, recorded: Recorded | None) -> Outcome:
    terms = Terms(
        scenario.parameters,
        scenario.is_mesh,
        scenario.reconcile,
        scenario.protocols,
        work=scenario.work,
        hostile=scenario.hostile,
    )
    world = World(
        scenario.peers,
        scenario.seed,
        scenario.link,
        terms,
        scenario.clocks,
    )
    world.network.cuts |= unlinked(scenario.rooms)
    if recorded is not None:
        world.record(recorded.recording)
    try:
        return _outcome(world, _live(scenario, world, tell))
    finally:
        if recorded is not None:
            recorded.recording.write_exports()
            recorded.ended(world.nodes)


def _live(scenario: Scenario, world: World, tell: Tell) -> Nanos:
    """Let a world live through a scenario; returns when its last line and trouble was."""
    if scenario.is_mesh:
        world.run(JOINING)
    began = world.now
    acts = _acts(scenario, world)
    if world.hostiles is not None:
        world.hostiles.begin()
    for number, (at, act) in enumerate(acts):
        world.run(began + at - world.now)
        act()
        if scenario.sets_topics and number % TOPIC_EVERY == 0:
            world.set_state(number % scenario.honest, Topic(f"topic {number}"))
        tell(WRITING * number / len(acts))
    ended = world.now
    if world.hostiles is not None:
        world.hostiles.resting = True
    until = ended + scenario.within
    world.run(STEP)
    while world.now < until and not _over(scenario, world):
        world.run(STEP)
        tell(WRITING)
    if world.converged():
        world.check()
    if not scenario.reconcile:
        check_repair(world.meter, _patience(scenario), world.now)
    return ended


def _patience(scenario: Scenario) -> Nanos:
    """Return how long a loss may last before somebody need have asked.

    That is whatever keeps people apart, and then as long as a request and its answer may take.
    """
    apart = sum([trouble.lasts for trouble in scenario.troubles])
    return apart + 3 * Window.of(scenario.parameters, scenario.peers).t_max


def _over(scenario: Scenario, world: World) -> bool:
    if scenario.sets_topics and len(_state_roots(world)) > 1:
        return False
    return world.converged() and (not scenario.settle or world.settled())


def _state_roots(world: World) -> set[bytes]:
    """Return the roots of the state that people hold who are there."""
    return {
        group.stating.registers.tree.root
        for node in world.honest
        if node.runner is not None
        for group in node.runner.groups.values()
    }


def _outcome(world: World, ended: Nanos) -> Outcome:
    witness, meter, network = world.witness, world.meter, world.network
    return Outcome(
        converged=world.converged(),
        seconds_to_converge=max(0, meter.newest_delivery - ended) / SECOND,
        settled=world.settled(),
        seconds_to_settle=(world.now - ended) / SECOND,
        written=len(witness.sent),
        deliveries=witness.deliveries,
        gaps=witness.gaps,
        failed=sum(mark is Delivery.FAILED for mark in witness.marks.values()),
        latency_ms=meter.latency(),
        sent=dict(meter.sent),
        frames=network.frames,
        frame_bytes=network.frame_bytes,
        frames_received=network.frames_received,
        repairs=meter.repairs(),
        hints=meter.hints,
        false_hints=meter.false_hints,
        sessions=len(witness.sessions),
        sessions_by=dict(Counter([one.protocol for one in witness.sessions])),
        session_bytes=world.streams.sent_bytes,
        refused=len(witness.failures),
        honest=len(world.honest),
        hostile_acts={} if world.hostiles is None else dict(sorted(world.hostiles.done.items())),
        refused_for=_reasons(witness),
        parked=sum(
            row.status is Status.PARKED for node in world.honest for row in node.disk.rows.values()
        ),
        seconds=(world.now - world.began) / SECOND,
        digest=meter.digest((world.logs(), witness.marks)),
    )


def _reasons(witness: Witness) -> dict[str, int]:
    """Return why inputs were refused or declined, without the numbers in the reasons."""
    reasons = [str(failure.error) for failure in witness.failures]
    counted = Counter([_without_numbers(one) for one in [*reasons, *witness.declined.elements()]])
    return dict(sorted(counted.items()))


def _without_numbers(reason: str) -> str:
    return re.sub(r"[0-9][0-9,]*", "N", reason.split(": ", maxsplit=1)[0])


def _acts(scenario: Scenario, world: World) -> list[tuple[Nanos, Callable[[], None]]]:
    """Return what happens when, in order."""
    rng = random.Random(scenario.seed)  # noqa: S311  # a seeded run, not a secret
    acts: list[tuple[Nanos, Callable[[], None]]] = []
    for number in range(scenario.messages):
        writer = rng.randrange(scenario.honest)
        acts.append((number * scenario.every, partial(world.write_text, writer, f"line {number}")))
    for trouble in scenario.troubles:
        begin, end = _trouble(trouble, world)
        acts += [(trouble.at, begin), (trouble.at + trouble.lasts, end)]
    return sorted(acts, key=itemgetter(0))


def _trouble(trouble: Trouble, world: World) -> tuple[Callable[[], None], Callable[[], None]]:
    """Return how it begins and how it ends."""
    match trouble:
        case Partition(side=side, first=first):
            everybody = {node.number for node in world.nodes if not node.is_alias}
            one = {(first + number) % len(everybody) for number in range(side)}
            return partial(world.partition, one, everybody - one), world.heal
        case Crash(node=node, in_commit=in_commit):
            crash = world.crash_in_commit if in_commit else world.crash
            return partial(crash, node), partial(world.restart, node)
        case FullDisk(node=node):
            return partial(world.fill_disk, node), partial(world.free_disk, node)
        case ClockJump(node=node, offset=offset):
            right = world.nodes[node].clock_offset
            return partial(world.set_clock, node, offset), partial(world.set_clock, node, right)
        case _:
            assert_never(trouble)
