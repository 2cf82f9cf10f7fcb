"""Nodes on a virtual clock: the same runner as live ones, turned by one heap of events.

The same seed gives the same run, down to the bytes.
"""

import hashlib
import heapq
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
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
from sync.sim.invariants import Witness, check_bounds
from sync.sim.network import PERFECT, Link, Network
from sync.sim.node import Node, identity_of
from sync.sim.streams import Streams

EPOCH: Nanos = 1_763_700_000 * SECOND
"""When a world begins: a morning in November 2025."""

COMMIT: tuple[Nanos, Nanos] = (1 * MILLISECOND, 6 * MILLISECOND)
"""How long a commit takes; a crash meanwhile takes it back. 4.8 ms were measured for one fsync."""

UNNOTICED: tuple[Nanos, Nanos] = (10 * SECOND, 15 * SECOND)
"""How long a cut stays unnoticed: pings every 5 s, dead at 15 s."""

NOTICED: tuple[Nanos, Nanos] = (SECOND, 5 * SECOND)
"""How long after a heal the redial succeeds."""


class World:
    """A group of nodes in one channel, the network between them, and the time."""

    def __init__(
        self,
        size: int,
        seed: int = 0,
        link: Link = PERFECT,
        parameters: Parameters = LAN,
        clocks: Sequence[Nanos] = (),
    ) -> None:
        """Make a world of `size` nodes, whose wall clocks are ahead of its time by `clocks`."""
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
        self.streams = Streams(self.channel, self.nodes, self.network, self._feed, self._at)
        for node in self.nodes:
            node.clock_offset = clocks[node.number] if clocks else 0
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
        self.witness.crashes += 1
        for peer in sorted(node.joined):
            self._leave(node, self.nodes[peer])

    def restart(self, number: int) -> None:
        """Start a crashed node from its disk."""
        self._start(self.nodes[number])
        self._schedule_links()

    def set_clock(self, number: int, offset: Nanos) -> None:
        """Set a node's wall clock to `offset` ahead of the world's time."""
        self.nodes[number].clock_offset = offset
        for node in self.nodes:
            self._tell_reference_clock(node)

    def fill_disk(self, number: int) -> None:
        """Let commits of a node fail until `free_disk`."""
        self.nodes[number].disk.full = True

    def free_disk(self, number: int) -> None:
        """Let commits of a node succeed again."""
        self.nodes[number].disk.full = False

    def logs(self) -> list[list[tuple[int, MessageId]]]:
        """Return every node's delivered messages, in order."""
        return [node.disk.log() for node in self.nodes]

    def converged(self) -> bool:
        """Whether all nodes have the same log (I2)."""
        logs = self.logs()
        return all(log == logs[0] for log in logs)

    def settled(self) -> bool:
        """Whether nobody waits for anything: no acknowledgement, no missing message."""
        running = [node.runner for node in self.nodes if node.runner is not None]
        channels = [runner.groups[self.channel].sds for runner in running]
        return not any(sds.outgoing.pending or sds.incoming.missing for sds in channels)

    def check(self) -> None:
        """Assert the invariants that hold at the end of a run."""
        self.witness.check_end([node.disk for node in self.nodes])
        for node in self.nodes:
            if node.runner is not None:
                check_bounds(node.runner, node.number)

    # --- Nodes ---------------------------------------------------------------------------------

    def _new_node(self, number: int) -> Node:
        who = identity_of(self.seed, number)
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
        node.machine_offset = node.clock_offset
        node.reference_offset = 0
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
        batch = node.runner.turn(self.now + node.machine_offset)
        self.witness.failures += batch.failures
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
            self.streams.cut(node, self.now)
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
            self._wake(node, max(self.now, due - node.machine_offset))

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
                self.streams.open(node, session, self._peer(peer), self.now)
            case values.SendPayload(session, payload):
                self.streams.send(node, session, payload, self.now)
            case values.CloseSession(session):
                self.streams.close(node, session, self.now)
            case values.Push(peer, hashes):
                self.streams.push(node, self._peer(peer), hashes, self.now)
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
            self._tell_reference_clock(one)
            self._tell_reference_clock(other)
        elif not up and other.number in one.joined:
            self._leave(one, other)

    def _leave(self, one: Node, other: Node) -> None:
        one.joined.discard(other.number)
        other.joined.discard(one.number)
        self._feed(one, values.PeerGone(other.identity.peer_id))
        self._feed(other, values.PeerGone(one.identity.peer_id))
        self._tell_reference_clock(one)
        self._tell_reference_clock(other)

    def _tell_reference_clock(self, node: Node) -> None:
        """Median of a node's own clock and those of its peers; ties go to its own (DESIGN 5)."""
        own = node.clock_offset
        clocks = sorted([own, *(self.nodes[number].clock_offset for number in node.joined)])
        middle = clocks[(len(clocks) - 1) // 2], clocks[len(clocks) // 2]
        offset = min(max(own, middle[0]), middle[1]) - node.machine_offset
        if node.runner is not None and offset != node.reference_offset:
            node.reference_offset = offset
            node.runner.feed_all(values.ReferenceClock(offset))
            if node.committing is None:
                self._wake(node, self.now)

    def _peer(self, peer: PeerId) -> Node:
        [node] = [node for node in self.nodes if node.identity.peer_id == peer]
        return node

    def _at(self, at: Nanos, action: Callable[[], None]) -> None:
        self._sequence += 1
        heapq.heappush(self._events, (max(at, self.now), self._sequence, action))
