"""Waits of a writer with much to say for links that take what was sent: it is slowed, not cut off.

Beyond its `OUTBOUND_MAX` a link is closed, and what it dropped has to be reconciled. Somebody who
feeds a file into the chat gets there within seconds, where a reader takes less than we send.
"""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final
from weakref import WeakSet

from sync.errors import RemoteError
from sync.machine import PeerId
from sync.net.links.stream import SecureStream

CROWDED: Final = 64 * 1024
"""Bytes queued for a peer above which a writer waits; the system holds some megabytes more."""

PATIENCE: Final = 5.0
"""Seconds that one who reads slowly may keep a writer, until it has taken what waits for it."""

REMEMBERED: Final = 60.0
"""Seconds for which new links have no patience of their own whose peer, or address of guests, has
used it up on another one."""


class OutboundRoom:
    """See the module docstring. Who once used up the patience keeps nobody until it has read.

    `is_guest` returns whether a peer shares open channels alone, for which it takes no more than a
    new key; such peers have one patience an address.
    """

    def __init__(
        self, patience: float = PATIENCE, is_guest: Callable[[PeerId], bool] = lambda _: False
    ) -> None:
        self._patience = patience
        self._is_guest = is_guest
        self._slow: WeakSet[SecureStream] = WeakSet()
        self._known: dict[str, float] = {}
        """Peers and addresses that used up the patience, and until when that is remembered."""

    async def wait(self, streams: Iterable[SecureStream]) -> None:
        """Return when little is queued on all streams but those of slow peers."""
        now = asyncio.get_running_loop().time()
        self._known = {name: until for name, until in self._known.items() if until > now}
        crowded = []
        for stream in streams:
            if stream.closed:
                continue  # which empties it, and is no reading
            if stream.outbound_bytes <= CROWDED:
                self._forgive(stream)
            elif stream in self._slow:
                continue
            elif any(name in self._known for name in self._names(stream)):
                self._slow.add(stream)
            else:
                crowded.append(stream)
        if not crowded:
            return
        try:
            async with asyncio.timeout(self._patience), asyncio.TaskGroup() as tasks:
                for stream in crowded:
                    tasks.create_task(_drained(stream))
        except TimeoutError:
            for stream in crowded:
                if stream.outbound_bytes > CROWDED:
                    self._slow.add(stream)
                    self._known |= dict.fromkeys(self._names(stream), now + REMEMBERED)

    def _forgive(self, stream: SecureStream) -> None:
        """Wait again for one who was slow and has read."""
        if stream in self._slow:
            self._slow.discard(stream)
            for name in self._names(stream):
                self._known.pop(name, None)

    def _names(self, stream: SecureStream) -> list[str]:
        """Return by what a slow peer is known on another link."""
        return [stream.peer, *([stream.remote_address[0]] if self._is_guest(stream.peer) else ())]


async def _drained(stream: SecureStream) -> None:
    with suppress(RemoteError):  # it is gone, and keeps nobody
        await stream.drain()
