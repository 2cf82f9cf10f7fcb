"""Entries sent to peers that said they lack them: nobody is sent a channel again and again.

A peer says for nothing that its logs are low, and each time all of them are read and sent.
"""

from typing import Final

from sync.machine import HOUR, Nanos, PeerId

TIMES_MAX: Final = 4
"""Times the entries of a channel that one peer is sent within an hour; a newcomer that is cut
again and again goes on where it was."""

LEAST: Final = 4_096
"""Entries it is sent in any case."""

PEERS_MAX: Final = 1_024
"""Peers remembered, also without a link; of more, the one first served is forgotten."""


class Served:
    """See the module docstring."""

    def __init__(self) -> None:
        self._by_peer: dict[PeerId, tuple[Nanos, int]] = {}
        """Since when, and how many entries."""

    def admits(self, peer: PeerId, entries: int, held: int, now: Nanos) -> bool:
        """Count entries that a peer is about to be sent; return whether it may be.

        `held`: how many the channel has.
        """
        since, sent = self._by_peer.get(peer, (now, 0))
        if not 0 <= now - since < HOUR:
            since, sent = now, 0
        if sent + entries > max(LEAST, TIMES_MAX * held):
            return False
        self._by_peer.pop(peer, None)
        self._by_peer[peer] = since, sent + entries
        if len(self._by_peer) > PEERS_MAX:
            del self._by_peer[next(iter(self._by_peer))]
        return True
