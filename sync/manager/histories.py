"""Whole histories: when they were last compared with each peer, and how many author logs there are.

What was compared is on the disk too (`SetCompared`), and told at the start.
"""

from typing import Final

from sync.machine import DAY, ChannelId, Nanos, PeerId

AWAY_AFTER: Final[Nanos] = DAY
"""Time without a whole comparison after which a peer counts as one that was away."""

COMPARED_MAX: Final = 1_024
"""Peers of a channel of whom it is kept when everything was compared with them."""

NEVER: Final = "never compared with this peer"
AWAY: Final = "not compared with this peer for a day"


class Histories:
    """See the module docstring; as much is kept of a channel as its disk keeps."""

    def __init__(self) -> None:
        self._compared: dict[ChannelId, dict[PeerId, Nanos]] = {}
        self._logs: dict[ChannelId, int] = {}

    def restore(self, channel: ChannelId, compared: tuple[tuple[PeerId, Nanos], ...]) -> None:
        """Take up what the disk holds of a channel."""
        self._compared[channel] = dict(compared)

    def compared(self, channel: ChannelId, peer: PeerId, now: Nanos) -> None:
        """A whole comparison with a peer converged, and the disk keeps that."""
        known = self._compared.setdefault(channel, {})
        known[peer] = now
        if len(known) > COMPARED_MAX:
            del known[min(known, key=known.__getitem__)]

    def count_logs(self, channel: ChannelId, logs: int) -> None:
        """So many author logs are held of a channel."""
        self._logs[channel] = logs

    def logs(self, channel: ChannelId) -> int:
        """Return how many author logs are held of a channel."""
        return self._logs.get(channel, 0)

    def whole_needed(self, channel: ChannelId, peer: PeerId, now: Nanos) -> str:
        """Return why a whole history is to be compared with a peer; empty if it need not be.

        A time ahead of the clock, which was set back, says nothing.
        """
        at = self._compared.get(channel, {}).get(peer)
        if at is None:
            return NEVER
        return "" if 0 <= now - at < AWAY_AFTER else AWAY
