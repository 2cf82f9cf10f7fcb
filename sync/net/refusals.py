"""Refusals per sender: what peers and addresses must not send, counted and noted in the trace."""

from collections import Counter
from typing import Final

from sync.net.clock import Clock
from sync.net.trace import Trace
from sync.view.view import Notice

SENDERS_MAX: Final = 256
"""Names kept in a count of what was refused."""


class Refusals:
    """See the module docstring."""

    def __init__(self, clock: Clock, trace: Trace) -> None:
        self.counts: Counter[str] = Counter()
        self.skipped_bytes: Counter[str] = Counter()
        """Of frames of unknown kinds; who is in it has a count too."""
        self._clock = clock
        self._trace = trace

    def refused(self, who: str, reason: str) -> None:
        """Count one bad input of a peer or an address."""
        _count(self.counts, who, 1)
        self._trace(self._clock.now(), "refused", Notice(f"{who}: {reason}"), ())

    def skipped(self, who: str, size: int) -> None:
        """Count a frame of an unknown kind, and its bytes, as bad input."""
        _count(self.skipped_bytes, who, size)
        self.refused(who, f"a frame of an unknown kind, {size} bytes, was passed over")


def _count(table: Counter[str], who: str, number: int) -> None:
    """Count something of a peer or an address; whoever has least gives way, as made-up keys do."""
    if who not in table and len(table) >= SENDERS_MAX:
        del table[min(table, key=table.__getitem__)]
    table[who] += number
