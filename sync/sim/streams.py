"""Session and transfer streams between simulated nodes: ordered, reliable, cut with the links."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

from sync.group import values
from sync.machine import ChannelId, Nanos
from sync.sim.network import Network
from sync.sim.node import Node, Stream
from sync.sim.uplinks import Pushing, Uplinks
from sync.sim.watch import Watch
from sync.view import FrameKind
from sync.waku.message import WakuMessage, content_topic, pubsub_topic
from sync.waku.wire import encode_transfer

Feed: TypeAlias = Callable[[Node, values.Input], None]
"""Gives a node an input, if it is up."""

Schedule: TypeAlias = Callable[[Nanos, Callable[[], None]], None]
"""(when, what)."""

FRAME_KINDS = {
    values.SessionPayload: FrameKind.SESSION,
    values.Transferred: FrameKind.TRANSFER,
}


@dataclass(slots=True)
class Streams:
    """Carries out what groups want of streams."""

    channel: ChannelId
    nodes: Sequence[Node]
    network: Network
    feed: Feed
    schedule: Schedule
    watch: Watch | None = None
    sent_bytes: int = 0
    """Payload bytes on all streams together."""
    carried: int = 0
    """Everything put on streams so far: openings, payloads, messages and ends."""
    cut_at: int | None = None
    """Which of these is lost, and its stream with it; None for none."""
    uplinks: Uplinks = field(init=False)

    def __post_init__(self) -> None:
        self.uplinks = Uplinks(self.network.link.uplink)

    def open(self, node: Node, wanted: values.OpenSession, other: Node, now: Nanos) -> None:
        """Open a stream to reconcile or to check, or tell that it cannot be."""
        session = wanted.session
        reachable = self.network.reachable(node.number, other.number) and self.network.link.streams
        if other.runner is None or not reachable:
            refused = values.SessionClosed(session, "no answer")
            self.schedule(now + self.network.latency(), partial(self.feed, node, refused))
            return
        number = other.runner.new_session()
        stream = Stream({node.number: session, other.number: number})
        node.streams[session] = stream
        other.streams[number] = stream
        offered = values.SessionOffered(number, node.identity.peer_id, wanted.protocol)
        self._carry(stream, node, other, offered, now)
        self._carry(stream, other, node, values.SessionOpened(session), now)

    def send(self, node: Node, session: values.SessionId, payload: bytes, now: Nanos) -> None:
        """Send a payload to the other end."""
        stream = node.streams.get(session)
        if stream is None:
            return
        self.sent_bytes += len(payload)
        other = self._other_end(stream, node)
        peer = other.identity.peer_id
        node.tapped(now, self.channel, peer, FrameKind.SESSION, payload, sent=True)
        event = values.SessionPayload(stream.ends[other.number], payload)
        self._carry(stream, node, other, event, now)

    def close(self, node: Node, session: values.SessionId, now: Nanos, reason: str = "") -> None:
        """Close a stream, after what was sent on it."""
        stream = node.streams.pop(session, None)
        if stream is not None:
            other = self._other_end(stream, node)
            closed = values.SessionClosed(stream.ends[other.number], reason)
            self._carry(stream, node, other, closed, now)

    def cut(self, node: Node, now: Nanos) -> None:
        """Close all streams of a node that no longer knows what they were for."""
        for session in list(node.streams):
            self.close(node, session, now, "cut")

    def push(self, node: Node, other: Node, hashes: Sequence[bytes], now: Nanos) -> None:
        """Send stored messages on a transfer stream of their own."""
        stream = Stream({})
        messages = self._transferred(node, other, hashes)
        if self.uplinks.rate is None:
            for message in messages:
                self._send_pushed(stream, node, other, message, now)
            self._carry(stream, node, other, values.TransferEnded(node.identity.peer_id), now)
            return
        pushing = self.uplinks.begin(node.number, other.number, iter(messages))
        self._push_on(stream, node, other, pushing, now)

    def stop_push(self, node: Node, other: Node, now: Nanos) -> None:
        """Close the transfers of `other` to a node, which takes no more of them."""
        self.uplinks.stop(other.number, node.number, now + self.network.latency())

    def _transferred(
        self, node: Node, other: Node, hashes: Sequence[bytes]
    ) -> Iterator[values.Transferred]:
        topic = pubsub_topic(self.channel)
        pages = [hashes[at : at + values.PAGE] for at in range(0, len(hashes), values.PAGE)]
        for page in pages:
            for loaded in node.disk.load_by_hash(page):
                created_ns = loaded.entry.header.created_ns
                waku = WakuMessage(loaded.payload, content_topic(self.channel), created_ns)
                yield values.Transferred(node.identity.peer_id, encode_transfer(waku, topic))

    def _send_pushed(
        self, stream: Stream, node: Node, other: Node, message: values.Transferred, now: Nanos
    ) -> None:
        self.sent_bytes += len(message.payload)
        peer = other.identity.peer_id
        node.tapped(now, self.channel, peer, FrameKind.TRANSFER, message.payload, sent=True)
        self._carry(stream, node, other, message, now)

    def _push_on(
        self, stream: Stream, node: Node, other: Node, pushing: Pushing, now: Nanos
    ) -> None:
        """Send the next message, and go on when it has left."""
        message = None if stream.cut or pushing.stopped(now) else next(pushing.inputs, None)
        if message is None:
            self.uplinks.end(node.number, other.number, pushing)
            self._carry(stream, node, other, values.TransferEnded(node.identity.peer_id), now)
            return
        self._send_pushed(stream, node, other, message, now)
        left = self.uplinks.free_at(node.number)
        self.schedule(left, partial(self._push_on, stream, node, other, pushing, left))

    def _carry(
        self, stream: Stream, sender: Node, receiver: Node, event: values.Input, now: Nanos
    ) -> None:
        """Deliver in order; where the ends cannot reach each other, the stream is cut."""
        left = self.uplinks.departs(sender.number, receiver.number, event, now)
        at = max(left + self.network.latency(), stream.last_arrival + 1)
        stream.last_arrival = at
        if self.watch is not None:
            self.watch.carried(sender, receiver, event, now, at)
        incarnation = receiver.incarnation
        cut = self.carried == self.cut_at
        self.carried += 1

        def arrive() -> None:
            if receiver.incarnation != incarnation or stream.cut:
                return
            if cut:
                self._reset(stream, sender, receiver)
            elif self.network.reachable(sender.number, receiver.number):
                if isinstance(event, values.SessionPayload | values.Transferred):
                    kind = FRAME_KINDS[type(event)]
                    peer = sender.identity.peer_id
                    receiver.tapped(at, self.channel, peer, kind, event.payload, sent=False)
                self.feed(receiver, event)
            else:
                stream.cut = True
                self._tell_cut(stream, receiver)

        self.schedule(at, arrive)

    def _reset(self, stream: Stream, sender: Node, receiver: Node) -> None:
        """Let a stream end in the midst, as both its ends notice."""
        stream.cut = True
        self._tell_cut(stream, sender)
        self._tell_cut(stream, receiver)
        if not stream.ends:
            self.feed(receiver, values.TransferEnded(sender.identity.peer_id))

    def _tell_cut(self, stream: Stream, node: Node) -> None:
        if node.number in stream.ends:
            session = stream.ends[node.number]
            node.streams.pop(session, None)
            self.feed(node, values.SessionClosed(session, "cut"))

    def _other_end(self, stream: Stream, node: Node) -> Node:
        [number] = [number for number in stream.ends if number != node.number]
        return self.nodes[number]
