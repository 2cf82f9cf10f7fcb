"""Waits of a writer with much to say for links that take what was sent: it is slowed, not cut off.

Beyond its `OUTBOUND_MAX` a link is closed, and what it dropped has to be reconciled. Somebody who
feeds a file into the chat gets there within seconds, where a reader takes less than we send.
"""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from typing import Final
from weakref import WeakSet

from sync.errors import RemoteError
from sync.net.links.stream import SecureStream

CROWDED: Final = 64 * 1024
"""Bytes queued for a peer above which a writer waits; the system holds some megabytes more."""

PATIENCE: Final = 5.0
"""Seconds that one who reads slowly may keep a writer, until it has taken what waits for it."""


class OutboundRoom:
    """See the module docstring. Who once used up the patience keeps nobody until it has read."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._slow: WeakSet[SecureStream] = WeakSet()

    async def wait(self, streams: Iterable[SecureStream]) -> None:
        """Return when little is queued on all streams but those of slow peers."""
        crowded = []
        for stream in streams:
            if stream.outbound_bytes <= CROWDED:
                self._slow.discard(stream)
            elif stream not in self._slow:
                crowded.append(stream)
        if not crowded:
            return
        try:
            async with asyncio.timeout(self._patience), asyncio.TaskGroup() as tasks:
                for stream in crowded:
                    tasks.create_task(_drained(stream))
        except TimeoutError:
            self._slow.update(stream for stream in crowded if stream.outbound_bytes > CROWDED)


async def _drained(stream: SecureStream) -> None:
    with suppress(RemoteError):  # it is gone, and keeps nobody
        await stream.drain()
