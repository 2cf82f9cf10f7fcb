"""Carries out a node's effects: sends frames, runs streams, and feeds checks and statistics.

Rule: nothing gets here before the commit it depends on.
"""

import sys
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeAlias, assert_never

from msgspec import Struct
from msgspec.structs import replace

from sync.calimero.state.contents import Held, StateKind
from sync.errors import StorageError
from sync.group import values
from sync.group.snapshots.checks import checked_page
from sync.machine import SECOND, ChannelId, MessageId, Nanos, PeerId
from sync.runner.batch import Batch, Release
from sync.sds.message import Delivery, Message
from sync.sds.wire import encode
from sync.sim.governance.levels import Level, Levels
from sync.sim.links import Links
from sync.sim.measure import Meter
from sync.sim.network import Network
from sync.sim.node import Node
from sync.sim.rooms import CHANNEL, Room, Rooms
from sync.sim.streams import READING, Streams
from sync.sim.timeline import Timeline
from sync.sim.watch import Cause, Watch
from sync.sim.wire.wire import Wire
from sync.view.view import FrameKind


class Frame(Struct, frozen=True):
    """A frame on its way over a link.

    Attributes:
        sender: the number of its sender.
        room: its channel.
        event: what its receiver is fed.
        message: the decoded payload; None if the sender may have sent undecodable bytes.
    """

    sender: int
    room: Room
    event: values.Arrived
    message: Message | None


READ_AGAIN: Final = 1 * SECOND
"""Between two tries to read from a disk that fails; the live node waits ever longer."""

UNKNOWN: Final = -1
"""The number of who is no node of this world."""

TOLD: Final = frozenset(
    {
        values.Deliver,
        values.Written,
        values.DeliveryChanged,
        values.Missing,
        values.Withdrawn,
        values.SessionEnded,
        values.Refused,
    }
)
"""Effects that come often and do nothing but tell."""

Twist: TypeAlias = Callable[[Node, Release], Sequence[Release]]
"""Makes of what a hostile node would let out what it lets out."""


@dataclass(slots=True)
class Outlet:
    """Of all nodes of a world; `arrive` gives a frame to a node.

    Attributes:
        listeners: are told the number of the node and what it let out.
        hostile_from: the number of the first hostile node.
        levels: of the governed channel, where there is one.
        twist: what hostile nodes make of their effects.
    """

    nodes: Sequence[Node]
    rooms: Rooms
    network: Network
    timeline: Timeline
    links: Links
    streams: Streams
    meter: Meter
    arrive: Callable[[Node, Frame], None]
    write_anew: Callable[[Node, ChannelId, Sequence[MessageId]], None]
    listeners: Sequence[Callable[[int, Release], None]]
    levels: Levels | None = None
    watch: Watch | None = None
    hostile_from: int = sys.maxsize
    twist: Twist | None = None
    heard: Callable[[int, int], None] | None = None
    """Is told by whom and from whom a frame came over a wire."""
    _by_peer: dict[PeerId, Node] = field(init=False)

    def __post_init__(self) -> None:
        self._by_peer = {node.identity.peer_id: node for node in self.nodes}

    @property
    def _levels(self) -> Levels:
        assert self.levels is not None, "nobody governs here"
        return self.levels

    def number_of(self, peer: PeerId) -> int:
        """Return the number of a node by its key."""
        node = self._by_peer.get(peer)
        return UNKNOWN if node is None else node.number

    def let_out(self, node: Node, batch: Batch) -> None:
        """Do all that a committed batch of a node asks for."""
        for told in batch.announcements:
            self.links.announce(node, self._by_peer[told.peer], told.payload)
        if node.number >= self.hostile_from:
            assert self.twist is not None
            for release in batch.releases:
                for twisted in self.twist(node, release):
                    self._carry_out(node, twisted)
            return
        if not batch.begin_anew:
            channels: Collection[ChannelId] = node.disks
            if len(channels) > 1:
                channels = {release.channel for release in batch.releases}
            self._check_counts(node, channels)
        for release in batch.releases:
            self._carry_out(node, release)
            if self.listeners:
                for listener in self.listeners:
                    listener(node.number, release)

    def say(self, node: Node, release: Release) -> None:
        """Say on a node's links what its engine would not."""
        self._carry_out(node, release)

    def _check_counts(self, node: Node, channels: Collection[ChannelId]) -> None:
        """Check that the counts a node reports now match its disk."""
        assert node.runner is not None
        for channel in channels:
            group = node.runner.groups[channel]
            if not group.restored:
                continue  # it has not loaded what it counts, and says nothing before
            witness, disk = self.rooms[channel].witness, node.disks[channel]
            delivered, compared = len(group.sds.log.order), group.holdings.items.added
            witness.counted(node.number, delivered, compared, disk, len(group.aside))

    def _carry_out(self, node: Node, release: Release) -> None:
        """Do what an effect of a node asks for."""
        channel, effect = release.channel, release.effect
        room = self.rooms[channel]
        if type(effect) in TOLD:  # mostly
            if node.number < self.hostile_from:
                self._witness(node, room, effect)
            return
        match effect:
            case values.Broadcast(payload):
                message = room.gate.read(payload)
                self.meter.broadcast(message, payload)
                self._broadcast(node, room, payload, message, Cause.NEW)
            case values.BroadcastStored():
                self._broadcast_stored(node, room, effect)
            case values.OpenSession() | values.SendPayload() | values.CloseSession():
                self._carry_out_session(node, channel, effect)
            case values.Push(peer):
                self.streams.push(node, channel, self._by_peer[peer], effect, self.timeline.now)
            case values.LoadEntries() | values.LoadNewestEntries() | values.CheckPage():
                self._page(node, room, effect)
            case values.ClockJudged(question):
                if self.links.pongs is not None:
                    self.links.pongs.judged(node, channel, question)
            case values.WriteAnew(message_ids):
                self.write_anew(node, channel, message_ids)
            case values.CloseTransfer(peer):
                self.streams.stop_push(node, channel, self._by_peer[peer], self.timeline.now)
            case values.LoadHeldBack(after, limit):
                self._load(node, channel, after, limit)
            case values.LoadAuthors(requester, message_ids):
                self._load_authors(node, channel, requester, message_ids)
            case (
                values.StoreMessage()
                | values.SetStatus()
                | values.SetDelivery()
                | values.SetLog()
                | values.SetClock()
                | values.SetCounter()
                | values.SetCompared()
                | values.Discard()
                | values.StoreOp()
                | values.StorePending()
                | values.EndPending()
                | values.SetDropped()
                | values.StoreState()
                | values.DropState()
                | values.StageSnapshot()
                | values.DropSnapshot()
                | values.BeginAnew()
                | values.SwapSnapshot()
            ):
                raise AssertionError("this is the runner's, and is not released")
            case (
                values.Governed()
                | values.SendOp()
                | values.SendHeartbeat()
                | values.RequestOps()
                | values.AnswerOps()
                | values.LoadOps()
                | values.TellState()
                | values.TellRoot()
                | values.LoadHeld()
            ):
                self._govern(node, room, effect)
            case _ if node.number >= self.hostile_from:
                pass  # nobody is asked to believe what it shows its own person
            case _:
                self._witness(node, room, effect)

    def _page(
        self,
        node: Node,
        room: Room,
        effect: values.LoadEntries | values.LoadNewestEntries | values.CheckPage,
    ) -> None:
        """Load a page of messages, or check one."""
        if isinstance(effect, values.CheckPage):
            checked = checked_page(room.gate, node.identity.peer_id, effect)
            self.streams.feed(node, checked, room.channel)
        else:
            self.streams.load(node, effect, self.timeline.now)

    def _govern(
        self,
        node: Node,
        room: Room,
        effect: values.Governed
        | values.SendOp
        | values.SendHeartbeat
        | values.RequestOps
        | values.AnswerOps
        | values.LoadOps
        | values.TellState
        | values.TellRoot
        | values.LoadHeld,
    ) -> None:
        """Say something of governance or state: what is on links is lost as frames are."""
        me = node.identity.peer_id
        match effect:
            case values.Governed():
                self._levels.weigh_all(node)
            case values.LoadOps(peer, ops, more):
                contents = node.disks[room.channel].load_ops(ops)
                self.streams.feed(node, values.OpsLoaded(peer, contents, more), room.channel)
            case values.LoadHeld(peer, heads, wanted):
                proved = node.disks[room.channel].under(heads, wanted)
                if proved:
                    self.streams.feed(node, values.HeldLoaded(peer, proved), room.channel)
            case values.TellRoot(peers, root):
                hearers = [self._by_peer[peer].number for peer in peers]
                self._say(node, room, values.RootTold(me, root), hearers, len(root))
            case values.TellState(contents):
                linked = self.links.receivers(node)
                hearers = [number for number in linked if self._may_hear(node, room, number)]
                told = values.StateArrived(me, contents)
                self._say(node, room, told, hearers, sum(map(len, contents)))
            case values.SendOp(content):
                hearers = [
                    number
                    for number in self.links.receivers(node)
                    if self._levels.level(node, self.nodes[number]) >= Level.GOVERNANCE
                ]
                self._say(node, room, values.OpsArrived(me, (content,)), hearers, len(content))
            case values.SendHeartbeat(peers, payload):
                hearers = [self._by_peer[peer].number for peer in peers]
                self._say(node, room, values.HeartbeatArrived(me, payload), hearers, len(payload))
            case values.RequestOps(peer, payload):
                self._ask(node, room, self._by_peer[peer], payload)
            case values.AnswerOps(peer, payload):
                self._stream(node, room, values.OpsAnswered(me, payload), self._by_peer[peer])

    def _say(
        self, node: Node, room: Room, event: values.Input, hearers: Sequence[int], size: int
    ) -> None:
        for at, receiver in self.network.arrivals(self.timeline.now, size, hearers):
            heard = partial(self._hear, node.number, self.nodes[receiver], room.channel, event)
            self._watch_carried(node, self.nodes[receiver], event, at)
            self.timeline.call(at, heard)

    def _stream(self, node: Node, room: Room, event: values.Input, to: Node) -> None:
        heard = partial(self._hear, node.number, to, room.channel, event)
        at = self.timeline.now + self.network.latency()
        self._watch_carried(node, to, event, at)
        self.timeline.call(at, heard)

    def _watch_carried(self, node: Node, to: Node, event: values.Input, at: Nanos) -> None:
        if self.watch is not None:
            self.watch.carried(node, to, event, self.timeline.now, at)

    def _ask(self, node: Node, room: Room, other: Node, payload: bytes) -> None:
        """Ask another node for ops, or learn that it gives none."""
        levels, me = self._levels, node.identity.peer_id
        if other.runner is None or levels.level(other, node) is Level.NONE:
            gives_none = values.OpsUnanswered(other.identity.peer_id)
            self.streams.feed(node, gives_none, room.channel)
            return
        newest = levels.has_newest(other, node)
        self._stream(node, room, values.OpsRequested(me, payload, newest), other)

    def _hear(self, sender: int, node: Node, channel: ChannelId, event: values.Input) -> None:
        if node.runner is None or not self.links.carries(sender, node):
            if self.watch is not None:
                self.watch.unheard(sender, node, event)
            return
        other = self.nodes[sender]
        match event:
            case values.OpsArrived():
                heard = self._levels.takes_ops(node, other)
            case values.HeartbeatArrived(_, payload):
                heard = self._levels.hears_beat(node, other, payload)
            case values.StateArrived():
                heard = self._may_hear(node, self.rooms[channel], sender)
            case _:
                heard = True
        if heard:
            self.streams.feed(node, event, channel)

    def _witness(self, node: Node, room: Room, effect: values.Effect) -> None:
        """Take note of what a person, or an engineer, is told."""
        witness, disk = room.witness, node.disks[room.channel]
        match effect:
            case values.Deliver(message_id, entry):
                if entry is None:
                    if not disk.read([message_id]):
                        return  # nobody can show it
                    node.loaded(room.channel, message_id, 0)
                witness.delivered(node.number, disk.rows[message_id], disk)
                self.meter.delivered(node.number, message_id, self.timeline.now)
            case values.Written(_, message_id):
                header = disk.rows[message_id].message.entry.header
                witness.written(node.number, header, disk)
                self.meter.written(node.number, message_id, self.timeline.now)
            case values.DeliveryChanged(message_id, delivery):
                self._marked(node, room, message_id, delivery)
            case values.Missing(message_id):
                self.meter.missed(node.number, message_id, self.timeline.now)
            case values.Withdrawn(message_ids) | values.Discarded(message_ids):
                witness.withdrawn(node.number, message_ids)
            case values.SessionEnded():
                witness.sessions.append(effect)
            case values.Refused(_, reason):
                witness.declined[reason] += 1
            case _:
                pass

    def _marked(self, node: Node, room: Room, message_id: MessageId, delivery: Delivery) -> None:
        channel = room.channel
        disks, proved_by = {}, []
        if delivery is Delivery.ACKNOWLEDGED:
            assert node.runner is not None
            members = [self.nodes[number] for number in room.members]
            disks = {one.number: one.disks[channel] for one in members if not one.is_alias}
            sessions = node.runner.groups[channel].sessions
            over = [*sessions.by_peer.values(), *sessions.shown]
            proved_by = [self._by_peer[one.peer].number for one in over if one.converged]
            proved_by += self._by_marks(node, channel, message_id)
        room.witness.marked(node.number, message_id, delivery, disks, proved_by)
        if delivery is Delivery.POSSIBLY_ACKNOWLEDGED:
            self.meter.hinted(right=self._hinted_right(node, room, message_id))

    def _by_marks(self, node: Node, channel: ChannelId, message_id: MessageId) -> list[int]:
        """Return whose marks of what is held, as a node has them, prove a message."""
        assert node.runner is not None
        proving: list[int] = []
        registers = node.runner.groups[channel].stating.registers
        for mark in registers.of_kind(StateKind.HELD).values():
            peer, held = PeerId(mark.author.hex()), mark.says
            if peer == node.identity.peer_id or not isinstance(held, Held):
                continue
            heads = [MessageId(head.hex()) for head in held.heads]
            named = message_id in heads
            if named or (not held.gaps and node.disks[channel].under(heads, (message_id,))):
                proving.append(self._by_peer[peer].number)
        return proving

    def _load(
        self, node: Node, channel: ChannelId, after: tuple[int, MessageId] | None, limit: int
    ) -> None:
        """Read what a node holds back from its disk; that takes a while, and longer if it fails."""
        incarnation = node.incarnation
        read: values.HeldBackLoaded | None = None

        def arrive() -> None:
            nonlocal read
            if node.incarnation != incarnation:
                return
            if read is None:
                begin()
            else:
                self.streams.feed(node, read, channel)
                self.tell_damage(node)

        def begin() -> None:
            nonlocal read
            with suppress(StorageError):
                read = values.HeldBackLoaded(node.disks[channel].load_held_back(after, limit))
            took = READING if read is not None else READ_AGAIN
            self.timeline.call(self.timeline.now + took, arrive)

        begin()

    def _load_authors(
        self, node: Node, channel: ChannelId, requester: PeerId, message_ids: Sequence[MessageId]
    ) -> None:
        """Read who wrote what is asked for; where that fails, it is asked for again."""
        disk = node.disks[channel]
        with suppress(StorageError):
            named = tuple([disk.load(one).named for one in message_ids if one in disk.rows])
            self.streams.feed(node, values.AuthorsLoaded(requester, named), channel)

    def tell_damage(self, node: Node) -> None:
        """Tell a node's machines what was read and is no longer what was stored."""
        for channel, disk in node.disks.items():
            if disk.found:
                self.streams.feed(node, values.Damaged(tuple(disk.found)), channel)

    def _carry_out_session(
        self,
        node: Node,
        channel: ChannelId,
        effect: values.OpenSession | values.SendPayload | values.CloseSession,
    ) -> None:
        now = self.timeline.now
        match effect:
            case values.OpenSession(session, peer):
                other = self._by_peer[peer]
                governed = self.levels is not None and channel == self.levels.channel
                if governed and not self.levels.are_full(other, node):  # type: ignore[union-attr]
                    closed = values.SessionClosed(session, "not in")
                    self.streams.feed(node, closed, channel)
                    return
                self.streams.open(node, channel, effect, other, now)
            case values.SendPayload(session, payload):
                self.streams.send(node, session, payload, now)
            case values.CloseSession(session):
                self.streams.close(node, session, now)
            case _:
                assert_never(effect)

    def _broadcast_stored(self, node: Node, room: Room, stored: values.BroadcastStored) -> None:
        """Send a message again: an own one with the filter of now, or one that was asked for."""
        message_id, bloom_filter = stored.message_id, stored.bloom_filter
        rows = node.disks[room.channel].read([message_id])
        if not rows:
            return  # nobody is given what is no longer what was stored
        payload = rows[0].message.payload
        cause = Cause.ANSWER
        message = room.gate.read(payload)
        if bloom_filter is None:
            self.meter.answered(message_id, payload)
        else:
            cause = Cause.RESEND
            message = replace(message, bloom_filter=bloom_filter)
            payload = encode(message)
            self.meter.resent(payload)
        node.loaded(room.channel, message_id, len(payload))
        self._broadcast(node, room, payload, message, cause)

    def _hinted_right(self, node: Node, room: Room, message_id: MessageId) -> bool:
        """Return whether all honest peers whose filters seemed to hold our message have it."""
        assert node.runner is not None
        pending = node.runner.groups[room.channel].sds.outgoing.pending.get(message_id)
        hinted_by = set() if pending is None else pending.possibly_by
        others = [self._by_peer[peer] for peer in hinted_by]
        return all(
            message_id in other.disks[room.channel].rows
            for other in others
            if other.number < self.hostile_from
        )

    def _broadcast(
        self, node: Node, room: Room, payload: bytes, message: Message, cause: Cause
    ) -> None:
        channel, now = room.channel, self.timeline.now
        assert node.runner is not None
        assert node.runner.groups[channel].restored, "it speaks of what it has not loaded"
        if node.tap is not None:
            node.tapped(now, channel, None, FrameKind.SDS, payload, sent=True)
        if node.number < self.hostile_from:
            room.witness.let_out(node.number, message, node.disks[channel])
        frame = Frame(node.number, room, values.Arrived(node.identity.peer_id, payload), message)
        receivers = self.links.receivers(node)
        if channel != CHANNEL:
            receivers = [number for number in receivers if self._may_hear(node, room, number)]
        spared = receivers
        if self.watch is not None:
            spared = self.watch.spared(node, payload, cause, receivers)
        arrivals = self.send(frame, spared)
        if self.watch is not None:
            self.watch.sent(node, payload, cause, receivers, arrivals, now)

    def _may_hear(self, node: Node, room: Room, number: int) -> bool:
        """Return whether a node sends another one what is said in a further channel."""
        if number not in room.members:
            return False
        levels = self.levels
        if levels is None or levels.channel != room.channel:
            return True
        return levels.are_full(node, self.nodes[number])

    def send(self, frame: Frame, receivers: Sequence[int]) -> list[tuple[Nanos, int]]:
        """Put a frame on its way; returns when its copies arrive, and at whom."""
        nodes, plan, arrive = self.nodes, self.timeline.plan, self.arrive
        size = len(frame.event.payload)
        arrivals = self.network.arrivals(self.timeline.now, size, receivers)
        if self.network.wire is not None:
            self._over_wire(self.network.wire, frame, arrivals)
            return arrivals
        for at, receiver in arrivals:
            plan(at, arrive, nodes[receiver], frame)
        return arrivals

    def _arrive_over_wire(self, node: Node, frame: Frame) -> None:
        if self.heard is not None:
            self.heard(node.number, frame.sender)
        self.arrive(node, frame)

    def _over_wire(self, wire: Wire, frame: Frame, arrivals: Sequence[tuple[Nanos, int]]) -> None:
        """Send a frame on links behind what waits there; what comes on top is the network's."""
        now, plan = self.timeline.now, self.timeline.plan
        for at, receiver in arrivals:

            def left(
                over: Nanos, node: Node = self.nodes[receiver], trip: Nanos = at - now
            ) -> None:
                plan(over + trip, self._arrive_over_wire, node, frame)

            wire.send((frame.sender, receiver), len(frame.event.payload), now, left)
