"""Who has been here: what the UI knows of each peer, and what each was refused."""

from collections import Counter
from collections.abc import Callable, Set
from dataclasses import replace
from typing import Final

from sync.machine import Nanos, PeerId
from sync.net.link import Link
from sync.view import PeerInfo, PeerShown, PeerState

PEERS_MAX: Final = 1024
"""Peers remembered in a run; beyond it those who left first are forgotten."""

REFUSED_MAX: Final = 256
"""Names kept in the count of what was refused."""


class Roster:
    """See the module docstring."""

    def __init__(self) -> None:
        self.refusals: Counter[str] = Counter()
        self._peers: dict[PeerId, PeerInfo] = {}

    def refused(self, who: str) -> None:
        """Count one bad input of a peer or an address."""
        if who in self.refusals or len(self.refusals) < REFUSED_MAX:
            self.refusals[who] += 1

    def update(self, peer: PeerId, link: Link | None, now: Nanos) -> PeerShown | None:
        """Look at a peer's link anew; returns what the UI should hear, if anything.

        A peer is up when it shares a channel and has told its nick.
        """
        before = self._peers.get(peer)
        up = link is not None and bool(link.membership.shared)
        nick = next(iter(link.nicks.values()), "") if link is not None else ""
        if (up and not nick) or (before is None and not up):
            return None  # its presence is on the way, or it is none of ours
        info = PeerInfo(
            peer=peer,
            nick=nick or (before.nick if before else ""),
            state=PeerState.UP if up else PeerState.DOWN,
            address=_printed(link.address) if link else before.address if before else "",
            last_seen_ns=now,
        )
        self._remember(info)
        if before is not None and (before.state, before.nick) == (info.state, info.nick):
            return None
        return PeerShown(peer, info.nick, info.state)

    def peers(
        self, link_to: Callable[[PeerId], Link | None], syncing: Set[PeerId]
    ) -> tuple[PeerInfo, ...]:
        """Return everybody, with what their links measure now."""
        known = self._peers.values()
        return tuple([self._info(info, link_to(info.peer), syncing) for info in known])

    def _info(self, info: PeerInfo, link: Link | None, syncing: Set[PeerId]) -> PeerInfo:
        if link is None:
            return info
        return replace(
            info,
            rtt_ns=link.rtt,
            clock_offset_ns=link.clock_offset,
            last_seen_ns=link.heard_at,
            syncing=info.peer in syncing,
        )

    def _remember(self, info: PeerInfo) -> None:
        self._peers[info.peer] = info
        if len(self._peers) > PEERS_MAX:
            gone = [one.peer for one in self._peers.values() if one.state is PeerState.DOWN]
            del self._peers[gone[0] if gone else next(iter(self._peers))]


def _printed(address: tuple[str, int]) -> str:
    return f"{address[0]}:{address[1]}"
