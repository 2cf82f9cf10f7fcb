"""Addresses where peers may be, and when to dial each of them again."""

import random
from dataclasses import dataclass, field

from sync.machine import HOUR, SECOND, Nanos, PeerId

ADDRESSES_MAX = 256
"""Addresses kept; beyond it those that never answered go first, then the oldest."""

RETRY_KNOWN_MAX: Nanos = 5 * SECOND
"""Longest wait before an address that answered within the last hour is dialled again."""

RETRY_OTHER_MAX: Nanos = 30 * SECOND
RETRY_FIRST: Nanos = 1 * SECOND

STABLE_AFTER: Nanos = 10 * SECOND
"""A link that lasted less counts as a failed dial: who hangs up on us at once is left alone."""


@dataclass(slots=True)
class Candidate:
    """One address and what we know of it."""

    host: str
    port: int
    next_at: Nanos
    heard_at: Nanos
    """When somebody last told us of it."""
    failures: int = 0
    answered_at: Nanos | None = None
    peer: PeerId | None = None
    """Who answered there last."""
    dialling: bool = False
    named: bool = False
    """Whether the person named it: it is the last to be forgotten."""
    ourselves: bool = False


@dataclass(slots=True)
class Addresses:
    """All candidates by (host, port)."""

    rng: random.Random
    known: dict[tuple[str, int], Candidate] = field(default_factory=dict)

    def add(self, host: str, port: int, now: Nanos, *, named: bool = False) -> Candidate:
        """Learn of an address, or that it is announced again: dial it soon."""
        candidate = self.known.get((host, port))
        if candidate is None:
            self._make_room()
            candidate = self.known[host, port] = Candidate(host, port, now, now)
        candidate.named |= named
        candidate.heard_at = now
        soon = now if candidate.failures == 0 or named else now + RETRY_FIRST
        candidate.next_at = min(candidate.next_at, soon)
        return candidate

    def due(self, now: Nanos) -> list[Candidate]:
        """Return the addresses to dial now.

        Those that answered before come first, then those last heard of: a flood of forged ones is
        older than the peer that comes after it.
        """
        ready = [
            candidate
            for candidate in self.known.values()
            if candidate.next_at <= now and not candidate.dialling and not candidate.ourselves
        ]
        return sorted(ready, key=lambda one: (one.answered_at is None, -one.heard_at))

    def answered(self, candidate: Candidate, peer: PeerId, now: Nanos) -> None:
        """A link was made there."""
        candidate.peer = peer
        candidate.answered_at = now
        candidate.next_at = now + RETRY_OTHER_MAX

    def failed(self, candidate: Candidate, now: Nanos) -> None:
        """Nobody of ours answered, or not for long: wait longer each time, 1 s at first."""
        recent = candidate.answered_at is not None and now - candidate.answered_at < HOUR
        longest = RETRY_KNOWN_MAX if recent else RETRY_OTHER_MAX
        # A quarter is left to chance, so that a room of people does not dial in step.
        wait = min(RETRY_FIRST << min(candidate.failures, 5), longest * 4 // 5)
        candidate.failures += 1
        candidate.next_at = now + wait + self.rng.randrange(wait // 4 + 1)

    def lost(self, peer: PeerId, lasted: Nanos, now: Nanos) -> None:
        """The link to `peer` is down, after `lasted` nanoseconds: dial where it was, soon."""
        for candidate in self.known.values():
            if candidate.peer != peer:
                continue
            if lasted < STABLE_AFTER:
                self.failed(candidate, now)
            else:
                candidate.failures = 0
                candidate.next_at = now + self.rng.randrange(RETRY_FIRST)

    def hurry(self, now: Nanos) -> None:
        """The network changed: forget all waiting."""
        for candidate in self.known.values():
            candidate.failures = 0
            candidate.next_at = now

    def _make_room(self) -> None:
        while len(self.known) >= ADDRESSES_MAX:
            spare = [one for one in self.known.values() if not one.named]
            oldest = min(spare or self.known.values(), key=lambda one: one.answered_at or 0)
            del self.known[oldest.host, oldest.port]
