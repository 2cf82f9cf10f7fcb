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


@dataclass(slots=True)
class Candidate:
    """One address and what we know of it."""

    host: str
    port: int
    next_at: Nanos
    failures: int = 0
    answered_at: Nanos | None = None
    peer: PeerId | None = None
    """Who answered there last."""
    dialling: bool = False
    named: bool = False
    """Whether the person named it: it is never forgotten."""
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
            candidate = self.known[host, port] = Candidate(host, port, now)
        candidate.named |= named
        candidate.next_at = min(candidate.next_at, now + RETRY_FIRST)
        if candidate.failures == 0 or named:
            candidate.next_at = min(candidate.next_at, now)
        return candidate

    def due(self, now: Nanos) -> list[Candidate]:
        """Return the addresses to dial now, those that answered before first."""
        ready = [
            candidate
            for candidate in self.known.values()
            if candidate.next_at <= now and not candidate.dialling and not candidate.ourselves
        ]
        return sorted(ready, key=lambda candidate: candidate.answered_at is None)

    def answered(self, candidate: Candidate, peer: PeerId, now: Nanos) -> None:
        """A link was made there."""
        candidate.peer = peer
        candidate.answered_at = now
        candidate.failures = 0

    def failed(self, candidate: Candidate, now: Nanos) -> None:
        """Nobody of ours answered: wait longer each time."""
        recent = candidate.answered_at is not None and now - candidate.answered_at < HOUR
        longest = RETRY_KNOWN_MAX if recent else RETRY_OTHER_MAX
        wait = min(RETRY_FIRST << min(candidate.failures, 5), longest)
        candidate.failures += 1
        candidate.next_at = now + wait * 3 // 4 + self.rng.randrange(wait // 2 + 1)

    def lost(self, peer: PeerId, now: Nanos) -> None:
        """The link to `peer` is down: dial where it was, soon."""
        for candidate in self.known.values():
            if candidate.peer == peer:
                candidate.failures = 0
                candidate.next_at = now + self.rng.randrange(RETRY_FIRST)

    def hurry(self, now: Nanos) -> None:
        """The network changed: forget all waiting."""
        for candidate in self.known.values():
            candidate.failures = 0
            candidate.next_at = now

    def _make_room(self) -> None:
        while len(self.known) >= ADDRESSES_MAX:
            spare = [one for one in self.known.values() if not one.named] or list(
                self.known.values()
            )
            oldest = min(spare, key=lambda one: one.answered_at or 0)
            del self.known[oldest.host, oldest.port]
