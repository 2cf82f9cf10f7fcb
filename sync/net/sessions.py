"""The connections of reconciliation sessions: one each, apart from the links.

Each opens with the protocol id of its specification and proves exactly one channel. So a transfer
of a whole history never stands before a line of chat.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Protocol

from sync.errors import RemoteError
from sync.group import values
from sync.identity import Identity
from sync.journal import Loaded
from sync.machine import ChannelId, Nanos, PeerId
from sync.net.clock import Clock, draw_key
from sync.net.frames import Open, Proof, encode
from sync.net.link import Link, read_proof
from sync.net.listener import Serve, Spawn
from sync.net.membership import Membership
from sync.net.stream import HANDSHAKE_DEADLINE, SecureStream
from sync.waku.check_message import CHECK
from sync.waku.message import RECONCILIATION, TRANSFER, WakuMessage, content_topic, pubsub_topic
from sync.waku.wire import encode_transfer

OFFERED_PER_PEER_MAX: Final = 8
"""Session connections of one peer at once; a session needs two of them in each channel."""

OFFERED_MAX: Final = 64
"""Session connections of all peers at once: identities cost nothing, descriptors do."""

TRAFFIC_MAX: Final = 256
"""Sessions whose cost is counted at once; more than can run."""

PUSHES_MAX: Final = 4
"""Transfers we serve at once; the others wait for their turn."""

STALL_MAX: Final = 30.0
"""Seconds without progress after which a transfer is given up, by either end: as long as the
receiving machine waits."""

PUSH_BYTES: Final = 256 * 1024
"""Bytes sent between two looks at whether the peer takes them."""


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

    @property
    def local_address(self) -> str | None:
        """Return the address to dial from; None lets the system choose."""

    def secret(self, channel: ChannelId) -> bytes:
        """Return the channel's secret."""

    def secrets(self) -> dict[ChannelId, bytes]:
        """Return the secrets of all channels."""

    async def load_by_hash(self, channel: ChannelId, hashes: Sequence[bytes]) -> list[Loaded]:
        """Return stored messages by their Waku hashes."""

    def pushed(self, channel: ChannelId, peer: PeerId, payload: bytes) -> None:
        """Note a message that is pushed to a peer."""

    async def breathe(self, peer: PeerId, *, transfers: bool = False) -> None:
        """Return when there is room for more from `peer`, or of what it transfers."""


@dataclass(slots=True)
class Traffic:
    """What one session cost: its connections, and when it began."""

    began_at: Nanos
    streams: list[SecureStream] = field(default_factory=list)


class SessionStreams:
    """See the module docstring."""

    def __init__(self, identity: Identity, clock: Clock, host: Host, spawn: Spawn) -> None:
        self._identity = identity
        self._clock = clock
        self._host = host
        self._spawn = spawn
        self._streams: dict[values.SessionId, SecureStream] = {}
        self._offered: Counter[PeerId] = Counter()
        self._traffic: dict[tuple[ChannelId, PeerId], Traffic] = {}
        self._pushes = asyncio.Semaphore(PUSHES_MAX)

    # --- What the machines want ----------------------------------------------------------------

    def open(self, channel: ChannelId, wanted: values.OpenSession) -> None:
        """Open a stream to reconcile or to check; its end is told as `SessionClosed`."""
        self._spawn("session", self._converse(channel, wanted))

    def send(self, session: values.SessionId, payload: bytes) -> None:
        """Send a payload; without effect on a stream that is gone."""
        if (stream := self._streams.get(session)) is not None:
            stream.send(payload)

    def peer_of(self, session: values.SessionId) -> PeerId | None:
        """Return who is at the other end of a stream; None if it is gone."""
        stream = self._streams.get(session)
        return None if stream is None else stream.peer

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

    async def _converse(self, channel: ChannelId, wanted: values.OpenSession) -> None:
        session = wanted.session

        async def read(stream: SecureStream) -> None:
            self._streams[session] = stream
            self._host.feed(channel, values.SessionOpened(session))
            await self._read_payloads(channel, session, stream)

        reason = "an error on our side"
        try:
            reason = await self._with_stream(channel, wanted.peer, wanted.protocol, read)
        finally:  # whatever happened, the machine must not wait for this stream
            self._streams.pop(session, None)
            self._host.feed(channel, values.SessionClosed(session, reason))

    async def _push(self, channel: ChannelId, peer: PeerId, hashes: Sequence[bytes]) -> None:
        """Send messages in chunks; what does not arrive, the next session finds missing."""

        async def write(stream: SecureStream) -> None:
            for start in range(0, len(hashes), values.PAGE):
                chunk = hashes[start : start + values.PAGE]
                loaded = await self._host.load_by_hash(channel, chunk)
                await _transfer(stream, channel, loaded, partial(self._host.pushed, channel, peer))
            async with asyncio.timeout(STALL_MAX):
                await stream.flushed()  # who is slow must not be cut off at the end

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
                local_address=self._host.local_address,
            )
            secrets = {channel: self._host.secret(channel)}
            membership = Membership(stream.role, stream.handshake_hash, secrets)
            [mac] = membership.opening()
            stream.send_batch([encode(Open(protocol, 0)), encode(Proof(mac))])
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

    async def offered(self, stream: SecureStream, opened: Open) -> Serve:
        """Let a peer prove a channel on the connection that it opened for a session.

        Raises:
            RemoteError: it does not, it speaks no protocol of ours, or has too many sessions.
        """
        if opened.protocol not in (RECONCILIATION, TRANSFER, CHECK):
            raise RemoteError(f"it opened the unknown protocol {opened.protocol!r}")
        membership = Membership(stream.role, stream.handshake_hash, self._host.secrets())
        proof = await read_proof(stream)
        shared = membership.receive(proof.mac)
        if shared is None or shared.answer is None:
            raise RemoteError("it does not prove a channel of ours")
        if (
            self._offered.total() >= OFFERED_MAX
            or self._offered[stream.peer] >= OFFERED_PER_PEER_MAX
        ):
            raise RemoteError("too many sessions at once")
        stream.send(encode(Proof(shared.answer)))
        return partial(self._serve, stream, shared.channel, opened.protocol)

    async def _serve(self, stream: SecureStream, channel: ChannelId, protocol: str) -> None:
        """Serve a connection until it ends."""
        with self._place(stream.peer):
            try:
                self._note(channel, stream.peer, protocol, stream)
                if protocol == TRANSFER:
                    await self._read_transfer(channel, stream)
                else:
                    await self._answer(channel, stream, protocol)
            finally:
                stream.close()

    @contextmanager
    def _place(self, peer: PeerId) -> Iterator[None]:
        """Hold one of the places for sessions that others opened."""
        self._offered[peer] += 1
        try:
            yield
        finally:
            self._offered[peer] -= 1
            if not self._offered[peer]:
                del self._offered[peer]

    async def _answer(self, channel: ChannelId, stream: SecureStream, protocol: str) -> None:
        session = self._host.new_session()
        self._streams[session] = stream
        reason = ""
        try:
            self._host.feed(channel, values.SessionOffered(session, stream.peer, protocol))
            await self._read_payloads(channel, session, stream)
        except RemoteError as error:
            reason = str(error)
            raise
        finally:
            self._streams.pop(session, None)
            self._host.feed(channel, values.SessionClosed(session, reason))

    async def _read_payloads(
        self, channel: ChannelId, session: values.SessionId, stream: SecureStream
    ) -> None:
        while (payload := await stream.receive()) is not None:
            self._host.feed(channel, values.SessionPayload(session, payload))
            await self._host.breathe(stream.peer)

    async def _read_transfer(self, channel: ChannelId, stream: SecureStream) -> None:
        try:
            while batch := await self._next_batch(stream):
                for payload in batch:
                    self._host.feed(channel, values.Transferred(stream.peer, payload))
                    await self._host.breathe(stream.peer, transfers=True)
        finally:
            self._host.feed(channel, values.TransferEnded(stream.peer))

    async def _next_batch(self, stream: SecureStream) -> list[bytes]:
        async with asyncio.timeout(STALL_MAX):
            return await stream.receive_batch()

    def _note(self, channel: ChannelId, peer: PeerId, protocol: str, stream: SecureStream) -> None:
        """Count a connection to the session with `peer`, which begins by reconciling."""
        key = (channel, peer)
        if protocol == RECONCILIATION:
            self._traffic[key] = Traffic(self._clock.now())
            if len(self._traffic) > TRAFFIC_MAX:
                del self._traffic[next(iter(self._traffic))]
        if key in self._traffic:
            self._traffic[key].streams.append(stream)


async def _transfer(
    stream: SecureStream,
    channel: ChannelId,
    messages: Sequence[Loaded],
    pushed: Callable[[bytes], None],
) -> None:
    """Send messages no faster than the peer takes them."""
    topic, content = pubsub_topic(channel), content_topic(channel)
    batch: list[bytes] = []
    size = 0
    for position, loaded in enumerate(messages, start=1):
        waku = WakuMessage(loaded.payload, content, loaded.entry.header.created_ns)
        batch.append(encode_transfer(waku, topic))
        pushed(batch[-1])
        size += len(batch[-1])
        if size >= PUSH_BYTES or position == len(messages):
            stream.send_batch(batch)
            batch, size = [], 0
            async with asyncio.timeout(STALL_MAX):
                await stream.drain()


def _require(membership: Membership, answer: Proof) -> None:
    if membership.receive(answer.mac) is None:
        raise RemoteError("the peer does not prove the channel")
