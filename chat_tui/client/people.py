"""People in the live chat: facts and decisions, kept on the disk, carried out by the node."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import Struct

from chat_tui.client.memberships import Memberships
from chat_tui.client.trust_book import TrustBook
from chat_tui.text.safe_text import clean_nick
from storage.profile.members import ONCE_MAX, Members
from storage.profile.trust import TrustStore
from storage.sqlite.database import Database
from sync.entries.identity import Identity, short_fingerprint
from sync.errors import ChatError, LocalError, RemoteError, StorageError
from sync.machine import HOUR, ChannelId, Nanos, PeerId
from sync.net.clock import Clock
from sync.net.direct import direct_channel
from sync.view.view import (
    Event,
    KeyWarning,
    MessageShown,
    PeerShown,
    PeerState,
    PreviewShown,
    TrustShown,
    TypingShown,
)

if TYPE_CHECKING:
    from sync.net.node import Node

UNSAVED_MAX: Final = 1024
"""Meetings of people that are not on the disk yet; beyond it, the next meeting saves them."""

FORGET_EVERY: Final = 128
"""Meetings after which the disk forgets strangers beyond its limits."""

SEEN_EVERY: Final = 300.0
"""Seconds between two writes of who is still here; each is a row of theirs in one commit."""

STANDING_AFTER: Final[Nanos] = 24 * HOUR
"""Time since the first meeting after which somebody is more than a key made up today."""

DIRECT_MAX: Final = 64
"""Channels of two with people who are new, beyond which nobody new may open another one: a row on
the disk each. Who makes up more keys than that is told nothing and shown nowhere."""

DIRECT_OF_HOST_MAX: Final = 8
"""The same of people of one address, so that somebody else can still write to us."""


class _Met(Struct, frozen=True):
    """A peer's link came up."""

    peer: PeerId
    nick: str


class _Wished(Struct, frozen=True):
    """A peer wants a channel of two."""

    peer: PeerId
    noise_key: bytes


class _Seen(Struct, frozen=True):
    """Peers were here until then: their last link has ended, or they still are."""

    until: Mapping[PeerId, Nanos]


_Unsaved: TypeAlias = _Met | _Wished | _Seen | KeyWarning


class People:
    """See the module docstring.

    Args:
        identity: whose chat it is.
        clock: tells when somebody is seen.
        database: where it is kept.
        memberships: the channels.
        node: returns the node; nothing needs it before the network is there, or somebody acts.
        tell: passes an event on to the listeners.
        called: returns the name that somebody goes by.
    """

    def __init__(  # noqa: PLR0913  # it stands between the disk, the node and the screen
        self,
        identity: Identity,
        clock: Clock,
        database: Database,
        memberships: Memberships,
        *,
        node: "Callable[[], Node]",
        tell: Callable[[Event], None],
        called: Callable[[PeerId], str],
    ) -> None:
        self.book = TrustBook(identity.peer_id)
        self._identity, self._clock, self._find_node = identity, clock, node
        self._members = Members(database)
        self._store = TrustStore(database)
        self._memberships = memberships
        self._tell = tell
        self._called = called
        self._since_forgotten = 0
        self._unsaved: asyncio.Queue[_Unsaved] = asyncio.Queue(UNSAVED_MAX)

    async def load(self) -> None:
        """Know everybody whom the disk knows, but for strangers beyond the limits."""
        known = await self._members.known_peers()
        if len(known) > ONCE_MAX:
            with suppress(StorageError):  # a disk that takes no changes is read all the same
                gone = {*await self._members.forget_strangers(set())}
                known = [one for one in known if one.peer not in gone]
        self.book.load(known, await self._store.nicks(), await self._store.warnings())

    def hear(self, node: "Node") -> None:
        """Hear of it when somebody opens a channel of two with us; those blocked are not let in."""
        node.knocks.on_direct = self._wish
        node.mesh.blocked.update(self.book.blocked())
        node.mesh.peers.verified.update(self.book.verified())
        node.mesh.peers.met.update(self.book.met_before(self._clock.wall(), STANDING_AFTER))

    def _wish(self, peer: PeerId, noise_key: bytes) -> None:
        self._put(_Wished(peer, noise_key))

    @property
    def _node(self) -> "Node":
        return self._find_node()

    # -- what happens --------------------------------------------------------------------------

    def note_event(self, event: Event) -> bool:
        """Take note of an event; returns whether anybody should be shown it."""
        match event:
            case MessageShown(line) | PreviewShown(line):
                if self.book.is_blocked(line.author):
                    return False
                now = self._clock.wall()
                nick = clean_nick(line.nick)
                self._warn(self.book.read(line.author, nick, now, signed_ns=line.created_ns))
            case TypingShown(_, peer):
                return not self.book.is_blocked(peer)
            case PeerShown(peer, nick, PeerState.UP):
                self._meet(peer, clean_nick(nick))
            case PeerShown(peer):
                self.book.part(peer, self._clock.wall())
                self._put(_Seen({peer: self._clock.wall()}))
            case _:
                pass
        return True

    def _meet(self, peer: PeerId, nick: str) -> None:
        known = peer in self.book.people
        raised = self.book.meet(
            peer,
            nick,
            self._clock.wall(),
            address=self._node.dialable(peer),
            noise_key=self._node.noise_key(peer),
            is_here=self._node.mesh.peers.shares,
        )
        if not self._put(_Met(peer, nick)) and not known:
            self.book.forget([peer])  # else more would be in memory than on the disk
        self._warn(raised)

    def _warn(self, raised: Sequence[KeyWarning]) -> None:
        for warning in raised:
            self._put(warning)
            self._tell(TrustShown(warning.peer, warning.nick, self.book.trust(warning.peer)))

    def _put(self, item: _Unsaved) -> bool:
        """Have something kept; returns whether there was room for it."""
        try:
            self._unsaved.put_nowait(item)
        except asyncio.QueueFull:
            return False
        return True

    async def save_forever(self) -> None:
        """Keep what is seen, and take up the channels of two that others open."""
        while True:
            item = await self._unsaved.get()
            try:
                await self._save(item)
            except ChatError as error:  # the disk is full: the commits say so loudly enough
                self._node.refused("people", str(error))

    async def _save(self, item: _Unsaved) -> None:
        match item:
            case _Met(peer, nick):
                person = self.book.people.get(peer)
                if person is None:
                    return  # forgotten since
                now = self._clock.wall()
                mesh = self._node.mesh
                address = None if person.host is None else (person.host, person.port or 0)
                await self._members.remember_peer(
                    peer,
                    nick=nick,
                    address=address,
                    now=now,
                    noise_key=person.noise_key,
                    private=bool(mesh.peers.shared_with(peer) - mesh.peers.open),
                )
                await self._store.note_nick(peer, nick, now)
                await self._forget_strangers()
            case _Wished(peer, noise_key):
                await self._welcome(peer, noise_key)
            case _Seen(until):
                await self._members.note_seen(until)
            case KeyWarning():
                await self._store.raise_warning(item)

    async def note_seen_forever(self) -> None:
        """Keep now and then who is still here: where the power goes, nobody parts."""
        while True:
            await asyncio.sleep(SEEN_EVERY)
            linked = self._node.mesh.peers
            here = [peer for peer in linked.links if linked.shares(peer)]
            if here:
                self._put(_Seen(dict.fromkeys(here, self._clock.wall())))

    async def save_parting(self) -> None:
        """Keep until when those were seen who were here at the end, in one write."""
        parted: dict[PeerId, Nanos] = {}
        while not self._unsaved.empty():
            item = self._unsaved.get_nowait()
            if isinstance(item, _Seen):
                parted |= item.until
        if parted:
            with suppress(StorageError):  # a disk that takes no changes is left as it is
                await self._members.note_seen(parted)

    async def _forget_strangers(self) -> None:
        """Now and then forget those met longest ago whom nothing else speaks for."""
        self._since_forgotten += 1
        if self._since_forgotten >= FORGET_EVERY:
            self._since_forgotten = 0
            here = set(self._node.mesh.peers.links)
            self.book.forget(await self._members.forget_strangers(here))

    async def _welcome(self, peer: PeerId, noise_key: bytes) -> None:
        """Take up the channel of two that `peer` opened, unless we left it or have too many."""
        if self.book.is_blocked(peer) or not self._has_room_for(peer):
            return
        direct = direct_channel(self._identity, peer, noise_key)
        if self._memberships.has_left(direct.channel) or direct.channel in self._memberships:
            return
        person = self.book.people.get(peer)
        nick = clean_nick(self._node.mesh.peers.nick_of(peer) or (person.nick if person else ""))
        await self._memberships.add_direct(direct, peer, nick)

    def has_standing(self, peer: PeerId) -> bool:
        """Return whether `peer` is verified, or was met in an earlier run over a day ago."""
        return peer in self._node.mesh.peers.verified or peer in self._node.mesh.peers.met

    def _has_room_for(self, peer: PeerId) -> bool:
        """Return whether `peer` may open a channel of two: who is known, and a few who are new."""
        if self.has_standing(peer):
            return True
        others = [one.direct for one in self._memberships if one.direct is not None]
        hosts = [self._host_of(one) for one in others if not self.has_standing(one)]
        return len(hosts) < DIRECT_MAX and hosts.count(self._host_of(peer)) < DIRECT_OF_HOST_MAX

    def _host_of(self, peer: PeerId) -> str | None:
        person = self.book.people.get(peer)
        return None if person is None else person.host

    # -- what the person does ------------------------------------------------------------------

    async def open_direct(self, peer: PeerId) -> ChannelId:
        """See `chat_tui.client.chat.People`."""
        if peer == self._identity.peer_id:
            raise LocalError("That is your own key; a channel for two needs another person.")
        for membership in self._memberships:
            if membership.direct == peer:
                return membership.channel
        person = self.book.people.get(peer)
        noise_key = self._node.noise_key(peer) or (person.noise_key if person else None)
        if noise_key is None:
            raise LocalError(
                "You have never been connected to this person, so there "
                "is no shared secret yet; try again when they are here."
            )
        if self.book.is_blocked(peer):
            raise LocalError("You have blocked that person: use /unblock first.")
        try:
            direct = direct_channel(self._identity, peer, noise_key)
        except RemoteError as error:
            raise LocalError(f"Cannot open a channel for two: {error}.") from error
        nick = person.nick if person else clean_nick(self._node.mesh.peers.nick_of(peer) or "")
        await self._memberships.add_direct(direct, peer, nick)
        return direct.channel

    def refuse_writing(self, channel: ChannelId) -> None:
        """Stop what must not be sent: to a name whose key has changed, or to who is blocked.

        Raises:
            LocalError: that is so; says what to do.
        """
        direct = self._memberships[channel].direct if channel in self._memberships else None
        if direct is None:
            return
        if self.book.is_blocked(direct):
            raise LocalError("You have blocked this person: use /unblock before you write here.")
        warning = self.book.warning_about(direct)
        if warning is not None:
            raise LocalError(f"Not sent. {warning_sentence(warning)}")

    def may_write(self, channel: ChannelId) -> bool:
        """Return whether writing is allowed, so that `refuse_writing` raises nothing."""
        direct = self._memberships[channel].direct if channel in self._memberships else None
        return direct is None or (
            not self.book.is_blocked(direct) and self.book.warning_about(direct) is None
        )

    async def verify(self, peer: PeerId) -> None:
        """See `chat_tui.client.chat.People`."""
        nick = self._called(peer)
        now = self._clock.wall()
        await self._store.set_verified(peer, nick, now)
        await self._store.answer_warnings(peer, now)
        self.book.verify(peer, nick, now)
        self._node.mesh.peers.verified.add(peer)
        self._node.clocks.heard(peer)
        self._say(peer)

    async def trust(self, peer: PeerId) -> None:
        """See `chat_tui.client.chat.People`."""
        if not any(warning.peer == peer for warning in self.book.warnings):
            raise LocalError("Their key has not changed; there is nothing to accept.")
        await self._store.answer_warnings(peer, self._clock.wall())
        self.book.answer(peer)
        self._say(peer)

    async def block(self, peer: PeerId) -> None:
        """See `chat_tui.client.chat.People`."""
        if peer == self._identity.peer_id:
            raise LocalError("That is you.")
        nick = self._called(peer)
        now = self._clock.wall()
        await self._store.set_blocked(peer, nick, now, now)
        await self._store.answer_warnings(peer, now)
        self.book.block(peer, nick, now)
        self._node.mesh.block(peer)
        self._say(peer, hidden=True)

    async def unblock(self, peer: PeerId) -> None:
        """See `chat_tui.client.chat.People`."""
        if not self.book.is_blocked(peer):
            raise LocalError("That person is not blocked.")
        nick = self.book.people[peer].nick
        await self._store.set_blocked(peer, nick, None, self._clock.wall())
        self.book.unblock(peer)
        self._node.mesh.unblock(peer)
        self._say(peer, hidden=True)

    async def forget(self, peer: PeerId) -> None:
        """See `chat_tui.client.chat.People`."""
        if peer == self._identity.peer_id:
            raise LocalError("That is you.")
        if self._node.mesh.peers.shares(peer):
            raise LocalError(f"{self._called(peer)} is here; only who is gone can be forgotten.")
        if self.book.is_blocked(peer):
            raise LocalError(
                "You have blocked that person; forgotten they could come again. /unblock first."
            )
        if self.book.warning_about(peer) is not None:
            raise LocalError("A warning about that key stands: /trust or /block answers it first.")
        await self._members.forget_peer(peer)
        self.book.forget_name(peer)
        self._node.forget(peer)

    def _say(self, peer: PeerId, *, hidden: bool = False) -> None:
        nick = self.book.people[peer].nick if peer in self.book.people else ""
        self._tell(TrustShown(peer, nick, self.book.trust(peer), hidden))


def warning_sentence(warning: KeyWarning) -> str:
    """Return what changed, what it may mean, and how to answer."""
    nick = clean_nick(warning.nick)
    known = (
        "a key you verified"
        if warning.verified
        else "a key you have known for days, at the same address"
    )
    return (
        f"CHANGED KEY: {nick} was known by {known} ({short_fingerprint(warning.known)}) and now "
        f"uses {short_fingerprint(warning.peer)}. It may be a new computer, or an impostor. "
        f"Compare words with /verify {short_fingerprint(warning.peer)}, or accept with /trust, "
        "or refuse with /block."
    )
