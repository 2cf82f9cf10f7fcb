"""Nodes on a virtual clock: the same runner as live ones, turned by one heap of events.

The same seed gives the same run, down to the bytes.
"""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Final

from msgspec import Struct, field

from sync.calimero.governance.ops import Op
from sync.calimero.state.contents import Content, StateKind
from sync.entries.changes import Change
from sync.group import values
from sync.group.ingest import Gate
from sync.machine import ChannelId, MessageId, Nanos
from sync.manager.registry import WITH_P2PANDA
from sync.runner.batch import Release
from sync.runner.newest import Newest
from sync.sds.parameters import LAN, Parameters
from sync.sessions.protocol import Protocols
from sync.sim.checks import Checks
from sync.sim.disk import Disk
from sync.sim.governance.founding import Founded, found
from sync.sim.governance.levels import Levels
from sync.sim.hostile.members import ALIASES, Hostiles, new_members
from sync.sim.inlet import Inlet
from sync.sim.links import Air, Links, Mesh, Surroundings
from sync.sim.measure import Meter
from sync.sim.network import PERFECT, Link, Network
from sync.sim.node import DISK_RETRY, Node, Unread, identity_of
from sync.sim.outlet import Frame, Outlet
from sync.sim.people import People
from sync.sim.recording import EVERY, Recording
from sync.sim.rooms import CHANNEL, further_channel, new_room
from sync.sim.signatures import Signatures
from sync.sim.streams import Streams
from sync.sim.timeline import EPOCH, Timeline
from sync.sim.turning import Turning
from sync.sim.watch import Watch
from sync.sim.wire.pulse import Pulse
from sync.sim.wire.wire import Wire


class Terms(Struct, frozen=True):
    """Parameters of a group, and how its nodes are connected.

    Attributes:
        rooms: further channels, each with the numbers of those who are in it; all are in the first.
        work: what handling an input takes, so that turns end early and queues fill; 0 for nothing.
        links_max: how many links a node has at once, then somebody gives way; None for any number.
        streams_max: how many session streams a node takes part in at once.
        hostile: how many of the nodes are hostile, the last ones; of them nothing is asked.
    """

    parameters: Parameters = LAN
    mesh: bool = True
    """Whether each pair has a link; otherwise one broadcast reaches everybody."""
    reconcile: bool = True
    """True if nodes compare what they hold; otherwise SDS repairs alone."""
    protocols: Protocols = WITH_P2PANDA
    rooms: tuple[frozenset[int], ...] = ()
    work: Nanos = 0
    links_max: int | None = None
    streams_max: int | None = None
    hostile: int = 0
    governed: bool = False
    """Whether there is a further channel, of all nodes, that node 0 founded and governs."""
    governed_alone: bool = False
    """Whether it is the only channel, in place of the one that all are in."""
    strangers: frozenset[int] = frozenset()
    """Nodes that are not in it at first."""
    older: Mapping[int, Protocols] = field(default_factory=dict)
    """Nodes whose program is of before, with what that speaks; the oldest announces nothing."""


USUAL: Final = Terms()


class World:
    """A group of nodes in one channel, the network between them, and the time.

    Args:
        size: how many nodes, hostile ones among them.
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
        terms: Terms = USUAL,
        clocks: Sequence[Nanos] = (),
        watch: Watch | None = None,
    ) -> None:
        hostile = terms.hostile
        alone = not terms.rooms and not terms.governed
        assert terms.mesh or alone, "one broadcast to all is of one channel"
        assert terms.mesh or not hostile, "hostile members need links to be told apart"
        self.seed, self.terms, self.watch = seed, terms, watch
        self._recording: Recording | None = None
        self.began = EPOCH
        self.rng = random.Random(seed)  # noqa: S311  # a seeded run, not a secret
        self.time = Timeline(EPOCH)
        total = size + hostile * ALIASES
        self.network = self._new_network(total, link)
        self.hostile_from = size - hostile
        self.meter = Meter()
        self.listeners: list[Callable[[int, Release], None]] = []
        self._signatures = Signatures()
        self._founded = _founded(seed, size, terms.strangers) if terms.governed else None
        self.channel = self._first_channel()
        self.rooms = {
            channel: new_room(
                channel,
                members,
                terms.parameters,
                self.hostile_from,
                self._signatures,
                self._founded,
            )
            for channel, members in [
                (self.channel, frozenset(range(total))),
                *[(further_channel(1 + at), some) for at, some in enumerate(terms.rooms)],
                *[(one, frozenset(range(size))) for one in (self.governed,) if one is not None],
            ]
        }
        self.membership = self.rooms[self.channel].membership
        self.witness = self.rooms[self.channel].witness
        self._people = People(self._feed_channel)
        self._clocks_differ = any(clocks)
        self.nodes = self._new_nodes(size, total)
        self.streams = Streams(
            self.nodes, self.network, self._feed_channel, self.time.call, watch, terms.streams_max
        )
        self.levels = None if self._founded is None else self._new_levels(self._founded.channel)
        around = Surroundings(
            self.nodes,
            self.network,
            self.time,
            self.rng,
            self._feed_channel,
            self.rooms,
            self.levels,
            terms.links_max,
        )
        self._turning = Turning(
            rooms=self.rooms,
            time=self.time,
            rng=self.rng,
            streams=self.streams,
            meter=self.meter,
            parameters=terms.parameters,
            protocols=terms.protocols if terms.reconcile else Protocols(),
            older=terms.older,
            signatures=self._signatures,
            work=terms.work,
            crash=self.crash,
            clock_judged=self._clock_judged,
            tells_clocks=self._tells_clocks,
            watch=watch,
        )
        self._start_all(size, clocks)
        self.links: Links = Mesh(around, telling=self._clocks_differ) if terms.mesh else Air(around)
        self._inlet = Inlet(
            nodes=self.nodes,
            network=self.network,
            timeline=self.time,
            links=self.links,
            turning=self._turning,
            meter=self.meter,
            levels=self.levels,
            watch=watch,
            hostile_from=self.hostile_from,
        )
        self._turning.outlet = self._outlet = Outlet(
            nodes=self.nodes,
            rooms=self.rooms,
            network=self.network,
            timeline=self.time,
            links=self.links,
            streams=self.streams,
            meter=self.meter,
            arrive=self._inlet.arrive,
            write_anew=self._people.write_anew,
            listeners=self.listeners,
            levels=self.levels,
            watch=watch,
            hostile_from=self.hostile_from,
        )
        self.hostiles: Hostiles | None = None
        if hostile:
            assert isinstance(self.links, Mesh)
            self.hostiles = self._hostiles(self.links)
            self._outlet.twist = self.hostiles.twist
            self._inlet.overhear = self.hostiles.heard
        self.pulse = self._new_pulse()
        self._checks = self._new_checks()
        self._checks.begin()

    def _new_checks(self) -> Checks:
        return Checks(
            self.honest,
            self.rooms,
            self.governed,
            self.time,
            self.meter,
            self.terms.parameters.bloom.error_rate,
        )

    def _new_pulse(self) -> Pulse | None:
        wire, links = self.network.wire, self.links
        if wire is None:
            return None
        assert isinstance(links, Mesh)
        pulse = Pulse(
            self.nodes,
            self.network,
            wire,
            self.time,
            links,
            self.streams.dials,
            self._feed_channel,
            self.rng,
        )
        self._outlet.heard, self.streams.dials.trip = pulse.heard, pulse.trip
        pulse.begin()
        return pulse

    def _new_network(self, total: int, link: Link) -> Network:
        network = Network(total, link, random.Random(self.seed + 1))  # noqa: S311
        if link.wire is not None:
            assert self.terms.mesh, "a wire carries links"
            assert not self.terms.governed, "what is said of governance goes beside a wire"
            network.wire = Wire(link.wire, link.wire_queue, self.time.call)
        return network

    def _first_channel(self) -> ChannelId:
        if not self.terms.governed_alone:
            return CHANNEL
        assert self._founded is not None
        assert not self.terms.hostile, "hostile members know the channel that all are in"
        return self._founded.channel

    def _new_nodes(self, size: int, total: int) -> list[Node]:
        nodes = [self._new_node(number) for number in range(size)]
        for room in self.rooms.values():
            honest = nodes[: self.hostile_from]
            room.witness.honest.update(node.identity.peer_id for node in honest)
        return nodes + [self._alias(number, size) for number in range(size, total)]

    def _start_all(self, size: int, clocks: Sequence[Nanos]) -> None:
        for node in self.nodes[:size]:
            node.clock_offset = clocks[node.number] if clocks else 0
            self._start(node)

    def _new_levels(self, channel: ChannelId) -> Levels:
        levels = Levels(
            channel,
            self.nodes,
            self.terms.strangers,
            self._feed_channel,
            lambda act: self.time.call(self.now + self.network.latency(), act),
        )
        levels.ended = lambda one, other: self.streams.end_between(one, other, channel, self.now)
        return levels

    def _hostiles(self, links: Mesh) -> Hostiles:
        room, filter_bytes = self.rooms[CHANNEL], self.terms.parameters.bloom.size_bytes
        members = new_members(
            self.nodes, self.hostile_from, room, self._signatures, filter_bytes, self.seed
        )
        return Hostiles(members, self.honest, room, self.time, links, self.streams, self._outlet)

    @property
    def governed(self) -> ChannelId | None:
        """The channel that is governed, if one is."""
        return None if self._founded is None else self._founded.channel

    @property
    def now(self) -> Nanos:
        """The time of the world, which no node's clock need show."""
        return self.time.now

    @property
    def gate(self) -> Gate:
        """Reads and checks what any of the nodes sends in the first channel."""
        return self.rooms[self.channel].gate

    def send(
        self,
        number: int,
        payload: bytes,
        receivers: Sequence[int],
        channel: ChannelId | None = None,
    ) -> None:
        """Put any bytes on the links from node `number`; None: in the first channel."""
        room = self.rooms[self.channel if channel is None else channel]
        said = values.Arrived(self.nodes[number].identity.peer_id, payload)
        self._outlet.send(Frame(number, room, said, None), receivers)

    def sign(self, number: int, data: bytes) -> bytes:
        """Return a node's signature over any bytes, which everybody takes for its own."""
        return self._signatures.sign(self.nodes[number].identity, data)

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
            self._signatures.remember(entry.header.author, entry.signature, entry.header_bytes)
            self.witness.delivered(number, rows[entry.message_id], node.disk)
        self.restart(number)

    def write_text(
        self,
        number: int,
        text: str,
        channel: ChannelId | None = None,
        reply_to: MessageId | None = None,
    ) -> None:
        """Let a node's person write a line now, which may answer one on the node's disk.

        Raises:
            LocalError: that one is not there.
        """
        where = self.channel if channel is None else channel
        self._people.write_text(self.nodes[number], text, where, reply_to)

    def act(self, number: int, op: Op) -> None:
        """Let a node's person govern now; without the right, nothing comes of it."""
        assert self.governed is not None
        self._people.act(self.nodes[number], op, self.governed)

    def say_of_governance(self, number: int, effect: values.SendOp | values.SendHeartbeat) -> None:
        """Let a node say something in the governed channel that its engine would not."""
        node = self.nodes[number]
        assert node.runner is not None
        assert self.governed is not None
        self._outlet.say(node, Release(self.governed, effect))

    def set_state(
        self,
        number: int,
        content: Content | None,
        channel: ChannelId = CHANNEL,
        *,
        kind: StateKind = StateKind.TOPIC,
        name: bytes = b"",
    ) -> None:
        """Let a node's person set a register now, or take back what it says."""
        self._people.set_state(self.nodes[number], kind, content, name, channel)

    def change(self, number: int, change: Change, channel: ChannelId = CHANNEL) -> None:
        """Let a node's person edit, hide or react to a message that is on the node's disk, now.

        Raises:
            LocalError: it is not there, or over a limit.
        """
        self._people.change(self.nodes[number], change, channel)

    def write_anew(self, number: int, message_id: MessageId) -> None:
        """Let a node write again, as a message of now, what was set aside."""
        self._people.write_anew(self.nodes[number], self.channel, (message_id,))

    def tell_typing(self, number: int) -> None:
        """Let a node's person press a key in the midst of a line now."""
        node = self.nodes[number]
        if node.runner is not None:
            now = self.now + node.machine_offset
            node.runner.tell_typing(self.channel, f"node{number}", now)
            if node.runner.busy and node.committing is None:
                self._turning.wake(node, self.now)

    def give(self, number: int, event: values.Input) -> None:
        """Let something from outside of this world reach a node, after a trip."""
        self.time.call(
            self.now + self.network.latency(), partial(self._feed, self.nodes[number], event)
        )

    def run(self, duration: Nanos) -> None:
        """Let `duration` pass."""
        self.time.run(self.now + duration)

    def partition(self, *sides: set[int]) -> None:
        """Cut the network into sides; nodes with links notice within 15 s.

        The aliases of a hostile member are where it is.
        """
        for member in self.hostiles.members if self.hostiles is not None else ():
            for side in sides:
                if member.node.number in side:
                    side.update(alias.number for alias in member.aliases)
        self.network.partition(*sides)
        self.links.rewired()

    def make_one_way(self, sender: int, receiver: int) -> None:
        """Let nothing of `sender` reach `receiver` any more, until `heal`; the other way it does.

        Both notice within 15 s, and have no link until then; streams stall.
        """
        self.network.deaf.add((sender, receiver))
        self.links.rewired()

    def wall_off(self, one: int, other: int) -> None:
        """Let `one` dial `other` no more, until `heal`; links that are there stay."""
        self.network.walls.add((one, other))

    def stall(self, one: int, other: int) -> None:
        """Let streams between two nodes carry nothing, and tell nobody, until `heal`."""
        self.network.stalled.add((min(one, other), max(one, other)))

    def heal(self) -> None:
        """Mend the network; nodes with links redial within 5 s."""
        self.network.heal()
        self.links.rewired()

    def crash(self, number: int, *, unnoticed: bool = False) -> None:
        """Stop a node as a power cut does: what is not committed is gone.

        The others notice at once, as where only the program ends; or, `unnoticed`, by its silence.
        """
        node = self.nodes[number]
        node.doomed = False
        if node.runner is None:
            return
        node.runner = None
        node.committing = None
        node.retry = DISK_RETRY[0]
        node.swaps.clear()
        node.incarnation += 1
        node.streams.clear()
        node.unread = Unread()
        node.ill, node.meanwhile = False, Newest()
        if self._recording is not None:
            self._recording.crashed(number)
        self.witness.crashes += 1
        self.links.stopped(node, unnoticed=unnoticed)

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
        self._clocks_differ = True
        self.nodes[number].clock_offset = offset
        self.links.clock_set(self.nodes[number])

    def answer_clock(self, number: int, *, follow: bool) -> None:
        """Let a node's person answer what is asked about its clock."""
        self._feed(self.nodes[number], values.ClockAnswered(follow))

    def clocks_differ(self) -> None:
        """Let the clocks of the nodes (`Node.wall`) be told as they are from now on."""
        self._clocks_differ = True
        if self.links.pongs is not None:
            self.links.pongs.begin()

    def _tells_clocks(self) -> bool:
        return self._clocks_differ and self.terms.mesh

    def _clock_judged(self, node: Node) -> None:
        if self.links.pongs is not None:
            self.links.pongs.answered(node)

    def tell_clock(self, number: int, offset: Nanos | None) -> None:
        """Let a node tell the others a wall clock `offset` ahead; None: the clock it has."""
        self.nodes[number].told_offset = offset
        self.clocks_differ()
        if self.links.pongs is not None:
            self.links.pongs.told_by(self.nodes[number])

    def fill_disk(self, number: int) -> None:
        """Let commits of a node fail until `free_disk`."""
        for disk in self.nodes[number].disks.values():
            disk.full = True

    def free_disk(self, number: int) -> None:
        """Let commits of a node succeed again."""
        for disk in self.nodes[number].disks.values():
            disk.full = False

    def slow_disk(self, number: int, slowness: Nanos) -> None:
        """Let commits of a node take that much longer; 0: as long as those of others."""
        for disk in self.nodes[number].disks.values():
            disk.slowness = slowness

    def break_disk(self, number: int) -> None:
        """Let reads of a node's disk fail until `mend_disk`."""
        for disk in self.nodes[number].disks.values():
            disk.unreadable = True

    def mend_disk(self, number: int) -> None:
        """Let reads of a node's disk succeed again."""
        for disk in self.nodes[number].disks.values():
            disk.unreadable = False

    def rot(self, number: int, message_ids: Iterable[MessageId]) -> None:
        """Let these messages, which are on a node's disk, no longer be what was stored."""
        for disk in self.nodes[number].disks.values():
            disk.rotten.update(one for one in message_ids if one in disk.rows)

    def logs(self) -> list[list[tuple[int, MessageId]]]:
        """Return the delivered messages of everybody honest, in order."""
        return [node.disk.log() for node in self.honest]

    def converged(self) -> bool:
        """Return whether all nodes delivered the same messages; `check` compares logs (I2)."""
        return self._checks.converged()

    def settled(self) -> bool:
        """Return whether no honest node waits for an acknowledgement or a missing message."""
        return self._checks.settled()

    def check(self) -> None:
        """Assert the invariants that hold at the end of a run."""
        self._checks.check()

    @property
    def honest(self) -> list[Node]:
        """Those of whom the invariants are asked."""
        return self.nodes[: self.hostile_from]

    def check_bounds(self) -> None:
        """Assert the invariants that hold at any time and are not watched all the time (I7)."""
        self._checks.check_bounds()

    def _write_down(self) -> None:
        assert self._recording is not None
        self._recording.write_exports()
        self.time.call(self.now + EVERY, self._write_down)

    # --- Nodes ---------------------------------------------------------------------------------

    def _new_node(self, number: int) -> Node:
        who = identity_of(self.seed, number)
        disks = {
            channel: Disk(who.peer_id, self.rng.getrandbits(64))
            for channel, room in self.rooms.items()
            if number in room.members
        }
        if self._founded is not None and number not in self.terms.strangers:
            disks[self._founded.channel].commit(self._founded.ops)
        return Node(number, who, number, disks)

    def _alias(self, number: int, size: int) -> Node:
        """Return another identity of a hostile member, at the same address."""
        host = self.hostile_from + (number - size) // ALIASES
        return Node(number, identity_of(self.seed, number), host, {})

    def _start(self, node: Node) -> None:
        if self._recording is not None:
            node.logbook = self._recording.started(node)
        self._turning.start(node)

    def _feed(self, node: Node, event: values.Input) -> None:
        """Give a node an input of the first channel, if it is up."""
        self._turning.queue_input(node, event, self.channel)

    def _feed_channel(self, node: Node, event: values.Input, channel: ChannelId) -> None:
        self._turning.queue_input(node, event, channel)


def _founded(seed: int, size: int, strangers: frozenset[int]) -> Founded:
    members = [number for number in range(size) if number not in strangers]
    founder, *others = [identity_of(seed, number) for number in members]
    return found(founder, others, EPOCH)
