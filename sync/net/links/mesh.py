"""Links to everybody: dial, prove channels, ping, redial, settle duplicates.

Rules:
1. A peer is who its handshake proves; an address is only where somebody answered.
2. A silent link is closed and dialled anew, never waited for.
3. Whoever is on the network can make identities: where places run out, `sync.structures.places`
says who gives way, and who has proved no channel may send next to nothing.
"""

import asyncio
import contextlib
from collections.abc import Collection, Container, Hashable, Sequence
from functools import partial
from typing import Final, TypeVar

from sync.calimero.governance.keys import EpochSecret
from sync.entries.identity import Identity
from sync.errors import RemoteError
from sync.machine import SECOND, ChannelId, Nanos, PeerId
from sync.net.clock import Clock
from sync.net.links.addresses import Addresses
from sync.net.links.channel_secrets import ChannelSecrets
from sync.net.links.dialler import Dialler
from sync.net.links.frames import (
    GOVERNANCE,
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
from sync.net.links.levels import NOTICES, Level, Levels
from sync.net.links.link import PROTOCOL, Link, superfluous
from sync.net.links.listener import BlockedError, Listener, Serve, Spawn
from sync.net.links.mesh_events import Events
from sync.net.links.outbound_room import OutboundRoom
from sync.net.links.received import Received
from sync.net.links.stream import DisconnectedError, SecureStream
from sync.structures.places import Holder, Standing, give_way

K = TypeVar("K", bound=Hashable)

DEFAULT_PORT: Final = 46021

LINKS_MAX: Final = 256
"""Peers with a link at once; a full mesh of 200 people fits."""

LINKS_PER_PEER_MAX: Final = 4
"""Links to one peer while duplicates are being settled."""

DUPLICATES_MAX: Final = 256
"""Links of all peers beyond one each: all of a full mesh may be dialled from both ends at once."""

ARRIVING_MAX: Final = 16
"""Peers that may come when all places are taken, until it is clear who they are."""

PROOF_WITHIN: Final[Nanos] = 3 * SECOND
"""Time in which a new link has to prove a channel, which takes milliseconds; then it is a
stranger's."""

OUTBOUND_MAX: Final = 32 * 1024 * 1024
"""Bytes queued on all links together; beyond it the links of those who read least go."""

FRAMES_AT_ONCE: Final = 64
"""Frames of one link handled before others have their turn: some 10 ms."""

PING_EVERY: Final[Nanos] = 5 * SECOND
DEAD_AFTER: Final[Nanos] = 14 * SECOND
"""Silence after which a link is dead: three pings, and on the screen within 15 s."""

TOO_MANY: Final = "too many links"

FEATURES: Final = (GOVERNANCE, STATE)
"""Features that we announce."""

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
        self.links: dict[PeerId, list[Link]] = {}
        self.addresses = addresses
        self.port: int | None = None
        self.nick = ""
        self.away = ""
        """Why we are away; empty while we are not."""
        self.protocols: tuple[str, ...] = ()
        """Protocols of sessions that we speak, beyond those that everybody does."""
        self.direct: dict[ChannelId, PeerId] = {}
        """Our channels of two, and with whom: nobody else is shown a proof of them."""
        self.blocked: set[PeerId] = set()
        """With whom no link is kept."""
        self.open: set[ChannelId] = set()
        """Our channels that everybody on the network can be in."""
        self.met: set[PeerId] = set()
        """Peers met in an earlier run, over a day ago."""
        self.verified: set[PeerId] = set()
        """Peers whose keys the person has compared."""
        self._identity = identity
        self._clock = clock
        self.secrets = secrets
        self._events = events
        self._governance = events.governance
        self._levels = Levels(identity.peer_id, secrets, events.governance.is_in)
        self._spawn = spawn
        self._room = OutboundRoom(is_guest=lambda peer: self.standing_of(peer) <= Standing.OPEN)
        self._listener = Listener(identity, self._admit, events.refused, spawn)
        self._dialler = Dialler(
            identity,
            clock,
            addresses,
            self.blocked,
            lambda peer: self.link_to(peer) is not None,
            self._taken,
            events.refused,
            spawn,
        )
        self._joined: dict[PeerId, frozenset[ChannelId]] = {}
        self._governs: dict[PeerId, frozenset[ChannelId]] = {}
        """Channels whose ops are exchanged with a peer that gets nothing else of them."""
        self.received = Received(lambda peer: self._standing(peer, self._named()))
        """Bytes that all streams hold, those of sessions too."""

    # --- Listening -----------------------------------------------------------------------------

    async def listen(self, hosts: Sequence[str], wanted: int | None) -> int:
        """Accept connections on all `hosts` at one port: the wanted one, or the next free one.

        Raises:
            LocalError: no port is free, or an address is gone.
        """
        self.port = await self._listener.listen(hosts, wanted or self.port or DEFAULT_PORT)
        self._dialler.port = self.port
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
        return partial(self._serve, self._link(stream, address))

    def _link(self, stream: SecureStream, address: tuple[str, int]) -> Link:
        secrets = {
            channel: self.secrets.known(channel)
            for channel in self.secrets
            if self.direct.get(channel, stream.peer) == stream.peer
        }
        hides = partial(self._levels.hides, stream.peer)
        return Link.over(stream, address, secrets, self._clock.now(), hides)

    async def _serve(self, link: Link) -> None:
        """Read a link until it ends."""
        if link.peer in self.blocked:
            link.close("not wanted")
            return
        if not self._may_have_another(link):
            link.close(TOO_MANY)
            return
        links = self.links.setdefault(link.peer, [])
        links.append(link)
        self.received.watch(link.stream)
        self._make_room()
        direct = [channel for channel, peer in self.direct.items() if peer == link.peer]
        for mac in link.membership.opening(direct):
            link.send(Proof(mac))
        for each in links:
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

    def _may_have_another(self, link: Link) -> bool:
        """Return whether one more link to its peer is allowed besides the present ones.

        Where all peers have too many, the one that gives way is closed.
        """
        present = self.links.get(link.peer)
        if not present:
            return True
        if len(present) >= LINKS_PER_PEER_MAX:
            return False
        second = [one for links in self.links.values() for one in links[1:]]
        duplicates = [one for one in second if not one.stream.closed]
        named = self._named()
        holders = [self._holder(at, one, named) for at, one in enumerate([*duplicates, link])]
        going = give_way(holders, DUPLICATES_MAX)
        for at in going:
            if at < len(duplicates):
                duplicates[at].close(TOO_MANY)
        return len(duplicates) not in going

    def _holder(self, key: K, link: Link, named: Container[PeerId | None]) -> Holder[K]:
        """Return a link as one that holds a place."""
        host, standing = link.stream.remote_address[0], self._standing(link.peer, named)
        return Holder(key, host, standing, link.opened_at)

    def _make_room(self) -> None:
        """Close the links of those who give way where there are too many peers."""
        if len(self.links) <= LINKS_MAX:
            return
        now = self._clock.now()
        named = self._named()
        arriving: list[Holder[PeerId]] = []
        settled: list[Holder[PeerId]] = []
        for peer in self.links:
            link = self.link_to(peer)
            if link is None:
                continue  # closing
            holder = self._holder(peer, link, named)
            is_new = holder.standing is Standing.STRANGER and now - link.opened_at < PROOF_WITHIN
            (arriving if is_new else settled).append(holder)
        going = give_way(settled, LINKS_MAX)
        free = LINKS_MAX - len(settled)
        for peer in (*going, *give_way(arriving, max(ARRIVING_MAX, free))):
            for link in list(self.links[peer]):
                link.close(TOO_MANY)

    def _named(self) -> set[PeerId | None]:
        """Return the peers that last answered at the addresses the person named."""
        return {one.peer for one in self.addresses.known.values() if one.named}

    def standing(self, peer: PeerId, channel: ChannelId) -> Standing:
        """Return how much speaks for serving `peer`, which has proved `channel`."""
        proved = Standing.OPEN if channel in self.open else Standing.MEMBER
        return max(proved, self._standing(peer, self._named()))

    def standing_of(self, peer: PeerId) -> Standing:
        """Return how much speaks for serving `peer`, by all that it has proved."""
        return self._standing(peer, self._named())

    def _standing(self, peer: PeerId, named: Container[PeerId | None]) -> Standing:
        """Return the standing of `peer` for keeping links; `named` are those the person dialled."""
        if peer in self.verified:
            return Standing.VERIFIED
        if peer in self.met or peer in named:
            return Standing.KNOWN
        shared = self._joined.get(peer)
        if shared is None:
            return Standing.OPEN if peer in self._governs else Standing.STRANGER
        return Standing.OPEN if shared <= self.open else Standing.MEMBER

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
                self._settle(self.links[link.peer])
            case Proof(mac):
                self._on_proof(link, mac)
            case Presence(channel):
                if channel in link.membership.proved and link.hears_presence(frame):
                    self._on_presence(link, frame)
            case Announce(payload):
                if link.shared:
                    self._events.takes_part(link.peer, min(link.shared), payload)
            case OpFrame() | HeartbeatFrame() | SecretFrame() | NoticeFrame():
                self._on_governance(link, frame)
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
        if not link.dialled and not link.has_shown:
            link.has_shown = True
            for mac in link.membership.after_opening():
                link.send(Proof(mac))
        if link.may_be_answered(link.heard_at):
            link.send(Pong(nonce, self._clock.wall(), self._events.follows(link.peer)))

    def _on_proof(self, link: Link, mac: bytes) -> None:
        shared = link.membership.receive(mac)
        if shared is None:
            self._events.knocked(link.peer)
            return
        if shared.answer is not None:
            link.send(Proof(shared.answer))
        if not self.secrets.is_governed(shared.channel):
            self._greet(link, shared.channel)
            return
        before = link.levels.get(shared.channel)
        self._weigh(link, shared.channel)
        out = before is Level.STUB and link.levels[shared.channel] is before
        newest = self.secrets.newest(shared.channel)
        if out and newest is not None and link.membership.is_proof(mac, newest.secret):
            # It has a new code, and may ask to be let in again: it has ops to ask for, once more.
            link.send(Presence(shared.channel, "", features=FEATURES))
            link.send(NoticeFrame(shared.channel, NOTICES[Level.STUB]))

    def _on_governance(
        self, link: Link, frame: OpFrame | HeartbeatFrame | SecretFrame | NoticeFrame
    ) -> None:
        """Pass on what is said of a governed channel, by what its sender's level allows."""
        channel = frame.channel
        level = link.levels.get(channel, Level.NONE)
        match frame:
            case OpFrame(_, content):
                if self._levels.takes_ops(level, link.membership, channel):
                    self._governance.op_came(link.peer, channel, content)
            case HeartbeatFrame(_, payload):
                if level >= Level.GOVERNANCE:
                    self._governance.heartbeat_came(link.peer, channel, payload)
            case SecretFrame(_, number, op, secret):
                if level is Level.FULL:
                    given = EpochSecret(number, op, secret)
                    self._governance.secret_came(link.peer, channel, given)
            case NoticeFrame(_, told):
                if self.secrets.is_governed(channel) and link.believes_notice(link.heard_at):
                    self._governance.told(link.peer, channel, told)

    def _on_presence(self, link: Link, frame: Presence) -> None:
        """Learn what a peer that has proved a channel is called, and speaks.

        In a governed channel it is kept: it may come before we know that they are in, or hold still
        when they are let in again.
        """
        channel = frame.channel
        if frame.features:
            self._on_features(link, frame.features)
        if channel in link.levels:
            if not (frame.nick or frame.protocols):
                return  # it does not know yet that one of us is in: the rest comes once it does
            link.presences[channel] = frame
        if channel in link.shared:
            link.presented(frame)
            self._tell_presence_of(link)
            if (frame.protocols or self.protocols) and channel not in link.announced:
                link.announced.add(channel)
                self._events.announced(link.peer, channel, frame.protocols)

    def _on_features(self, link: Link, features: Collection[str]) -> None:
        """Learn what a peer speaks beyond what everybody does."""
        if link.features != features:
            link.features = frozenset(features)
            self._refresh(link.peer)

    def _weigh(self, link: Link, channel: ChannelId) -> None:
        """Find the level of a governed channel on a link; where it is another one, act on that."""
        before = link.levels.get(channel, Level.NONE)
        level = self._levels.level(link.peer, link.membership, channel)
        if level is before:
            return
        link.levels[channel] = level
        if level is Level.FULL:
            link.membership.share(channel)
            self._greet(link, channel)
            if (before_now := link.presences.get(channel)) is not None:
                self._on_presence(link, before_now)
            return
        link.membership.unshare(channel)
        link.announced.discard(channel)
        if level is Level.GOVERNANCE:
            link.proved()
        if self._levels.takes_ops(level, link.membership, channel):
            link.send(Presence(channel, "", features=FEATURES))  # names are for members
        if level in NOTICES:
            link.send(NoticeFrame(channel, NOTICES[level]))
        self._refresh(link.peer)

    def weigh_all(self, channel: ChannelId) -> None:
        """Find the levels of a governed channel on all links anew: others may be in now."""
        for links in list(self.links.values()):
            for link in links:
                if channel in link.membership.proved:
                    self._weigh(link, channel)

    def level(self, peer: PeerId, channel: ChannelId) -> Level:
        """Return the highest level of a governed channel on the open links to a peer."""
        links = [link for link in self.links.get(peer, ()) if not link.stream.closed]
        return max([link.levels.get(channel, Level.NONE) for link in links], default=Level.NONE)

    def levels_of(self, channel: ChannelId) -> tuple[tuple[PeerId, str], ...]:
        """Return the levels of a governed channel by peer, of those who have one, in words."""
        found = [(peer, self.level(peer, channel)) for peer in sorted(self.links)]
        return tuple([(peer, one.name.lower()) for peer, one in found if one is not Level.NONE])

    def is_in(self, peer: PeerId, channel: ChannelId) -> bool:
        """Return whether a peer that has proved a channel may have everything of it."""
        if not self.secrets.is_governed(channel):
            return True
        return self._governance.is_in(peer, channel) is True

    def has_newest(self, peer: PeerId, channel: ChannelId) -> bool:
        """Return whether a peer has proved the newest epoch of a channel over a link."""
        links = self.links.get(peer, ())
        return any(self._levels.has_newest(link.membership, channel) for link in links)

    def _greet(self, link: Link, channel: ChannelId) -> None:
        """Both ends have proved `channel` on `link`.

        That is told also where another link to the peer carries it: what was sent on that one may
        be lost, if the network has changed under it.
        """
        link.proved()
        link.send(Presence(channel, self.nick, self.away, self.protocols, FEATURES))
        carried = channel in self._joined.get(link.peer, frozenset())
        self._refresh(link.peer)
        if not link.dialled and link.address[1]:
            # Whoever is in a private channel is believed; in an open one everybody can be.
            believed = self.standing_of(link.peer) > Standing.OPEN
            self.addresses.claim(link.peer, link.address, self._clock.now(), believed=believed)
        if carried:
            self._events.joined(link.peer, channel)
        self._make_room()

    def _tell_presence_of(self, link: Link) -> None:
        """Tell what the peer is called by now, unless that changes all the time."""
        if link.tells_presence(self._clock.now()):
            self._events.renamed(link.peer)

    def _drop(self, link: Link) -> None:
        """Close a link; where it was the last one of its peer, dial again soon."""
        link.stream.close()
        self.received.forget(link.stream)
        links = self.links[link.peer]
        links.remove(link)
        if not links:
            del self.links[link.peer]
            now = self._clock.now()
            self.addresses.lost(link.peer, now - link.opened_at, now)
        self._refresh(link.peer)

    def _refresh(self, peer: PeerId) -> None:
        """Tell which channels `peer` has come to share, and which no longer."""
        now = frozenset[ChannelId]().union(*(link.shared for link in self.links.get(peer, [])))
        before = self._joined.pop(peer, frozenset())
        if now:
            self._joined[peer] = now
        for channel in sorted(before - now):
            self._events.gone(peer, channel)
        for channel in sorted(now - before):
            self._events.joined(peer, channel)
        self._refresh_governing(peer, now)
        if before or now:
            self._events.renamed(peer)  # also where the link that told its nick is the one gone

    def _refresh_governing(self, peer: PeerId, shared: frozenset[ChannelId]) -> None:
        """Tell with whom ops alone are exchanged, and with whom no longer."""
        before = self._governs.pop(peer, frozenset())
        now = frozenset[ChannelId]().union(*(link.governs for link in self.links.get(peer, ())))
        now -= shared
        if now:
            self._governs[peer] = now
        for channel in sorted(before ^ now):
            self._governance.governs(peer, channel, here=channel in now)

    def _settle(self, links: Sequence[Link]) -> None:
        for link in superfluous(links, self._identity.peer_id, self._clock.now()):
            link.close("a second link to the same peer")

    # --- All links -----------------------------------------------------------------------------

    def link_to(self, peer: PeerId, channel: ChannelId | None = None) -> Link | None:
        """Return the newest open link to `peer`, one that carries `channel` if given."""
        usable = [
            link
            for link in self.links.get(peer, [])
            if not link.stream.closed and (channel is None or channel in link.shared)
        ]
        if len(usable) == 1:  # mostly
            return usable[0]
        return max(usable, key=lambda link: (bool(link.shared), link.opened_at), default=None)

    def shares(self, peer: PeerId) -> bool:
        """Return whether `peer` has proved a channel of ours, and is there."""
        return peer in self._joined

    def away_of(self, peer: PeerId) -> str:
        """Return why `peer` says it is away; empty if it does not."""
        told = [link for link in self.links.get(peer, []) if link.nick is not None]
        return max(told, key=lambda link: link.opened_at).away if told else ""

    def nick_of(self, peer: PeerId) -> str | None:
        """Return what `peer` calls itself; None until it has said so."""
        told = [link for link in self.links.get(peer, []) if link.nick is not None]
        return max(told, key=lambda link: link.opened_at).nick if told else None

    def shared_with(self, peer: PeerId) -> frozenset[ChannelId]:
        """Return our channels that `peer` has proved to know, and is there for."""
        return self._joined.get(peer, frozenset())

    def broadcast(self, channel: ChannelId, payload: bytes) -> None:
        """Queue an SDS message for every peer of `channel`; `flush` sends it."""
        frame = encode(SdsFrame(channel, payload))
        for peer in self.links:
            link = self.link_to(peer, channel)
            if link is not None:
                link.queue(frame)

    def send_op(self, channel: ChannelId, content: bytes) -> None:
        """Queue a signed op for everybody whom ops of `channel` are told; `flush` sends it."""
        self._tell_governing(channel, list(self.links), OpFrame(channel, content))

    def send_heartbeat(self, channel: ChannelId, peers: Sequence[PeerId], payload: bytes) -> None:
        """Queue a heartbeat for peers; `flush` sends it."""
        self._tell_governing(channel, peers, HeartbeatFrame(channel, payload))

    def _tell_governing(
        self, channel: ChannelId, peers: Sequence[PeerId], frame: OpFrame | HeartbeatFrame
    ) -> None:
        encoded = encode(frame)
        for peer in peers:
            links = [link for link in self.links.get(peer, ()) if channel in link.governs]
            usable = [link for link in links if not link.stream.closed]
            if usable:
                max(usable, key=lambda link: link.opened_at).queue(encoded)

    def send_root(self, channel: ChannelId, peers: Sequence[PeerId], root: bytes) -> None:
        """Queue the root of our state for those of `peers` who understand it."""
        encoded = encode(RootFrame(channel, root))
        for peer in peers:
            link = self.link_to(peer, channel)
            if link is not None and STATE in link.features:
                link.queue(encoded)

    def send_state(self, channel: ChannelId, contents: tuple[bytes, ...]) -> None:
        """Queue state entries of ours for everybody who understands them; `flush` sends it."""
        encoded = encode(StateFrame(channel, contents))
        for peer in self.links:
            link = self.link_to(peer, channel)
            if link is not None and STATE in link.features:
                link.queue(encoded)

    def _hand_over(self, link: Link, now: Nanos) -> None:
        """Hand the newest secret to a member who has had the time to prove it and has not."""
        for channel, level in link.levels.items():
            epoch = self.secrets.newest(channel)
            if level is not Level.FULL or epoch is None or not epoch.number:
                continue
            if GOVERNANCE in link.features and link.owes_secret(channel, epoch, now):
                link.send(SecretFrame(channel, *epoch))

    def announce(self, peer: PeerId, payload: bytes) -> None:
        """Tell a peer which author logs it can have of us."""
        link = self.link_to(peer)
        if link is not None and link.shared:
            link.send(Announce(payload))

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
                    await link.stream.flushed()

    async def room(self) -> None:
        """Return when every link takes what is sent, but for peers who read slowly."""
        links = [link for links in self.links.values() for link in links]
        await self._room.wait([link.stream for link in links])

    def tick(self) -> None:
        """Ping, close what is silent, dial what is due; a few times a second."""
        now = self._clock.now()
        for links in list(self.links.values()):
            for link in list(links):
                if not link.is_read:
                    link.heard_at = now  # the silence is ours
                if now - link.heard_at > DEAD_AFTER:
                    link.stream.abort()
                elif now - link.pinged_at >= PING_EVERY:
                    link.ping(now, self._clock.wall())
                for presence in link.presences_put_off():
                    self._on_presence(link, presence)
                self._tell_presence_of(link)
                if link.levels:
                    self._hand_over(link, now)
            self._settle(links)
        self._make_room()
        self._cut_those_who_do_not_read()
        self.dial_due()

    def _cut_those_who_do_not_read(self) -> None:
        """Cut links until no more than `OUTBOUND_MAX` is queued, the fullest first."""
        links = [link for links in self.links.values() for link in links]
        queued = sum(link.stream.outbound_bytes for link in links)
        for link in sorted(links, key=lambda one: one.stream.outbound_bytes, reverse=True):
            if queued <= OUTBOUND_MAX:
                return
            queued -= link.stream.outbound_bytes
            link.stream.abort("does not take what is sent")

    def join(self, channel: ChannelId) -> None:
        """Prove `channel` on every link, one of two only to the other one.

        We are in it now, or know of another epoch of it.
        """
        epochs = self.secrets.known(channel)
        for peer, links in list(self.links.items()):
            if self.direct.get(channel, peer) != peer:
                continue
            for link in links:
                joined = link.membership.join(channel, epochs)
                for mac in joined.proofs:
                    link.send(Proof(mac))
                if self.secrets.is_governed(channel):
                    self._weigh(link, channel)
                elif joined.shared:
                    self._greet(link, channel)

    def leave(self, channel: ChannelId) -> None:
        """We are no longer in `channel`.

        No frame says so: links that carried it are closed, and dialled anew without it.
        """
        for peer, links in list(self.links.items()):
            carried = [link for link in links if channel in link.shared]
            for link in links:
                link.membership.leave(channel)
                link.levels.pop(channel, None)
            self._refresh(peer)
            for link in carried:
                link.close("left a channel")

    def block(self, peer: PeerId) -> None:
        """Keep no link with `peer` from now on."""
        self.blocked.add(peer)
        for link in list(self.links.get(peer, [])):
            link.close("not wanted")

    def unblock(self, peer: PeerId) -> None:
        """Let `peer` be linked with again, soon."""
        self.blocked.discard(peer)
        now = self._clock.now()
        for candidate in self.addresses.known.values():
            if peer in {candidate.peer, candidate.claimed_by}:
                candidate.next_at = now

    def rename(self, nick: str) -> None:
        """Tell every peer our new nick."""
        self.tell_presence(nick, self.away)

    def tell_presence(self, nick: str, away: str) -> None:
        """Tell every peer what we are called, and why we are away."""
        self.nick, self.away = nick, away
        for links in self.links.values():
            for link in links:
                for channel in link.shared:
                    link.send(Presence(channel, nick, away, self.protocols, FEATURES))

    def hang_up(self, reason: str) -> None:
        """Close every link, to dial anew: the computer slept, or its address changed."""
        for links in list(self.links.values()):
            for link in list(links):
                link.close(reason)
        self.addresses.hurry(self._clock.now())

    def abort(self) -> None:
        """Cut what others opened and is still open, after `stop`."""
        self._listener.abort()

    async def stop(self) -> None:
        """Say goodbye to everybody and stop listening."""
        await self._listener.stop()
        links = [link for links in self.links.values() for link in links]
        self.hang_up("leaving")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PARTING):
                for link in links:
                    await link.stream.wait_closed()
