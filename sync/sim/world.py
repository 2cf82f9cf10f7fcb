"""Nodes on a virtual clock: the same runner as live ones, turned by one heap of events.

The same seed gives the same run, down to the bytes.
"""

import hashlib
import heapq
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import assert_never

from sync import identity
from sync.entry import Kind, Text, encode_text
from sync.errors import StorageError
from sync.group import values
from sync.group.group import Author
from sync.journal import Membership
from sync.machine import MILLISECOND, SECOND, ChannelId, MessageId, Nanos, PeerId
from sync.runner import Batch, Release, Runner
from sync.sds.message import LAN, Parameters
from sync.sds.wire import decode, encode
from sync.sim.disk import Disk
from sync.sim.invariants import Witness
from sync.sim.network import PERFECT, Link, Network
from sync.waku.message import WakuMessage, content_topic, pubsub_topic
from sync.waku.wire import encode_transfer

EPOCH: Nanos = 1_763_700_000 * SECOND
"""When a world begins: a morning in November 2025."""

COMMIT: tuple[Nanos, Nanos] = (1 * MILLISECOND, 6 * MILLISECOND)
"""How long a commit takes; a crash meanwhile takes it back. 4.8 ms were measured for one fsync."""

UNNOTICED: tuple[Nanos, Nanos] = (10 * SECOND, 15 * SECOND)
"""How long a cut stays unnoticed: pings every 5 s, dead at 15 s."""

NOTICED: tuple[Nanos, Nanos] = (SECOND, 5 * SECOND)
"""How long after a heal the redial succeeds."""


@dataclass(slots=True)
class Stream:
    """A reconciliation stream: both ends with the session numbers they know it by."""

    ends: dict[int, values.SessionId]
    last_arrival: Nanos = 0


@dataclass(slots=True)
class Node:
    """One participant, its disk, and what it is doing."""

    number: int
    identity: identity.Identity
    disk: Disk
    runner: Runner | None
    """None while it is down."""
    joined: set[int] = field(default_factory=set)
    streams: dict[values.SessionId, Stream] = field(default_factory=dict)
    committing: Batch | None = None
    wake_at: Nanos | None = None
    clock_offset: Nanos = 0
    incarnation: int = 0


class World:
    """A group of nodes in one channel, the network between them, and the time."""

    def __init__(
        self, size: int, seed: int = 0, link: Link = PERFECT, parameters: Parameters = LAN
    ) -> None:
        self.seed = seed
        self.rng = random.Random(seed)  # noqa: S311  # a seeded run, not a secret
        self.now: Nanos = EPOCH
        self.network = Network(size, link, random.Random(seed + 1))  # noqa: S311
        digest = hashlib.sha256(b"simulated channel").hexdigest()[:32]
        self.membership = Membership(
            ChannelId(digest), "sim", b"", open=True, profile=parameters.name, joined_ns=EPOCH
        )
        self.channel = self.membership.channel
        self.witness = Witness()
        self.listeners: list[Callable[[int, Release], None]] = []
        self._events: list[tuple[Nanos, int, Callable[[], None]]] = []
        self._sequence = 0
        self._tokens = 0
        self._verified: dict[bytes, bool] = {}
        self.nodes = [self._new_node(number) for number in range(size)]
        for node in self.nodes:
            self._start(node)
        self._schedule_links()

    # --- What a test does ----------------------------------------------------------------------

    def write(self, number: int, text: str) -> None:
        """Let a node's person write a line now."""
        node = self.nodes[number]
        if node.runner is None:
            return
        self._tokens += 1
        body = encode_text(Text(f"node{number}", text))
        self._feed(node, values.Write(self._tokens, Kind.TEXT, body))

    def run(self, duration: Nanos) -> None:
        """Let `duration` pass."""
        until = self.now + duration
        while self._events and self._events[0][0] <= until:
            self.now, _, action = heapq.heappop(self._events)
            action()
        self.now = until

    def partition(self, *sides: set[int]) -> None:
        """Cut the network into sides; nodes notice within 15 s."""
        self.network.partition(*sides)
        self._schedule_links()

    def heal(self) -> None:
        """Mend the network; nodes redial within 5 s."""
        self.network.heal()
        self._schedule_links()

    def crash(self, number: int) -> None:
        """Stop a node as a power cut does: what is not committed is gone."""
        node = self.nodes[number]
        node.runner = None
        node.committing = None
        node.incarnation += 1
        node.streams.clear()
        self.witness.crashed(number)
        for peer in sorted(node.joined):
            self._leave(node, self.nodes[peer])

    def restart(self, number: int) -> None:
        """Start a crashed node from its disk."""
        self._start(self.nodes[number])
        self._schedule_links()

    def logs(self) -> list[list[tuple[int, MessageId]]]:
        """Return every node's delivered messages, in order."""
        return [node.disk.log() for node in self.nodes]

    def converged(self) -> bool:
        """Whether all nodes have the same log (I2)."""
        logs = self.logs()
        return all(log == logs[0] for log in logs)

    def check(self) -> None:
        """Assert the invariants that hold at the end of a run."""
        self.witness.check_end([node.disk for node in self.nodes])

    # --- Nodes ---------------------------------------------------------------------------------

    def _new_node(self, number: int) -> Node:
        seed = hashlib.sha256(f"{self.seed}/{number}".encode()).digest()
        who = identity.Identity.from_seed(seed, seed)
        disk = Disk(who.peer_id, self.rng.getrandbits(64))
        return Node(number, who, disk, None)

    def _start(self, node: Node) -> None:
        assert node.runner is None
        author = Author(
            me=node.identity.peer_id,
            sign=node.identity.sign,
            verify=self._verify,
            draw_log=lambda: self.rng.getrandbits(64),
        )
        node.runner = Runner(author, random.Random(self.rng.getrandbits(64)))  # noqa: S311
        node.runner.add_channel(self.membership, node.disk.restore())
        self._wake(node, self.now)

    def _verify(self, peer: PeerId, signature: bytes, data: bytes) -> bool:
        """Check a signature once for all nodes: 140 us each would be most of a run."""
        key = hashlib.sha256(peer.encode() + signature + data).digest()
        known = self._verified.get(key)
        if known is None:
            known = self._verified[key] = identity.verify(peer, signature, data)
        return known

    def _feed(self, node: Node, event: values.Input) -> None:
        if node.runner is None:
            return
        node.runner.feed(self.channel, event)
        if node.committing is None:
            self._wake(node, self.now)

    def _wake(self, node: Node, at: Nanos) -> None:
        if node.wake_at is None or at < node.wake_at:
            node.wake_at = at
            self._at(at, partial(self._turn, node, at))

    def _turn(self, node: Node, at: Nanos) -> None:
        """One turn of the runner: handle what waits, then commit, which takes a while."""
        if node.wake_at == at:
            node.wake_at = None
        if node.runner is None or node.committing is not None:
            return
        batch = node.runner.turn(self.now + node.clock_offset)
        self.witness.failures += len(batch.failures)
        if not batch.records:
            self._release(node, batch)
            self._rest(node)
            return
        node.committing = batch
        incarnation = node.incarnation
        done = self.now + self.rng.randint(*COMMIT)
        self._at(done, partial(self._committed, node, batch, incarnation))

    def _committed(self, node: Node, batch: Batch, incarnation: int) -> None:
        if node.incarnation != incarnation or node.runner is None:
            return
        node.committing = None
        try:
            node.disk.commit(batch.records)
        except StorageError:
            node.streams.clear()
            node.runner.rebuild({self.channel: node.disk.restore()})
        else:
            self._release(node, batch)
        self._rest(node)

    def _rest(self, node: Node) -> None:
        """Sleep until the next input or deadline."""
        assert node.runner is not None
        if node.runner.busy:
            self._wake(node, self.now)
        elif (due := node.runner.deadline()) is not None:
            self._wake(node, max(self.now, due - node.clock_offset))

    # --- Effects -------------------------------------------------------------------------------

    def _release(self, node: Node, batch: Batch) -> None:
        for release in batch.releases:
            self._carry_out(node, release.effect)
            for listener in self.listeners:
                listener(node.number, release)

    def _carry_out(self, node: Node, effect: values.Effect) -> None:
        match effect:
            case values.Broadcast(payload):
                self._broadcast(node, payload)
            case values.BroadcastStored(message_id, bloom_filter):
                stored = decode(node.disk.load(message_id).payload)
                self._broadcast(node, encode(replace(stored, bloom_filter=bloom_filter)))
            case values.OpenSession(session, peer):
                self._open(node, session, peer)
            case values.SendPayload(session, payload):
                self._send_payload(node, session, payload)
            case values.CloseSession(session):
                self._close(node, session)
            case values.Push(peer, hashes):
                self._push(node, peer, hashes)
            case values.Written(_, message_id):
                self.witness.written(node.number, node.disk.load(message_id).entry.header)
            case values.Deliver(message_id):
                loaded = node.disk.load(message_id)
                self.witness.delivered(node.number, loaded, node.disk)
            case values.DeliveryChanged(message_id, delivery):
                disks = [other.disk for other in self.nodes if other is not node]
                self.witness.marked(node.number, message_id, delivery, disks)
            case values.SessionEnded():
                self.witness.sessions.append(effect)
            case (
                values.Missing()
                | values.Found()
                | values.EphemeralArrived()
                | values.Lacking()
                | values.Refused()
                | values.Warned()
            ):
                pass
            case (
                values.StoreMessage() | values.SetStatus() | values.SetDelivery() | values.SetLog()
            ):
                raise AssertionError("a record is not released")
            case _:
                assert_never(effect)

    def _broadcast(self, node: Node, payload: bytes) -> None:
        arrived = values.Arrived(node.identity.peer_id, payload)
        for number in sorted(node.joined):
            for at in self.network.arrivals(self.now, len(payload)):
                self._at(at, partial(self._arrive, node.number, number, arrived))

    def _arrive(self, sender: int, receiver: int, event: values.Input) -> None:
        if self.network.reachable(sender, receiver) and sender in self.nodes[receiver].joined:
            self._feed(self.nodes[receiver], event)

    # --- Links ---------------------------------------------------------------------------------

    def _schedule_links(self) -> None:
        """Let every pair notice, each in its time, what it can reach now."""
        for one in self.nodes:
            for other in self.nodes[one.number + 1 :]:
                linked = other.number in one.joined
                up = self.network.reachable(one.number, other.number)
                if up != linked:
                    span = NOTICED if up else UNNOTICED
                    at = self.now + self.rng.randint(*span)
                    self._at(at, partial(self._relink, one, other))

    def _relink(self, one: Node, other: Node) -> None:
        up = self.network.reachable(one.number, other.number)
        both = one.runner is not None and other.runner is not None
        if up and both and other.number not in one.joined:
            one.joined.add(other.number)
            other.joined.add(one.number)
            self._feed(one, values.PeerJoined(other.identity.peer_id))
            self._feed(other, values.PeerJoined(one.identity.peer_id))
        elif not up and other.number in one.joined:
            self._leave(one, other)

    def _leave(self, one: Node, other: Node) -> None:
        one.joined.discard(other.number)
        other.joined.discard(one.number)
        self._feed(one, values.PeerGone(other.identity.peer_id))
        self._feed(other, values.PeerGone(one.identity.peer_id))

    # --- Streams -------------------------------------------------------------------------------

    def _open(self, node: Node, session: values.SessionId, peer: PeerId) -> None:
        other = self._peer(peer)
        at = self.now + self.network.latency()
        if other.runner is None or not self.network.reachable(node.number, other.number):
            self._at(at, partial(self._feed, node, values.SessionClosed(session, "no answer")))
            return
        number = other.runner.new_session()
        stream = Stream({node.number: session, other.number: number})
        node.streams[session] = stream
        other.streams[number] = stream
        offered = values.SessionOffered(number, node.identity.peer_id)
        self._on_stream(stream, node, other, offered)
        self._on_stream(stream, other, node, values.SessionOpened(session))

    def _send_payload(self, node: Node, session: values.SessionId, payload: bytes) -> None:
        stream = node.streams.get(session)
        if stream is None:
            return
        other = self._other_end(stream, node)
        event = values.SessionPayload(stream.ends[other.number], payload)
        self._on_stream(stream, node, other, event)

    def _close(self, node: Node, session: values.SessionId) -> None:
        stream = node.streams.pop(session, None)
        if stream is not None:
            other = self._other_end(stream, node)
            closed = values.SessionClosed(stream.ends[other.number])
            self._on_stream(stream, node, other, closed)

    def _on_stream(self, stream: Stream, sender: Node, receiver: Node, event: values.Input) -> None:
        """Deliver in order, or cut the stream where the ends cannot reach each other."""
        at = max(self.now + self.network.latency(), stream.last_arrival + 1)
        stream.last_arrival = at
        incarnation = receiver.incarnation

        def arrive() -> None:
            if receiver.incarnation != incarnation:
                return
            if self.network.reachable(sender.number, receiver.number):
                self._feed(receiver, event)
            else:
                session = stream.ends[receiver.number]
                receiver.streams.pop(session, None)
                self._feed(receiver, values.SessionClosed(session, "cut"))

        self._at(at, arrive)

    def _push(self, node: Node, peer: PeerId, hashes: Sequence[bytes]) -> None:
        other = self._peer(peer)
        stream = Stream({})
        topic = pubsub_topic(self.channel)
        for loaded in node.disk.load_by_hash(hashes):
            created_ns = loaded.entry.header.created_ns
            waku = WakuMessage(loaded.payload, content_topic(self.channel), created_ns)
            event = values.Transferred(node.identity.peer_id, encode_transfer(waku, topic))
            self._on_transfer(stream, node, other, event)
        self._on_transfer(stream, node, other, values.TransferEnded(node.identity.peer_id))

    def _on_transfer(
        self, stream: Stream, sender: Node, receiver: Node, event: values.Input
    ) -> None:
        at = max(self.now + self.network.latency(), stream.last_arrival + 1)
        stream.last_arrival = at
        incarnation = receiver.incarnation

        def arrive() -> None:
            same = receiver.incarnation == incarnation
            if same and self.network.reachable(sender.number, receiver.number):
                self._feed(receiver, event)

        self._at(at, arrive)

    def _other_end(self, stream: Stream, node: Node) -> Node:
        [number] = [number for number in stream.ends if number != node.number]
        return self.nodes[number]

    def _peer(self, peer: PeerId) -> Node:
        [node] = [node for node in self.nodes if node.identity.peer_id == peer]
        return node

    def _at(self, at: Nanos, action: Callable[[], None]) -> None:
        self._sequence += 1
        heapq.heappush(self._events, (max(at, self.now), self._sequence, action))
