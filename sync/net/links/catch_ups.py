"""Streams of catch-ups: two peers ask each other for ops of governance, a page at a time.

Rules:
1. Each end begins with an `Init` that signs this very stream. What a peer then gets is decided by
   its level on a link (`sync.net.links.levels`), and by the group.
2. One stream serves both ways, and one question is open each way: who asks before it was answered,
   or answers what nobody asked, ends it.
3. A stream on which nothing happens ends; whoever waited for an answer is told.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol

from sync.calimero.governance.limits import OP_SIZE_MAX, PAGE_SIZE_MAX
from sync.calimero.governance.ops import GroupId, Key
from sync.calimero.message import (
    STREAM,
    Init,
    Message,
    NotMaterialized,
    OpaqueError,
    Payload,
    StreamMessage,
    SyncProtocol,
)
from sync.calimero.wire import HEAD_SIZE, decode, encode, signed_by_init
from sync.entries.identity import Identity, verify
from sync.errors import RemoteError
from sync.group import values
from sync.machine import ChannelId, PeerId
from sync.net.clock import Clock, draw_key
from sync.net.links.frames import Open
from sync.net.links.frames import encode as encode_frame
from sync.net.links.levels import Level
from sync.net.links.listener import Serve, Spawn
from sync.net.links.mesh import Mesh
from sync.net.links.noise import Role
from sync.net.links.stream import CONNECT_TIMEOUT, HANDSHAKE_DEADLINE, SecureStream
from sync.structures.places import Holder, Places
from sync.view.view import FrameKind

OFFERED_MAX: Final = 64
"""Streams of all peers at once, of those that they opened."""

OFFERED_PER_PEER_MAX: Final = 8
"""The same of one peer: it asks in one channel each at once, when it comes."""

QUIET_MAX: Final = 5.0
"""Seconds for which a stream stays without a question: the next page is asked for at once."""

ANSWER_WITHIN: Final = 20.0
"""Seconds for which an answer is waited for; the machine waits as long."""

FRAME_MAX: Final = HEAD_SIZE + PAGE_SIZE_MAX + OP_SIZE_MAX
"""Bytes of a frame: a page, which has one op more than its limit at most."""


class Host(Protocol):
    """The node's services for catch-ups."""

    def queue_input(self, channel: ChannelId, event: values.Input) -> None:
        """Give an input to the channel's machines."""

    def has_ops(self, channel: ChannelId) -> bool:
        """Return whether anything of a channel's governance is here."""

    async def breathe(self, peer: PeerId) -> None:
        """Return when there is room for more from `peer`."""

    def noted(
        self, channel: ChannelId, peer: PeerId, kind: FrameKind, data: bytes, *, sent: bool
    ) -> None:
        """Note a frame for whoever looks at the wire."""


@dataclass(slots=True, eq=False)
class _Talk:
    """A stream on which both have shown who they are."""

    stream: SecureStream
    asks: bool = False
    """We wait for an answer."""
    owes: bool = False
    """The peer does."""
    active_at: float = 0.0

    def touch(self) -> None:
        self.active_at = asyncio.get_running_loop().time()

    def left(self) -> float:
        """Return the seconds until it has been quiet for too long."""
        most = ANSWER_WITHIN if self.asks or self.owes else QUIET_MAX
        return self.active_at + most - asyncio.get_running_loop().time()


class CatchUps:
    """See the module docstring."""

    def __init__(
        self, identity: Identity, clock: Clock, mesh: Mesh, host: Host, spawn: Spawn
    ) -> None:
        self._identity = identity
        self._clock = clock
        self._mesh = mesh
        self._host = host
        self._spawn = spawn
        self._talks: dict[tuple[ChannelId, PeerId], list[_Talk]] = {}
        self._offered: Places[SecureStream] = Places(OFFERED_MAX)

    def request(self, channel: ChannelId, peer: PeerId, payload: bytes) -> None:
        """Ask a peer for ops, on a stream that is open or on a new one.

        The machine is told where there will be no answer (`OpsUnanswered`).
        """
        for talk in self._talks.get((channel, peer), ()):
            if not talk.asks and not talk.stream.closed:
                self._ask(channel, talk, payload)
                return
        if self._spawn("catch-up", self._open(channel, peer, payload)) is None:
            self._host.queue_input(channel, values.OpsUnanswered(peer))

    def answer(self, channel: ChannelId, peer: PeerId, payload: bytes) -> None:
        """Send a page to a peer that asked; without effect if its stream is gone."""
        for talk in self._talks.get((channel, peer), ()):
            if talk.owes:
                talk.owes = False
                self._say(channel, talk, Message(Payload.GROUP_DELTA_RESPONSE, payload))
                return

    def end(self, channel: ChannelId) -> None:
        """End all streams of a channel: we left it."""
        for at, talks in list(self._talks.items()):
            if at[0] == channel:
                for talk in talks:
                    talk.stream.close()

    def close_all(self) -> None:
        """End all streams: the machines that asked are gone."""
        for talks in list(self._talks.values()):
            for talk in talks:
                talk.stream.close()

    # --- Dialling ------------------------------------------------------------------------------

    async def _open(self, channel: ChannelId, peer: PeerId, payload: bytes) -> None:
        """Open a stream and ask; whatever comes of it, the machine does not wait in vain."""
        link = self._mesh.peers.link_to(peer)
        stream: SecureStream | None = None
        talk: _Talk | None = None
        try:
            if link is None:
                return
            stream = await SecureStream.dial(
                *link.address,
                self._identity,
                draw_key,
                expect=peer,
                local_address=self._mesh.local_address,
                connect_timeout=link.patience(CONNECT_TIMEOUT),
                handshake_deadline=link.patience(HANDSHAKE_DEADLINE),
            )
            stream.limit_frames(FRAME_MAX)
            init = encode(self._init(stream, channel))
            stream.send_batch([encode_frame(Open(STREAM, 0)), init])
            within = link.patience(HANDSHAKE_DEADLINE)
            if await _read_init(stream, within) != channel:
                raise RemoteError("it answers about another channel")  # noqa: TRY301
            talk = _Talk(stream)
            self._mesh.received.watch(stream)
            self._ask(channel, talk, payload)
            await self._converse(channel, talk)
        except (RemoteError, TimeoutError):
            pass  # it gives none, or is gone: others are asked
        finally:
            if talk is not None:
                self._finish(channel, talk)
            else:
                if stream is not None:
                    stream.close()
                self._host.queue_input(channel, values.OpsUnanswered(peer))

    # --- Answering -----------------------------------------------------------------------------

    async def offered(self, stream: SecureStream) -> Serve:
        """Let a peer that opened a stream show what it is about.

        Raises:
            RemoteError: it does not, no secret of that channel was proved on a link, or it has too
                many streams.
        """
        stream.limit_frames(FRAME_MAX, pending=1024)
        channel = await _read_init(stream)
        level = self._mesh.channels.level(stream.peer, channel)
        if level is Level.NONE:
            raise RemoteError("it asks about a channel of which it has proved nothing")
        held = sum(one.peer == stream.peer for one in self._offered.holders)
        if held >= OFFERED_PER_PEER_MAX:
            raise RemoteError("too many catch-ups at once")
        return partial(self._serve, stream, channel, level)

    async def _serve(self, stream: SecureStream, channel: ChannelId, level: Level) -> None:
        """Serve a stream that a peer opened, until it ends; we may ask on it, too."""
        talk = _Talk(stream)
        try:
            if level < Level.STUB:
                stream.send(encode(OpaqueError()))
                return
            if not self._host.has_ops(channel):
                stream.send(encode(NotMaterialized()))
                return
            stream.limit_frames(FRAME_MAX)
            with self._place(stream):
                stream.send(encode(self._init(stream, channel)))
                self._mesh.received.watch(stream)
                await self._converse(channel, talk)
        except TimeoutError:
            pass  # it has asked all it wants
        finally:
            self._finish(channel, talk)

    @contextmanager
    def _place(self, stream: SecureStream) -> Iterator[None]:
        """Hold one of the places for streams that others opened.

        Raises:
            RemoteError: all are taken, and nobody gives way to this peer.
        """
        standing = self._mesh.peers.standing_of(stream.peer)
        host, _ = stream.remote_address
        going = self._offered.enter(Holder(stream, host, standing, self._clock.now()))
        if going is None:
            raise RemoteError("too many catch-ups at once")
        for other in going:
            other.abort("gave way to others")
        try:
            yield
        finally:
            self._offered.leave(stream)

    # --- Both ways -----------------------------------------------------------------------------

    def _finish(self, channel: ChannelId, talk: _Talk) -> None:
        """Close a stream; where we asked on it, the machine does not wait for an answer."""
        self._mesh.received.forget(talk.stream)
        talk.stream.close()
        if talk.asks:
            self._host.queue_input(channel, values.OpsUnanswered(talk.stream.peer))

    def _ask(self, channel: ChannelId, talk: _Talk, payload: bytes) -> None:
        talk.asks = True
        self._say(channel, talk, Message(Payload.GROUP_DELTA_REQUEST, payload))

    def _say(self, channel: ChannelId, talk: _Talk, message: Message) -> None:
        data = encode(message)
        self._host.noted(channel, talk.stream.peer, FrameKind.CATCH_UP, data, sent=True)
        talk.stream.send(data)
        talk.touch()

    async def _converse(self, channel: ChannelId, talk: _Talk) -> None:
        """Read a stream until it ends, or is quiet for too long."""
        stream = talk.stream
        talk.touch()
        key = channel, stream.peer
        self._talks.setdefault(key, []).append(talk)
        try:
            while (data := await _receive(talk)) is not None:
                talk.touch()
                self._host.noted(channel, stream.peer, FrameKind.CATCH_UP, data, sent=False)
                self._take(channel, talk, decode(data))
                await self._host.breathe(stream.peer)
        finally:
            talks = self._talks[key]
            talks.remove(talk)
            if not talks:
                del self._talks[key]

    def _take(self, channel: ChannelId, talk: _Talk, message: StreamMessage) -> None:
        """Give a question or an answer to the channel's machines.

        Raises:
            RemoteError: it is out of turn, or there are no ops for its sender any more.
        """
        peer = talk.stream.peer
        match message:
            case Message(Payload.GROUP_DELTA_REQUEST, body) if not talk.owes:
                if self._mesh.channels.level(peer, channel) < Level.STUB:
                    raise RemoteError("it asks for ops that it may not have")
                talk.owes = True
                newest = self._mesh.channels.has_newest(peer, channel)
                self._host.queue_input(channel, values.OpsRequested(peer, body, newest))
            case Message(Payload.GROUP_DELTA_RESPONSE, body) if talk.asks:
                talk.asks = False
                self._host.queue_input(channel, values.OpsAnswered(peer, body))
            case Message() | Init():
                raise RemoteError("a message of a catch-up out of turn")
            case OpaqueError() | NotMaterialized():
                raise RemoteError("it has no ops for us")

    def _init(self, stream: SecureStream, channel: ChannelId) -> Init:
        """Return our `Init` on a stream."""
        context_id = GroupId(bytes.fromhex(channel))
        me = Key(self._identity.public_key)
        opener = stream.role is Role.INITIATOR
        signed = signed_by_init(stream.handshake_hash, context_id, me, opener=opener)
        return Init(context_id, me, SyncProtocol.GOVERNANCE, self._identity.sign(signed))


async def _receive(talk: _Talk) -> bytes | None:
    """Return the next frame; None at the end of the stream.

    Raises:
        TimeoutError: nothing was said for too long.
    """
    while True:
        try:
            async with asyncio.timeout(max(0.0, talk.left())):
                return await talk.stream.receive()
        except TimeoutError:
            if talk.left() <= 0:
                raise


async def _read_init(stream: SecureStream, within: float = HANDSHAKE_DEADLINE) -> ChannelId:
    """Return the channel that the peer's `Init` is about.

    Raises:
        RemoteError: it sent something else or nothing, or it did not sign this stream.
    """
    try:
        async with asyncio.timeout(within):
            data = await stream.receive()
    except TimeoutError:
        raise RemoteError("the peer does not say what its stream is about") from None
    if data is None:
        raise RemoteError("the peer closed the stream before saying what for")
    message = decode(data)
    if not isinstance(message, Init):
        raise RemoteError("it has no ops for us")
    opener = stream.role is Role.RESPONDER
    signed = signed_by_init(
        stream.handshake_hash, message.context_id, message.party_id, opener=opener
    )
    is_peer = message.party_id.hex() == stream.peer
    if not is_peer or not verify(stream.peer, message.signature, signed):
        raise RemoteError("an Init that its sender did not sign for this stream")
    return ChannelId(message.context_id.hex())
