"""Links to everybody: listen, dial, ping, redial, and send to all.

Rules:
1. A peer is who its handshake proves; an address is only where somebody answered.
2. A silent link is closed and dialled anew, never waited for.
3. Whoever is on the network can make identities: `linked_peers` says who gives way where places run
out, and who has proved no channel (`link_channels`) may send next to nothing.
"""

import asyncio
import contextlib
from collections.abc import Sequence
from functools import partial
from typing import Final

from sync.entries.identity import Identity
from sync.errors import RemoteError
from sync.machine import SECOND, ChannelId, Nanos, PeerId
from sync.net.clock import Clock
from sync.net.links.addresses import Addresses
from sync.net.links.channel_secrets import ChannelSecrets
from sync.net.links.dialler import Dialler
from sync.net.links.frames import (
    STATE,
    Announce,
    Frame,
    Goodbye,
    HeartbeatFrame,
    NoticeFrame,
    Open,
    OpFrame,
    Ping,
    Pong,
    Presence,
    Proof,
    RootFrame,
    SdsFrame,
    SecretFrame,
    StateFrame,
    Unknown,
    decode,
    encode,
)
from sync.net.links.link import PROTOCOL, Link
from sync.net.links.link_channels import LinkChannels
from sync.net.links.linked_peers import TOO_MANY, LinkedPeers
from sync.net.links.listener import BlockedError, Listener, Serve, Spawn
from sync.net.links.mesh_events import Events
from sync.net.links.outbound_room import OutboundRoom
from sync.net.links.received import Received
from sync.net.links.stream import DisconnectedError, SecureStream
from sync.structures.places import Standing

DEFAULT_PORT: Final = 46021

OUTBOUND_MAX: Final = 32 * 1024 * 1024
"""Bytes queued on all links together; beyond it the links of those who read least go."""

FRAMES_AT_ONCE: Final = 64
"""Frames of one link handled before others have their turn: some 10 ms."""

PING_EVERY: Final[Nanos] = 5 * SECOND
DEAD_AFTER: Final[Nanos] = 14 * SECOND
"""Silence after which a link is dead: three pings, and on the screen within 15 s. On a slow network
a history that comes may keep the link's own frames waiting for longer, so it counts as well."""

PARTING: Final = 1.0
"""Seconds that saying goodbye to everybody may take."""


class Mesh:
    """See the module docstring. `secrets` is the node's live table of channels."""

    def __init__(
        self,
        identity: Identity,
        clock: Clock,
        secrets: ChannelSecrets,
        addresses: Addresses,
        events: Events,
        spawn: Spawn,
    ) -> None:
        self.addresses = addresses
        self.port: int | None = None
        self.blocked: set[PeerId] = set()
        """With whom no link is kept."""
        self._clock = clock
        self.secrets = secrets
        self._events = events
        self.peers = LinkedPeers(identity.peer_id, clock, addresses, events)
        self.channels = LinkChannels(self.peers, clock, secrets, addresses, events)
        standing_of = self.peers.standing_of
        self._room = OutboundRoom(is_guest=lambda peer: standing_of(peer) <= Standing.OPEN)
        self._listener = Listener(
            identity, self._admit, events.refused, spawn, self.peers.trip_from
        )
        self._dialler = Dialler(
            identity,
            clock,
            addresses,
            self.blocked,
            self.peers.address_of,
            self.peers.trip_to,
            self._taken,
            events.refused,
            events.twin,
            spawn,
        )
        self.received = Received(standing_of)
        """Bytes that all streams hold, those of sessions too."""

    # --- Listening -----------------------------------------------------------------------------

    async def listen(self, hosts: Sequence[str], wanted: int | None) -> int:
        """Accept connections on all `hosts` at one port: the wanted one, or the next free one.

        Raises:
            LocalError: no port is free, or an address is gone.
        """
        self.port = await self._listener.listen(hosts, wanted or self.port or DEFAULT_PORT)
        self._dialler.hosts, self._dialler.port = tuple(hosts), self.port
        return self.port

    def deafen(self) -> None:
        """Accept nobody: our addresses are gone."""
        self._listener.close()

    async def _admit(self, stream: SecureStream, opened: Open) -> Serve:
        """Take in a peer that dialled us.

        Raises:
            RemoteError: the person wants nothing of it, or it opens what it must not.
        """
        if stream.peer in self.blocked:
            raise BlockedError("the person has blocked this peer")
        if opened.protocol != PROTOCOL:
            return await self._events.offered(stream, opened)
        return self._taken(stream, (stream.remote_address[0], opened.listen_port))

    # --- Dialling ------------------------------------------------------------------------------

    @property
    def local_address(self) -> str | None:
        """The address to dial from; None lets the system choose."""
        return self._dialler.local_address

    @local_address.setter
    def local_address(self, address: str | None) -> None:
        self._dialler.local_address = address

    def dial_due(self) -> None:
        """Dial the addresses whose time has come and whose peer has no link."""
        self._dialler.dial_due()

    async def connect(self, host: str, port: int) -> PeerId:
        """Dial an address that the person named.

        Raises:
            LocalError: nobody of ours answers there.
        """
        return await self._dialler.connect(host, port)

    # --- One link ------------------------------------------------------------------------------

    def _taken(self, stream: SecureStream, address: tuple[str, int]) -> Serve:
        """Return what serves the link that a stream becomes."""
        return partial(self._serve, self.channels.link_over(stream, address))

    async def _serve(self, link: Link) -> None:
        """Read a link until it ends."""
        if link.peer in self.blocked:
            link.close("not wanted")
            return
        if not self.peers.add(link):
            link.close(TOO_MANY)
            return
        self.received.watch(link.stream)
        self.peers.make_room()
        self.channels.open(link)
        for each in self.peers.links[link.peer]:
            each.ping(self._clock.now(), self._clock.wall())
        try:
            while batch := await link.stream.receive_batch():
                for number, data in enumerate(batch, start=1):
                    link.heard_at = self._clock.now()
                    frame = decode(data)
                    link.admit(frame, link.heard_at)
                    self._on_frame(link, frame)
                    link.is_read = False
                    await self._events.breathe(link.peer)
                    link.is_read = True
                    if number % FRAMES_AT_ONCE == 0:
                        await asyncio.sleep(0)
        except DisconnectedError:
            pass  # nobody's fault
        except RemoteError as error:
            self._events.refused(link.peer, str(error))
        except asyncio.CancelledError:
            link.close("leaving")
            raise
        finally:
            self._drop(link)

    def _on_frame(self, link: Link, frame: Frame) -> None:
        match frame:
            case SdsFrame(channel, payload):
                if channel in link.shared:
                    self._events.arrived(link.peer, channel, payload)
            case Ping(nonce):
                self._on_ping(link, nonce)
            case Pong():
                if link.ponged(frame, self._clock.now()):
                    self._events.ponged(link.peer)
                self._events.timed(link.peer)
                self.peers.settle(link.peer)
            case Proof(mac):
                self.channels.on_proof(link, mac)
            case Presence():
                self.channels.on_presence(link, frame)
            case Announce(payload):
                if link.shared:
                    self._events.takes_part(link.peer, min(link.shared), payload)
            case OpFrame() | HeartbeatFrame() | SecretFrame() | NoticeFrame():
                self.channels.on_governance(link, frame)
            case StateFrame() | RootFrame():
                if frame.channel in link.shared:
                    self._events.stated(link.peer, frame)
            case Unknown(data):
                self._events.skipped(link.peer, len(data))
            case Goodbye():
                link.stream.close()
            case Open():
                raise RemoteError("a link is opened once")

    def _on_ping(self, link: Link, nonce: int) -> None:
        self.channels.show(link)
        if link.may_be_answered(link.heard_at):
            link.send(Pong(nonce, self._clock.wall(), self._events.follows(link.peer)))

    def _drop(self, link: Link) -> None:
        """Close a link that is read no more."""
        link.stream.close()
        self.received.forget(link.stream)
        self.peers.remove(link)

    # --- All links -----------------------------------------------------------------------------

    def broadcast(self, channel: ChannelId, payload: bytes) -> None:
        """Queue an SDS message for every peer of `channel`; `flush` sends it."""
        frame = encode(SdsFrame(channel, payload))
        for peer in self.peers.links:
            link = self.peers.link_to(peer, channel)
            if link is not None:
                link.queue(frame)

    def send_op(self, channel: ChannelId, content: bytes) -> None:
        """Queue a signed op for everybody whom ops of `channel` are told; `flush` sends it."""
        self._tell_governing(channel, list(self.peers.links), OpFrame(channel, content))

    def send_heartbeat(self, channel: ChannelId, peers: Sequence[PeerId], payload: bytes) -> None:
        """Queue a heartbeat for peers; `flush` sends it."""
        self._tell_governing(channel, peers, HeartbeatFrame(channel, payload))

    def _tell_governing(
        self, channel: ChannelId, peers: Sequence[PeerId], frame: OpFrame | HeartbeatFrame
    ) -> None:
        encoded = encode(frame)
        for peer in peers:
            links = [link for link in self.peers.links.get(peer, ()) if channel in link.governs]
            usable = [link for link in links if not link.stream.closed]
            if usable:
                max(usable, key=lambda link: link.opened_at).queue(encoded)

    def send_root(self, channel: ChannelId, peers: Sequence[PeerId], root: bytes) -> None:
        """Queue the root of our state for those of `peers` who understand it."""
        encoded = encode(RootFrame(channel, root))
        for peer in peers:
            link = self.peers.link_to(peer, channel)
            if link is not None and STATE in link.features:
                link.queue(encoded)

    def send_state(self, channel: ChannelId, contents: tuple[bytes, ...]) -> None:
        """Queue state entries of ours for everybody who understands them; `flush` sends it."""
        encoded = encode(StateFrame(channel, contents))
        for peer in self.peers.links:
            link = self.peers.link_to(peer, channel)
            if link is not None and STATE in link.features:
                link.queue(encoded)

    def announce(self, peer: PeerId, payload: bytes) -> None:
        """Tell a peer which author logs it can have of us."""
        link = self.peers.link_to(peer)
        if link is not None and link.shared:
            link.send(Announce(payload))

    def flush(self) -> None:
        """Send what is queued."""
        for link in self.peers.all():
            link.flush()

    async def drain(self) -> None:
        """Wait until the system has taken what is queued on every link."""
        for link in self.peers.all():
            with contextlib.suppress(RemoteError):
                await link.stream.flushed()

    async def room(self) -> None:
        """Return when every link takes what is sent, but for peers who read slowly."""
        await self._room.wait([link.stream for link in self.peers.all()])

    def tick(self) -> None:
        """Ping, close what is silent, dial what is due; a few times a second."""
        now = self._clock.now()
        heard = self.received.take_heard()
        for peer, links in list(self.peers.links.items()):
            for link in list(links):
                if not link.is_read or peer in heard:
                    link.heard_at = now  # the silence is ours, or what it sends us fills the way
                if now - link.heard_at > DEAD_AFTER:
                    link.stream.abort()
                elif now - link.pinged_at >= PING_EVERY:
                    link.ping(now, self._clock.wall())
                self.channels.look_after(link)
            self.peers.settle(peer)
        self.peers.make_room()
        self._cut_those_who_do_not_read()
        self.dial_due()

    def _cut_those_who_do_not_read(self) -> None:
        """Cut links until no more than `OUTBOUND_MAX` is queued, the fullest first."""
        links = self.peers.all()
        queued = sum(link.stream.outbound_bytes for link in links)
        for link in sorted(links, key=lambda one: one.stream.outbound_bytes, reverse=True):
            if queued <= OUTBOUND_MAX:
                return
            queued -= link.stream.outbound_bytes
            link.stream.abort("does not take what is sent")

    def block(self, peer: PeerId) -> None:
        """Keep no link with `peer` from now on."""
        self.blocked.add(peer)
        for link in list(self.peers.links.get(peer, [])):
            link.close("not wanted")

    def unblock(self, peer: PeerId) -> None:
        """Let `peer` be linked with again, soon."""
        self.blocked.discard(peer)
        now = self._clock.now()
        for candidate in self.addresses.known.values():
            if peer in {candidate.peer, candidate.claimed_by}:
                candidate.next_at = now

    def hang_up(self, reason: str) -> None:
        """Close every link, to dial anew: the computer slept, or its address changed."""
        for link in self.peers.all():
            link.close(reason)
        self.addresses.hurry(self._clock.now())

    def abort(self) -> None:
        """Cut what others opened and is still open, after `stop`."""
        self._listener.abort()

    async def stop(self) -> None:
        """Say goodbye to everybody and stop listening."""
        await self._listener.stop()
        links = self.peers.all()
        self.hang_up("leaving")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PARTING):
                for link in links:
                    await link.stream.wait_closed()
