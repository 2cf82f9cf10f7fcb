"""The connections of reconciliation sessions: one each, apart from the links.

Each opens with the protocol id of its specification and proves exactly one channel. So a transfer
of a whole history never stands before a line of chat.

Rules:
1. A transfer or a check needs a session that goes on with that peer in that channel.
2. Where places run out, `sync.structures.places` says who gives way; who must wait asks again
later. 3. Nothing is waited for longer than the machines of a session wait.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Final, NamedTuple, Protocol

from msgspec.structs import replace

from sync.check.message import CHECK
from sync.entries.identity import Identity
from sync.errors import RemoteError
from sync.group import values
from sync.machine import SECOND, ChannelId, Nanos, PeerId
from sync.net.clock import Clock, draw_key
from sync.net.links.channel_proofs import Membership, prove
from sync.net.links.frames import Open, Proof, encode
from sync.net.links.link import read_proof
from sync.net.links.listener import Serve, Spawn
from sync.net.links.mesh import Mesh
from sync.net.links.stream import (
    CONNECT_TIMEOUT,
    FRAME_MAX,
    HANDSHAKE_DEADLINE,
    DisconnectedError,
    SecureStream,
)
from sync.net.links.stream_writer import STALL_MAX, StreamWriter
from sync.runner.journal import Loaded
from sync.runner.log_rows import SHARED_FROM
from sync.sessions.protocol import Protocols
from sync.sessions.session import SESSION_WITHIN
from sync.structures.ordered_set import SyncId
from sync.structures.places import Holder, Places

OFFERED_PER_PEER_MAX: Final = 8
"""Session connections of one peer at once; a session needs three of them, and programs of before
begin one in each of four channels at once."""

OFFERED_MAX: Final = 64
"""Transfers and checks of all peers at once: identities cost nothing, descriptors do."""

ANSWERED_MAX: Final = 8
"""Reconciliations that others begin and that run at once: each may take some memory."""

TRAFFIC_MAX: Final = 256
"""Sessions whose cost is counted at once; more than can run."""

PUSHES_MAX: Final = 4
"""Transfers we serve at once; the others wait for their turn."""

STALL_LOOKS: Final = 6
"""Number of looks in that time whether the session of a transfer still goes on."""

NOT_IN: Final = "the peer is not in the channel any more"
BEGAN_ANEW: Final = "began anew"
"""Reason to break off what was for machines that are gone."""

TRANSFER_FRAME_MAX: Final = 256 * 1024
"""Bytes of one transferred message: twice the largest."""


class Loads(Protocol):
    """Reads from the disk what sessions send."""

    async def load_entries(
        self, channel: ChannelId, wanted: values.LoadEntries | values.LoadNewestEntries
    ) -> values.EntriesLoaded:
        """Return a page of entries, in the order in which they are sent."""

    async def load_by_sync_ids(self, channel: ChannelId, ids: Sequence[SyncId]) -> list[Loaded]:
        """Return stored messages by their sync ids."""


class Host(Protocol):
    """The node's services for its sessions."""

    def queue_input(self, channel: ChannelId, event: values.Input) -> None:
        """Give an input to the channel's machines."""

    def new_session(self) -> values.SessionId:
        """Return a fresh session number."""

    def refused(self, who: str, reason: str) -> None:
        """Somebody sent something that it must not."""

    def receives_from(self, peer: PeerId, channel: ChannelId) -> bool:
        """Return whether a session with `peer` goes on, or may still get what it lacked."""

    @property
    def loads(self) -> Loads:
        """Reads from the disk for sessions."""

    def pushed(self, channel: ChannelId, peer: PeerId, payload: bytes) -> None:
        """Note a message that is pushed to a peer."""

    async def breathe_session(self, session: values.SessionId) -> None:
        """Return when there is room for another payload of a session."""

    async def breathe(self, peer: PeerId, *, transfers: bool = False) -> None:
        """Return when there is room for more from `peer`, or of what it transfers."""


class Ended(NamedTuple):
    """End of a connection that we opened: the reason, "" if as planned, and whose fault it was."""

    reason: str = ""
    is_bad: bool = False


@dataclass(slots=True)
class Traffic:
    """Cost of one session: its open connections, what the others took, and when it began."""

    began_at: Nanos
    streams: list[SecureStream] = field(default_factory=list)
    bytes_in: int = 0
    bytes_out: int = 0

    def over(self, stream: SecureStream) -> None:
        """Count what a connection took, and let go of it."""
        if stream in self.streams:
            self.streams.remove(stream)
            self.bytes_in += stream.bytes_in
            self.bytes_out += stream.bytes_out


class SessionStreams:
    """See the module docstring."""

    def __init__(
        self,
        identity: Identity,
        clock: Clock,
        mesh: Mesh,
        host: Host,
        spawn: Spawn,
        protocols: Protocols,
    ) -> None:
        self._identity = identity
        self._clock = clock
        self._mesh = mesh
        self._host = host
        self._spawn = spawn
        self._protocols = protocols
        self._writers: dict[values.SessionId, StreamWriter] = {}
        self._answered: Places[SecureStream] = Places(ANSWERED_MAX)
        self._offered: Places[SecureStream] = Places(OFFERED_MAX)
        self._traffic: dict[tuple[ChannelId, PeerId], Traffic] = {}
        self._pushes: Places[asyncio.Task[None]] = Places(PUSHES_MAX)
        self._pushed = asyncio.Event()
        """One of the pushes is over."""
        self._open: dict[tuple[ChannelId, PeerId], set[SecureStream]] = {}
        """All connections on which a channel was proved."""
        self._transfers: dict[tuple[ChannelId, PeerId], set[SecureStream]] = {}
        """Streams on which peers push to us."""

    # --- What the machines want ----------------------------------------------------------------

    def open(self, channel: ChannelId, wanted: values.OpenSession) -> None:
        """Open a stream to reconcile or to check; its end is told as `SessionClosed`."""
        self._spawn("session", self._converse(channel, wanted))

    def send(self, session: values.SessionId, payload: bytes) -> None:
        """Send a payload behind those before; without effect on a stream that is gone."""
        if (writer := self._writers.get(session)) is not None:
            writer.send(payload)

    def load(
        self, channel: ChannelId, wanted: values.LoadEntries | values.LoadNewestEntries
    ) -> None:
        """Load entries and feed them, once what was sent before has left.

        So of a history that the peer takes slowly, a page is in memory. Without effect on a stream
        that is gone: its end is told.
        """
        if (writer := self._writers.get(wanted.session)) is not None:
            writer.send_page(partial(self._load_entries, channel, wanted))

    async def _load_entries(
        self, channel: ChannelId, wanted: values.LoadEntries | values.LoadNewestEntries
    ) -> tuple[bytes, ...]:
        """Feed a page of entries to the machine, which says in what payloads it leaves."""
        self._host.queue_input(channel, await self._host.loads.load_entries(channel, wanted))
        return ()

    def peer_of(self, session: values.SessionId) -> PeerId | None:
        """Return who is at the other end of a stream; None if it is gone."""
        writer = self._writers.get(session)
        return None if writer is None else writer.peer

    def stay(self, session: values.SessionId) -> None:
        """Give back the place of a stream that goes live: those have places of their own.

        See `sync.sessions.table.LIVE_MAX`.
        """
        if (writer := self._writers.get(session)) is not None:
            self._answered.leave(writer.stream)

    def close(self, session: values.SessionId) -> None:
        """Close a stream, after what was sent on it."""
        if (writer := self._writers.pop(session, None)) is not None:
            writer.close()

    def push(self, channel: ChannelId, wanted: values.Push) -> None:
        """Send stored messages on a transfer stream."""
        self._spawn("transfer", self._push(channel, wanted))

    def close_transfers(
        self, channel: ChannelId, peer: PeerId, why: str = "brought what others have brought"
    ) -> None:
        """Take no more of what `peer` pushes, which is not to blame for it."""
        for stream in self._transfers.pop((channel, peer), ()):
            stream.abort(why)

    def cost(self, channel: ChannelId, peer: PeerId) -> tuple[int, int, Nanos]:
        """Return bytes in, bytes out and nanoseconds of the session that has just ended."""
        traffic = self._traffic.pop((channel, peer), None)
        if traffic is None:
            return 0, 0, 0
        for stream in list(traffic.streams):
            traffic.over(stream)
        return traffic.bytes_in, traffic.bytes_out, self._clock.now() - traffic.began_at

    def end(self, channel: ChannelId, peer: PeerId) -> None:
        """End everything of a channel with a peer at once: it is not in any more."""
        for stream in list(self._open.get((channel, peer), ())):
            stream.abort("is not in the channel any more")

    def end_outsiders(self, channel: ChannelId) -> None:
        """End everything of a channel with peers who are not in any more, also without a link."""
        for one, peer in list(self._open):
            if one == channel and not self._mesh.channels.is_in(peer, channel):
                self.end(channel, peer)

    def end_all(self, channel: ChannelId) -> None:
        """End every session of a channel: its machines are gone."""
        for one, peer in list(self._open):
            if one == channel:
                self.close_transfers(one, peer, BEGAN_ANEW)
                for stream in list(self._open[one, peer]):
                    stream.abort(BEGAN_ANEW)

    def close_all(self) -> None:
        """Close every session, and what is pushed to us in it: its machines are gone."""
        for session in list(self._writers):
            self.close(session)
        for channel, peer in list(self._transfers):
            self.close_transfers(channel, peer, BEGAN_ANEW)

    # --- Dialling ------------------------------------------------------------------------------

    async def _converse(self, channel: ChannelId, wanted: values.OpenSession) -> None:
        session = wanted.session

        async def read(stream: SecureStream, payloads_max: int) -> None:
            async with StreamWriter(stream) as writer:
                self._writers[session] = writer
                self._host.queue_input(
                    channel, values.SessionOpened(session, payloads_max, _shared(stream))
                )
                await self._read_payloads(channel, session, stream, writer)

        reason = "an error on our side"
        try:
            reason = (await self._with_stream(channel, wanted.peer, wanted.protocol, read)).reason
        finally:  # whatever happened, the machine must not wait for this stream
            self._writers.pop(session, None)
            self._host.queue_input(channel, values.SessionClosed(session, reason))

    async def _push(self, channel: ChannelId, wanted: values.Push) -> None:
        """Send messages in pages; what does not arrive, the next session finds missing."""
        peer, ids = wanted.peer, wanted.ids
        protocol = self._protocols.of_transfer(wanted.protocol)
        assert protocol is not None, "it pushes what its own session found"
        encode_pushed = protocol.encode_pushed

        def frames(messages: Sequence[Loaded]) -> Iterator[bytes]:
            for loaded in messages:
                frame = encode_pushed(channel, loaded.payload, loaded.entry.header.created_ns)
                self._host.pushed(channel, peer, frame)
                yield frame

        async def load(page: Sequence[SyncId]) -> Iterator[bytes]:
            return frames(await self._host.loads.load_by_sync_ids(channel, page))

        async def write(stream: SecureStream, _: int) -> None:
            async with asyncio.timeout(SESSION_WITHIN / SECOND), StreamWriter(stream) as writer:
                for start in range(0, len(ids), values.PAGE):
                    writer.send_page(partial(load, ids[start : start + values.PAGE]))
                writer.close()
                await writer.finished()

        task = await self._turn_to_push(channel, peer)
        try:
            ended = await self._with_stream(channel, peer, wanted.protocol, write)
        finally:
            self._pushes.leave(task)
            self._pushed.set()
        if ended.is_bad:
            self._host.refused(peer, f"a transfer to it ended early: {ended.reason}")

    async def _turn_to_push(self, channel: ChannelId, peer: PeerId) -> "asyncio.Task[None]":
        """Wait for one of the places; returns who holds it, this task."""
        task = asyncio.current_task()
        assert task is not None
        link = self._mesh.peers.link_to(peer, channel)
        host = "" if link is None else link.address[0]
        holder = Holder(task, host, self._mesh.peers.standing(peer, channel), self._clock.now())
        while (going := self._pushes.enter(holder)) is None:
            self._pushed.clear()
            await self._pushed.wait()
        for other in going:
            other.cancel()
        return task

    async def _with_stream(
        self,
        channel: ChannelId,
        peer: PeerId,
        protocol: str,
        use: Callable[[SecureStream, int], Awaitable[None]],
    ) -> Ended:
        """Dial, prove the channel, use the connection; returns why it ended.

        `use` is told how many payloads of one answer the peer takes.
        """
        link = self._mesh.peers.link_to(peer, channel)
        if link is None:
            return Ended("there is no link to the peer")
        stream: SecureStream | None = None
        try:
            stream = await SecureStream.dial(
                *link.address,
                self._identity,
                draw_key,
                expect=peer,
                local_address=self._mesh.local_address,
                connect_timeout=link.patience(CONNECT_TIMEOUT),
                handshake_deadline=link.patience(HANDSHAKE_DEADLINE),
            )
            membership = Membership(
                stream.role,
                stream.handshake_hash,
                {channel: self._mesh.secrets.known(channel)},
            )
            common = link.membership.common(channel)
            if common is None:
                return Ended(NOT_IN)
            mac = prove(common.secret, stream.role, stream.handshake_hash)
            stream.send_batch([encode(Open(protocol, 0)), encode(self._proof(mac, protocol))])
            async with asyncio.timeout(link.patience(HANDSHAKE_DEADLINE)):
                answer = await read_proof(stream)
            _require(membership, answer)
            if self._mesh.peers.link_to(peer, channel) is None:
                return Ended(NOT_IN)
            self._note(channel, peer, protocol, stream)
            self._mesh.received.watch(stream)
            await use(stream, answer.payloads_max)
        except (DisconnectedError, TimeoutError) as error:
            return Ended(str(error) or "the peer does not answer")
        except RemoteError as error:
            return Ended(str(error), is_bad=True)
        finally:
            if stream is not None:
                stream.close()
                self._over(channel, stream)
        return Ended()

    # --- Answering -----------------------------------------------------------------------------

    async def offered(self, stream: SecureStream, opened: Open) -> Serve:
        """Let a peer prove a channel on the connection that it opened for a session.

        Raises:
            RemoteError: it does not, it speaks no protocol of ours, or has too many sessions.
        """
        known = self._protocols
        begins = known.of_stream(opened.protocol) is not None
        if not begins and opened.protocol != CHECK and not known.of_transfer(opened.protocol):
            raise RemoteError(f"it opened the unknown protocol {opened.protocol!r}")
        secrets = {one: self._mesh.secrets.known(one) for one in self._mesh.secrets}
        membership = Membership(stream.role, stream.handshake_hash, secrets)
        proof = await read_proof(stream)
        shared = membership.receive(proof.mac)
        if shared is None or shared.answer is None:
            raise RemoteError("it does not prove a channel of ours")
        if not self._mesh.channels.is_in(stream.peer, shared.channel):
            raise RemoteError("it opened a session of a channel that it is not in")
        if not begins and not self._host.receives_from(stream.peer, shared.channel):
            raise RemoteError("it opened a transfer or a check without a session")
        held = (*self._answered.holders, *self._offered.holders)
        if sum(one.peer == stream.peer for one in held) >= OFFERED_PER_PEER_MAX:
            raise RemoteError("too many sessions at once")
        stream.send(encode(self._proof(shared.answer, opened.protocol)))
        offered = values.SessionOffered(
            0, stream.peer, opened.protocol, proof.payloads_max, _shared(stream)
        )
        return partial(self._serve, stream, shared.channel, offered)

    async def _serve(
        self, stream: SecureStream, channel: ChannelId, offered: values.SessionOffered
    ) -> None:
        """Serve a connection until it ends; the session has no number yet."""
        protocol = offered.protocol
        places = self._answered if self._protocols.of_stream(protocol) else self._offered
        with self._place(stream, channel, places):
            try:
                self._note(channel, stream.peer, protocol, stream)
                stream.limit_frames(FRAME_MAX)
                self._mesh.received.watch(stream)
                if self._protocols.of_transfer(protocol):
                    await self._read_transfer(channel, stream)
                else:
                    await self._answer(channel, stream, offered)
            finally:
                stream.close()
                self._over(channel, stream)

    @contextmanager
    def _place(
        self, stream: SecureStream, channel: ChannelId, places: Places[SecureStream]
    ) -> Iterator[None]:
        """Hold one of the places for connections that others opened.

        Raises:
            RemoteError: all are taken, and nobody gives way to this peer.
        """
        standing = self._mesh.peers.standing(stream.peer, channel)
        host, _ = stream.remote_address
        going = places.enter(Holder(stream, host, standing, self._clock.now()))
        if going is None:
            stream.close()
            raise RemoteError("too many sessions at once")
        for other in going:
            other.abort("gave way to others")
        try:
            yield
        finally:
            places.leave(stream)

    async def _answer(
        self, channel: ChannelId, stream: SecureStream, offered: values.SessionOffered
    ) -> None:
        session = self._host.new_session()
        reason = ""
        try:
            async with StreamWriter(stream) as writer:
                self._writers[session] = writer
                self._host.queue_input(channel, replace(offered, session=session))
                await self._read_payloads(channel, session, stream, writer)
        except RemoteError as error:
            reason = str(error)
            raise
        finally:
            self._writers.pop(session, None)
            self._host.queue_input(channel, values.SessionClosed(session, reason))

    async def _read_payloads(
        self,
        channel: ChannelId,
        session: values.SessionId,
        stream: SecureStream,
        writer: StreamWriter,
    ) -> None:
        while (payload := await stream.receive()) is not None:
            self._host.queue_input(channel, values.SessionPayload(session, payload))
            await self._host.breathe(stream.peer)
            await self._host.breathe_session(session)
            await writer.room()

    async def _read_transfer(self, channel: ChannelId, stream: SecureStream) -> None:
        stream.limit_frames(TRANSFER_FRAME_MAX)
        key = (channel, stream.peer)
        self._transfers.setdefault(key, set()).add(stream)
        try:
            while batch := await self._next_batch(channel, stream):
                for payload in batch:
                    self._host.queue_input(channel, values.Transferred(stream.peer, payload))
                    await self._host.breathe(stream.peer, transfers=True)
        except RemoteError:
            if stream in self._transfers.get(key, ()):
                raise  # else it was us who closed it
        finally:
            going_on = self._transfers.get(key, set())
            going_on.discard(stream)
            if not going_on:
                self._transfers.pop(key, None)
            self._host.queue_input(channel, values.TransferEnded(stream.peer))

    async def _next_batch(self, channel: ChannelId, stream: SecureStream) -> list[bytes]:
        """Return what came on a transfer.

        Raises:
            RemoteError: nothing did, or its session is over.
        """
        for _ in range(STALL_LOOKS):
            if not self._host.receives_from(stream.peer, channel):
                raise RemoteError("a transfer went on after its session")
            with suppress(TimeoutError):
                async with asyncio.timeout(STALL_MAX / STALL_LOOKS):
                    return await stream.receive_batch()
        raise RemoteError("a transfer did not go on")

    def _note(self, channel: ChannelId, peer: PeerId, protocol: str, stream: SecureStream) -> None:
        """Count a connection to the session with `peer`, which begins with that of its protocol."""
        key = (channel, peer)
        self._open.setdefault(key, set()).add(stream)
        if self._protocols.of_stream(protocol):
            self._traffic[key] = Traffic(self._clock.now())
            if len(self._traffic) > TRAFFIC_MAX:
                del self._traffic[next(iter(self._traffic))]
        if key in self._traffic:
            self._traffic[key].streams.append(stream)

    def _proof(self, mac: bytes, protocol: str) -> Proof:
        """Return the proof of a channel, and what we take on the connection."""
        spoken = self._protocols.of_stream(protocol)
        return Proof(mac, 1 if spoken is None else spoken.payloads_max)

    def _over(self, channel: ChannelId, stream: SecureStream) -> None:
        """Hold nothing of a connection that has ended."""
        self._mesh.received.forget(stream)
        still = self._open.get((channel, stream.peer), set())
        still.discard(stream)
        if not still:
            self._open.pop((channel, stream.peer), None)
        if (traffic := self._traffic.get((channel, stream.peer))) is not None:
            traffic.over(stream)


def _require(membership: Membership, answer: Proof) -> None:
    if membership.receive(answer.mac) is None:
        raise RemoteError("the peer does not prove the channel")


def _shared(stream: SecureStream) -> int:
    """Return the number of a stream that both its ends know, for their logs."""
    return SHARED_FROM | int.from_bytes(stream.handshake_hash[:8], "big") % SHARED_FROM
