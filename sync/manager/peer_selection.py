"""Peer selection: with whom a channel is compared when nothing but the time says so.

In this order: who has reported another root; who was not tried for an hour, so that nobody is left
out for good; who was heard lately; who answers soonest; who is in no session; who was tried last
the longest ago. Times are taken roughly, or the first of them would always decide.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from sync.machine import HOUR, MILLISECOND, ChannelId, Nanos, PeerId

LEFT_OUT: Final[Nanos] = HOUR
"""Time without a comparison after which a peer comes before those that answer sooner."""

HEARD_WITHIN: Final[Nanos] = HOUR
"""Times that somebody was heard at are told apart by so much: whoever is compared with was."""


@dataclass(slots=True)
class Known:
    """Facts about a peer of a channel: times in nanoseconds."""

    heard_at: Nanos
    tried_at: Nanos = 0
    latency: Nanos = 0
    """Time that its last handshake took; 0 before there was one."""
    differs: bool = False
    """True if it has reported another root since we agreed."""


class PeerSelection:
    """See the module docstring; as much is kept as there are links."""

    def __init__(self) -> None:
        self._known: dict[tuple[ChannelId, PeerId], Known] = {}

    def heard(self, channel: ChannelId, peer: PeerId, now: Nanos) -> Known:
        """Take note that a peer has said something; return what is known of it."""
        known = self._known.setdefault((channel, peer), Known(now))
        known.heard_at = now
        return known

    def left(self, channel: ChannelId, peer: PeerId) -> None:
        """No link to a peer carries a channel any more."""
        self._known.pop((channel, peer), None)

    def tried(self, channel: ChannelId, peer: PeerId, now: Nanos) -> None:
        """A session with a peer begins."""
        if (known := self._known.get((channel, peer))) is not None:
            known.tried_at = now

    def select(
        self,
        channel: ChannelId,
        peers: Sequence[PeerId],
        is_busy: Callable[[PeerId], bool],
        now: Nanos,
    ) -> PeerId:
        """Return one of these peers; of equals the smallest key."""

        def rank(peer: PeerId) -> tuple[bool, bool, Nanos, int, bool, Nanos, PeerId]:
            known = self._known.get((channel, peer), Known(0))
            return (
                not known.differs,
                now - known.tried_at < LEFT_OUT,
                (now - known.heard_at) // HEARD_WITHIN,
                (known.latency // MILLISECOND).bit_length(),
                is_busy(peer),
                known.tried_at,
                peer,
            )

        return min(peers, key=rank)
