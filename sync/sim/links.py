"""Links between simulated nodes: one between every two, or one broadcast that reaches all.

`Mesh` is what live nodes do on a LAN: each pair has a link, notices when it breaks, and dials
again. `Air` is what Waku relay or a multicast group does: a sender reaches all at once and is told
nothing, so a cut is silent. It knows no pairs, and so serves a thousand nodes.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from sync.group import values
from sync.machine import SECOND, ChannelId, Nanos
from sync.sim.clocks.pongs import Pongs
from sync.sim.governance.levels import Levels
from sync.sim.network import Network
from sync.sim.node import Node
from sync.sim.rooms import CHANNEL, FeedChannel, Rooms, shared
from sync.sim.timeline import Timeline
from sync.structures.places import Holder, Standing, give_way
from sync.view.view import FrameKind

UNNOTICED: tuple[Nanos, Nanos] = (10 * SECOND, 15 * SECOND)
"""Time for which a cut stays unnoticed: pings every 5 s, dead at 15 s."""

NOTICED: tuple[Nanos, Nanos] = (SECOND, 5 * SECOND)
"""Time after a heal at which the redial succeeds."""


@dataclass(slots=True)
class Surroundings:
    """The nodes that links join, and the parts of the world that links need."""

    nodes: Sequence[Node]
    network: Network
    timeline: Timeline
    rng: random.Random
    feed_channel: FeedChannel
    rooms: Rooms
    levels: Levels | None = None
    """Levels of the governed channel, where there is one."""
    most: int | None = None
    """Number of links a node has at once; beyond, somebody gives way."""

    def queue_input(self, node: Node, event: values.Input) -> None:
        """Give a node an input that is the same for every channel."""
        self.feed_channel(node, event, CHANNEL)


class Links(Protocol):
    """See the module docstring."""

    def receivers(self, node: Node) -> Sequence[int]:
        """Return the numbers of the nodes that a frame of `node` is sent to."""

    def carries(self, sender: int, receiver: Node) -> bool:
        """Return whether a frame that arrives now gets through."""

    def rewired(self) -> None:
        """Take note that reachability between nodes has changed."""

    def started(self, node: Node) -> None:
        """A node is up again."""

    def stopped(self, node: Node, *, unnoticed: bool = False) -> None:
        """A node is down; where that is `unnoticed`, nothing tells the others but its silence."""

    def overrun(self, sender: int, receiver: Node) -> None:
        """More waits on a link than it holds: it is closed, with what waits there."""

    def announce(self, node: Node, to: Node, payload: bytes) -> None:
        """Send an announcement of author logs over the link to another node."""

    @property
    def pongs(self) -> Pongs | None:
        """Exchange of clock readings over links; None where time comes from elsewhere."""

    def clock_set(self, node: Node) -> None:
        """A node's wall clock was set."""


class Mesh:
    """A link between every two nodes that can reach each other."""

    def __init__(self, around: Surroundings, *, telling: bool = False) -> None:
        self._around = around
        self._since: dict[tuple[int, int], Nanos] = {}
        """When each link was made, by the numbers of its ends, rising."""
        self.pongs = Pongs(
            around.nodes,
            around.timeline,
            around.rng,
            around.feed_channel,
            around.rooms,
            around.levels,
        )
        if around.levels is not None:
            around.levels.joined = self.pongs.tell
        if telling:
            self.pongs.begin()
        self.rewired()

    def receivers(self, node: Node) -> Sequence[int]:
        """See `Links`."""
        return node.hearers

    def carries(self, sender: int, receiver: Node) -> bool:
        """See `Links`."""
        if sender not in receiver.joined:
            return False
        return self._around.network.hears(sender, receiver.number)

    def rewired(self) -> None:
        """Let every pair notice, each in its time, what it can reach now."""
        around = self._around
        programs = [node for node in around.nodes if not node.is_alias]
        for one in programs:
            for other in programs[one.number + 1 :]:
                up = around.network.reachable(one.number, other.number)
                if up != _linked(one, other):
                    self._plan(one, other, NOTICED if up else UNNOTICED)

    def _plan(self, one: Node, other: Node, span: tuple[Nanos, Nanos]) -> None:
        at = self._around.timeline.now + self._around.rng.randint(*span)
        self._around.timeline.plan(at, self._relink, one, other)

    def started(self, node: Node) -> None:
        """See `Links`."""
        del node
        self.rewired()

    def stopped(self, node: Node, *, unnoticed: bool = False) -> None:
        """The other ends notice at once, or by its silence, unless it is back before."""
        if unnoticed and self._around.levels is not None:
            self._around.levels.stopped(node)
        for number in sorted(node.joined):
            other = self._around.nodes[number]
            if unnoticed:
                node.leave(number)  # the other end of the link is half open
                self._plan(node, other, UNNOTICED)
            else:
                self._leave(node, other)

    def overrun(self, sender: int, receiver: Node) -> None:
        """Both ends dial again soon."""
        one = self._around.nodes[sender]
        if _linked(one, receiver):
            receiver.unread.forget(sender)
            one.unread.forget(receiver.number)
            self._leave(one, receiver)
            self._plan(one, receiver, NOTICED)

    def dial(self, one: Node, other: Node) -> None:
        """Make a link at once, where there is none."""
        if other.runner is not None and not _linked(one, other):
            self._join(one, other)

    def hang_up(self, one: Node, other: Node) -> None:
        """Take a link down at once, where there is one."""
        if _linked(one, other):
            self._leave(one, other)

    def clock_set(self, node: Node) -> None:
        """See `Links`."""
        self.pongs.begin()
        self.pongs.changed(node, was_set=True)

    def _relink(self, one: Node, other: Node) -> None:
        up = self._around.network.reachable(one.number, other.number)
        both = one.runner is not None and other.runner is not None
        if up and both and not _linked(one, other):
            self._join(one, other)
        elif not (up and both) and (other.number in one.joined or one.number in other.joined):
            self._leave(one, other)

    def _join(self, one: Node, other: Node) -> None:
        around = self._around
        channels = shared(around.rooms, one.number, other.number)
        if not channels:
            return
        self._since[_pair(one, other)] = around.timeline.now
        one.join(other.number)
        other.join(one.number)
        for channel in channels:
            if around.levels is not None and channel == around.levels.channel:
                around.levels.linked(one, other)
                continue
            around.feed_channel(one, self._joined(one, other), channel)
            around.feed_channel(other, self._joined(other, one), channel)
            self._present(one, other, channel)
            self._present(other, one, channel)
        self.pongs.tell(one, other)
        self.pongs.tell(other, one)
        for node in (one, other):
            self._make_room(node)

    def _joined(self, node: Node, other: Node) -> values.PeerJoined:
        """Return what a node is told of a link; where a firewall let it alone dial, that it did."""
        dialled = (other.number, node.number) in self._around.network.walls
        return values.PeerJoined(other.identity.peer_id, dialled=dialled)

    def announce(self, node: Node, to: Node, payload: bytes) -> None:
        """See `Links`; it is lost with the link it is on."""
        around = self._around
        since = self._since.get(_pair(node, to))
        channels = shared(around.rooms, node.number, to.number)
        if not channels or to.number not in node.joined:
            return
        now, peer, channel = around.timeline.now, node.identity.peer_id, min(channels)
        node.tapped(now, channel, to.identity.peer_id, FrameKind.ANNOUNCE, payload, sent=True)

        def arrive() -> None:
            if not self.carries(node.number, to) or self._since.get(_pair(node, to)) != since:
                return
            now = around.timeline.now
            to.tapped(now, channel, peer, FrameKind.ANNOUNCE, payload, sent=False)
            around.feed_channel(to, values.LogsAnnounced(peer, payload), channel)

        around.timeline.call(now + around.network.latency(), arrive)

    def _present(self, node: Node, to: Node, channel: ChannelId) -> None:
        """Tell what sessions a node speaks beyond what everybody does."""
        spoken = frozenset(node.runner.protocols.announced) if node.runner is not None else None
        if spoken:
            announced = values.PeerAnnounced(node.identity.peer_id, spoken)
            self._around.feed_channel(to, announced, channel)

    def _leave(self, one: Node, other: Node) -> None:
        one.leave(other.number)
        other.leave(one.number)
        around = self._around
        for channel in shared(around.rooms, one.number, other.number):
            if around.levels is not None and channel == around.levels.channel:
                around.levels.gone(one, other)
                continue
            around.feed_channel(one, values.PeerGone(other.identity.peer_id), channel)
            around.feed_channel(other, values.PeerGone(one.identity.peer_id), channel)

    def _make_room(self, node: Node) -> None:
        """Take down the links of those who give way, where a node has too many (see `places`)."""
        most = self._around.most
        if most is None or node.is_alias or len(node.joined) <= most:
            return
        others = [self._around.nodes[number] for number in node.hearers]
        holders = [
            Holder(
                other.number,
                str(other.host),
                self._standing(node, other),
                self._since[_pair(node, other)],
            )
            for other in others
        ]
        for number in give_way(holders, most):
            self._leave(node, self._around.nodes[number])

    def _standing(self, node: Node, other: Node) -> Standing:
        """Whoever shares a further channel is a member; the first one is open to all."""
        common = shared(self._around.rooms, node.number, other.number)
        return Standing.MEMBER if len(common) > 1 else Standing.OPEN


class Air:
    """A broadcast that reaches every node on the sender's side of a cut."""

    def __init__(self, around: Surroundings) -> None:
        self._around = around
        self.pongs = None
        for node in around.nodes:
            self._tell_audience(node)
        self._tell_clocks()

    def receivers(self, node: Node) -> Sequence[int]:
        """See `Links`."""
        network, number = self._around.network, node.number
        others = [*range(number), *range(number + 1, network.size)]
        if network.side_of is None:
            return others
        return [other for other in others if network.reachable(number, other)]

    def carries(self, sender: int, receiver: Node) -> bool:
        """See `Links`."""
        return self._around.network.hears(sender, receiver.number)

    def announce(self, node: Node, to: Node, payload: bytes) -> None:
        """See `Links`: without links nobody has proved anything."""

    def overrun(self, sender: int, receiver: Node) -> None:
        """See `Links`: what waits is lost, as on any network."""
        receiver.unread.forget(sender)

    def rewired(self) -> None:
        """Nobody is told; only the clocks that can be heard are others."""
        self._tell_clocks()

    def started(self, node: Node) -> None:
        """See `Links`."""
        self._tell_audience(node)
        self._tell_clocks()

    def stopped(self, node: Node, *, unnoticed: bool = False) -> None:
        """See `Links`: nobody notices."""

    def clock_set(self, node: Node) -> None:
        """See `Links`."""
        del node
        self._tell_clocks()

    def _tell_clocks(self) -> None:
        """Tell each node the median of all clocks on its side, as time servers would."""
        nodes = self._around.nodes
        if not any(node.clock_offset or node.reference_offset for node in nodes):
            return
        sides: dict[int, list[Nanos]] = {}
        side_of = self._around.network.side_of or [0] * len(nodes)
        for node in nodes:
            sides.setdefault(side_of[node.number], []).append(node.clock_offset)
        for clocks in sides.values():
            clocks.sort()
        for node in nodes:
            tell_reference_clock(node, sides[side_of[node.number]], self._around.queue_input)

    def _tell_audience(self, node: Node) -> None:
        self._around.queue_input(node, values.Audience(self._around.network.size - 1))


def _pair(one: Node, other: Node) -> tuple[int, int]:
    return min(one.number, other.number), max(one.number, other.number)


def _linked(one: Node, other: Node) -> bool:
    """Return whether both ends have the link; a half-open one is dialled anew."""
    return other.number in one.joined and one.number in other.joined


def tell_reference_clock(
    node: Node, clocks: Sequence[Nanos], feed: Callable[[Node, values.Input], None]
) -> None:
    """Tell a node the median of `clocks`, rising and its own among them; ties go to its own."""
    if node.runner is None:
        return
    middle = clocks[(len(clocks) - 1) // 2], clocks[len(clocks) // 2]
    offset = min(max(node.clock_offset, middle[0]), middle[1]) - node.machine_offset
    if offset != node.reference_offset:
        node.reference_offset = offset
        feed(node, values.ReferenceClock(offset))
