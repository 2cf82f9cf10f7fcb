"""Links by peer: what each peer has proved, and who gives way where places run out.

Whoever is on the network can make identities: `sync.structures.places` says who goes.
"""

from collections.abc import Container, Hashable
from typing import Final, NamedTuple, TypeVar

from sync.machine import MINUTE, SECOND, ChannelId, Nanos, PeerId
from sync.net.clock import Clock
from sync.net.links.addresses import Addresses
from sync.net.links.link import Link, superfluous
from sync.net.links.mesh_events import Events
from sync.structures.link_trips import step
from sync.structures.places import Holder, Standing, give_way

K = TypeVar("K", bound=Hashable)

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

REMEMBERED: Final[Nanos] = 10 * MINUTE
"""Time for which the way to a peer counts as slow as it was before its link was lost."""

TOO_MANY: Final = "too many links"


class Way(NamedTuple):
    """The way to a peer whose slow link is gone."""

    host: str
    trips: tuple[Nanos, ...]
    """Its last times there and back."""
    until: Nanos
    """Time at which that is forgotten."""

    @property
    def trip(self) -> Nanos:
        """Step of the link, see `sync.structures.link_trips.step`."""
        return step(self.trips) or 0


class LinkedPeers:
    """See the module docstring. `me` is our own peer id; `addresses` are told when links end."""

    def __init__(self, me: PeerId, clock: Clock, addresses: Addresses, events: Events) -> None:
        self.links: dict[PeerId, list[Link]] = {}
        self.open: set[ChannelId] = set()
        """Our channels that everybody on the network can be in."""
        self.met: set[PeerId] = set()
        """Peers met in an earlier run, over a day ago."""
        self.verified: set[PeerId] = set()
        """Peers whose keys the person has compared."""
        self.me = me
        self._clock = clock
        self._addresses = addresses
        self._events = events
        self._joined: dict[PeerId, frozenset[ChannelId]] = {}
        self._governs: dict[PeerId, frozenset[ChannelId]] = {}
        """Channels whose ops are exchanged with a peer that gets nothing else of them."""
        self._ways: dict[PeerId, Way] = {}
        """Slow links that were lost, the last one last."""

    # --- Coming and going ----------------------------------------------------------------------

    def add(self, link: Link) -> bool:
        """Take in a link; return False, and do not, where its peer may have no further one."""
        if not self._may_have_another(link):
            return False
        self.links.setdefault(link.peer, []).append(link)
        if (way := self._way_to(link.peer)) is not None:
            link.remember(way.trips)
        return True

    def remove(self, link: Link) -> None:
        """Take out a link; where it was the last one of its peer, that is dialled again soon."""
        links = self.links[link.peer]
        links.remove(link)
        self._remember(link)
        if not links:
            del self.links[link.peer]
            now = self._clock.now()
            self._addresses.lost(link.peer, now - link.opened_at, now)
        self.refresh(link.peer)

    def settle(self, peer: PeerId) -> None:
        """Close the links to a peer that are known by now to be one too many."""
        for link in superfluous(self.links.get(peer, ()), self.me, self._clock.now()):
            link.close("a second link to the same peer")

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

    def make_room(self) -> None:
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

    def refresh(self, peer: PeerId) -> None:
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
            self._events.governance.governs(peer, channel, here=channel in now)

    # --- Questions -----------------------------------------------------------------------------

    def all(self) -> list[Link]:
        """Return all links."""
        return [link for links in self.links.values() for link in links]

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

    def trips_in(self, channel: ChannelId) -> dict[PeerId, Nanos | None]:
        """Return how slow the link of each peer of a channel is; see `Link.trip`."""
        links = {peer: self.link_to(peer, channel) for peer in self.links}
        return {peer: link.trip for peer, link in links.items() if link is not None}

    def trip_to(self, peer: PeerId | None) -> Nanos:
        """Return how slow the way to a peer was before its link was lost; 0 if that is unknown."""
        way = None if peer is None else self._way_to(peer)
        return 0 if way is None else way.trip

    def trip_from(self, host: str) -> Nanos:
        """Return how slow the links are of those at an address who have proved a channel.

        Where there is none, as slow as those that were lost lately.
        """
        trips = [
            link.trip or 0
            for link in self.all()
            if link.shared and link.stream.remote_address[0] == host
        ]
        now = self._clock.now()
        lost = [way.trip for way in self._ways.values() if way.host == host and now < way.until]
        return min(trips or lost, default=0)

    def _way_to(self, peer: PeerId) -> Way | None:
        way = self._ways.get(peer)
        return way if way is not None and self._clock.now() < way.until else None

    def _remember(self, link: Link) -> None:
        """Take note of how slow a link was that is lost: the next one leads the same way."""
        if not link.shared or link.trip is None:
            return
        self._ways.pop(link.peer, None)
        if link.trip:
            host, _ = link.stream.remote_address
            until = self._clock.now() + REMEMBERED
            self._ways[link.peer] = Way(host, tuple(link.rtts), until)
            if len(self._ways) > LINKS_MAX:
                del self._ways[next(iter(self._ways))]

    def address_of(self, peer: PeerId) -> tuple[str, int] | None:
        """Return where the link to `peer` leads; None without one."""
        link = self.link_to(peer)
        return None if link is None else link.address

    def shares(self, peer: PeerId) -> bool:
        """Return whether `peer` has proved a channel of ours, and is there."""
        return peer in self._joined

    def shared_with(self, peer: PeerId) -> frozenset[ChannelId]:
        """Return our channels that `peer` has proved to know, and is there for."""
        return self._joined.get(peer, frozenset())

    def nick_of(self, peer: PeerId) -> str | None:
        """Return what `peer` calls itself; None until it has said so."""
        told = [link for link in self.links.get(peer, []) if link.nick is not None]
        return max(told, key=lambda link: link.opened_at).nick if told else None

    def away_of(self, peer: PeerId) -> str:
        """Return why `peer` says it is away; empty if it does not."""
        told = [link for link in self.links.get(peer, []) if link.nick is not None]
        return max(told, key=lambda link: link.opened_at).away if told else ""

    # --- Standing ------------------------------------------------------------------------------

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

    def _named(self) -> set[PeerId | None]:
        """Return the peers that last answered at the addresses the person named."""
        return {one.peer for one in self._addresses.known.values() if one.named}
