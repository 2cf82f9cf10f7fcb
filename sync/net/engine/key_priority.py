"""Keys before the engine: what a person types is on the screen before the loop does other work.

A key takes several turns of the loop until it is painted, and each may be kept by a slice of the
engine, or by a thread that has Python's lock. So slices are short while somebody types, and while a
key is on its way there is none, and threads stand aside.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterable
from typing import Final, TypeVar

from sync.machine import MILLISECOND, Nanos
from sync.net.clock import Clock

T = TypeVar("T")

SLICE: Final[Nanos] = 10 * MILLISECOND
"""Time for which the engine keeps the loop."""

HURRIED_SLICE: Final[Nanos] = 3 * MILLISECOND
"""The same while somebody types."""

HURRY_FOR: Final[Nanos] = 500 * MILLISECOND
"""Time after a key in which another one may come."""

KEY_WITHIN_S: Final = 0.01
"""Longest time for which one key holds the engine; at rest it is painted in a third of that."""


class KeyPriority:
    """See the module docstring; it is told of keys, and asked by an engine."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._hurried_until: Nanos = 0
        self._shown = asyncio.Event()
        self._shown.set()
        self._free = threading.Event()
        self._free.set()
        """Set when `_shown` is, for threads."""
        self._patience: asyncio.TimerHandle | None = None

    def hurry(self) -> None:
        """Make slices short for a moment: somebody types."""
        self._hurried_until = self._clock.now() + HURRY_FOR

    def key_came(self) -> None:
        """A key is on its way to the screen: nothing is to keep the loop until it is there.

        Where one comes right behind another, what waits for that goes on: keys without end hold the
        engine up, and do not stop it.
        """
        self.key_shown()
        self._shown.clear()
        self._free.clear()
        self._patience = asyncio.get_running_loop().call_later(KEY_WITHIN_S, self._go_on)

    def key_shown(self) -> None:
        """It is there, or something else has come that is to be done at once."""
        self._go_on()
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _go_on(self) -> None:
        self._shown.set()
        self._free.set()

    @property
    def is_hurried(self) -> bool:
        """True while somebody types."""
        return self._clock.now() < self._hurried_until

    def is_spent(self, began: Nanos) -> bool:
        """Return whether a slice that began then is over."""
        now = self._clock.now()
        return now - began > (HURRIED_SLICE if now < self._hurried_until else SLICE)

    async def breathe(self) -> None:
        """Leave the loop to others for a turn, and as long as a key is on its way."""
        await asyncio.sleep(0)
        if not self._shown.is_set():
            await self._shown.wait()

    async def in_slices(self, items: Iterable[T]) -> AsyncIterator[T]:
        """Yield items, with a breath whenever a slice is over."""
        began = self._clock.now()
        for item in items:
            yield item
            if self.is_spent(began):
                await self.breathe()
                began = self._clock.now()

    def stand_aside(self) -> None:
        """Wait, in a thread that computes, while a key is on its way."""
        if not self._free.is_set():
            self._free.wait(KEY_WITHIN_S)
