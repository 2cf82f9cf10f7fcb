"""Roster of the peers seen in this run: what the UI knows of each."""

from collections.abc import Mapping, Set
from typing import Final

from msgspec.structs import replace

from sync.entries.identity import short_fingerprint
from sync.machine import SECOND, Nanos, PeerId
from sync.net.clocks import is_clock
from sync.net.links.link import Link
from sync.net.links.mesh import Mesh
from sync.structures.token_bucket import Buckets
from sync.view.view import PeerInfo, PeerShown, PeerState

PEERS_MAX: Final = 1024
"""Peers remembered in a run; beyond it those who left first are forgotten."""

SHOWN_PER_SECOND: Final = 1.0
SHOWN_BURST: Final = 5.0
"""Events about one peer: who comes and goes all the time is shown as it is in the end."""

SILENT_MAX: Final[Nanos] = SECOND
"""Time for which a peer may share a channel without a name; then it is shown without one."""


class Roster:
    """See the module docstring."""

    def __init__(self, mesh: Mesh) -> None:
        self._mesh = mesh
        self._peers: dict[PeerId, PeerInfo] = {}
        self._silent: dict[PeerId, Nanos] = {}
        self._shows = Buckets(SHOWN_PER_SECOND, SHOWN_BURST)
        self._unshown: set[PeerId] = set()
        """Of whom something is new that is shown a little later."""

    def update(self, peer: PeerId, now: Nanos) -> PeerShown | None:
        """Look at a peer anew; returns what the UI should hear, if anything.

        A peer is up when it shares a channel and has told its nick, or was silent for too long:
        nobody listens unseen.
        """
        before = self._peers.get(peer)
        up = self._mesh.peers.shares(peer)
        nick = self._mesh.peers.nick_of(peer)
        if (before is None or before.state is PeerState.DOWN) and peer not in self._unshown:
            if not up:
                self._silent.pop(peer, None)
                return None  # none of ours, or gone before it told its nick
            if nick is None and now - self._silent.setdefault(peer, now) < SILENT_MAX:
                return None  # its presence is on the way
        self._silent.pop(peer, None)
        known = before.nick if before is not None else short_fingerprint(peer)
        link = self._mesh.peers.link_to(peer)
        info = PeerInfo(
            peer=peer,
            nick=nick or known,
            state=PeerState.UP if up else PeerState.DOWN,
            address=_printed(link.address) if link else before.address if before else "",
            last_seen_ns=now,
            away=self._mesh.peers.away_of(peer),
        )
        self._remember(info)
        if before is not None and _told(before) == _told(info) and peer not in self._unshown:
            return None
        if not self._shows.take_token(peer, now):
            self._unshown.add(peer)
            return None
        self._unshown.discard(peer)
        return PeerShown(peer, info.nick, info.state, info.away)

    def forget(self, peer: PeerId) -> None:
        """Know nothing more of a peer who is gone; they are met anew when they come again."""
        self._peers.pop(peer, None)
        self._unshown.discard(peer)

    def overdue(self, now: Nanos) -> list[PeerShown]:
        """Return what the UI should hear of who tells no nick, or changed too often."""
        waiting = [*self._unshown]
        waiting += [peer for peer, since in self._silent.items() if now - since >= SILENT_MAX]
        shown = [self.update(peer, now) for peer in waiting]
        return [each for each in shown if each is not None]

    def peers(
        self, syncing: Set[PeerId], wall_offset: Nanos, backlog: Mapping[PeerId, int]
    ) -> tuple[PeerInfo, ...]:
        """Return everybody, with what their links measure now.

        `wall_offset` is how far our wall clock is ahead of the machines' clock; `backlog` has how
        many frames of whom wait.
        """
        infos = [self._info(info, syncing, wall_offset) for info in self._peers.values()]
        if backlog:
            infos = [replace(one, waiting=backlog.get(one.peer, 0)) for one in infos]
        return tuple(infos)

    def _info(self, info: PeerInfo, syncing: Set[PeerId], wall_offset: Nanos) -> PeerInfo:
        link = self._mesh.peers.link_to(info.peer)
        if link is None or info.state is PeerState.DOWN:
            return info
        return replace(
            info,
            rtt_ns=link.rtt,
            rtts=tuple(link.rtts),
            clock_offset_ns=_ahead(link, wall_offset),
            last_seen_ns=link.heard_at,
            syncing=info.peer in syncing,
            dialled_us=not link.dialled,
        )

    def _remember(self, info: PeerInfo) -> None:
        if info.state is PeerState.DOWN:
            self._peers.pop(info.peer, None)  # to the end: who left first stands first
        self._peers[info.peer] = info
        if len(self._peers) > PEERS_MAX:
            gone = [one.peer for one in self._peers.values() if one.state is PeerState.DOWN]
            forgotten = gone[0] if gone else next(iter(self._peers))
            del self._peers[forgotten]
            self._unshown.discard(forgotten)


def _ahead(link: Link, wall_offset: Nanos) -> Nanos | None:
    """Return how far a peer's wall clock is ahead of ours; None where that shows no time."""
    if link.wall_offset is None or not is_clock(link.heard_at + link.wall_offset):
        return None
    return link.wall_offset - wall_offset


def _told(info: PeerInfo) -> tuple[PeerState, str, str]:
    """Return what of a peer the UI hears of."""
    return info.state, info.nick, info.away


def _printed(address: tuple[str, int]) -> str:
    return f"{address[0]}:{address[1]}"
