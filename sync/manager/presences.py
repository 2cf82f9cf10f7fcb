"""Facts that links tell of peers: protocols they speak, author logs they offer.

Rule: where we speak a family of protocols that announces, sessions on a new link wait for both, but
not for long; else the first one would be of the usual protocol, whatever the peer speaks.
"""

from typing import Final

from sync.machine import SECOND, ChannelId, Nanos, PeerId
from sync.sessions.protocol import Protocols

PRESENCE_WITHIN: Final[Nanos] = 2 * SECOND
"""Time that a new link has to tell what the peer speaks."""

OFFER_WITHIN: Final[Nanos] = SECOND // 2
"""Time from there on until the peer has told what it offers, which it commits before."""


class Presences:
    """See the module docstring."""

    def __init__(self, protocols: Protocols) -> None:
        self._family = protocols.family
        self._known = frozenset(protocols.announced)
        self._spoken: dict[tuple[ChannelId, PeerId], frozenset[str]] = {}
        self._offered: dict[PeerId, frozenset[ChannelId]] = {}
        self._waits: dict[tuple[ChannelId, PeerId], Nanos] = {}
        """Until when sessions wait."""

    def joined(self, channel: ChannelId, peer: PeerId, now: Nanos) -> None:
        """A first link to a peer carries a channel."""
        if self._family:
            self._waits[channel, peer] = now + PRESENCE_WITHIN

    def left(self, channel: ChannelId, peer: PeerId) -> None:
        """No link to a peer carries a channel any more."""
        self._spoken.pop((channel, peer), None)
        self._waits.pop((channel, peer), None)

    def told(self, channel: ChannelId, peer: PeerId, spoken: frozenset[str], now: Nanos) -> None:
        """Wait no longer for what a peer speaks, and but a moment for what it offers."""
        self._spoken[channel, peer] = spoken & self._known
        until = self._waits.pop((channel, peer), None)
        if until is not None and self._family in spoken and not self.offers(channel, peer):
            self._waits[channel, peer] = min(until, now + OFFER_WITHIN)

    def offered(self, peer: PeerId, channels: frozenset[ChannelId]) -> None:
        """A peer offers its author logs of these channels, and of no others."""
        self._offered.pop(peer, None)
        if channels:
            self._offered[peer] = channels
        for channel in channels:
            self._waits.pop((channel, peer), None)

    def speaks(self, channel: ChannelId, peer: PeerId) -> frozenset[str]:
        """Return the protocols of ours that a peer has named."""
        return self._spoken.get((channel, peer), frozenset())

    def offers(self, channel: ChannelId, peer: PeerId) -> bool:
        """Return whether a peer offers its author logs of a channel."""
        return channel in self._offered.get(peer, ())

    def begins_at(self, channel: ChannelId, peer: PeerId, at: Nanos) -> Nanos:
        """Return when a session may begin that is wanted `at` some time."""
        return max(at, self._waits.get((channel, peer), 0))

    def forget_waits(self, now: Nanos) -> None:
        """Let go of waits that are over."""
        if self._waits:
            self._waits = {key: until for key, until in self._waits.items() if until > now}
