"""The time that the pages of a snapshot are waited for, until another source is asked."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from sync.machine import SECOND, Nanos

STALLED_AFTER: Final[Nanos] = 4 * SECOND
"""Time without a page, though more are allowed, after which another peer is asked: a page takes a
source 10 ms, and nothing else of the channel is fetched meanwhile."""

SLOWER_BY: Final = 4
"""Times as long as for the slowest page so far, or the handshakes, another one is waited for, at
least: on a slow link lost segments alone take seconds, and it is not known to be slow yet."""

SLOW_AFTER: Final[Nanos] = 10 * SECOND
"""Time that is waited for pages in all before the source is too slow; and for each `PACE` bytes
that come, a second more. So a source cannot keep us from all others by a message at a time, each
just before it has stalled."""

PACE: Final = 2 * 1024
"""Bytes a second; a source that is no slower than that may take all the time of a session
(`sync.sessions.session.SESSION_WITHIN`), and so may one with 4 kbit/s once its link is known to be
slow: the part of each of ten newcomers that come at once over one wire of 64 kbit/s."""


@dataclass(slots=True)
class PageTimes:
    """See the module docstring; `grown` tells how long a limit is on this link."""

    grown: Callable[[Nanos], Nanos]
    _earned: Nanos = SLOW_AFTER
    """Time that may be waited on a fast link, see there."""
    _waited: Nanos = 0
    _slowest: Nanos = 0
    """Longest time that a page was waited for."""
    _since: Nanos | None = None
    """When we began to wait; None while nothing is waited for."""

    def expect(self, now: Nanos) -> Nanos:
        """Wait for a page from now on; returns when that has been too long."""
        self._since = now
        left = max(0, self.grown(self._earned) - self._waited)
        return now + min(self._stalled_after, left)

    def shaken(self, now: Nanos) -> None:
        """Take the time of the handshakes for that of a page: it tells how slow the way is, too."""
        if self._since is not None:
            self._slowest, self._since = now - self._since, None

    def came(self, now: Nanos) -> None:
        """Count what the page that has come was waited for, if nothing else was done."""
        if self._since is not None:
            waited, self._since = now - self._since, None
            self._waited += waited
            self._slowest = max(self._slowest, waited)

    def kept(self, size: int) -> None:
        """A page of so many bytes was sound."""
        self._earned += size * SECOND // PACE

    def stalled(self, now: Nanos) -> bool:
        """Return whether the page that is waited for is late, not all of them together."""
        return self._since is not None and now >= self._since + self._stalled_after

    @property
    def _stalled_after(self) -> Nanos:
        return max(self.grown(STALLED_AFTER), SLOWER_BY * self._slowest)
