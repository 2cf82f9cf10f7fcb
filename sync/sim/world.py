"""Nodes on a virtual clock: the same runner as live ones, turned by one heap of events.

The same seed gives the same run, down to the bytes.
"""

import hashlib
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from sync import changes, identity
from sync.changes import Change
from sync.entry import Kind, Text, encode_text
from sync.errors import LocalError, StorageError
from sync.group import values
from sync.group.ingest import Gate
from sync.group.writer import Author
from sync.machine import MILLISECOND, SECOND, ChannelId, MessageId, Nanos, PeerId
from sync.manager import PROTOCOLS
from sync.membership import Membership
from sync.runner import Batch, Release, Runner, tell_looks
from sync.sds.parameters import LAN, Parameters
from sync.sim.disk import Disk
from sync.sim.gate import RememberingGate
from sync.sim.invariants import Witness, check_bounds
from sync.sim.links import Air, Links, Mesh, Surroundings
from sync.sim.measure import Meter
from sync.sim.network import PERFECT, Link, Network
from sync.sim.node import Node, identity_of
from sync.sim.outlet import READ_AGAIN, Frame, Outlet
from sync.sim.recording import EVERY, Recording
from sync.sim.streams import Streams
from sync.sim.timeline import Timeline
from sync.sim.watch import Watch
from sync.view import FrameKind

EPOCH: Nanos = 1_763_700_000 * SECOND
"""When a world begins: a morning in November 2025."""

LOOKED_OVER: Nanos = 30 * SECOND
"""Between two looks at how full everybody's buffers are (I7)."""

COMMIT: tuple[Nanos, Nanos] = (1 * MILLISECOND, 6 * MILLISECOND)
"""How long a commit takes; a crash meanwhile takes it back. 4.8 ms were measured for one fsync."""

CHANNEL = ChannelId(hashlib.sha256(b"simulated channel").hexdigest()[:32])


@dataclass(frozen=True, slots=True)
class Terms:
    """What a group has agreed on, and how its nodes are connected."""

    parameters: Parameters = LAN
    mesh: bool = True
    """Whether each pair has a link; otherwise one broadcast reaches everybody."""
    reconcile: bool = True
    """Whether nodes compare what they hold (Waku Sync); otherwise SDS repairs alone."""


class World:
    """A group of nodes in one channel, the network between them, and the time.

    Args:
        size: how many nodes.
        seed: decides everything that is drawn.
        link: how bad the network is.
        terms: see `Terms`.
        clocks: how far each wall clock is ahead of the world's time; empty where all are right.
        watch: sees every step and every frame; None where nobody looks that closely.
    """

    def __init__(
        self,
        size: int,
        seed: int = 0,
        link: Link = PERFECT,
        terms: Terms = Terms(),
        clocks: Sequence[Nanos] = (),
        watch: Watch | None = None,
    ) -> None:
        self.seed = seed
        self.watch = watch
        self._recording: Recording | None = None
        self.began = EPOCH
        self.terms = terms
        self.rng = random.Random(seed)  # noqa: S311  # a seeded run, not a secret
        self.time = Timeline(EPOCH)
        self.network = Network(size, link, random.Random(seed + 1))  # noqa: S311
        self.membership = Membership(
            CHANNEL, "sim", b"", open=True, profile=terms.parameters.name, joined_ns=EPOCH
        )
        self.channel = CHANNEL
        self.witness = Witness(size)
        self.meter = Meter()
        self.listeners: list[Callable[[int, Release], None]] = []
        self._signed: dict[tuple[PeerId, bytes], bytes] = {}
        self._gate = RememberingGate.of(CHANNEL, self._verify, terms.parameters.limits)
        self._tokens = 0
        self.nodes = [self._new_node(number) for number in range(size)]
        self.streams = Streams(CHANNEL, self.nodes, self.network, self._feed, self.time.call, watch)
        for node in self.nodes:
            node.clock_offset = clocks[node.number] if clocks else 0
            self._start(node)
        around = Surroundings(self.nodes, self.network, self.time, self.rng, self._feed)
        self.links: Links = Mesh(around) if terms.mesh else Air(around)
        self._outlet = Outlet(
            nodes=self.nodes,
            network=self.network,
            timeline=self.time,
            links=self.links,
            streams=self.streams,
            gate=self._gate,
            witness=self.witness,
            meter=self.meter,
            arrive=self._arrive,
            watch=watch,
        )
        self.time.call(EPOCH + LOOKED_OVER, self._look_over)

    @property
    def now(self) -> Nanos:
        """The time of the world, which no node's clock need show."""
        return self.time.now

    @property
    def gate(self) -> Gate:
        """Reads and checks what any of the nodes sends."""
        return self._gate

    def record(self, recording: Recording) -> None:
        """Have the nodes keep protocol logs from now on."""
        self._recording = recording
        for node in self.nodes:
            if node.runner is not None:
                node.runner.logbook = node.logbook = recording.started(node)
        self.time.call(self.now + EVERY, self._write_down)

    # --- What a test does ----------------------------------------------------------------------

    def preload(self, number: int, history: Iterable[values.StoredMessage]) -> None:
        """Put messages on a node's disk, parents first, as if they had been there for long.

        Everybody has seen what is on their own disk. The node starts anew from it.
        """
        self.crash(number)
        node = self.nodes[number]
        rows = node.disk.rows
        for message in history:
            entry = message.entry
            gap = any(parent.message_id not in rows for parent in entry.header.parents)
            node.disk.commit([values.StoreMessage(message, values.Status.DELIVERED, gap)])
            self.witness.delivered(number, rows[entry.message_id], node.disk)
            self._signed[entry.header.author, entry.header_bytes] = entry.signature
        self.restart(number)

    def write(self, number: int, text: str) -> None:
        """Let a node's person write a line now."""
        node = self.nodes[number]
        if node.runner is None:
            return
        self._tokens += 1
        body = encode_text(Text(f"node{number}", text))
        self._feed(node, values.Write(self._tokens, Kind.TEXT, body))

    def change(self, number: int, change: Change) -> None:
        """Let a node's person edit, hide or react to a message that is on the node's disk, now.

        Raises:
            LocalError: it is not there, or over a limit.
        """
        node = self.nodes[number]
        body = changes.encode(change)
        if change.target not in node.disk.rows:
            raise LocalError(changes.NOT_HERE)
        if node.runner is None:
            return
        self._tokens += 1
        about = (node.disk.load(change.target).named,)
        self._feed(node, values.Write(self._tokens, changes.kind_of(change), body, about))

    def tell_typing(self, number: int) -> None:
        """Let a node's person press a key in the midst of a line now."""
        node = self.nodes[number]
        if node.runner is not None:
            now = self.now + node.machine_offset
            node.runner.tell_typing(CHANNEL, f"node{number}", now)
            if node.runner.busy and node.committing is None:
                self._wake(node, self.now)

    def give(self, number: int, event: values.Input) -> None:
        """Let something from outside of this world reach a node, after a trip."""
        self.time.call(
            self.now + self.network.latency(), partial(self._feed, self.nodes[number], event)
        )

    def run(self, duration: Nanos) -> None:
        """Let `duration` pass."""
        self.time.run(self.now + duration)

    def partition(self, *sides: set[int]) -> None:
        """Cut the network into sides; nodes with links notice within 15 s."""
        self.network.partition(*sides)
        self.links.rewired()

    def heal(self) -> None:
        """Mend the network; nodes with links redial within 5 s."""
        self.network.heal()
        self.links.rewired()

    def crash(self, number: int) -> None:
        """Stop a node as a power cut does: what is not committed is gone."""
        node = self.nodes[number]
        node.doomed = False
        if node.runner is None:
            return
        node.runner = None
        node.committing = None
        node.incarnation += 1
        node.streams.clear()
        if self._recording is not None:
            self._recording.crashed(number)
        self.witness.crashes += 1
        self.links.stopped(node)

    def crash_in_commit(self, number: int) -> None:
        """Stop a node in the midst of its next commit."""
        self.nodes[number].doomed = True

    def restart(self, number: int) -> None:
        """Start a crashed node from its disk; one that is up, or only doomed, stays so."""
        node = self.nodes[number]
        node.doomed = False
        if node.runner is None:
            self._start(node)
            self.links.started(node)

    def set_clock(self, number: int, offset: Nanos) -> None:
        """Set a node's wall clock to `offset` ahead of the world's time."""
        self.nodes[number].clock_offset = offset
        self.links.clocks_changed()

    def tell_clock(self, number: int, offset: Nanos | None) -> None:
        """Let a node tell the others a wall clock `offset` ahead; None: the clock it has."""
        self.nodes[number].told_offset = offset
        self.links.clocks_changed()

    def fill_disk(self, number: int) -> None:
        """Let commits of a node fail until `free_disk`."""
        self.nodes[number].disk.full = True

    def free_disk(self, number: int) -> None:
        """Let commits of a node succeed again."""
        self.nodes[number].disk.full = False

    def slow_disk(self, number: int, slowness: Nanos) -> None:
        """Let commits of a node take that much longer; 0: as long as those of others."""
        self.nodes[number].disk.slowness = slowness

    def break_disk(self, number: int) -> None:
        """Let reads of a node's disk fail until `mend_disk`."""
        self.nodes[number].disk.unreadable = True

    def mend_disk(self, number: int) -> None:
        """Let reads of a node's disk succeed again."""
        self.nodes[number].disk.unreadable = False

    def rot(self, number: int, message_ids: Iterable[MessageId]) -> None:
        """Let these messages, which are on a node's disk, no longer be what was stored."""
        disk = self.nodes[number].disk
        disk.rotten.update(one for one in message_ids if one in disk.rows)

    def logs(self) -> list[list[tuple[int, MessageId]]]:
        """Return every node's delivered messages, in order."""
        return [node.disk.log() for node in self.nodes]

    def converged(self) -> bool:
        """Whether all nodes have delivered the same messages; `check` compares their logs (I2)."""
        return self.witness.partial == 0

    def settled(self) -> bool:
        """Whether nobody waits for anything: no acknowledgement, no missing message."""
        running = [node.runner for node in self.nodes if node.runner is not None]
        channels = [runner.groups[CHANNEL].sds for runner in running]
        return not any(sds.outgoing.pending or sds.incoming.missing for sds in channels)

    def check(self) -> None:
        """Assert the invariants that hold at the end of a run."""
        self.witness.check_end([node.disk for node in self.nodes])
        self.check_bounds()

    def check_bounds(self) -> None:
        """Assert the invariants that hold at any time and are not watched all the time (I7)."""
        for node in self.nodes:
            if node.runner is not None:
                check_bounds(node.runner, node.number)

    def _look_over(self) -> None:
        self.check_bounds()
        self.time.call(self.now + LOOKED_OVER, self._look_over)

    def _write_down(self) -> None:
        assert self._recording is not None
        self._recording.write()
        self.time.call(self.now + EVERY, self._write_down)

    # --- Nodes ---------------------------------------------------------------------------------

    def _new_node(self, number: int) -> Node:
        who = identity_of(self.seed, number)
        disk = Disk(who.peer_id, self.rng.getrandbits(64))
        return Node(number, who, disk, None)

    def _start(self, node: Node) -> None:
        author = Author(
            me=node.identity.peer_id,
            sign=partial(self._sign, node.identity),
            verify=self._verify,
            # not of the bound method: a copy of this world draws from the copy's generator
            draw_log=partial(random.Random.getrandbits, self.rng, 64),
            gate_of=self._gate_of,
        )
        if self._recording is not None:
            node.logbook = self._recording.started(node)
        node.runner = Runner(
            author,
            random.Random(self.rng.getrandbits(64)),  # noqa: S311
            trace=None if self.watch is None else self.watch.trace_of(node),
            profiles={self.terms.parameters.name: self.terms.parameters},
            protocols=PROTOCOLS if self.terms.reconcile else (),
        )
        node.runner.logbook = node.logbook
        node.runner.add_channel(self.membership, node.disk.restore())
        node.machine_offset = node.clock_offset
        node.reference_offset = 0
        self._wake(node, self.now)

    def _gate_of(self, channel: ChannelId) -> Gate:
        assert channel == CHANNEL
        return self._gate

    def _sign(self, who: identity.Identity, data: bytes) -> bytes:
        signature = who.sign(data)
        self._signed[who.peer_id, data] = signature
        return signature

    def _verify(self, peer: PeerId, signature: bytes, data: bytes) -> bool:
        """Check a signature; one that was made here over these bytes needs no arithmetic.

        A key makes one signature over the same bytes, and checking one takes 100 us, half of what
        a message takes otherwise.
        """
        made = self._signed.get((peer, data))
        return made == signature or identity.verify(peer, signature, data)

    def _feed(self, node: Node, event: values.Input) -> None:
        """Give a node an input, if it is up."""
        if node.runner is None:
            return
        if isinstance(event, values.ReferenceClock):
            node.runner.feed_all(event)
        else:
            node.runner.feed(CHANNEL, event)
        if node.committing is None:
            self._wake(node, self.now)

    def _wake(self, node: Node, at: Nanos) -> None:
        if node.wake_at is None or at < node.wake_at:
            node.wake_at = at
            self.time.plan(at, self._woken, node, at)

    def _woken(self, node: Node, at: Nanos) -> None:
        if node.wake_at != at:
            return  # it was woken before, and sleeps again
        node.wake_at = None
        if node.runner is not None and node.committing is None:
            due = node.runner.deadline()
            if node.runner.busy or (due is not None and due <= self.now + node.machine_offset):
                self._turn(node)
            else:
                self._rest(node)

    def _turn(self, node: Node) -> None:
        """One turn of the runner: handle what waits, then commit, which takes a while."""
        assert node.runner is not None
        batch = node.runner.turn(self.time.now + node.machine_offset)
        if batch.failures:
            self.witness.failures += batch.failures
        if not batch.records:
            if batch.releases and node.disk.unreadable and any(map(_reads, batch.releases)):
                node.committing = batch
                self._later(node, batch, self._let_out)
                return
            if batch.releases:
                self._release(node, batch)
            elif node.logbook is not None:
                node.logbook.let_out(self.time.now)
            self._rest(node)
            return
        node.committing = batch
        took = COMMIT[0] + int(self.rng.random() * (COMMIT[1] - COMMIT[0])) + node.disk.slowness
        self.time.plan(self.time.now + took, self._committed, node, batch)
        if node.doomed:
            self.time.call(self.time.now + took // 2, partial(self.crash, node.number))

    def _committed(self, node: Node, batch: Batch) -> None:
        if node.committing is not batch:
            return  # it crashed meanwhile
        assert node.runner is not None
        try:
            tell_looks(batch, node.disk.commit(batch.records))
        except StorageError:
            self._begin_anew(node, batch)
            return
        if self.meter.open:
            self._note_stored(node, batch.records)
        self._let_out(node, batch)

    def _let_out(self, node: Node, batch: Batch) -> None:
        """Release what is committed, once what it needs of the disk can be read."""
        if not self._is_up_with(node, batch):
            return
        if node.disk.unreadable and any(map(_reads, batch.releases)):
            self._later(node, batch, self._let_out)
            return
        node.committing = None
        self._release(node, batch)
        if batch.begin_anew:
            node.committing = batch
            self._begin_anew(node, batch)
        else:
            self._rest(node)

    def _begin_anew(self, node: Node, batch: Batch) -> None:
        """Make a node's machines anew from what its disk holds, once that can be read."""
        if not self._is_up_with(node, batch):
            return
        try:
            state = node.disk.restore()
        except StorageError:
            self._later(node, batch, self._begin_anew)
            return
        assert node.runner is not None
        node.committing = None
        self.streams.cut(node, self.now)
        node.runner.rebuild({CHANNEL: state})
        self._rest(node)

    def _is_up_with(self, node: Node, batch: Batch) -> bool:
        """Whether a node has not crashed since it began to commit a batch."""
        return node.committing is batch and node.runner is not None

    def _later(self, node: Node, batch: Batch, act: Callable[[Node, Batch], None]) -> None:
        """Try again what the disk could not be read for; until then the node handles nothing."""
        self.time.call(self.now + READ_AGAIN, partial(act, node, batch))

    def _rest(self, node: Node) -> None:
        """Sleep until the next input or deadline."""
        runner = node.runner
        assert runner is not None
        if runner.busy:
            self._wake(node, self.now)
        elif (due := runner.deadline()) is not None:
            self._wake(node, max(self.now, due - node.machine_offset))

    # --- Effects -------------------------------------------------------------------------------

    def _note_stored(self, node: Node, records: Sequence[values.Record]) -> None:
        for record in records:
            if type(record) is values.StoreMessage:
                self.meter.came(node.number, record.message.entry.message_id, self.now)

    def _release(self, node: Node, batch: Batch) -> None:
        """Carry out what is committed, and tell the machines what turned out to be damaged."""
        self.meter.turned(self.time.now, node.number, batch)
        for release in batch.releases:
            self._outlet.carry_out(node, release.effect)
            if self.listeners:
                for listener in self.listeners:
                    listener(node.number, release)
        self._outlet.tell_damage(node)
        if node.logbook is not None:
            node.logbook.let_out(self.time.now)

    def _arrive(self, node: Node, frame: Frame) -> None:
        sender, event = frame
        if self.watch is not None:
            self.watch.arrived(sender, node, self.now)
        if node.runner is None or not self.links.carries(sender, node):
            if self.watch is not None:
                self.watch.unheard(sender, node, event)
            return
        self.network.frames_received += 1
        if node.tap is not None and isinstance(event, values.Arrived):
            node.tapped(
                self.time.now, CHANNEL, event.peer, FrameKind.SDS, event.payload, sent=False
            )
        node.runner.feed(CHANNEL, event)
        if node.committing is None:
            self._turn(node)


def _reads(release: Release) -> bool:
    """Whether an effect needs a message from the disk."""
    match release.effect:
        case values.BroadcastStored() | values.Deliver(_, None):
            return True
        case _:
            return False
