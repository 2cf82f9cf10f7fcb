"""Links to everybody: listen, dial, prove channels, ping, redial, settle duplicates.

Rules:
1. A peer is who its handshake proves; an address is only where somebody answered.
2. Who has not proved an identity gets little room, and none for long.
3. A silent link is closed and dialled anew, never waited for.
"""

import asyncio
import contextlib
import errno
import statistics
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Final, Protocol, TypeAlias

from sync.errors import LocalError, RemoteError
from sync.identity import Identity
from sync.machine import SECOND, ChannelId, Nanos, PeerId
from sync.net.addresses import Addresses, Candidate
from sync.net.clock import Clock, draw_key
from sync.net.frames import (
    Frame,
    Goodbye,
    Open,
    Ping,
    Pong,
    Presence,
    Proof,
    SdsFrame,
    decode,
    encode,
)
from sync.net.handshake import OwnKeyError
from sync.net.link import PROTOCOL, Link, keep, read_open
from sync.net.stream import HANDSHAKE_DEADLINE, SecureStream

DEFAULT_PORT: Final = 46021
PORTS_TRIED: Final = 50
"""How many ports after the wanted one are tried when it is taken."""

STRANGERS_MAX: Final = 128
"""Connections that have not proved an identity yet, from everywhere."""

STRANGERS_PER_ADDRESS_MAX: Final = 8
LINKS_MAX: Final = 256
"""Links at once; a full mesh of 200 people fits."""

LINKS_PER_PEER_MAX: Final = 4
"""Links to one peer while duplicates are being settled."""

PING_EVERY: Final[Nanos] = 5 * SECOND
DEAD_AFTER: Final[Nanos] = 14 * SECOND
"""Silence after which a link is dead: three pings, and on the screen within 15 s."""

CONTEST_MAX: Final[Nanos] = 3 * SECOND
"""How long duplicate links may stay undecided; then the silent ones go."""

Spawn: TypeAlias = Callable[[str, Coroutine[Any, Any, None]], object]
"""Start a task under the node's care, with a name for its errors."""


class Events(Protocol):
    """What the mesh tells the node."""

    def joined(self, peer: PeerId, channel: ChannelId) -> None:
        """`peer` has proved `channel` over a link."""

    def gone(self, peer: PeerId, channel: ChannelId) -> None:
        """No link carries `channel` to `peer` any more."""

    def arrived(self, peer: PeerId, channel: ChannelId, payload: bytes) -> None:
        """An SDS message came."""

    def renamed(self, peer: PeerId) -> None:
        """`peer` told its nick."""

    def refused(self, who: str, reason: str) -> None:
        """Somebody sent or did something that it must not."""

    async def offered(self, stream: SecureStream, opened: Open) -> None:
        """A peer opened a connection for a session; returns when it is over."""

    async def breathe(self) -> None:
        """Return when there is room for more from peers."""


class Mesh:
    """See the module docstring. `secrets` is the node's live map of channels."""

    def __init__(
        self,
        identity: Identity,
        clock: Clock,
        secrets: Mapping[ChannelId, bytes],
        addresses: Addresses,
        events: Events,
        spawn: Spawn,
    ) -> None:
        self.links: dict[PeerId, list[Link]] = {}
        self.addresses = addresses
        self.port: int | None = None
        self.nick = ""
        self.local_address: str | None = None
        self._identity = identity
        self._clock = clock
        self._secrets = secrets
        self._events = events
        self._spawn = spawn
        self._servers: list[asyncio.Server] = []
        self._strangers: Counter[str] = Counter()
        self._joined: dict[PeerId, frozenset[ChannelId]] = {}

    # --- Listening -----------------------------------------------------------------------------

    async def listen(self, hosts: Sequence[str], wanted: int | None) -> int:
        """Accept connections on all `hosts` at one port: the wanted one, or the next free one.

        Raises:
            LocalError: no port is free, or an address is gone.
        """
        await self._stop_listening()
        first = wanted or self.port or DEFAULT_PORT
        for port in range(first, min(first + PORTS_TRIED, 65_536)):
            try:
                for host in hosts:
                    self._servers.append(await asyncio.start_server(self._accept, host, port))
            except OSError as error:
                await self._stop_listening()
                if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                    raise LocalError(f"Cannot listen on {', '.join(hosts)}: {error}.") from error
                continue
            self.port = port
            return port
        raise LocalError(
            f"The ports from {first} on are all taken; choose another one with --port."
        )

    async def _stop_listening(self) -> None:
        for server in self._servers:
            server.close()
        self._servers.clear()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Find out who connects and what for; strangers are few and have little time."""
        host = (writer.get_extra_info("peername") or ("", 0))[0]
        if (
            self._strangers.total() >= STRANGERS_MAX
            or self._strangers[host] >= STRANGERS_PER_ADDRESS_MAX
        ):
            writer.transport.abort()
            self._events.refused(host, "too many connections at once")
            return
        self._strangers[host] += 1
        try:
            async with asyncio.timeout(HANDSHAKE_DEADLINE):
                stream = await SecureStream.accept(reader, writer, self._identity, draw_key)
                opened = await read_open(stream)
        except (RemoteError, TimeoutError) as error:
            writer.transport.abort()
            if not isinstance(error, OwnKeyError):
                self._events.refused(host, str(error) or "too slow")
            return
        finally:
            self._strangers[host] -= 1
            if not self._strangers[host]:
                del self._strangers[host]
        if opened.protocol == PROTOCOL:
            address = (host, opened.listen_port)
            candidate = self.addresses.add(*address, self._clock.now())
            self.addresses.answered(candidate, stream.peer, self._clock.now())
            await self._serve(self._link(stream, address))
        else:
            await self._events.offered(stream, opened)

    # --- Dialling ------------------------------------------------------------------------------

    def dial_due(self) -> None:
        """Dial every address whose time has come and whose peer has no link."""
        now = self._clock.now()
        for candidate in self.addresses.due(now):
            if candidate.peer is not None and self.links.get(candidate.peer):
                candidate.next_at = now + 30 * SECOND
                continue
            candidate.dialling = True
            self._spawn("dialling", self._dial(candidate))

    async def connect(self, host: str, port: int) -> PeerId:
        """Dial an address that the person named.

        Raises:
            LocalError: nobody of ours answers there.
        """
        candidate = self.addresses.add(host, port, self._clock.now(), named=True)
        try:
            link = await self._dialled(candidate)
        except RemoteError as error:
            raise LocalError(f"Nobody answers at {host}:{port} ({error}).") from error
        self._spawn("link", self._serve(link))
        return link.peer

    async def _dial(self, candidate: Candidate) -> None:
        try:
            link = await self._dialled(candidate)
        except OwnKeyError:
            candidate.ourselves = True
        except RemoteError:
            self.addresses.failed(candidate, self._clock.now())
        else:
            await self._serve(link)
        finally:
            candidate.dialling = False

    async def _dialled(self, candidate: Candidate) -> Link:
        stream = await SecureStream.dial(
            candidate.host,
            candidate.port,
            self._identity,
            draw_key,
            local_address=self.local_address,
        )
        stream.send(encode(Open(PROTOCOL, self.port or 0)))
        self.addresses.answered(candidate, stream.peer, self._clock.now())
        candidate.dialling = False
        return self._link(stream, (candidate.host, candidate.port))

    # --- One link ------------------------------------------------------------------------------

    def _link(self, stream: SecureStream, address: tuple[str, int]) -> Link:
        return Link.over(stream, address, self._secrets, self._clock.now())

    async def _serve(self, link: Link) -> None:
        """Read a link until it ends."""
        if len(self.links.get(link.peer, [])) >= LINKS_PER_PEER_MAX or len(self.links) >= LINKS_MAX:
            link.close("too many links")
            return
        links = self.links.setdefault(link.peer, [])
        links.append(link)
        for mac in link.membership.opening():
            link.send(Proof(mac))
        for each in links:
            each.ping(self._clock.now(), self._clock.wall())
        try:
            while batch := await link.stream.receive_batch():
                link.heard_at = self._clock.now()
                if len(links) > 1:
                    self._settle(links, links)
                for data in batch:
                    self._on_frame(link, decode(data))
                await self._events.breathe()
        except RemoteError as error:
            self._events.refused(link.peer, str(error))
        finally:
            self._drop(link)

    def _on_frame(self, link: Link, frame: Frame) -> None:
        match frame:
            case SdsFrame(channel, payload):
                if channel in link.membership.shared:
                    self._events.arrived(link.peer, channel, payload)
            case Ping(nonce):
                link.send(Pong(nonce, self._clock.wall()))
            case Pong():
                link.ponged(frame, self._clock.now(), self._clock.wall())
            case Proof(mac):
                shared = link.membership.receive(mac)
                if shared is not None:
                    if shared.answer is not None:
                        link.send(Proof(shared.answer))
                    self._greet(link, shared.channel)
            case Presence(channel, nick):
                if channel in link.membership.shared:
                    link.nicks[channel] = nick
                    self._events.renamed(link.peer)
            case Goodbye():
                link.stream.close()
            case Open():
                raise RemoteError("a link is opened once")

    def _greet(self, link: Link, channel: ChannelId) -> None:
        link.send(Presence(channel, self.nick))
        self._refresh(link.peer)

    def _drop(self, link: Link) -> None:
        """Close a link; where it was the last one of its peer, dial again soon."""
        link.stream.close()
        links = self.links[link.peer]
        links.remove(link)
        if not links:
            del self.links[link.peer]
            self.addresses.lost(link.peer, self._clock.now())
        self._refresh(link.peer)

    def _refresh(self, peer: PeerId) -> None:
        """Tell which channels `peer` has come to share, and which no longer."""
        links = self.links.get(peer, [])
        now = frozenset[ChannelId]().union(*(link.membership.shared for link in links))
        before = self._joined.pop(peer, frozenset())
        if now:
            self._joined[peer] = now
        for channel in sorted(before - now):
            self._events.gone(peer, channel)
        for channel in sorted(now - before):
            self._events.joined(peer, channel)

    def _settle(self, links: list[Link], among: list[Link]) -> None:
        """Close all of `links` but one of `among`, once it is clear which."""
        chosen = keep(among, self._identity.peer_id)
        if chosen is None:
            return
        for link in links:
            if link is not chosen:
                link.close("a second link to the same peer")

    # --- All links -----------------------------------------------------------------------------

    def link_to(self, peer: PeerId, channel: ChannelId | None = None) -> Link | None:
        """Return the newest open link to `peer`, one that carries `channel` if given."""
        usable = [
            link
            for link in self.links.get(peer, [])
            if not link.stream.closed and (channel is None or channel in link.membership.shared)
        ]
        return max(usable, key=lambda link: link.opened_at, default=None)

    def clock_offset(self) -> Nanos:
        """Return how far the reference clock is ahead of our wall clock (DESIGN 5).

        It is the median of our own and all peers' wall clocks; ties go to our own.
        """
        offsets = [0]
        for links in self.links.values():
            offsets += [link.clock_offset for link in links[:1] if link.clock_offset is not None]
        return min(statistics.median_low(offsets), statistics.median_high(offsets), key=abs)

    def broadcast(self, channel: ChannelId, payload: bytes) -> None:
        """Queue an SDS message for every peer of `channel`; `flush` sends it."""
        frame = encode(SdsFrame(channel, payload))
        for peer in self.links:
            link = self.link_to(peer, channel)
            if link is not None:
                link.queue(frame)

    def flush(self) -> None:
        """Send what is queued."""
        for links in self.links.values():
            for link in links:
                link.flush()

    async def drain(self) -> None:
        """Wait until the system has taken what is queued on every link."""
        for links in list(self.links.values()):
            for link in list(links):
                with contextlib.suppress(RemoteError):
                    await link.stream.drain()

    def tick(self) -> None:
        """Ping, close what is silent, dial what is due; a few times a second."""
        now = self._clock.now()
        for links in list(self.links.values()):
            for link in list(links):
                if now - link.heard_at > DEAD_AFTER:
                    link.stream.abort()
                elif now - link.pinged_at >= PING_EVERY:
                    link.ping(now, self._clock.wall())
            newest = max(link.opened_at for link in links)
            if len(links) > 1 and now - newest > CONTEST_MAX:
                self._settle(links, [link for link in links if link.heard_at > newest] or links)
        self.dial_due()

    def join(self, channel: ChannelId, secret: bytes) -> None:
        """We are in `channel` now: prove it on every link."""
        for links in list(self.links.values()):
            for link in links:
                joined = link.membership.join(channel, secret)
                link.send(Proof(joined.proof))
                if joined.shared:
                    self._greet(link, channel)

    def rename(self, nick: str) -> None:
        """Tell every peer our new nick."""
        self.nick = nick
        for links in self.links.values():
            for link in links:
                for channel in link.membership.shared:
                    link.send(Presence(channel, nick))

    def hang_up(self, reason: str) -> None:
        """Close every link, to dial anew: the computer slept, or its address changed."""
        for links in list(self.links.values()):
            for link in list(links):
                link.close(reason)
        self.addresses.hurry(self._clock.now())

    async def stop(self) -> None:
        """Say goodbye to everybody and stop listening."""
        await self._stop_listening()
        self.hang_up("leaving")
