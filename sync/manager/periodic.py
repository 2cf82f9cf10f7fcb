"""The periodic tick: each channel is compared with a peer every five minutes or so.

With older programs that is one at random, over the last hour, and every twelfth time over
everything, since an old message may have reached a peer later (Waku Sync, "Sync Interval").
"""

import random
from typing import Final

from sync.machine import ChannelId, Nanos, PeerId, earlier
from sync.manager.choosing import SPAN, Choosing
from sync.manager.peer_selection import PeerSelection
from sync.manager.slots import Slots
from sync.manager.wishes import REGULAR, REGULAR_WHOLE, Regular, Wish
from sync.sessions.sync_config import SyncConfig

EVERYTHING_EVERY: Final = 12
"""Each so many-th of them compares everything: about once an hour."""


class Periodic:
    """The regular comparisons of all channels."""

    def __init__(
        self,
        slots: Slots,
        choosing: Choosing,
        selection: PeerSelection,
        rng: random.Random,
        config: SyncConfig,
    ) -> None:
        self._slots = slots
        self._choosing = choosing
        self._selection = selection
        self._rng = rng
        self._config = config
        self._regular: dict[ChannelId, Regular] = {}
        self._first: Nanos | None = None
        """When the first of them is due; hundreds of channels are asked at every step."""
        self.observed: dict[ChannelId, PeerId] = {}
        """Peer of the next regular comparison: the newest author whose entry was let in."""

    def joined(self, channel: ChannelId, now: Nanos) -> None:
        """Somebody is there to be compared with."""
        if channel not in self._regular:
            self._regular[channel] = Regular(now + self._period())
            self._first = earlier(self._first, self._regular[channel].at)

    def deadline(self) -> Nanos | None:
        """Return when the next comparison is due."""
        return self._first

    def tick(self, now: Nanos) -> None:
        """Wish for what is due, with one peer each; without peers, with nobody."""
        if self._first is None or self._first > now:
            return
        for channel, regular in list(self._regular.items()):
            if regular.at > now:
                continue
            peers = self._slots.peers(channel)
            if not peers:
                del self._regular[channel]
                continue
            regular.at, regular.count = now + self._period(), regular.count + 1
            whole = regular.count % EVERYTHING_EVERY == 0
            why, span = (REGULAR_WHOLE, None) if whole else (REGULAR, SPAN)
            chosen = self._select(channel, peers, now)
            self._slots.wish(channel, chosen, Wish(now, why, span=span))
        self._first = min((one.at for one in self._regular.values()), default=None)

    def _select(self, channel: ChannelId, peers: list[PeerId], now: Nanos) -> PeerId:
        observed = self.observed.pop(channel, None)
        if observed in peers:
            assert observed is not None
            return observed
        by_rule = [one for one in peers if self._choosing.begins_with_handshake(channel, one)]
        if not by_rule:
            return self._rng.choice(peers)
        busy = {key.peer for key in self._slots.running}
        return self._selection.select(channel, peers, busy.__contains__, now)

    def _period(self) -> Nanos:
        interval = self._config.interval // self._config.frequency
        return round(interval * self._rng.uniform(0.9, 1.1))
