"""Participants of a channel, as far as we have noticed (SDS-R, "num_participants")."""

from typing import Final

from sync.machine import HOUR, Nanos, PeerId

REMEMBERED: Final[Nanos] = HOUR
PARTICIPANTS_MAX: Final = 10_000
"""Participants remembered; in a larger group the response groups are large enough anyway."""


class Participants:
    """Peers that spoke on their own link within the last hour: relayed messages may be old."""

    def __init__(self, me: PeerId) -> None:
        self._me = me
        self._last_seen: dict[PeerId, Nanos] = {}

    def __len__(self) -> int:
        return len(self._last_seen)

    def saw(self, peer: PeerId, now: Nanos) -> bool:
        """Note that `peer` spoke; returns whether it is new."""
        if peer == self._me:
            return False
        known = self._last_seen.pop(peer, None) is not None
        self._last_seen[peer] = now
        if len(self._last_seen) > PARTICIPANTS_MAX:
            del self._last_seen[next(iter(self._last_seen))]
        return not known

    def count(self, now: Nanos, connected: int) -> int:
        """Return how many there are, ourselves and those `connected` now among them."""
        while self._last_seen:
            longest_silent = next(iter(self._last_seen))
            if self._last_seen[longest_silent] > now - REMEMBERED:
                break
            del self._last_seen[longest_silent]
        return 1 + max(len(self._last_seen), connected)
