"""Timing of sync messages (SDS, "Periodic Sync Message").

Two countdowns: one to tell authors that we have their messages, one to keep the channel alive. The
second grows while nothing happens, so a silent channel costs one small message a minute. A third
time, not random, is the lowest T_req of what we lack: to ask is a reason to speak.

The draw of a countdown is kept until it has run out: restarting it, which every message does, costs
nothing then.
"""

import math
import random
from dataclasses import dataclass

from sync.machine import MILLISECOND, Nanos, earlier
from sync.sds.parameters import Parameters

AGAIN: tuple[Nanos, Nanos] = (25 * MILLISECOND, 125 * MILLISECOND)
"""Delay of the next burst while we still owe acknowledgements: some 850 names a second."""

BACKOFF_MAX = 6
"""Doublings of the idle interval counted; 1 s doubled six times is over a minute."""

CROWD = 20
"""Peers from which on each waits longer, so that together they speak no more often."""

ASK_PAUSE: Nanos = 250 * MILLISECOND
"""Between two sync messages that only ask: twelve ids a second, and then the answers."""


OWED_TRIPS = 2
"""Trips over which the acknowledgements of all are spread: whoever hears one need not tell it."""

IDLE_TRIPS = 4
"""Trips of further silence before the next message that only keeps the channel alive."""


@dataclass(slots=True)
class SyncTimer:
    """The countdowns; none runs while nobody is connected."""

    parameters: Parameters
    rng: random.Random
    peers: int = 0
    trip: Nanos = 0
    """Time there and back on every link, where that is long: what is drawn leaves room for it, or
    all would speak before they hear who spoke."""
    owed_at: Nanos | None = None
    quiet_until: Nanos = 0
    """When we may ask again."""
    _idle_since: Nanos | None = None
    _drawn: float = 0
    _backoff: int = 0
    _wait: Nanos = 0
    _wait_of: tuple[float, int, int, Nanos] | None = None

    def __post_init__(self) -> None:
        self._drawn = self.rng.random()

    @property
    def next_at(self) -> Nanos | None:
        """Time of the next sync message, if nobody speaks before and we lack nothing."""
        if not self.peers:
            return None
        return earlier(self.owed_at, self.idle_at)

    @property
    def idle_at(self) -> Nanos | None:
        """Time of the next sync message that keeps the channel alive."""
        if self._idle_since is None:
            return None
        drawn = (self._drawn, self._backoff, self.peers, self.trip)
        if drawn != self._wait_of:  # it is asked for at every input, and changes at every tenth
            self._wait_of, self._wait = drawn, self._idle_wait()
        return self._idle_since + self._wait

    def _idle_wait(self) -> Nanos:
        low, high = self.parameters.idle_within
        longest = self.parameters.idle_max
        # Even where the doubling ends a group must not speak at once: at least half is drawn.
        low, high = min(low << self._backoff, longest // 2), min(high << self._backoff, longest)
        wait = self._crowded(low + int((high - low) * self._drawn))
        return wait + IDLE_TRIPS * self.trip

    def ask_at(self, t_req: Nanos | None) -> Nanos | None:
        """Return when we ask for missing messages, whose lowest T_req is `t_req`."""
        if t_req is None or not self.peers:
            return None
        return max(t_req, self.quiet_until)

    def asked(self, now: Nanos) -> None:
        """We asked."""
        self.quiet_until = now + ASK_PAUSE + self.trip

    def owe(self, now: Nanos) -> None:
        """There is something to acknowledge.

        In a crowd the delays are drawn so that few are short, whatever its size: the first of n
        speaks after a quarter of the span (20 peers) to a tenth (1,000), and the others hear it
        before their time.
        """
        if self.owed_at is None:
            low, high = self.parameters.acknowledge_within
            high = max(high, OWED_TRIPS * self.trip)
            share = self.rng.random()
            if self.peers > CROWD:
                share = math.log(1 + share * (self.peers - 1)) / math.log(self.peers)
            self.owed_at = now + low + int((high - low) * share)

    def owe_more(self, now: Nanos) -> None:
        """Schedule a further sync message: the last had no room for all acknowledgements."""
        low, high = AGAIN[0] + self.trip, AGAIN[1] + self.trip
        self.owed_at = now + low + int((high - low) * self.rng.random())

    def settled(self) -> None:
        """There is nothing left to acknowledge."""
        self.owed_at = None

    def wake(self, now: Nanos) -> None:
        """Something is new, missing or unacknowledged: count from the short interval."""
        self._backoff = 0
        self._idle_since = now

    def tire(self, now: Nanos) -> None:
        """A sync message went out: the next interval is twice as long."""
        self._backoff = min(self._backoff + 1, BACKOFF_MAX)
        self._idle_since = now
        self._drawn = self.rng.random()

    def restart(self, now: Nanos) -> None:
        """Somebody spoke: count the idle interval anew."""
        self._idle_since = now

    def _crowded(self, wait: Nanos) -> Nanos:
        return wait * max(CROWD, self.peers) // CROWD
