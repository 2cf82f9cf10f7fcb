"""Bytes of the pages of acts that peers ask for: few at first, then as each of them keeps up.

An answer is waited for `sync.group.heartbeats.PULL_FOR`, and a page counts with its last byte: a
full one needs 33 seconds at 64 kbit/s, so nobody behind such a link ever learned who is in.
"""

from collections import OrderedDict
from typing import Final

from sync.calimero.governance import limits
from sync.machine import SECOND, Nanos, PeerId

FIRST: Final = 4 * 1024
"""Bytes of acts in the first page, and in the smallest: a second of what 32 kbit/s carry. A longer
act is a page by itself."""

SOON: Final[Nanos] = SECOND
"""Time from a page until the next one is asked for, below which that is twice as large."""

LATE: Final[Nanos] = 4 * SECOND
"""The same, above which it is half as large."""

PULLS_MAX: Final = 64
"""Peers who are given pages at a time; of more, the one given longest ago begins anew."""


class ActPages:
    """See the module docstring; told of each page that is asked for and given."""

    def __init__(self) -> None:
        self._given: OrderedDict[PeerId, tuple[int, Nanos]] = OrderedDict()
        """Bytes and times of the last pages, of pulls that go on."""

    def most(self, peer: PeerId) -> int:
        """Return the most bytes of the page that a peer has asked for."""
        return min(self._given.get(peer, (FIRST, 0))[0], limits.PAGE_SIZE_MAX)

    def asked(self, peer: PeerId, now: Nanos) -> int:
        """A peer asks for a page: return the most bytes of it."""
        if peer in self._given:
            most, at = self._given[peer]
            if now - at < SOON:
                most = min(2 * most, limits.PAGE_SIZE_MAX)
            elif now - at > LATE:
                most = max(most // 2, FIRST)
            self._given[peer] = most, now
        return self.most(peer)

    def gave(self, peer: PeerId, now: Nanos, *, more: bool) -> None:
        """A page leaves; if no `more` follow, the next one is a first one again."""
        most = self.most(peer)
        self._given.pop(peer, None)
        if more:
            self._given[peer] = most, now
            if len(self._given) > PULLS_MAX:
                self._given.popitem(last=False)
