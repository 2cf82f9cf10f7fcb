"""Heartbeats of governance: times at which a node tells its heads, and asks those who have more."""

import random
from collections.abc import Collection
from typing import Final

from sync.calimero.governance.ops import OpId
from sync.machine import MILLISECOND, SECOND, Nanos, PeerId, earlier

EVERY: Final = 30 * SECOND
"""Interval of heartbeats, a tenth more or less."""

NEWS_AFTER: Final = (200 * MILLISECOND, SECOND)
"""Time after which who took in an unknown op tells its heads, between these."""

PULL_AFTER: Final = (SECOND, 3 * SECOND)
"""Time after which who sees other heads asks for them, between these; at once after news."""

OFFER_AFTER: Final = (5 * SECOND, 8 * SECOND)
"""Time after which who sees that a peer lacks ops, and was not asked for them, asks it: it then has
a stream to ask back on, also where we cannot be dialled."""

PULL_FOR: Final = 20 * SECOND
"""Time after which an answer is not waited for any more, and others are asked; they are, too, once
somebody has given page after page for so long."""

IN_VAIN: Final = SECOND
"""Time for which a peer that was asked and told nothing new is not asked again at once; it doubles
each time. Two of whom each has what the other has no room for would else ask without a pause."""

IN_VAIN_MAX: Final = EVERY // 2
"""As long as it gets: whatever waits is asked for after each heartbeat all the same."""


class Heartbeats:
    """Times of heartbeats and pulls of one channel; one pull at a time."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self.turn = 0
        """Heartbeats that were told."""
        self._next: Nanos | None = None
        self._news: Nanos | None = None
        """When to tell heads that came lately."""
        self._heads: dict[PeerId, frozenset[OpId]] = {}
        """Heads that each peer told last."""
        self._pulls: dict[PeerId, Nanos] = {}
        """When to ask each peer for heads that it told and we lack."""
        self._offers: set[PeerId] = set()
        """Of these, peers that lack ops, and have told none that we lack."""
        self._pulling: tuple[PeerId, Nanos] | None = None
        """Peer that is being asked, and until when its answer is waited for."""
        self._began: Nanos = 0
        """When it was asked for its first page."""
        self._offering = False
        """Whether it was asked only so that it asks us."""
        self._vain: dict[PeerId, tuple[int, Nanos]] = {}
        """Times in a row that a peer told nothing new, and until when it is not asked at once."""

    def deadline(self) -> Nanos | None:
        """Return when something is next due."""
        due = earlier(self._next, self._news)
        if self._pulling is not None:
            return earlier(due, self._pulling[1])
        return earlier(due, min(self._pulls.values(), default=None))

    def is_due(self, now: Nanos) -> bool:
        """Return whether something is to be told or asked now."""
        if (self._next is not None and self._next <= now) or (
            self._news is not None and self._news <= now
        ):
            return True
        if self._pulling is not None:
            return self._pulling[1] <= now
        return bool(self._pulls) and min(self._pulls.values()) <= now

    def linked(self, now: Nanos) -> None:
        """A peer came: it is told our heads soon."""
        self._news = earlier(self._news, now + self._between(*NEWS_AFTER))
        if self._next is None:
            self._next = now + self._interval()

    def gone(self, peer: PeerId) -> None:
        """A peer has no link any more."""
        self._heads.pop(peer, None)
        self._pulls.pop(peer, None)
        self._offers.discard(peer)
        self._vain.pop(peer, None)
        if self._pulling is not None and self._pulling[0] == peer:
            self._pulling = None

    def took_in(self, now: Nanos) -> None:
        """An op came that was not known here: others may not know it, either."""
        self._news = earlier(self._news, now + self._between(*NEWS_AFTER))

    def heard(
        self, peer: PeerId, heads: Collection[OpId], *, lacks: bool, owes: bool, now: Nanos
    ) -> None:
        """A peer told its heads; `lacks`: some are not here, `owes`: it has not all that is."""
        self._heads[peer] = frozenset(heads)
        if lacks:
            at = now + self._between(*PULL_AFTER)
            self._pulls[peer] = min(at, self._pulls.get(peer, at))
            self._offers.discard(peer)
        elif not owes:
            self._pulls.pop(peer, None)
        elif peer not in self._pulls:
            self._pulls[peer] = now + self._between(*OFFER_AFTER)
            self._offers.add(peer)

    def was_asked(self, peer: PeerId) -> None:
        """A peer asks for what it lacks: nothing need be offered to it."""
        if peer in self._offers:
            self._offers.discard(peer)
            self._pulls.pop(peer, None)

    def heads_of(self, peer: PeerId) -> frozenset[OpId] | None:
        """Return the heads that a peer told last; None if it has told none."""
        return self._heads.get(peer)

    def wants(self, peer: PeerId, now: Nanos) -> None:
        """A peer named ops that are not here: it is asked at once, unless that was in vain."""
        self._offers.discard(peer)
        _, until = self._vain.get(peer, (0, 0))
        at = max(now, until)
        self._pulls[peer] = min(at, self._pulls.get(peer, at))

    def beat(self, now: Nanos) -> bool:
        """Return whether it is time to tell everybody."""
        if self._next is None or now < self._next:
            return False
        self._next, self._news = now + self._interval(), None
        return True

    def told_news(
        self, ours: Collection[OpId], peers: Collection[PeerId], now: Nanos
    ) -> list[PeerId]:
        """Return who is told of news now: those who have not shown these heads."""
        if self._news is None or now < self._news:
            return []
        self._news = None
        known = frozenset(ours)
        return sorted(one for one in peers if self._heads.get(one) != known)

    def pull(self, now: Nanos) -> PeerId | None:
        """Return the peer to ask for ops now, if it is time and nobody is being asked."""
        if self._pulling is not None:
            if now < self._pulling[1]:
                return None
            self._pulling = None
        ready = [(at, peer) for peer, at in self._pulls.items() if at <= now]
        if not ready:
            return None
        _, peer = min(ready)
        del self._pulls[peer]
        self._offering = peer in self._offers
        self._offers.discard(peer)
        self._pulling, self._began = (peer, now + PULL_FOR), now
        return peer

    def told(self, peer: PeerId, now: Nanos, *, new: bool) -> None:
        """A peer that was asked told what it has; `new`: some of that was not known here."""
        if new:
            self._vain.pop(peer, None)
        if new or self._offering:
            return
        times, _ = self._vain.get(peer, (0, 0))
        pause = min(IN_VAIN_MAX, IN_VAIN << times)
        until = now + pause
        self._vain[peer] = times + (pause < IN_VAIN_MAX), until
        if peer in self._pulls:
            self._pulls[peer] = max(self._pulls[peer], until)

    def answered(self, peer: PeerId, now: Nanos, *, more: bool) -> None:
        """A page of ops came from a peer that was asked; `more` follow."""
        if self._pulling is not None and self._pulling[0] == peer:
            self._pulling = (peer, now + PULL_FOR) if more else None

    def makes_way(self, peer: PeerId, now: Nanos) -> bool:
        """Return whether a peer that has more pages gives them later: others wait, for long now.

        Whoever tells one op at a time would else keep all others from being asked.
        """
        if self._pulling is None or self._pulling[0] != peer or now < self._began + PULL_FOR:
            return False
        return any(at <= now for other, at in self._pulls.items() if other != peer)

    def _interval(self) -> Nanos:
        return self._between(EVERY * 9 // 10, EVERY * 11 // 10)

    def _between(self, least: Nanos, most: Nanos) -> Nanos:
        return self._rng.randrange(least, most)
