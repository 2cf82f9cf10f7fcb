"""Roots of a channel's state that peers tell each other: when to tell ours, and when to compare.

Rules:
1. A root is told every 30 s, a tenth more or less, and soon after a link came.
2. A root that differs counts only if ours has not changed within the last 5 s: what changes is
   being told anyway.
3. The first handshake of a new link tells both roots: where they differ, whoever opened that
   session compares them next, however lately ours has changed.
4. Of two peers the one with the smaller key begins a session after two beats in a row with another
   root; after the first one since they are linked, if no handshake has told. The other one begins
   after one more, if nothing came of it; or after two as well if it dialled the link, as it may be
   that nobody can dial it.
5. What a peer told while nothing was taken in, since our channel was empty and waited for its
   first handshake, is compared as soon as that is over.
6. After a session in which they agreed on all that both can judge, roots that still differ are
   compared again once one of them is another, or after `AGAIN_AFTER`.
"""

import random
from dataclasses import dataclass
from typing import Final

from sync.machine import MILLISECOND, MINUTE, SECOND, Nanos, PeerId, earlier

EVERY: Final = 30 * SECOND
"""Interval of beats, a tenth more or less."""

SOON: Final = (200 * MILLISECOND, SECOND)
"""Time after which a root is told to who came, between these."""

SETTLED_AFTER: Final = 5 * SECOND
"""Time for which our root must not have changed, for another one to count."""

BEATS: Final = 2
"""Beats in a row with another root after which a session is due."""


AGAIN_AFTER: Final = 5 * MINUTE
"""Time after which roots that rightly differ are compared again: as often as histories are."""


@dataclass(slots=True)
class _Agreed:
    """The end of a session that left roots apart; `roots` are theirs and ours at the next beat."""

    until: Nanos
    roots: tuple[bytes, bytes] | None = None


class StateBeats:
    """See the module docstring."""

    def __init__(self, me: PeerId, rng: random.Random) -> None:
        self._me = me
        self._rng = rng
        self._next: Nanos | None = None
        self._soon: Nanos | None = None
        self._new: set[PeerId] = set()
        """Peers that came and were not told ours."""
        self._differing: dict[PeerId, int] = {}
        """Beats in a row with another root, by peer; those who have just come begin with one."""
        self._dialled: set[PeerId] = set()
        """Linked peers that we dialled, and that have not dialled us since."""
        self._unshaken: set[PeerId] = set()
        """Peers with whom no handshake has told the roots since they came."""
        self._agreed: dict[PeerId, _Agreed] = {}
        self._missed: set[PeerId] = set()
        """Linked peers that told something while nothing was taken in."""
        self._root = b""
        self._changed_at: Nanos | None = None

    def deadline(self) -> Nanos | None:
        """Return when something is next to be told."""
        return earlier(self._next, self._soon)

    @property
    def peers(self) -> list[PeerId]:
        """Return who is told our root."""
        return sorted(self._differing)

    def joined(self, peer: PeerId, *, dialled: bool, again: bool) -> None:
        """A peer has a link, or one more, that we `dialled` or that it did."""
        if not dialled:
            self._dialled.discard(peer)
        elif not again:
            self._dialled.add(peer)

    def linked(self, peer: PeerId, now: Nanos) -> None:
        """A peer has come, and understands roots: it is told ours soon."""
        self._new.add(peer)
        self._unshaken.add(peer)
        self._differing[peer] = self._enough(peer) - 1 - (self._me > peer)
        self._soon = earlier(self._soon, now + self._rng.randrange(*SOON))
        if self._next is None:
            self._next = now + self._interval()

    def gone(self, peer: PeerId) -> None:
        """A peer has no link any more."""
        self._new.discard(peer)
        self._dialled.discard(peer)
        self._unshaken.discard(peer)
        self._differing.pop(peer, None)
        self._agreed.pop(peer, None)
        self._missed.discard(peer)
        if not self._differing:
            self._next = self._soon = None

    def due(self, root: bytes, now: Nanos) -> list[PeerId]:
        """Return whom to tell our root now."""
        self._note(root, now)
        if self._next is not None and now >= self._next:
            self._next, self._soon = now + self._interval(), None
            self._new.clear()
            return sorted(self._differing)
        if self._soon is not None and now >= self._soon:
            self._soon = None
            told = sorted(self._new)
            self._new.clear()
            return told
        return []

    def heard(self, peer: PeerId, theirs: bytes, root: bytes, now: Nanos) -> bool:
        """A peer told its root; return whether we begin a session."""
        self._note(root, now)
        if peer not in self._differing:
            return False
        if theirs == root:
            self._differing[peer] = 0
            return False
        if self._changed_at is not None and now - self._changed_at < SETTLED_AFTER:
            return False
        if self._is_agreed(peer, (theirs, root), now):
            self._differing[peer] = 0
            return False
        self._differing[peer] += 1
        return self._differing[peer] >= self._enough(peer)

    def handshake(self, peer: PeerId, *, differs: bool) -> bool:
        """Take note that a session's handshakes told both roots; return whether to compare them.

        That is after the first ones of a link: what was told before it, nothing else finds soon.
        """
        if peer not in self._unshaken:
            return False
        self._unshaken.remove(peer)
        self._differing[peer] = 0
        return differs

    def missed(self, peer: PeerId) -> None:
        """A peer told of something while nothing is taken in."""
        if peer in self._differing:
            self._missed.add(peer)

    def to_compare(self) -> list[PeerId]:
        """Return who told of something meanwhile, once: it is taken in again."""
        found = sorted(self._missed)
        self._missed.clear()
        return found

    def changed(self, now: Nanos) -> None:
        """Our state changes now; what its root is will be known when somebody asks for it."""
        self._changed_at, self._root = now, b""

    def agreed(self, peer: PeerId, now: Nanos) -> None:
        """A session with a peer ended in agreement, but for what one side cannot judge."""
        if peer in self._differing:
            self._agreed[peer] = _Agreed(now + AGAIN_AFTER)

    def _enough(self, peer: PeerId) -> int:
        """Return how many beats in a row with another root make us begin."""
        return BEATS + (self._me > peer and peer not in self._dialled)

    def _is_agreed(self, peer: PeerId, roots: tuple[bytes, bytes], now: Nanos) -> bool:
        agreed = self._agreed.get(peer)
        if agreed is None:
            return False
        if agreed.roots is None:
            agreed.roots = roots
        if agreed.roots == roots and now < agreed.until:
            return True
        del self._agreed[peer]
        return False

    def _note(self, root: bytes, now: Nanos) -> None:
        if root != self._root:
            if self._root:
                self._changed_at = now
            self._root = root

    def _interval(self) -> Nanos:
        return self._rng.randrange(EVERY * 9 // 10, EVERY * 11 // 10)
