"""Exchange of clock readings, by pongs, among the simulated nodes of a mesh.

Until a clock is wrong, no reading is exchanged, so runs with right clocks stay as they are.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from sync.group import values
from sync.group.clock_policy import Policy
from sync.group.clock_values import MemberClock, OwnClock
from sync.machine import SECOND, ChannelId, Nanos
from sync.sim.clocks.walls import ANSWERING, RELEASED, Person
from sync.sim.governance.levels import Levels
from sync.sim.node import Node
from sync.sim.rooms import FeedChannel, Rooms, shared
from sync.sim.timeline import Timeline

ANSWERED: Final[Nanos] = 20 * SECOND
"""Time a person takes to answer."""

PINGED: Final[Nanos] = 5 * SECOND
"""Between two pings of a link."""

DRIFTED: Final[Nanos] = 10 * SECOND
"""Between two looks at clocks that go wrong by themselves."""


@dataclass(slots=True)
class Pongs:
    """Tells the nodes of a mesh of clocks."""

    nodes: Sequence[Node]
    timeline: Timeline
    rng: random.Random
    feed_channel: FeedChannel
    rooms: Rooms
    levels: Levels | None = None
    """Of the governed channel, if one is: it hears the clocks of those alone who are in."""
    telling: bool = False
    """Whether clocks are told: one of them is, or was, wrong."""

    def begin(self) -> None:
        """Tell all clocks from now on."""
        if not self.telling:
            self.telling = True
            for node in self.nodes:
                self.changed(node)
            if any(node.wall.gains for node in self.nodes):
                self.timeline.call(self.timeline.now + DRIFTED, self._drift)

    def changed(self, node: Node, *, was_set: bool = False) -> None:
        """A node looks at its own clock, and the others hear of it with its next pongs."""
        if node.runner is not None:
            self.feed_channel(node, own_clock(node, was_set=was_set), next(iter(node.disks)))
            self.told_by(node)

    def told_by(self, node: Node) -> None:
        """The others hear pongs of `node`."""
        for number in sorted(node.joined):
            self.tell(self.nodes[number], node)

    def tell(self, node: Node, other: Node) -> None:
        """A node hears a pong of `other`, if they are linked."""
        if not self.telling or node.runner is None or other.runner is None:
            return
        if other.number in node.joined and node.number in other.joined:
            for channel in shared(self.rooms, node.number, other.number):
                if self._is_here(node, other, channel):
                    self.feed_channel(node, clock_of(node, other), channel)

    def _is_here(self, node: Node, other: Node, channel: ChannelId) -> bool:
        """Return whether `other` takes part in a channel of both, as `node` knows it."""
        levels = self.levels
        return levels is None or channel != levels.channel or levels.are_full(node, other)

    def judged(self, node: Node, channel: ChannelId, question: values.Question | None) -> None:
        """A node's question about its clock is another one: its person answers after a while."""
        if question is not None and node.wall.person in ANSWERING:
            answer = partial(self._answer, node, node.incarnation, channel)
            self.timeline.call(self.timeline.now + ANSWERED, answer)

    def _answer(self, node: Node, incarnation: int, channel: ChannelId) -> None:
        follow = ANSWERING.get(node.wall.person)
        if node.incarnation == incarnation and follow is not None:
            self.feed_channel(node, values.ClockAnswered(follow), channel)

    def answered(self, node: Node) -> None:
        """Announce, with a node's next pongs, that it follows somebody else."""
        span = self.rng.randint(0, PINGED)
        self.timeline.call(self.timeline.now + span, partial(self.told_by, node))

    def _drift(self) -> None:
        for node in self.nodes:
            if node.wall.gains:
                node.clock_offset += node.wall.gains * (DRIFTED // SECOND)
                self.changed(node)
        self.timeline.call(self.timeline.now + DRIFTED, self._drift)


def own_clock(node: Node, *, was_set: bool = False) -> OwnClock:
    """Return what a node's machines are told of its wall clock."""
    there = node.wall.person is not Person.IS_NOT_THERE
    return OwnClock(
        node.clock_offset - node.machine_offset,
        node.wall.synchronised,
        Policy.ASK if there else Policy.NOBODY,
        was_set,
        RELEASED,
    )


def clock_of(node: Node, other: Node) -> MemberClock:
    """Return what the channels of `node` are told of the clock of `other`, which is up."""
    assert other.runner is not None
    references = [group.aside.reference for group in other.runner.groups.values()]
    follows = [one.follows(node.identity.peer_id) for one in references]
    return MemberClock(
        other.identity.peer_id,
        other.heard_offset - node.machine_offset,
        other.wall.host or f"10.0.{other.number >> 8}.{other.number & 255}",
        not other.wall.stranger,
        max(follows, key=lambda one: one.value),
    )
