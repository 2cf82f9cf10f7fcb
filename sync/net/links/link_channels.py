"""Channels on links: who has proved which, and what follows from it.

A proof opens a channel on a link. In a governed one the link then has a level (`levels`), found
anew whenever somebody comes in or goes; presences tell what peers are called and speak.
"""

from collections.abc import Collection
from functools import partial
from typing import Final

from sync.calimero.governance.keys import EpochSecret
from sync.machine import ChannelId, Nanos, PeerId
from sync.net.clock import Clock
from sync.net.links.addresses import Addresses
from sync.net.links.channel_proofs import PROOFS_MAX
from sync.net.links.channel_secrets import ChannelSecrets
from sync.net.links.frames import (
    GOVERNANCE,
    STATE,
    HeartbeatFrame,
    NoticeFrame,
    OpFrame,
    Presence,
    Proof,
    SecretFrame,
)
from sync.net.links.levels import NOTICES, Level, Levels
from sync.net.links.link import Link
from sync.net.links.linked_peers import LinkedPeers
from sync.net.links.mesh_events import Events
from sync.net.links.stream import SecureStream
from sync.structures.places import Standing

FEATURES: Final = (GOVERNANCE, STATE)
"""Features that we announce."""


class LinkChannels:
    """See the module docstring. `secrets` is the node's live table of channels."""

    def __init__(
        self,
        peers: LinkedPeers,
        clock: Clock,
        secrets: ChannelSecrets,
        addresses: Addresses,
        events: Events,
    ) -> None:
        self.nick = ""
        self.away = ""
        """Why we are away; empty while we are not."""
        self.protocols: tuple[str, ...] = ()
        """Protocols of sessions that we speak, beyond those that everybody does."""
        self.direct: dict[ChannelId, PeerId] = {}
        """Our channels of two, and with whom: nobody else is shown a proof of them."""
        self._secrets = secrets
        self._peers = peers
        self._clock = clock
        self._addresses = addresses
        self._events = events
        self._governance = events.governance
        self._levels = Levels(peers.me, secrets, events.governance.is_in)

    # --- A link begins -------------------------------------------------------------------------

    def link_over(self, stream: SecureStream, address: tuple[str, int]) -> Link:
        """Return the link that a stream becomes; its peer accepts connections at `address`."""
        secrets = {
            channel: self._secrets.known(channel)
            for channel in self._secrets
            if self.direct.get(channel, stream.peer) == stream.peer
        }
        hides = partial(self._levels.hides, stream.peer)
        return Link.over(stream, address, secrets, self._clock.now(), hides)

    def open(self, link: Link) -> None:
        """Send the proofs that a link begins with."""
        direct = [channel for channel, peer in self.direct.items() if peer == link.peer]
        for mac in link.membership.opening(direct):
            link.send(Proof(mac))

    def show(self, link: Link) -> None:
        """Prove governed channels to who dialled us, once, after its own proofs."""
        if not link.dialled and not link.has_shown:
            link.has_shown = True
            for mac in link.membership.after_opening():
                link.send(Proof(mac))

    # --- What came -----------------------------------------------------------------------------

    def on_proof(self, link: Link, mac: bytes) -> None:
        """Take in a proof, and act on the channel that it is of."""
        shared = link.membership.receive(mac)
        if shared is None:
            self._events.knocked(link.peer)
            return
        if shared.answer is not None:
            link.send(Proof(shared.answer))
        if not self._secrets.is_governed(shared.channel):
            self._greet(link, shared.channel)
            return
        before = link.levels.get(shared.channel)
        self._weigh(link, shared.channel)
        out = before is Level.STUB and link.levels[shared.channel] is before
        newest = self._secrets.newest(shared.channel)
        if out and newest is not None and link.membership.is_proof(mac, newest.secret):
            # It has a new code, and may ask to be let in again: it has ops to ask for, once more.
            link.send(Presence(shared.channel, "", features=FEATURES))
            link.send(NoticeFrame(shared.channel, NOTICES[Level.STUB]))

    def on_presence(self, link: Link, frame: Presence) -> None:
        """Learn from a presence at once, or soon where many come; of proved channels alone."""
        if frame.channel in link.membership.proved and link.hears_presence(frame):
            self._learn(link, frame)

    def _learn(self, link: Link, frame: Presence) -> None:
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
            self._peers.refresh(link.peer)

    def on_governance(
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
                elif level is Level.STUB and link.reminds(link.heard_at):
                    self._remind(link, channel, payload)
            case SecretFrame(_, number, op, secret):
                if level is Level.FULL:
                    given = EpochSecret(number, op, secret)
                    self._governance.secret_came(link.peer, channel, given)
            case NoticeFrame(_, told):
                if self._secrets.is_governed(channel) and link.believes_notice(link.heard_at):
                    self._governance.told(link.peer, channel, told)

    def _remind(self, link: Link, channel: ChannelId, payload: bytes) -> None:
        """Tell a peer once more that it is out, if its heads do not show that it has learnt it.

        They may as well show that it has come in again, or asks to, if it proves the newest epoch.
        """
        if self._governance.is_unaware(link.peer, channel, payload):
            link.send(NoticeFrame(channel, NOTICES[Level.STUB]))
        if self._levels.has_newest(link.membership, channel):
            self._governance.heartbeat_came(link.peer, channel, payload)

    def look_after(self, link: Link) -> None:
        """Do what was put off; a few times a second."""
        for presence in link.presences_put_off():
            self._learn(link, presence)
        self._tell_presence_of(link)
        if link.levels:
            self._hand_over(link, self._clock.now())

    # --- Levels --------------------------------------------------------------------------------

    def level(self, peer: PeerId, channel: ChannelId) -> Level:
        """Return the highest level of a governed channel on the open links to a peer."""
        links = [link for link in self._peers.links.get(peer, ()) if not link.stream.closed]
        return max([link.levels.get(channel, Level.NONE) for link in links], default=Level.NONE)

    def levels_of(self, channel: ChannelId) -> tuple[tuple[PeerId, str], ...]:
        """Return the levels of a governed channel by peer, of those who have one, in words."""
        found = [(peer, self.level(peer, channel)) for peer in sorted(self._peers.links)]
        return tuple([(peer, one.name.lower()) for peer, one in found if one is not Level.NONE])

    def is_in(self, peer: PeerId, channel: ChannelId) -> bool:
        """Return whether a peer that has proved a channel may have everything of it."""
        if not self._secrets.is_governed(channel):
            return True
        return self._governance.is_in(peer, channel) is True

    def has_newest(self, peer: PeerId, channel: ChannelId) -> bool:
        """Return whether a peer has proved the newest epoch of a channel over a link."""
        links = self._peers.links.get(peer, ())
        return any(self._levels.has_newest(link.membership, channel) for link in links)

    def weigh_all(self, channel: ChannelId) -> None:
        """Find the levels of a governed channel on all links anew: others may be in now."""
        for link in self._peers.all():
            if channel in link.membership.proved:
                self._weigh(link, channel)

    def _weigh(self, link: Link, channel: ChannelId) -> None:
        """Find the level of a governed channel on a link; where it is another one, act on that."""
        before = link.levels.get(channel, Level.NONE)
        level = self._levels.level(link.peer, link.membership, channel)
        if level is before:
            return
        link.levels[channel] = level
        if level is Level.FULL:
            if before is Level.STUB:
                for mac in link.membership.held_back(channel):
                    link.send(Proof(mac))
            link.membership.share(channel)
            self._greet(link, channel)
            if (before_now := link.presences.get(channel)) is not None:
                self._learn(link, before_now)
            return
        link.membership.unshare(channel)
        link.announced.discard(channel)
        if level is Level.GOVERNANCE:
            link.proved()
        if self._levels.takes_ops(level, link.membership, channel):
            link.send(Presence(channel, "", features=FEATURES))  # names are for members
        if level in NOTICES:
            link.send(NoticeFrame(channel, NOTICES[level]))
        self._peers.refresh(link.peer)

    def _greet(self, link: Link, channel: ChannelId) -> None:
        """Both ends have proved `channel` on `link`.

        That is told also where another link to the peer carries it: what was sent on that one may
        be lost, if the network has changed under it.
        """
        link.proved()
        link.send(Presence(channel, self.nick, self.away, self.protocols, FEATURES))
        carried = channel in self._peers.shared_with(link.peer)
        self._peers.refresh(link.peer)
        if not link.dialled and link.address[1]:
            # Whoever is in a private channel is believed; in an open one everybody can be.
            believed = self._peers.standing_of(link.peer) > Standing.OPEN
            self._addresses.claim(link.peer, link.address, self._clock.now(), believed=believed)
        if carried:
            self._events.joined(link.peer, channel)
        self._peers.make_room()

    def _tell_presence_of(self, link: Link) -> None:
        """Tell what the peer is called by now, unless that changes all the time."""
        if link.tells_presence(self._clock.now()):
            self._events.renamed(link.peer)

    def _hand_over(self, link: Link, now: Nanos) -> None:
        """Hand the newest secret to a member who has had the time to prove it and has not."""
        for channel, level in link.levels.items():
            epoch = self._secrets.newest(channel)
            if level is not Level.FULL or epoch is None or not epoch.number:
                continue
            if GOVERNANCE in link.features and link.owes_secret(channel, epoch, now):
                link.send(SecretFrame(channel, *epoch))

    # --- What we are in, and are called --------------------------------------------------------

    def join(self, channel: ChannelId) -> None:
        """Prove `channel` on every link, one of two only to the other one.

        We are in it now, or know of another epoch of it.
        """
        epochs = self._secrets.known(channel)
        for peer, links in list(self._peers.links.items()):
            if self.direct.get(channel, peer) != peer:
                continue
            for link in links:
                joined = link.membership.join(channel, epochs)
                for mac in joined.proofs:
                    link.send(Proof(mac))
                if link.membership.is_spent and len([*self._secrets]) < PROOFS_MAX:
                    link.close("a new link has room for more proofs")
                    continue
                if self._secrets.is_governed(channel):
                    self._weigh(link, channel)
                elif joined.shared:
                    self._greet(link, channel)

    def leave(self, channel: ChannelId) -> None:
        """We are no longer in `channel`.

        No frame says so: links that carried it are closed, and dialled anew without it.
        """
        for peer, links in list(self._peers.links.items()):
            # Of a governed one a member may say first that we are out: then nobody shares it.
            carried = [link for link in links if channel in link.membership.proved]
            for link in links:
                link.membership.leave(channel)
                link.levels.pop(channel, None)
            self._peers.refresh(peer)
            for link in carried:
                link.close("left a channel")

    def rename(self, nick: str) -> None:
        """Tell every peer our new nick."""
        self.tell_presence(nick, self.away)

    def tell_presence(self, nick: str, away: str) -> None:
        """Tell every peer what we are called, and why we are away."""
        self.nick, self.away = nick, away
        for link in self._peers.all():
            for channel in link.shared:
                link.send(Presence(channel, nick, away, self.protocols, FEATURES))
