"""A slow wire that all nodes share: so many bytes a second, and a queue before it.

What is sent goes in segments. The wire takes one while its queue is shorter than it may get, of the
connections that have some by turns; the rest waits at its sender, as behind a full window of TCP.
So a connection of its own has a trip of the queue's time, and a busy one may take any.
"""

from collections import deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from sync.machine import SECOND, Nanos

SEGMENT: Final = 1_400
"""Bytes of a segment at most."""

HEADERS: Final = 66
"""Bytes of a segment's headers."""


@dataclass(slots=True)
class Parcel:
    """One thing that is sent, and the bytes of it that have not left its sender."""

    rest: int
    left: Callable[[Nanos], None]
    """Is told once all has left, when it is over the wire."""


@dataclass(slots=True)
class Wire:
    """See the module docstring.

    Attributes:
        rate: bytes a second.
        most: seconds of queue it has at most, as a time.
        schedule: lets something happen at a time.
    """

    rate: int
    most: Nanos
    schedule: Callable[[Nanos, Callable[[], None]], None]
    carried: int = 0
    """Bytes it took so far, with headers."""
    _free_at: Nanos = 0
    _waiting: dict[Hashable, deque[Parcel]] = field(default_factory=dict)
    """By connection and direction, in the order of their turns."""
    _planned: bool = False

    def send(self, way: Hashable, size: int, now: Nanos, left: Callable[[Nanos], None]) -> None:
        """Send `size` bytes in one direction of a connection, behind what it has to send."""
        self._waiting.setdefault(way, deque()).append(Parcel(size, left))
        self._take(now)

    def forget(self, way: Hashable) -> None:
        """A connection is gone, with what waits there."""
        self._waiting.pop(way, None)

    def _take(self, now: Nanos) -> None:
        while self._waiting and self._free_at - now < self.most:
            way, parcels = next(iter(self._waiting.items()))
            del self._waiting[way]
            parcel = parcels[0]
            part = min(SEGMENT, parcel.rest)
            parcel.rest -= part
            if part:
                self.carried += part + HEADERS
                whole = (part + HEADERS) * SECOND // self.rate
                self._free_at = max(self._free_at, now) + whole
            if not parcel.rest:
                parcels.popleft()
                over = max(self._free_at, now)  # of no bytes, once what was before it is
                self.schedule(over, partial(parcel.left, over))
            if parcels:
                self._waiting[way] = parcels
        if self._waiting and not self._planned:
            self._planned = True
            at = self._free_at - self.most + 1
            self.schedule(at, partial(self._go_on, at))

    def _go_on(self, now: Nanos) -> None:
        self._planned = False
        self._take(now)
