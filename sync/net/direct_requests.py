"""Peers that may want a channel of two: recognised by what they have proved, without a message."""

from collections.abc import Callable, Container
from typing import Final

from sync.entries.identity import Identity
from sync.errors import RemoteError
from sync.machine import ChannelId, PeerId
from sync.net.direct import Direct, direct_channel
from sync.net.links.mesh import Mesh

CANDIDATES_MAX: Final = 1024
"""Channels of two kept that nobody has opened yet: more than there are links; then anew."""


class Knocks:
    """Looks who of the peers has proved a channel of two with `identity` that is none of `ours`."""

    def __init__(
        self,
        identity: Identity,
        mesh: Mesh,
        ours: Container[ChannelId],
        refused: Callable[[str, str], None],
    ) -> None:
        self.on_direct: Callable[[PeerId, bytes], None] = lambda _peer, _noise_key: None
        """Is told of a peer that wants a channel of two, with its Noise key; takes note only."""
        self._identity, self._mesh, self._ours, self._refused = identity, mesh, ours, refused
        self._candidates: dict[tuple[PeerId, bytes], Direct] = {}

    def look_at(self, peer: PeerId) -> None:
        """See whether a peer wants one: only who shares a channel with us may."""
        peers = self._mesh.peers
        link = peers.link_to(peer)
        if link is None or not peers.shares(peer) or peers.nick_of(peer) is None:
            return
        noise_key = link.stream.remote_noise_static
        if (peer, noise_key) not in self._candidates:
            if len(self._candidates) >= CANDIDATES_MAX:
                self._candidates.clear()
            try:
                candidate = direct_channel(self._identity, peer, noise_key)
            except RemoteError as error:
                self._refused(peer, str(error))
                return
            self._candidates[peer, noise_key] = candidate
        direct = self._candidates[peer, noise_key]
        if direct.channel not in self._ours and link.membership.has_heard(direct.secret):
            self.on_direct(peer, noise_key)
