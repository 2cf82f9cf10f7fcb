"""The connections of reconciliation sessions: one each, apart from the links.

Each opens with the protocol id of its specification and proves exactly one channel. So a transfer
of a whole history never stands before a line of chat.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from sync.errors import RemoteError
from sync.group import values
from sync.identity import Identity
from sync.journal import Loaded
from sync.machine import ChannelId, Nanos, PeerId
from sync.net.clock import Clock, draw_key
from sync.net.frames import Open, Proof, encode
from sync.net.link import Link, read_proof
from sync.net.membership import Membership
from sync.net.mesh import Spawn
from sync.net.stream import HANDSHAKE_DEADLINE, SecureStream
from sync.waku.message import RECONCILIATION, TRANSFER, WakuMessage, content_topic, pubsub_topic
from sync.waku.wire import encode_transfer

OFFERED_PER_PEER_MAX: Final = 8
"""Session connections of one peer at once; a session needs two of them in each channel."""

PUSHES_MAX: Final = 4
"""Transfers we serve at once; the others wait for their turn."""

PUSH_CHUNK: Final = 256
"""Messages loaded at once for a transfer: some 200 kB."""


class Host(Protocol):
    """What the node does for its sessions."""

    def feed(self, channel: ChannelId, event: values.Input) -> None:
        """Give an input to the channel's machines."""

    def new_session(self) -> values.SessionId:
        """Return a fresh session number."""

    def refused(self, who: str, reason: str) -> None:
        """Somebody sent something that it must not."""

    def link_to(self, peer: PeerId, channel: ChannelId) -> Link | None:
        """Return the link to `peer` that carries `channel`."""

    def secret(self, channel: ChannelId) -> bytes:
        """Return the channel's secret."""

    def secrets(self) -> dict[ChannelId, bytes]:
        """Return the secrets of all channels."""

    async def load_by_hash(self, channel: ChannelId, hashes: Sequence[bytes]) -> list[Loaded]:
        """Return stored messages by their Waku hashes."""

    async def breathe(self) -> None:
        """Return when there is room for more from peers."""


@dataclass(slots=True)
class Traffic:
    """What one session cost: its connections, and when it began."""

    began_at: Nanos
    streams: list[SecureStream] = field(default_factory=list)


class SessionStreams:
    """See the module docstring."""

    def __init__(self, identity: Identity, clock: Clock, host: Host, spawn: Spawn) -> None:
        self.port = 0
        self.local_address: str | None = None
        self._identity = identity
        self._clock = clock
        self._host = host
        self._spawn = spawn
        self._streams: dict[values.SessionId, SecureStream] = {}
        self._offered: Counter[PeerId] = Counter()
        self._traffic: dict[tuple[ChannelId, PeerId], Traffic] = {}
        self._pushes = asyncio.Semaphore(PUSHES_MAX)

    # --- What the machines want ----------------------------------------------------------------

    def open(self, channel: ChannelId, session: values.SessionId, peer: PeerId) -> None:
        """Open a reconciliation stream; its end is told as `SessionClosed`."""
        self._spawn("session", self._reconcile(channel, session, peer))

    def send(self, session: values.SessionId, payload: bytes) -> None:
        """Send a payload; without effect on a stream that is gone."""
        if (stream := self._streams.get(session)) is not None:
            stream.send(payload)

    def close(self, session: values.SessionId) -> None:
        """Close a stream, after what was sent on it."""
        if (stream := self._streams.pop(session, None)) is not None:
            stream.close()

    def push(self, channel: ChannelId, peer: PeerId, hashes: Sequence[bytes]) -> None:
        """Send stored messages on a transfer stream."""
        self._spawn("transfer", self._push(channel, peer, hashes))

    def cost(self, channel: ChannelId, peer: PeerId) -> tuple[int, int, Nanos]:
        """Return bytes in, bytes out and nanoseconds of the session that has just ended."""
        traffic = self._traffic.pop((channel, peer), None)
        if traffic is None:
            return 0, 0, 0
        return (
            sum(stream.bytes_in for stream in traffic.streams),
            sum(stream.bytes_out for stream in traffic.streams),
            self._clock.now() - traffic.began_at,
        )

    def close_all(self) -> None:
        """Close every session: its machines are gone."""
        for session in list(self._streams):
            self.close(session)

    # --- Dialling ------------------------------------------------------------------------------

    async def _reconcile(self, channel: ChannelId, session: values.SessionId, peer: PeerId) -> None:
        async def read(stream: SecureStream) -> None:
            self._streams[session] = stream
            self._host.feed(channel, values.SessionOpened(session))
            await self._read_payloads(channel, session, stream)

        reason = await self._with_stream(channel, peer, RECONCILIATION, read)
        self._streams.pop(session, None)
        self._host.feed(channel, values.SessionClosed(session, reason))

    async def _push(self, channel: ChannelId, peer: PeerId, hashes: Sequence[bytes]) -> None:
        """Send messages in chunks; what does not arrive, the next session finds missing."""
        topic = pubsub_topic(channel)
        content = content_topic(channel)

        async def write(stream: SecureStream) -> None:
            for start in range(0, len(hashes), PUSH_CHUNK):
                chunk = hashes[start : start + PUSH_CHUNK]
                for loaded in await self._host.load_by_hash(channel, chunk):
                    created_ns = loaded.entry.header.created_ns
                    waku = WakuMessage(loaded.payload, content, created_ns)
                    stream.send(encode_transfer(waku, topic))
                await stream.drain()

        async with self._pushes:
            reason = await self._with_stream(channel, peer, TRANSFER, write)
        if reason:
            self._host.refused(peer, f"a transfer to it ended early: {reason}")

    async def _with_stream(
        self,
        channel: ChannelId,
        peer: PeerId,
        protocol: str,
        use: Callable[[SecureStream], Awaitable[None]],
    ) -> str:
        """Dial, prove the channel, use the connection; returns why it ended, "" if as planned."""
        link = self._host.link_to(peer, channel)
        if link is None:
            return "there is no link to the peer"
        stream: SecureStream | None = None
        try:
            stream = await SecureStream.dial(
                *link.address,
                self._identity,
                draw_key,
                expect=peer,
                local_address=self.local_address,
            )
            secrets = {channel: self._host.secret(channel)}
            membership = Membership(stream.role, stream.handshake_hash, secrets)
            [mac] = membership.opening()
            stream.send_batch([encode(Open(protocol, self.port)), encode(Proof(mac))])
            async with asyncio.timeout(HANDSHAKE_DEADLINE):
                answer = await read_proof(stream)
            _require(membership, answer)
            self._note(channel, peer, protocol, stream)
            await use(stream)
        except (RemoteError, TimeoutError) as error:
            return str(error) or "the peer does not answer"
        finally:
            if stream is not None:
                stream.close()
        return ""

    # --- Answering -----------------------------------------------------------------------------

    async def offered(self, stream: SecureStream, opened: Open) -> None:
        """Serve a connection that a peer opened for a session, until it ends."""
        if self._offered[stream.peer] >= OFFERED_PER_PEER_MAX:
            stream.close()
            self._host.refused(stream.peer, "too many sessions at once")
            return
        self._offered[stream.peer] += 1
        try:
            await self._serve(stream, opened.protocol)
        except (RemoteError, TimeoutError) as error:
            self._host.refused(stream.peer, str(error) or "too slow")
        finally:
            stream.close()
            self._offered[stream.peer] -= 1

    async def _serve(self, stream: SecureStream, protocol: str) -> None:
        if protocol not in (RECONCILIATION, TRANSFER):
            raise RemoteError(f"it opened the unknown protocol {protocol!r}")
        membership = Membership(stream.role, stream.handshake_hash, self._host.secrets())
        async with asyncio.timeout(HANDSHAKE_DEADLINE):
            proof = await read_proof(stream)
        shared = membership.receive(proof.mac)
        if shared is None or shared.answer is None:
            raise RemoteError("it does not prove a channel of ours")
        stream.send(encode(Proof(shared.answer)))
        self._note(shared.channel, stream.peer, protocol, stream)
        if protocol == TRANSFER:
            await self._read_transfer(shared.channel, stream)
            return
        session = self._host.new_session()
        self._streams[session] = stream
        self._host.feed(shared.channel, values.SessionOffered(session, stream.peer))
        try:
            await self._read_payloads(shared.channel, session, stream)
        finally:
            self._streams.pop(session, None)
            self._host.feed(shared.channel, values.SessionClosed(session))

    async def _read_payloads(
        self, channel: ChannelId, session: values.SessionId, stream: SecureStream
    ) -> None:
        while (payload := await stream.receive()) is not None:
            self._host.feed(channel, values.SessionPayload(session, payload))
            await self._host.breathe()

    async def _read_transfer(self, channel: ChannelId, stream: SecureStream) -> None:
        try:
            while batch := await stream.receive_batch():
                for payload in batch:
                    self._host.feed(channel, values.Transferred(stream.peer, payload))
                await self._host.breathe()
        finally:
            self._host.feed(channel, values.TransferEnded(stream.peer))

    def _note(self, channel: ChannelId, peer: PeerId, protocol: str, stream: SecureStream) -> None:
        """Count a connection to the session with `peer`, which begins by reconciling."""
        key = (channel, peer)
        if protocol == RECONCILIATION:
            self._traffic[key] = Traffic(self._clock.now())
        if key in self._traffic:
            self._traffic[key].streams.append(stream)


def _require(membership: Membership, answer: Proof) -> None:
    if membership.receive(answer.mac) is None:
        raise RemoteError("the peer does not prove the channel")
