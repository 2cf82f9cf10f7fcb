"""What a node lets out, carried out: frames on their way, streams, and what is watched and counted.

Rule: nothing gets here before the commit it depends on.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias, assert_never

from sync.group import values
from sync.group.ingest import Gate
from sync.machine import MILLISECOND, MessageId, PeerId
from sync.sds.message import Delivery
from sync.sds.wire import encode
from sync.sim.invariants import Witness
from sync.sim.links import Links
from sync.sim.measure import Meter
from sync.sim.network import Network
from sync.sim.node import Node
from sync.sim.streams import Streams
from sync.sim.timeline import Timeline
from sync.sim.watch import Cause, Watch
from sync.view import FrameKind

Frame: TypeAlias = tuple[int, values.Input]
"""The number of its sender, and what its receiver is fed."""

READING: Final = 10 * MILLISECOND
"""What a page of messages takes from the disk; others go on coming meanwhile."""


@dataclass(slots=True)
class Outlet:
    """Of all nodes of a world; `arrive` gives a frame to a node."""

    nodes: Sequence[Node]
    network: Network
    timeline: Timeline
    links: Links
    streams: Streams
    gate: Gate
    witness: Witness
    meter: Meter
    arrive: Callable[[Node, Frame], None]
    watch: Watch | None = None
    _by_peer: dict[PeerId, Node] = field(init=False)

    def __post_init__(self) -> None:
        self._by_peer = {node.identity.peer_id: node for node in self.nodes}

    def carry_out(self, node: Node, effect: values.Effect) -> None:
        """Do what `effect` of a node asks for."""
        match effect:
            case values.Deliver():
                self._deliver(node, effect)
            case values.Broadcast(payload):
                self.meter.broadcast(self.gate.read(payload), payload)
                self._broadcast(node, payload, Cause.NEW)
            case values.BroadcastStored(message_id, bloom_filter):
                self._broadcast_stored(node, message_id, bloom_filter)
            case values.Written(_, message_id):
                header = node.disk.rows[message_id].message.entry.header
                self.witness.written(node.number, header)
                self.meter.written(node.number, message_id, self.timeline.now)
            case values.DeliveryChanged(message_id, delivery):
                disks = (other.disk for other in self.nodes if other is not node)
                self.witness.marked(node.number, message_id, delivery, disks)
                if delivery is Delivery.POSSIBLY_ACKNOWLEDGED:
                    self.meter.hinted(right=self._hinted_right(node, message_id))
            case values.Missing(message_id):
                self.meter.missed(node.number, message_id, self.timeline.now)
            case (
                values.Lacking()
                | values.Sought()
                | values.Retrieve()
                | values.Found()
                | values.Previewed()
                | values.Altered()
                | values.TypingChanged()
                | values.Refused()
                | values.Warned()
            ):
                pass
            case values.Withdrawn(message_ids):
                self.witness.withdrawn(node.number, message_ids)
            case values.LoadHeldBack(after, limit):
                self._load(node, values.HeldBackLoaded(node.disk.load_held_back(after, limit)))
            case values.SessionEnded():
                self.witness.sessions.append(effect)
            case values.OpenSession() | values.SendPayload() | values.CloseSession():
                self._carry_out_session(node, effect)
            case values.Push(peer, hashes):
                self.streams.push(node, self._by_peer[peer], hashes, self.timeline.now)
            case values.CloseTransfer(peer):
                self.streams.stop_push(node, self._by_peer[peer], self.timeline.now)
            case (
                values.StoreMessage()
                | values.SetStatus()
                | values.SetDelivery()
                | values.SetLog()
                | values.BeginAnew()
            ):
                raise AssertionError("this is the runner's, and is not released")
            case _:
                assert_never(effect)

    def _load(self, node: Node, read: values.HeldBackLoaded) -> None:
        """Give a node what was read from its disk, which takes a while."""
        incarnation = node.incarnation

        def arrive() -> None:
            if node.incarnation == incarnation:
                self.streams.feed(node, read)

        self.timeline.call(self.timeline.now + READING, arrive)

    def _deliver(self, node: Node, deliver: values.Deliver) -> None:
        message_id = deliver.message_id
        if deliver.entry is None:
            node.loaded(message_id, 0)
        self.witness.delivered(node.number, node.disk.rows[message_id], node.disk)
        self.meter.delivered(node.number, message_id, self.timeline.now)

    def _carry_out_session(
        self, node: Node, effect: values.OpenSession | values.SendPayload | values.CloseSession
    ) -> None:
        match effect:
            case values.OpenSession():
                self.streams.open(node, effect, self._by_peer[effect.peer], self.timeline.now)
            case values.SendPayload(session, payload):
                self.streams.send(node, session, payload, self.timeline.now)
            case values.CloseSession(session):
                self.streams.close(node, session, self.timeline.now)
            case _:
                assert_never(effect)

    def _broadcast_stored(
        self, node: Node, message_id: MessageId, bloom_filter: bytes | None
    ) -> None:
        """Send a message again: an own one with the filter of now, or one that was asked for."""
        payload = node.disk.rows[message_id].message.payload
        cause = Cause.ANSWER
        if bloom_filter is None:
            self.meter.answered(message_id, payload)
        else:
            cause = Cause.RESEND
            stored = self.gate.read(payload)
            payload = encode(stored._replace(bloom_filter=bloom_filter))
            self.meter.resent(payload)
        node.loaded(message_id, len(payload))
        self._broadcast(node, payload, cause)

    def _hinted_right(self, node: Node, message_id: MessageId) -> bool:
        """Whether all whose filters seemed to hold our message did."""
        assert node.runner is not None
        pending = node.runner.groups[self.streams.channel].sds.outgoing.pending.get(message_id)
        hinted_by = set() if pending is None else pending.possibly_by
        return all(message_id in self._by_peer[peer].disk.rows for peer in hinted_by)

    def _broadcast(self, node: Node, payload: bytes, cause: Cause) -> None:
        if node.tap is not None:
            channel = self.streams.channel
            node.tapped(self.timeline.now, channel, None, FrameKind.SDS, payload, sent=True)
        frame = node.number, values.Arrived(node.identity.peer_id, payload)
        nodes, plan, arrive = self.nodes, self.timeline.plan, self.arrive
        receivers = self.links.receivers(node)
        spared = receivers
        if self.watch is not None:
            spared = self.watch.spared(node, payload, cause, receivers)
        arrivals = self.network.arrivals(self.timeline.now, len(payload), spared)
        for at, receiver in arrivals:
            plan(at, arrive, nodes[receiver], frame)
        if self.watch is not None:
            self.watch.sent(node, payload, cause, receivers, arrivals, self.timeline.now)
