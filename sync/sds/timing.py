"""When to speak unasked (SDS, "Periodic Sync Message").

Two countdowns: one to tell authors that we have their messages, one to keep the channel alive. The
second grows while nothing happens, so a silent channel costs one small message a minute.
"""

import random
from dataclasses import dataclass

from sync.machine import MILLISECOND, Nanos
from sync.sds.message import Parameters

AGAIN: tuple[Nanos, Nanos] = (25 * MILLISECOND, 125 * MILLISECOND)
"""Delay of the next burst while we still owe acknowledgements: some 850 names a second."""

BACKOFF_MAX = 6
"""Doublings of the idle interval counted; 1 s doubled six times is over a minute."""

CROWD = 20
"""Peers from which on each waits longer, so that together they speak no more often."""


@dataclass(slots=True)
class SyncTimer:
    """The two countdowns; neither runs while nobody is connected."""

    parameters: Parameters
    rng: random.Random
    peers: int = 0
    owed_at: Nanos | None = None
    idle_at: Nanos | None = None
    _backoff: int = 0

    @property
    def next_at(self) -> Nanos | None:
        """When the next sync message is due, if nobody speaks before."""
        if not self.peers:
            return None
        times = [time for time in (self.owed_at, self.idle_at) if time is not None]
        return min(times, default=None)

    def owe(self, now: Nanos) -> None:
        """There is something to acknowledge."""
        if self.owed_at is None:
            self.owed_at = now + self._uniform(self.parameters.acknowledge_within)

    def owe_more(self, now: Nanos) -> None:
        """What we sent did not have room for all that there is to acknowledge."""
        self.owed_at = now + self._uniform(AGAIN)

    def settled(self) -> None:
        """There is nothing left to acknowledge."""
        self.owed_at = None

    def wake(self, now: Nanos) -> None:
        """Something is new, missing or unacknowledged: count from the short interval."""
        self._backoff = 0
        self.restart(now)

    def tire(self, now: Nanos) -> None:
        """A sync message went out: the next interval is twice as long."""
        self._backoff = min(self._backoff + 1, BACKOFF_MAX)
        self.restart(now)

    def restart(self, now: Nanos) -> None:
        """Somebody spoke: count the idle interval anew."""
        wait = self._uniform(self.parameters.idle_within) * max(CROWD, self.peers) // CROWD
        self.idle_at = now + min(wait << self._backoff, self.parameters.idle_max)

    def _uniform(self, within: tuple[Nanos, Nanos]) -> Nanos:
        return self.rng.randint(*within)
