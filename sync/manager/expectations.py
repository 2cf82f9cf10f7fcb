"""Histories that are about to come: from a new link on, until a session over author logs brings it.

The first session of such a link takes the last hour alone. Lines that come meanwhile name messages
that the next session brings, so nobody is asked for them, and none is shown as missing.

Rules:
1. Only the history of a channel is expected that was not compared with anybody who has a link to us
   now: whoever comes later has little that the others do not.
2. A session that is over, and none follows, ends it; so does `EXPECTED_WITHIN`.
"""

from collections.abc import Iterable
from typing import Final

from sync.machine import SECOND, ChannelId, Nanos, PeerId
from sync.manager.values import Expected

EXPECTED_WITHIN: Final[Nanos] = 5 * SECOND
"""Time from the link on: 2.5 s until a peer has told what it speaks and offers, then the session
over the last hour."""


class Expectations:
    """See the module docstring."""

    def __init__(self) -> None:
        self._until: dict[tuple[ChannelId, PeerId], Nanos] = {}
        self._news: list[Expected] = []
        """Changes that the channels are to be told of."""

    def begin(self, channel: ChannelId, peer: PeerId, now: Nanos) -> None:
        """Expect the history of a channel from a peer."""
        self._until[channel, peer] = now + EXPECTED_WITHIN
        self._news.append(Expected(channel, peer, comes=True))

    def end(self, channel: ChannelId, peer: PeerId) -> None:
        """Expect it no longer."""
        if self._until.pop((channel, peer), None) is not None:
            self._news.append(Expected(channel, peer, comes=False))

    def end_all(self, keys: Iterable[tuple[ChannelId, PeerId]]) -> None:
        """Expect none of these any longer."""
        for channel, peer in keys:
            self.end(channel, peer)

    def expire(self, now: Nanos) -> None:
        """End what has been expected for too long."""
        self.end_all([key for key, until in self._until.items() if until <= now])

    def of(self, channel: ChannelId) -> list[tuple[ChannelId, PeerId]]:
        """Return what is expected of a channel."""
        return [key for key in self._until if key[0] == channel]

    def take_news(self) -> list[Expected]:
        """Return what the channels are to be told, once."""
        news, self._news = self._news, []
        return news

    def deadline(self) -> Nanos | None:
        """Return when something has been expected for too long."""
        return min(self._until.values(), default=None)
