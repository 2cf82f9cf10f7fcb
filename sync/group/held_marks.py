"""Marks of what we hold: told to everybody now and then, so that a tick survives whoever gave it.

A mark names the newest messages that nothing here builds on. Whoever has it knows that we hold
these and their ancestors, and others pass it on with the rest of the state. It proves nothing below
a gap: with one, the named messages alone.

Rules:
1. A mark follows on what was delivered, after 5 s in which more may come, and at most one in 30 s.
2. One that would say the same as the last is not signed.
"""

from collections.abc import Iterable
from heapq import nlargest
from typing import Final

from sync.calimero.state.contents import HEADS_MAX, Held
from sync.machine import SECOND, MessageId, Nanos

COALESCED: Final = 5 * SECOND
"""Time after a message in which others may come, for one mark about all of them."""

EVERY: Final = 30 * SECOND
"""Least time between two marks."""

GAPS_MAX: Final = 2**32 - 1

ID_HEX: Final = 64


class HeldMarks:
    """Times at which we tell what we hold, and what that is; see the module docstring."""

    def __init__(self) -> None:
        self._due: Nanos | None = None
        self._told_at: Nanos | None = None
        self._told: Held | None = None
        self._count = 0

    def deadline(self) -> Nanos | None:
        """Return when a mark is due."""
        return self._due

    def grown(self, count: int, now: Nanos) -> None:
        """So many messages are delivered now."""
        if count != self._count:
            self._count = count
            self.delivered(now)

    def delivered(self, now: Nanos) -> None:
        """Something was delivered that a mark has not told."""
        if self._due is None:
            earliest = now if self._told_at is None else self._told_at + EVERY
            self._due = max(now + COALESCED, earliest)

    def due(self, tips: Iterable[tuple[int, MessageId]], gaps: int, now: Nanos) -> Held | None:
        """Return what to tell now, if it is time and there is news.

        Args:
            tips: messages that no message names, each with its Lamport time.
            gaps: messages that others name and that are not here.
            now: the machines' clock.
        """
        if self._due is None or now < self._due:
            return None
        self._due = None
        named = [one for one in tips if len(one[1]) == ID_HEX]
        heads = sorted(bytes.fromhex(head) for _, head in nlargest(HEADS_MAX, named))
        held = Held(tuple(heads), min(gaps, GAPS_MAX)) if heads else None
        if held is None or held == self._told:
            return None
        self._told, self._told_at = held, now
        return held
