"""Bytes of the pages of acts that peers ask for: few at first, then as each of them keeps up.

An answer is waited for `sync.group.heartbeats.PULL_FOR`, and a page counts with its last byte: a
full one needs 33 seconds at 64 kbit/s, so nobody behind such a link ever learned who is in.
"""

from collections import OrderedDict
from hashlib import sha256
from typing import Final, NamedTuple

from sync.calimero.governance import limits
from sync.calimero.governance.ops import OpId
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


class Given(NamedTuple):
    """The last page of a pull that goes on."""

    most: int
    at: Nanos
    asked: bytes
    """Hash of the heads of whoever asked for it, which may be thousands."""


class ActPages:
    """See the module docstring; told of each page that is asked for and given."""

    def __init__(self) -> None:
        self._given: OrderedDict[PeerId, Given] = OrderedDict()
        """Of each peer, unless it has had its last page."""

    def most(self, peer: PeerId) -> int:
        """Return the most bytes of the page that a peer has asked for."""
        most = self._given[peer].most if peer in self._given else FIRST
        return min(most, limits.PAGE_SIZE_MAX)

    def asked(self, peer: PeerId, known: tuple[OpId, ...], now: Nanos, *, strange: bool) -> int:
        """A peer asks for a page: return the most bytes of it.

        A page that brings nothing new ends a pull, so it is full where it begins with much that is
        known there: for `strange` heads, which say nothing of what is. Where the one before brought
        nothing, it is larger.
        """
        heads = sha256(b"".join(known)).digest()
        most, at, before = self._given.get(peer, Given(FIRST, now - SOON, b""))
        if strange:
            most = limits.PAGE_SIZE_MAX
        elif heads == before or now - at < SOON:
            most = min(2 * most, limits.PAGE_SIZE_MAX)
        elif now - at > LATE:
            most = max(most // 2, FIRST)
        self._note(peer, Given(most, now, heads))
        return self.most(peer)

    def gave(self, peer: PeerId, now: Nanos, *, more: bool) -> None:
        """A page leaves; if no `more` follow, the next one is a first one again."""
        given = self._given.pop(peer, None)
        if more and given is not None:
            self._note(peer, given._replace(at=now))

    def _note(self, peer: PeerId, given: Given) -> None:
        self._given.pop(peer, None)
        self._given[peer] = given
        if len(self._given) > PULLS_MAX:
            self._given.popitem(last=False)
