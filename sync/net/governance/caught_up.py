"""Waiting for the ops of others before the first op of a run is signed.

A profile that was restored from a backup lacks ops of its own, and would sign twice with one nonce.
Nobody can keep it from signing where nobody is there: such a fork is kept, and shown.
"""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Final

from sync.machine import ChannelId

CATCH_UP_WITHIN: Final = 5.0
"""Seconds that the first act of a run waits at most: heads are told within 1 s, and asked for
within 3 s more."""

LOOK_AGAIN: Final = 0.05
"""Seconds between two looks."""


class CaughtUp:
    """Waits once a channel and run until `is_caught_up` says so."""

    def __init__(self, is_caught_up: Callable[[ChannelId], bool]) -> None:
        self._is_caught_up = is_caught_up
        self._waited: set[ChannelId] = set()

    def drop(self, channel: ChannelId) -> None:
        """Let go of a channel."""
        self._waited.discard(channel)

    async def wait(self, channel: ChannelId) -> None:
        """Return when ops of ours may be signed there."""
        if channel in self._waited:
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CATCH_UP_WITHIN):
                while not self._is_caught_up(channel):  # noqa: ASYNC110  # no machine sets events
                    await asyncio.sleep(LOOK_AGAIN)
        self._waited.add(channel)
