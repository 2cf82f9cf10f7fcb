"""Session and transfer streams between simulated nodes: ordered, reliable, cut with the links."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeAlias

from sync.errors import StorageError
from sync.group import values
from sync.machine import MILLISECOND, ChannelId, Nanos, PeerId
from sync.runner.journal import Loaded, loaded_entries
from sync.runner.log_rows import SHARED_FROM
from sync.sim.disk import Disk
from sync.sim.network import Network
from sync.sim.node import Node, Stream
from sync.sim.rooms import FeedChannel
from sync.sim.uplinks import Pushing, Uplinks, size_of
from sync.sim.watch import Watch
from sync.sim.wire.dials import DIALLED_WITHIN, OPENED_WITHIN, Dials
from sync.view.view import FrameKind

Schedule: TypeAlias = Callable[[Nanos, Callable[[], None]], None]
"""(when, what)."""

FRAME_KINDS = {
    values.SessionPayload: FrameKind.SESSION,
    values.Transferred: FrameKind.TRANSFER,
}

READING: Final = 10 * MILLISECOND
"""Time a page of messages takes from the disk; others go on coming meanwhile."""

NO_ROOM: Final = "no room for another stream"


@dataclass(slots=True)
class Streams:
    """Carries out what groups want of streams.

    Attributes:
        most: how many session streams a node takes part in at once; further ones are refused.
    """

    nodes: Sequence[Node]
    network: Network
    feed: FeedChannel
    schedule: Schedule
    watch: Watch | None = None
    most: int | None = None
    sent_bytes: int = 0
    """Payload bytes on all streams together."""
    opened: int = 0
    """Session streams so far: each has a number that both ends know."""
    carried: int = 0
    """Everything put on streams so far: openings, payloads, messages and ends."""
    cut_at: int | None = None
    """Which of these is lost, and its stream with it; None for none."""
    uplinks: Uplinks = field(init=False)
    dials: Dials = field(init=False)
    pushed: dict[tuple[int, int, ChannelId], list[Stream]] = field(default_factory=dict)
    """Transfers over a wire, which their receiver may stop."""

    def __post_init__(self) -> None:
        self.uplinks = Uplinks(self.network.link.uplink)
        self.dials = Dials(self.network, self.schedule)

    def open(
        self, node: Node, channel: ChannelId, wanted: values.OpenSession, other: Node, now: Nanos
    ) -> None:
        """Open a stream to reconcile or to check, or tell that it cannot be."""
        session = wanted.session
        refuse = partial(self._refuse, node, channel, session)
        if self.network.stalls(node.number, other.number):
            refuse("no answer", now + OPENED_WITHIN)
            return
        if (node.number, other.number) in self.network.walls:
            refuse("no answer", now + DIALLED_WITHIN)
            return
        reachable = self.network.reachable(node.number, other.number) and self.network.link.streams
        if other.runner is None or not reachable:
            refuse("no answer", now + self.network.latency())
            return
        if self.most is not None and len(other.streams) >= self.most:
            refuse(NO_ROOM, now + self.network.latency())
            return
        if self.network.wire is None:
            self._open(node, channel, wanted, other, now)
            return

        def answered(at: Nanos) -> None:
            if node.runner is not None and other.runner is not None:
                self._open(node, channel, wanted, other, at)

        self.dials.dial(node.number, other.number, now, answered, partial(refuse, "no answer"))

    def _open(
        self, node: Node, channel: ChannelId, wanted: values.OpenSession, other: Node, now: Nanos
    ) -> None:
        """Open a stream to somebody who has answered."""
        session = wanted.session
        assert other.runner is not None
        number = other.runner.new_session()
        stream = Stream(channel, {node.number: session, other.number: number})
        node.streams[session] = stream
        other.streams[number] = stream
        most = min(node.payloads_max, other.payloads_max)
        self.opened += 1
        shared = SHARED_FROM + self.opened
        me = node.identity.peer_id
        offered = values.SessionOffered(number, me, wanted.protocol, most, shared)
        self._carry(stream, node, other, offered, now)
        self._carry(stream, other, node, values.SessionOpened(session, most, shared), now)

    def _refuse(
        self, node: Node, channel: ChannelId, session: values.SessionId, why: str, at: Nanos
    ) -> None:
        refused = values.SessionClosed(session, why)
        self.schedule(at, partial(self.feed, node, refused, channel))

    def send(self, node: Node, session: values.SessionId, payload: bytes, now: Nanos) -> None:
        """Send a payload to the other end."""
        stream = node.streams.get(session)
        if stream is None:
            return
        self.sent_bytes += len(payload)
        other = self._other_end(stream, node)
        peer = other.identity.peer_id
        node.tapped(now, stream.channel, peer, FrameKind.SESSION, payload, sent=True)
        event = values.SessionPayload(stream.ends[other.number], payload)
        self._carry(stream, node, other, event, now)

    def load(
        self, node: Node, wanted: values.LoadEntries | values.LoadNewestEntries, now: Nanos
    ) -> None:
        """Load entries and feed them, once what the node sent before has left.

        Where its disk cannot be read the stream ends, as a live one does.
        """
        incarnation = node.incarnation

        def load(at: Nanos) -> None:
            stream = node.streams.get(wanted.session)
            if stream is None or node.incarnation != incarnation:
                return
            event: values.Input
            try:
                event = loaded(node.disks[stream.channel], wanted)
            except StorageError as error:
                self.close(node, wanted.session, at, "its disk cannot be read")
                event = values.SessionClosed(wanted.session, str(error))
            self.feed(node, event, stream.channel)

        stream = node.streams.get(wanted.session)
        if self.network.wire is not None and stream is not None:

            def left(over: Nanos) -> None:
                self.schedule(over + READING, partial(load, over + READING))

            self.network.wire.send((node.number, id(stream)), 0, now, left)
            return
        at = max(now, self.uplinks.free_at(node.number)) + READING
        self.schedule(at, partial(load, at))

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

    def end_between(self, node: Node, other: Node, channel: ChannelId, now: Nanos) -> None:
        """Close all streams of a channel between two nodes."""
        for session, stream in list(node.streams.items()):
            if stream.channel == channel and other.number in stream.ends:
                self.close(node, session, now, "not in any more")
        self.stop_push(node, channel, other, now)
        self.stop_push(other, channel, node, now)

    def push(
        self, node: Node, channel: ChannelId, other: Node, wanted: values.Push, now: Nanos
    ) -> None:
        """Send stored messages on a transfer stream of their own."""
        assert node.runner is not None
        protocol = node.runner.protocols.of_transfer(wanted.protocol)
        assert protocol is not None, "it pushes what it found itself"
        encode = protocol.encode_pushed
        ids = wanted.ids
        pages = [ids[at : at + values.PAGE] for at in range(0, len(ids), values.PAGE)]
        disk = node.disks[channel]
        found: list[Loaded] = []
        with suppress(StorageError):  # then the transfer ends early, as a live one does
            for page in pages:
                found += disk.load_by_sync_ids(page)
        if disk.found:
            self.feed(node, values.Damaged(tuple(disk.found)), channel)
        payloads = [
            encode(channel, loaded.payload, loaded.entry.header.created_ns) for loaded in found
        ]
        self.push_raw(node, channel, other, payloads, now)

    def push_raw(  # where, and what
        self,
        node: Node,
        channel: ChannelId,
        other: Node,
        payloads: Sequence[bytes],
        now: Nanos,
        *,
        ends: bool = True,
    ) -> None:
        """Send these on a transfer stream of their own, which is ended or left open."""
        stream = Stream(channel, {})
        pushing = Pushing(iter(payloads), ends=ends)
        if (wire := self.network.wire) is not None:
            way = node.number, other.number, channel
            self.pushed.setdefault(way, []).append(stream)

            def over(_: Nanos) -> None:
                still = [one for one in self.pushed.pop(way, []) if one is not stream]
                if still:
                    self.pushed[way] = still

            def answered(at: Nanos) -> None:
                for payload in payloads:
                    self._send_pushed(stream, node, other, payload, at)
                self._end_push(stream, node, other, pushing, at)
                if pushing.ends:  # behind all of it
                    wire.send((node.number, id(stream)), 0, at, over)

            self.dials.dial(node.number, other.number, now, answered, over)
            return
        if self.uplinks.rate is None:
            for payload in payloads:
                self._send_pushed(stream, node, other, payload, now)
            self._end_push(stream, node, other, pushing, now)
            return
        self.uplinks.begin((node.number, other.number, channel), pushing)
        self._push_on(stream, node, other, pushing, now)

    def stop_push(self, node: Node, channel: ChannelId, other: Node, now: Nanos) -> None:
        """Close the transfers of `other` to a node, which takes no more of them."""
        noticed = now + self.network.latency()
        if self.network.wire is not None:
            for stream in self.pushed.pop((other.number, node.number, channel), []):
                stream.cut = True
                self.network.wire.forget((other.number, id(stream)))
        self.uplinks.stop((other.number, node.number, channel), noticed)

    def _push_on(
        self, stream: Stream, node: Node, other: Node, pushing: Pushing, now: Nanos
    ) -> None:
        """Send the next message, and go on when it has left."""
        payload = None if stream.cut or pushing.stopped(now) else next(pushing.payloads, None)
        if payload is None:
            self.uplinks.end((node.number, other.number, stream.channel), pushing)
            self._end_push(stream, node, other, pushing, now)
            return
        self._send_pushed(stream, node, other, payload, now)
        left = self.uplinks.free_at(node.number)
        self.schedule(left, partial(self._push_on, stream, node, other, pushing, left))

    def _send_pushed(
        self, stream: Stream, node: Node, other: Node, payload: bytes, now: Nanos
    ) -> None:
        me, peer = node.identity.peer_id, other.identity.peer_id
        self.sent_bytes += len(payload)
        node.tapped(now, stream.channel, peer, FrameKind.TRANSFER, payload, sent=True)
        self._carry(stream, node, other, values.Transferred(me, payload), now)

    def _end_push(
        self, stream: Stream, node: Node, other: Node, pushing: Pushing, now: Nanos
    ) -> None:
        if pushing.ends:
            self._carry(stream, node, other, values.TransferEnded(node.identity.peer_id), now)

    def _carry(
        self, stream: Stream, sender: Node, receiver: Node, event: values.Input, now: Nanos
    ) -> None:
        """Deliver in order; where the ends cannot reach each other, the stream is cut."""
        left = self.uplinks.departs(sender.number, receiver.number, event, now)
        if self.network.wire is not None:
            wire, size = self.network.wire, size_of(event)
            carried = partial(self._carried, stream, sender, receiver, event)
            wire.send((sender.number, id(stream)), size, now, carried)
            return
        self._carried(stream, sender, receiver, event, left)

    def _carried(
        self, stream: Stream, sender: Node, receiver: Node, event: values.Input, now: Nanos
    ) -> None:
        """Deliver what has left its sender."""
        at = max(now + self.network.latency(), stream.last_arrival + 1)
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
            elif self.network.stalls(sender.number, receiver.number):
                stream.cut = True  # which neither end is told
            elif self.network.reachable(sender.number, receiver.number):
                if isinstance(event, values.Transferred) and not _receives(
                    receiver, event.peer, stream.channel, at
                ):
                    stream.cut = True  # nobody takes what is pushed outside of a session
                    ended = values.TransferEnded(event.peer)
                    self.feed(receiver, ended, stream.channel)
                    return
                if isinstance(event, values.SessionPayload | values.Transferred):
                    kind = FRAME_KINDS[type(event)]
                    peer = sender.identity.peer_id
                    receiver.tapped(at, stream.channel, peer, kind, event.payload, sent=False)
                self.feed(receiver, event, stream.channel)
            else:
                stream.cut = True
                if self.watch is not None:
                    self.watch.unheard(sender.number, receiver, event)
                self._tell_cut(stream, receiver)

        self.schedule(at, arrive)

    def _reset(self, stream: Stream, sender: Node, receiver: Node) -> None:
        """Let a stream end in the midst, as both its ends notice."""
        stream.cut = True
        self._tell_cut(stream, sender)
        self._tell_cut(stream, receiver)
        if not stream.ends:
            ended = values.TransferEnded(sender.identity.peer_id)
            self.feed(receiver, ended, stream.channel)

    def _tell_cut(self, stream: Stream, node: Node) -> None:
        if node.number in stream.ends:
            session = stream.ends[node.number]
            node.streams.pop(session, None)
            self.feed(node, values.SessionClosed(session, "cut"), stream.channel)

    def _other_end(self, stream: Stream, node: Node) -> Node:
        [number] = [number for number in stream.ends if number != node.number]
        return self.nodes[number]


def _receives(node: Node, peer: PeerId, channel: ChannelId, now: Nanos) -> bool:
    """Return whether a node takes what a peer pushes, as `sync.net.inlet` does."""
    if node.runner is None:
        return False
    return node.runner.groups[channel].sessions.receives_from(peer, now + node.machine_offset)


def loaded(
    disk: Disk, wanted: values.LoadEntries | values.LoadNewestEntries
) -> values.EntriesLoaded:
    """Return a page of entries, as `sync.net.node` loads it.

    Raises:
        StorageError: the disk cannot be read.
    """
    if isinstance(wanted, values.LoadNewestEntries):
        newest, more = disk.newest_page(wanted.before, wanted.most)
        return values.EntriesLoaded(wanted.session, loaded_entries(newest)[::-1], more)
    if wanted.messages:
        named = [disk.load(row.message.entry.message_id) for row in disk.read(wanted.messages)]
        return values.EntriesLoaded(wanted.session, loaded_entries(named))
    if wanted.ids:
        found = disk.load_by_sync_ids(wanted.ids)
        return values.EntriesLoaded(wanted.session, loaded_entries(found))
    page, more = disk.entries_page(wanted.spans, wanted.after, values.PAGE)
    return values.EntriesLoaded(wanted.session, loaded_entries(page), more)
