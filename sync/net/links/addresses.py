"""Addresses where peers may be, and when to dial each of them again.

Anybody on the network can announce anything, so an address that was only announced, and never
answered, is in doubt: of one host, one port is dialled at a time, and ever later, whatever else is
announced there, until one of ours answers. An answer is one to a dial of ours alone: whoever dials
us claims a port, which says nothing of who is there.
"""

import random
from dataclasses import dataclass, field

from sync.machine import HOUR, MINUTE, SECOND, Nanos, PeerId

ADDRESSES_MAX = 256
"""Addresses kept; beyond it those that never answered go first, then the oldest."""

RETRY_KNOWN_MAX: Nanos = 5 * SECOND
"""Longest wait before an address that answered within the last hour is dialled again."""

RETRY_OTHER_MAX: Nanos = 30 * SECOND
RETRY_FIRST: Nanos = 1 * SECOND

RETRY_DOUBTED_MAX: Nanos = 10 * MINUTE
"""The same for a host that was only announced: whoever is really there dials us as well."""

DOUBTED_PER_HOST_MAX = 8
"""Announced ports kept of a host where none of ours has answered yet, those heard of last."""

SILENT_FROM = 2
"""Failed dials from which an address that was announced counts as taking no connection."""

SILENT_FOR: Nanos = 10 * MINUTE
"""Time from its announcement for which that is told: whoever was announced may have left."""

OURSELVES_AGAIN: Nanos = 10 * MINUTE
"""Time after which an address that led to ourselves is looked at again: it may be another's now."""

BESIDE_A_LINK: Nanos = 30 * SECOND
"""Time after which an address is looked at again whose peer has a link, or is not wanted."""

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
    """Peer that answered there last, when we dialled."""
    claimed_by: PeerId | None = None
    """Peer who dialled us, and says that it accepts connections there."""
    dialling: bool = False
    named: bool = False
    """Whether the person named it: it is the last to be forgotten."""
    ourselves: bool = False
    """Whether it led to ourselves when it was dialled last."""
    doubted: bool = False
    """Whether it was only announced so far."""
    announced_at: Nanos | None = None
    """When it was announced last."""
    instance: str = ""
    """Program that was announced there last."""
    again: bool = False
    """True if it was announced more than once, some time apart."""
    renewed: bool = False
    """True if another program was announced there since it was a peer's: it may be another's."""


@dataclass(slots=True)
class Doubt:
    """Failed dials of a host's announced ports, and when to try the next one."""

    failures: int = 0
    next_at: Nanos = 0


@dataclass(slots=True)
class Addresses:
    """All candidates by (host, port)."""

    rng: random.Random
    known: dict[tuple[str, int], Candidate] = field(default_factory=dict)
    _doubts: dict[str, Doubt] = field(default_factory=dict)

    def add(self, host: str, port: int, now: Nanos, *, named: bool = False) -> Candidate:
        """Learn of an address, or that it is announced again: dial it soon."""
        candidate = self.known.get((host, port))
        if candidate is None:
            self._make_room()
            candidate = self.known[host, port] = Candidate(host, port, now, now)
        candidate.named |= named
        candidate.doubted = False
        candidate.heard_at = now
        if not candidate.ourselves or named:
            soon = now if candidate.failures == 0 or named else now + RETRY_FIRST
            candidate.next_at = min(candidate.next_at, soon)
        return candidate

    def announce(
        self, host: str, port: int, now: Nanos, instance: str = "", *, again: bool = False
    ) -> Candidate:
        """Hear an address announced: dial it soon, unless what is announced there is in doubt.

        `instance` names the program that is said to be there, if one was announced; `again` if that
        is not for the first time. Whoever is there goes on announcing, so of one host such go first
        and stay: a flood of new names would push them out between two turns.
        """
        candidate = self.known.get((host, port))
        if candidate is not None and not candidate.doubted:
            self.add(host, port, now)
        elif candidate is None:
            doubted = [one for one in self.known.values() if one.host == host and one.doubted]
            if len(doubted) >= DOUBTED_PER_HOST_MAX:
                oldest = min(doubted, key=lambda one: (one.dialling, one.again, one.heard_at))
                del self.known[oldest.host, oldest.port]
            candidate = self.add(host, port, now)
            candidate.doubted = True
        candidate.heard_at = candidate.announced_at = now
        candidate.again |= again
        if instance:
            self._name(candidate, instance, now)
        return candidate

    def _name(self, candidate: Candidate, instance: str, now: Nanos) -> None:
        """Note which program is announced at an address: by another one it may be another's.

        Where somebody answered just now, that is noted later: forged names cost a dial in a while.
        """
        answered_at = candidate.answered_at
        if candidate.instance == instance:
            return
        if answered_at is None or now - answered_at >= BESIDE_A_LINK:
            candidate.instance = instance
            candidate.renewed = (candidate.peer or candidate.claimed_by) is not None

    def claim(self, peer: PeerId, address: tuple[str, int], now: Nanos, *, believed: bool) -> None:
        """Hear from a peer who dialled us where it accepts connections; of each one claim is kept.

        Nobody has answered there, so a claim says nothing of who is there. One that is not believed
        is in doubt like what is announced.
        """
        for other in [one for one in self.known.values() if one.claimed_by == peer]:
            other.claimed_by = None
            is_spare = other.answered_at is None and not (other.named or other.dialling)
            if is_spare and (other.host, other.port) != address:
                del self.known[other.host, other.port]
        candidate = self.add(*address, now) if believed else self.announce(*address, now)
        if candidate.peer is None:
            candidate.claimed_by = peer
            candidate.next_at = max(candidate.next_at, now + BESIDE_A_LINK)

    def due(self, now: Nanos) -> list[Candidate]:
        """Return the addresses to dial now, of those in doubt one of each host.

        Those that answered before come first, then those last heard of: a flood of forged ones is
        older than the peer that comes after it.
        """
        ready = [
            candidate
            for candidate in self.known.values()
            if candidate.next_at <= now and not candidate.dialling
        ]
        ready.sort(
            key=lambda one: (one.answered_at is None, one.failures, not one.again, -one.heard_at)
        )
        tried = {one.host for one in self.known.values() if one.doubted and one.dialling}
        due = []
        for candidate in ready:
            if candidate.doubted:
                doubt = self._doubts.get(candidate.host)
                if candidate.host in tried or (doubt is not None and doubt.next_at > now):
                    continue
                tried.add(candidate.host)
            due.append(candidate)
        return due

    def silent(self, now: Nanos) -> list[Candidate]:
        """Return the addresses that were announced lately, and never took a connection of ours."""
        return [
            one
            for one in self.known.values()
            if one.announced_at is not None
            and now - one.announced_at < SILENT_FOR
            and one.failures >= SILENT_FROM
            and one.peer is None
            and one.claimed_by is None
            and not one.ourselves
        ]

    def answered(self, candidate: Candidate, peer: PeerId, now: Nanos) -> None:
        """A link was made there, which we dialled."""
        candidate.doubted = candidate.ourselves = candidate.renewed = False
        self._doubts.pop(candidate.host, None)
        candidate.peer, candidate.claimed_by = peer, None
        candidate.answered_at = now
        candidate.next_at = now + RETRY_OTHER_MAX

    def led_to_ourselves(self, candidate: Candidate, now: Nanos) -> None:
        """We have answered there: nobody else does for now."""
        candidate.ourselves = True
        candidate.next_at = now + OURSELVES_AGAIN

    def failed(self, candidate: Candidate, now: Nanos) -> None:
        """Nobody of ours answered, or not for long: wait longer each time, 1 s at first."""
        if candidate.doubted:
            self._doubt(candidate, now)
            return
        recent = candidate.answered_at is not None and now - candidate.answered_at < HOUR
        longest = RETRY_KNOWN_MAX if recent and not candidate.renewed else RETRY_OTHER_MAX
        candidate.next_at = now + self._wait(candidate.failures, longest)
        candidate.failures += 1

    def _doubt(self, candidate: Candidate, now: Nanos) -> None:
        """Note a failed dial of a doubted address: all such of its host wait ever longer."""
        doubt = self._doubts.setdefault(candidate.host, Doubt())
        candidate.next_at = doubt.next_at = now + self._wait(doubt.failures, RETRY_DOUBTED_MAX)
        doubt.failures += 1
        candidate.failures += 1
        if len(self._doubts) > ADDRESSES_MAX:
            del self._doubts[next(iter(self._doubts))]

    def _wait(self, failures: int, longest: Nanos) -> Nanos:
        """Return how long to wait; a quarter is random, so that a room does not dial in step."""
        wait = min(RETRY_FIRST << min(failures, 10), longest * 4 // 5)
        return wait + self.rng.randrange(wait // 4 + 1)

    def lost(self, peer: PeerId, lasted: Nanos, now: Nanos) -> None:
        """The link to `peer` is down, after `lasted` nanoseconds: dial where it was, soon."""
        for candidate in self.known.values():
            if peer not in {candidate.peer, candidate.claimed_by}:
                continue
            if lasted < STABLE_AFTER:
                self.failed(candidate, now)
            else:
                candidate.failures = 0
                candidate.next_at = now + self.rng.randrange(RETRY_FIRST)

    def hurry(self, now: Nanos) -> None:
        """The network changed: forget all waiting."""
        self._doubts.clear()
        for candidate in self.known.values():
            candidate.ourselves = False
            candidate.failures = 0
            candidate.next_at = now

    def _make_room(self) -> None:
        while len(self.known) >= ADDRESSES_MAX:
            spare = [one for one in self.known.values() if not one.named]
            oldest = min(
                spare or self.known.values(),
                key=lambda one: (one.answered_at or 0, one.claimed_by is not None),
            )
            del self.known[oldest.host, oldest.port]
