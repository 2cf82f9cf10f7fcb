"""Chooses the peer to ask next for a channel's missing messages, at growing intervals.

A round asks every peer once. A message that nobody had then is most likely nowhere, and may be
invented, so the pause before the next round doubles. News is a session that brought something, or a
peer that was not asked yet. Names that are new shorten the pause, but only to `NAMES_PAUSE_MAX`:
they cost nothing to invent. Messages that sessions bring begin a new round no more often either:
lines that nobody else has cost little more.
"""

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Final

from sync.machine import HOUR, MINUTE, SECOND, Nanos, PeerId

STEP_FIRST: Final[Nanos] = 2 * SECOND
STEP_MAX: Final[Nanos] = 8 * SECOND
"""Between the ends of one session of a round and the beginning of the next."""

QUICK: Final = 3
"""Sessions of a round that follow each other at `STEP_FIRST`: if so many peers lack it, most do."""

PAUSE_FIRST: Final[Nanos] = MINUTE
PAUSE_MAX: Final[Nanos] = HOUR
"""Before another round: the first time, and at most."""

NAMES_PAUSE_MAX: Final[Nanos] = 5 * MINUTE
"""The same where names came that nobody was asked for: as often as is compared anyway."""

FORGOTTEN_AFTER: Final[Nanos] = 10 * MINUTE
"""Time with nothing missing after which a search begins as if there never was one: who names
and sends by turns must not begin a round each time."""


@dataclass(slots=True)
class Search:
    """Progress of the search for one channel's missing messages."""

    at: Nanos | None = None
    """When the next peer is to be asked; None while nothing is missing, or somebody is asked."""
    tried: set[PeerId] = field(default_factory=set)
    """Peers asked in this round, or proved to lack it too; of those that are linked."""
    lacking: int = 0
    """Number of missing messages."""
    in_vain: int = 0
    """Rounds that brought nothing, one after the other."""
    _asked: int = 0
    """Sessions begun in this round."""
    _over_at: Nanos | None = None
    """When this round was over."""
    _lacked: int = 0
    """Number of missing messages then."""
    _idle_since: Nanos | None = None
    _news_at: Nanos | None = None
    """When a session last brought something, and a round began for it."""

    def lacks(self, count: int, now: Nanos) -> None:
        """Take note of how much is missing."""
        if not count:
            self.at = None
            if self.lacking:
                self._idle_since = now
        elif self._idle_since is not None:
            if now >= self._idle_since + FORGOTTEN_AFTER:
                self._forget_all()
            self._idle_since = None
        self.lacking = count

    def plan(self, peers: Collection[PeerId], now: Nanos, wait: Nanos | None = None) -> None:
        """Set when the next of `peers` is asked: after `wait`, or by the pace of the round."""
        if not peers or not self.lacking:
            self.at = None
            return
        at = now + (self._step() if wait is None else wait)
        if self.tried.issuperset(peers):
            at = max(at, self._round_over(now) + self._pause())
        self.at = at if self.at is None else min(at, self.at)

    def pick(self, peers: Sequence[PeerId], rng: random.Random) -> PeerId:
        """Choose whom to ask now."""
        self.at = None
        if self.tried.issuperset(peers):
            self._begin_round()
        chosen = rng.choice([peer for peer in peers if peer not in self.tried])
        self.tried.add(chosen)
        self._asked += 1
        return chosen

    def news(self, now: Nanos) -> None:
        """A session brought something: others may have more."""
        if self._news_at is None or now >= self._news_at + NAMES_PAUSE_MAX:
            self._news_at = now
            self._forget_all()

    def _forget_all(self) -> None:
        self.in_vain = 0
        self._begin_round()

    def _begin_round(self) -> None:
        self.tried.clear()
        self._asked, self._over_at = 0, None

    def _step(self) -> Nanos:
        return min(STEP_FIRST << min(max(0, self._asked - QUICK), 4), STEP_MAX)

    def _round_over(self, now: Nanos) -> Nanos:
        if self._over_at is None:
            self._over_at, self._lacked = now, self.lacking
            self.in_vain += 1
        return self._over_at

    def _pause(self) -> Nanos:
        pause = min(PAUSE_FIRST << min(self.in_vain - 1, 16), PAUSE_MAX)
        return min(pause, NAMES_PAUSE_MAX) if self.lacking > self._lacked else pause
