"""Pings on the links over a slow wire: who measures what, and which links die of silence."""

import random
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from sync.group import values
from sync.machine import SECOND, Nanos
from sync.sim.links import Mesh
from sync.sim.network import Network
from sync.sim.node import Node
from sync.sim.rooms import FeedChannel
from sync.sim.timeline import Timeline
from sync.sim.wire.dials import Dials
from sync.sim.wire.wire import Wire
from sync.structures.link_trips import slow_links, step

EVERY: Final[Nanos] = 5 * SECOND
DEAD_AFTER: Final[Nanos] = 14 * SECOND
"""Time between two pings, and silence after which a link is dead, as in live programs."""

AGAIN: Final[tuple[Nanos, Nanos]] = (SECOND, 5 * SECOND)
"""Time until a dead link is dialled anew."""

TRIPS_KEPT: Final = 24
"""Trips that a link remembers, as in live programs."""

PING: Final = 40
"""Bytes of a ping or a pong."""


@dataclass(slots=True)
class Heard:
    """One end of a link, as its node sees it."""

    at: Nanos
    trips: deque[Nanos] = field(default_factory=lambda: deque(maxlen=TRIPS_KEPT))


@dataclass(slots=True)
class Pulse:
    """See the module docstring."""

    nodes: Sequence[Node]
    network: Network
    wire: Wire
    timeline: Timeline
    mesh: Mesh
    dials: Dials
    feed: FeedChannel
    rng: random.Random
    died: int = 0
    """Links that died of silence."""
    _heard: dict[tuple[int, int], Heard] = field(default_factory=dict)
    """By who hears, and whom."""
    _before: dict[tuple[int, int], deque[Nanos]] = field(default_factory=dict)
    """Trips of links that are gone: the next one leads the same way."""

    def begin(self) -> None:
        """Ping from now on."""
        for node in self.nodes:
            at = self.timeline.now + int(self.rng.random() * EVERY)
            self.timeline.call(at, partial(self._beat, node))

    def heard(self, node: int, sender: int) -> None:
        """Something came on a link."""
        if (end := self._heard.get((node, sender))) is not None:
            end.at = self.timeline.now

    def trip(self, node: int, other: int) -> Nanos:
        """Return the step of a link as one of its ends has measured it."""
        end = self._heard.get((node, other))
        trips = self._before.get((node, other), ()) if end is None else end.trips
        return step(trips) or 0

    def _beat(self, node: Node) -> None:
        now = self.timeline.now
        for number in node.hearers:
            end = self._end(node.number, number)
            if now - end.at > DEAD_AFTER:
                self._die(node, self.nodes[number])
            else:
                came = partial(self._pinged, node, self.nodes[number], end, now)
                self._send(node.number, number, came)
        for way in [way for way in self._heard if way[0] == node.number]:
            if way[1] not in node.joined:
                self._forget(way)
        self.timeline.call(now + EVERY, partial(self._beat, node))

    def _end(self, node: int, other: int) -> Heard:
        """Return one end of a link; a new one has the trips of the one before."""
        way = node, other
        if way not in self._heard:
            end = self._heard[way] = Heard(self.timeline.now)
            end.trips.extend(self._before.pop(way, ()))
        return self._heard[way]

    def _forget(self, way: tuple[int, int]) -> None:
        """A link is gone."""
        if (end := self._heard.pop(way, None)) is not None:
            self._before[way] = end.trips

    def _send(self, sender: int, receiver: int, came: partial[None]) -> None:
        def left(over: Nanos) -> None:
            self.timeline.call(over + self.network.latency(), came)

        self.wire.send((sender, receiver), PING, self.timeline.now, left)

    def _pinged(self, node: Node, other: Node, end: Heard, at: Nanos) -> None:
        self.heard(other.number, node.number)
        came = partial(self._ponged, node, other, end, at)
        self._send(other.number, node.number, came)

    def _ponged(self, node: Node, other: Node, end: Heard, at: Nanos) -> None:
        self.heard(node.number, other.number)
        end.trips.append(self.timeline.now - at)
        self._tell(node)

    def _tell(self, node: Node) -> None:
        """Tell the machines of a node which of its links are slow, where that has changed."""
        if node.runner is None:
            return
        steps = {
            self.nodes[to].identity.peer_id: step(one.trips)
            for (who, to), one in self._heard.items()
            if who == node.number and to in node.joined
        }
        for channel, group in node.runner.groups.items():
            told = values.LinksTimed(*slow_links(steps, group.timed.slow))
            if told != group.timed:
                self.feed(node, told, channel)

    def _die(self, node: Node, other: Node) -> None:
        """Take a silent link down at both ends, and dial anew."""
        self.died += 1
        self.mesh.hang_up(node, other)
        for one, to in ((node.number, other.number), (other.number, node.number)):
            self.wire.forget((one, to))
            self._forget((one, to))
        self._tell(node)
        self._tell(other)
        self._again(node, other)

    def _again(self, node: Node, other: Node) -> None:
        at = self.timeline.now + self.rng.randint(*AGAIN)
        self.timeline.call(at, partial(self._dial, node, other))

    def _dial(self, node: Node, other: Node) -> None:
        if node.runner is None or other.runner is None or other.number in node.joined:
            return

        def answered(_: Nanos) -> None:
            if node.runner is not None:
                self.mesh.dial(node, other)

        now, again = self.timeline.now, partial(self._again, node, other)
        self.dials.dial(node.number, other.number, now, answered, lambda _: again())
