"""Live sessions, which pass on what is new: with whom, and whether we wanted them."""

from sync.machine import ChannelId, PeerId

RELAYS_MAX = 3
"""Live sessions of a channel that we want, with those who first brought what others wrote."""


class LiveSessions:
    """Live sessions of all channels; they hold none of the places of sessions that end."""

    def __init__(self) -> None:
        self._wanted: dict[tuple[ChannelId, PeerId], bool] = {}
        """Whether we wanted it, by channel and peer."""

    def began(self, channel: ChannelId, peer: PeerId, *, wanted: bool) -> None:
        """A session with `peer` stays from now on."""
        self._wanted[channel, peer] = wanted

    def over(self, channel: ChannelId, peer: PeerId) -> bool:
        """Forget a session with `peer`, if there is one; return whether we wanted it."""
        return self._wanted.pop((channel, peer), False)

    def has(self, channel: ChannelId, peer: PeerId) -> bool:
        """Return whether there is one with `peer`."""
        return (channel, peer) in self._wanted

    def peers(self, channel: ChannelId) -> list[PeerId]:
        """Return with whom there is one, in the order they began."""
        return [peer for known, peer in self._wanted if known == channel]

    def wanted(self, channel: ChannelId) -> set[PeerId]:
        """Return with whom there is one that we wanted."""
        return {peer for (known, peer), ours in self._wanted.items() if ours and known == channel}
