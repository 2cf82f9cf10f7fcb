"""Who hears whom: links between every two nodes, or one broadcast that reaches everybody.

`Mesh` is what live nodes do on a LAN: each pair has a link, notices when it breaks, and dials
again. `Air` is what Waku relay or a multicast group does: a sender reaches all at once and is told
nothing, so a cut is silent. It knows no pairs, and so serves a thousand nodes.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from sync.group import values
from sync.machine import SECOND, Nanos
from sync.sim.network import Network
from sync.sim.node import Node, Person
from sync.sim.timeline import Timeline

UNNOTICED: tuple[Nanos, Nanos] = (10 * SECOND, 15 * SECOND)
"""How long a cut stays unnoticed: pings every 5 s, dead at 15 s."""

NOTICED: tuple[Nanos, Nanos] = (SECOND, 5 * SECOND)
"""How long after a heal the redial succeeds."""

ANSWERED: Nanos = 20 * SECOND
"""How long a person takes to answer."""

PINGED: Nanos = 5 * SECOND
"""Between two pings of a link."""

ANSWERS = frozenset({Person.FOLLOWS, Person.STAYS})

Feed: TypeAlias = Callable[[Node, values.Input], None]
"""Gives a node an input, if it is up."""


@dataclass(slots=True)
class Surroundings:
    """What links are made between, and of."""

    nodes: Sequence[Node]
    network: Network
    timeline: Timeline
    rng: random.Random
    feed: Feed


class Links(Protocol):
    """See the module docstring."""

    def receivers(self, node: Node) -> Sequence[int]:
        """Return the numbers of the nodes that a frame of `node` is sent to."""

    def carries(self, sender: int, receiver: Node) -> bool:
        """Whether a frame that arrives now gets through."""

    def rewired(self) -> None:
        """Who can reach whom has changed."""

    def started(self, node: Node) -> None:
        """A node is up again."""

    def stopped(self, node: Node) -> None:
        """A node is down."""

    def clocks_changed(self, node: Node | None = None, *, was_set: bool = True) -> None:
        """A node's wall clock was set, or has drifted; None: many a node's."""

    def judged(self, node: Node, question: values.Question | None) -> None:
        """A node's question about its clock was opened, changed, or is settled."""

    def answered(self, node: Node) -> None:
        """Whom a node follows is another; it tells so with its next pongs."""


class Mesh:
    """A link between every two nodes that can reach each other."""

    def __init__(self, around: Surroundings) -> None:
        self._around = around
        self._told = False
        if any(node.clock_offset for node in around.nodes):
            self.clocks_changed()
        self.rewired()

    def receivers(self, node: Node) -> Sequence[int]:
        """See `Links`."""
        return node.hearers

    def carries(self, sender: int, receiver: Node) -> bool:
        """See `Links`."""
        if sender not in receiver.joined:
            return False
        return self._around.network.reachable(sender, receiver.number)

    def rewired(self) -> None:
        """Let every pair notice, each in its time, what it can reach now."""
        around = self._around
        for one in around.nodes:
            for other in around.nodes[one.number + 1 :]:
                up = around.network.reachable(one.number, other.number)
                if up != (other.number in one.joined):
                    span = NOTICED if up else UNNOTICED
                    at = around.timeline.now + around.rng.randint(*span)
                    around.timeline.plan(at, self._relink, one, other)

    def started(self, node: Node) -> None:
        """See `Links`."""
        del node
        self.rewired()

    def stopped(self, node: Node) -> None:
        """The other ends notice at once."""
        for number in sorted(node.joined):
            self._leave(node, self._around.nodes[number])

    def clocks_changed(self, node: Node | None = None, *, was_set: bool = True) -> None:
        """See `Links`. From now on all clocks are told; until then all are right."""
        if not self._told:
            self._told = True
            for each in self._around.nodes:
                self._tell(each, was_set=False)
        if node is not None:
            self._tell(node, was_set=was_set)

    def judged(self, node: Node, question: values.Question | None) -> None:
        """See `Links`: the person answers after a while."""
        if question is None or node.clock.person not in ANSWERS:
            return
        incarnation = node.incarnation

        def answer() -> None:
            if node.incarnation == incarnation:
                follow = node.clock.person is Person.FOLLOWS
                self._around.feed(node, values.ClockAnswered(follow))

        self._around.timeline.call(self._around.timeline.now + ANSWERED, answer)

    def answered(self, node: Node) -> None:
        """See `Links`."""

        def pong() -> None:
            for number in sorted(node.joined):
                self._tell_member(self._around.nodes[number], node)

        span = self._around.rng.randint(0, PINGED)
        self._around.timeline.call(self._around.timeline.now + span, pong)

    def _tell(self, node: Node, *, was_set: bool) -> None:
        """A node looks at its own clock, and the others hear of it with its next pongs."""
        if node.runner is not None:
            self._around.feed(node, node.own_clock(was_set=was_set))
            for number in sorted(node.joined):
                self._tell_member(self._around.nodes[number], node)

    def _tell_member(self, node: Node, other: Node) -> None:
        if other.runner is not None and node.number in other.joined:
            self._around.feed(node, node.clock_of(other))

    def _relink(self, one: Node, other: Node) -> None:
        up = self._around.network.reachable(one.number, other.number)
        both = one.runner is not None and other.runner is not None
        if up and both and other.number not in one.joined:
            self._join(one, other)
        elif not up and other.number in one.joined:
            self._leave(one, other)

    def _join(self, one: Node, other: Node) -> None:
        one.join(other.number)
        other.join(one.number)
        self._around.feed(one, values.PeerJoined(other.identity.peer_id))
        self._around.feed(other, values.PeerJoined(one.identity.peer_id))
        if self._told:
            self._tell_member(one, other)
            self._tell_member(other, one)

    def _leave(self, one: Node, other: Node) -> None:
        one.leave(other.number)
        other.leave(one.number)
        self._around.feed(one, values.PeerGone(other.identity.peer_id))
        self._around.feed(other, values.PeerGone(one.identity.peer_id))


class Air:
    """A broadcast that reaches every node on the sender's side of a cut."""

    def __init__(self, around: Surroundings) -> None:
        self._around = around
        for node in around.nodes:
            self._tell_audience(node)
        self.clocks_changed()

    def receivers(self, node: Node) -> Sequence[int]:
        """See `Links`."""
        network, number = self._around.network, node.number
        others = [*range(number), *range(number + 1, network.size)]
        if network.side_of is None:
            return others
        return [other for other in others if network.reachable(number, other)]

    def carries(self, sender: int, receiver: Node) -> bool:
        """See `Links`."""
        return self._around.network.reachable(sender, receiver.number)

    def rewired(self) -> None:
        """Nobody is told; only the clocks that can be heard are others."""
        self.clocks_changed()

    def started(self, node: Node) -> None:
        """See `Links`."""
        self._tell_audience(node)
        self.clocks_changed()

    def stopped(self, node: Node) -> None:
        """See `Links`: nobody notices."""

    def clocks_changed(self, node: Node | None = None, *, was_set: bool = True) -> None:
        """Tell each node the median of all clocks on its side, as time servers would."""
        nodes = self._around.nodes
        if not any(node.clock_offset or node.reference_offset for node in nodes):
            return
        sides: dict[int, list[Nanos]] = {}
        side_of = self._around.network.side_of or [0] * len(nodes)
        for each in nodes:
            sides.setdefault(side_of[each.number], []).append(each.clock_offset)
        for clocks in sides.values():
            clocks.sort()
        for each in nodes:
            tell_reference_clock(each, sides[side_of[each.number]], self._around.feed)

    def judged(self, node: Node, question: values.Question | None) -> None:
        """See `Links`: time servers are not asked about."""

    def answered(self, node: Node) -> None:
        """See `Links`."""

    def _tell_audience(self, node: Node) -> None:
        self._around.feed(node, values.Audience(self._around.network.size - 1))


def tell_reference_clock(node: Node, clocks: Sequence[Nanos], feed: Feed) -> None:
    """Tell a node the median of `clocks`, rising and its own among them; ties go to its own."""
    if node.runner is None:
        return
    middle = clocks[(len(clocks) - 1) // 2], clocks[len(clocks) // 2]
    offset = min(max(node.clock_offset, middle[0]), middle[1]) - node.machine_offset
    if offset != node.reference_offset:
        node.reference_offset = offset
        feed(node, values.ReferenceClock(offset))
