"""Bytes of the pages of a snapshot: few at first, then as the receiver keeps up.

Nothing tells in advance how slow the way to a newcomer is, and who waits for a page sees nothing of
it before its last byte: on 64 kbit/s a full one takes eight seconds, and a source that sends
nothing for `sync.calimero.log.page_times.STALLED_AFTER` is given up.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Final

from sync.machine import SECOND, Nanos
from sync.sessions.sync_config import CONFIG

FIRST: Final = 2 * 1024
"""Bytes of records in the first pages, and in the smallest: four of them are two seconds of what
32 kbit/s carry, and fit in a queue of three."""

SOON: Final[Nanos] = SECOND
"""Time from sending a page until it is kept, below which the next ones are twice as large."""

AT_ONCE: Final[Nanos] = SECOND // 10
"""The same, below which they are eight times as large: on a fast network they are full after twice
as many pages as are on their way, and on a slow one none is kept as soon."""

LATE: Final[Nanos] = 4 * SECOND
"""The same, above which they are half as large."""


@dataclass(slots=True)
class PageSizes:
    """See the module docstring; told of each page that is sent, and that one more is kept."""

    most: int = FIRST
    """Bytes of records in the next page."""
    _sent_at: deque[Nanos] = field(default_factory=deque)
    """Times of the pages that are not kept yet: of those on their way, so a few."""
    _untold: int = 0
    """Of these, the first ones, which were sent before the last change and tell nothing of it."""

    def sent(self, now: Nanos) -> None:
        """Take note of a page that leaves."""
        self._sent_at.append(now)

    def kept(self, pages: int, now: Nanos) -> None:
        """Take note of so many more pages that the receiver has kept."""
        for _ in range(min(pages, len(self._sent_at))):
            took = now - self._sent_at.popleft()
            if self._untold:
                self._untold -= 1
            elif took < SOON or took > LATE:
                larger = 8 if took < AT_ONCE else 2
                most = larger * self.most if took < SOON else self.most // 2
                self.most = max(FIRST, min(most, CONFIG.snapshot_chunk_size))
                self._untold = len(self._sent_at)
