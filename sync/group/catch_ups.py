"""Pulls of governance ops, ours and those of peers, the latest ones: they are shown, not used."""

from collections import deque
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from sync.machine import Nanos, PeerId

SHOWN_MAX: Final = 8
"""Pulls that are remembered, running and over: as many as anybody looks at."""


class CatchUp(Struct, frozen=True):
    """One pull of ops.

    Attributes:
        peer: who was asked, or who asks.
        asked: whether we ask.
        began_at: the time of the first request.
        ended_at: the time of its last page; None while more are awaited, or if none came.
        pages: pages so far.
        ops: ops in them.
        new: ops among these that were taken in here.
        size: bytes of the pages.
    """

    peer: PeerId
    asked: bool
    began_at: Nanos
    ended_at: Nanos | None = None
    pages: int = 0
    ops: int = 0
    new: int = 0
    size: int = 0


class CatchUps:
    """The latest pulls of a channel."""

    def __init__(self) -> None:
        self._latest: deque[CatchUp] = deque(maxlen=SHOWN_MAX)

    def latest(self) -> tuple[CatchUp, ...]:
        """Return the pulls that are remembered, the newest first."""
        return tuple(reversed(self._latest))

    def began(self, peer: PeerId, now: Nanos) -> None:
        """We ask a peer."""
        self._latest.append(CatchUp(peer, asked=True, began_at=now))

    def unanswered(self, peer: PeerId, now: Nanos) -> None:
        """A peer that we ask gives nothing, or nothing more."""
        running = self._running(peer, asked=True)
        if running is not None:
            self._latest[running] = replace(self._latest[running], ended_at=now)

    def page(self, peer: PeerId, now: Nanos, *, ops: int, new: int, size: int, last: bool) -> None:
        """A page of a peer that we ask came."""
        self._add(peer, now, asked=True, ops=ops, new=new, size=size, last=last)

    def gave(self, peer: PeerId, now: Nanos, *, ops: int, size: int, last: bool) -> None:
        """We gave a page to a peer that asks."""
        self._add(peer, now, asked=False, ops=ops, new=0, size=size, last=last)

    def _add(  # noqa: PLR0913  # what there is to count of a page
        self, peer: PeerId, now: Nanos, *, asked: bool, ops: int, new: int, size: int, last: bool
    ) -> None:
        running = self._running(peer, asked=asked)
        if running is None:
            self._latest.append(CatchUp(peer, asked, now))
            running = len(self._latest) - 1
        one = self._latest[running]
        self._latest[running] = replace(
            one,
            ended_at=now if last else None,
            pages=one.pages + 1,
            ops=one.ops + ops,
            new=one.new + new,
            size=one.size + size,
        )

    def _running(self, peer: PeerId, *, asked: bool) -> int | None:
        """Return the place of the newest pull with a peer that is not over."""
        for place in range(len(self._latest) - 1, -1, -1):
            one = self._latest[place]
            if one.peer == peer and one.asked is asked and one.ended_at is None:
                return place
        return None
