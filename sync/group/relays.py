"""Relays: through whom authors are heard who have no link to us, and how lately.

Where not everybody reaches everybody, such a peer is asked to pass on what is new at once, by a
live session; after an hour without an entry that came so, it is not needed any more. Where the one
who needs it cannot dial the relay, behind a firewall, it can but ask for each message that it hears
of: the relay notes who asks, and begins the session itself.
"""

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from sync.machine import HOUR, MINUTE, SECOND, Nanos, PeerId

RELAYED_WITHIN: Final[Nanos] = HOUR
"""Age up to which an entry counts, and time after the last one for which a relay is needed."""

SETTLED_AFTER: Final[Nanos] = 3 * SECOND
"""Time from a new link on in which nobody is told: the author's may come within a moment."""

TOLD_EVERY: Final[Nanos] = MINUTE
"""Between two times that the manager is told of one peer."""

AUTHORS_MAX: Final = 1_024
"""Authors remembered; of more, those heard longest ago are forgotten."""


class Heard(NamedTuple):
    """An author without a link, the peer that brought the last entry, and when."""

    author: PeerId
    via: PeerId
    at: Nanos


@dataclass(slots=True)
class Asked:
    """Peers that asked us for entries of an author, and when one was asked for, or stored, last."""

    at: Nanos
    by: set[PeerId] = field(default_factory=set)


class Relays:
    """See the module docstring."""

    def __init__(self) -> None:
        self._through: dict[PeerId, tuple[PeerId, Nanos]] = {}
        """By author: the peer that brought the last entry, and when."""
        self._asked: dict[PeerId, Asked] = {}
        """By author; those of whom nothing came for longest are first."""
        self._told: dict[PeerId, Nanos] = {}
        """When the manager was told of each peer."""
        self._settles_at: Nanos | None = None
        """Time at which new links have settled: nobody is told before, and those due are then."""

    def heard(self, author: PeerId, via: PeerId, age: Nanos, now: Nanos) -> bool:
        """Note an entry of an author without a link; return whether to tell the manager of `via`.

        An old one says nothing: it is part of a history.
        """
        if not self.note(author, via, age, now):
            return False
        return self._settles_at is None and self._tells(via, now)

    def note(self, author: PeerId, via: PeerId, age: Nanos, now: Nanos) -> bool:
        """Note that `via` brought an entry of an author; return whether it is young enough."""
        if age > RELAYED_WITHIN:
            return False
        self.forget(now)
        self._through.pop(author, None)
        self._through[author] = via, now
        if len(self._through) > AUTHORS_MAX:
            del self._through[next(iter(self._through))]
        return True

    def _tells(self, via: PeerId, now: Nanos) -> bool:
        if now < self._told.get(via, -TOLD_EVERY) + TOLD_EVERY:
            return False
        self._told[via] = now
        return True

    def asked(self, author: PeerId, peer: PeerId, now: Nanos) -> None:
        """Note that we gave `peer` an entry of an author, for which it had to ask."""
        self.forget(now)
        known = self._asked.pop(author, None) or Asked(now)
        known.at = now
        known.by.add(peer)
        self._asked[author] = known
        if len(self._asked) > AUTHORS_MAX:
            del self._asked[next(iter(self._asked))]

    def stored(self, author: PeerId, now: Nanos) -> None:
        """An entry of an author came, and goes to those who asked for one of it."""
        known = self._asked.pop(author, None)
        if known is not None:
            known.at = now
            self._asked[author] = known

    def linked(self, author: PeerId, now: Nanos) -> None:
        """An author has a link to us now: nobody needs to relay what it writes."""
        self._through.pop(author, None)
        if self._settles_at is None:
            self._settles_at = now + SETTLED_AFTER

    def settled(self, now: Nanos) -> list[PeerId]:
        """Return the peers to tell the manager of, once new links have settled."""
        if self._settles_at is None or now < self._settles_at:
            return []
        self._settles_at = None
        through = dict.fromkeys(via for via, _ in self._through.values())
        return [via for via in through if self._tells(via, now)]

    def deadline(self) -> Nanos | None:
        """Return when new links have settled."""
        return self._settles_at

    def gone(self, peer: PeerId) -> None:
        """There is no link to a peer any more."""
        self._told.pop(peer, None)
        for one in self._asked.values():
            one.by.discard(peer)

    def through(self, author: PeerId) -> PeerId | None:
        """Return the peer through whom an author without a link was last heard."""
        known = self._through.get(author)
        return None if known is None else known[0]

    def recent(self, most: int) -> list[Heard]:
        """Return at most so many authors and through whom they are heard, the latest last."""
        entries = list(self._through.items())[-most:]
        return [Heard(author, via, at) for author, (via, at) in entries]

    def forget(self, now: Nanos) -> None:
        """Forget who was not heard for so long that nobody is needed for it."""
        while self._through:
            author, (_, at) = next(iter(self._through.items()))
            if now < at + RELAYED_WITHIN:
                break
            del self._through[author]
        while self._asked:
            author, asked = next(iter(self._asked.items()))
            if now < asked.at + RELAYED_WITHIN:
                break
            del self._asked[author]

    def needs(self, peer: PeerId) -> bool:
        """Return whether somebody without a link was last heard through `peer`."""
        return any(via == peer for via, _ in self._through.values())

    def needed_until(self, peer: PeerId) -> Nanos:
        """Return until when `peer` is needed as a relay, or needs us; 0 if it never was."""
        times = [at for via, at in self._through.values() if via == peer]
        times += [asked.at for asked in self._asked.values() if peer in asked.by]
        return max(times, default=-RELAYED_WITHIN) + RELAYED_WITHIN
