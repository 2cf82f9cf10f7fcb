"""Pages of snapshots, checked on a thread of their own: signatures take much of a newcomer's time.

libsodium lets go of the interpreter's lock while it verifies, so the event loop does not wait.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final, TypeAlias

from sync.group.ingest import Gate
from sync.group.snapshots.checks import checked_page
from sync.group.values import CheckPage, PageChecked, SessionId
from sync.machine import ChannelId, PeerId

THREADS: Final = 1
"""Pages checked at once. Two took 16.7 s of processor time for 100,000 entries and 17 s in all, one
15 and 16: they wait for each other to decode, and what is left is the event loop's."""

Key: TypeAlias = tuple[ChannelId, SessionId]
Feed: TypeAlias = Callable[[ChannelId, PageChecked], None]


class PageChecks:
    """Checks of all channels for `me`; `feed` gets the outcomes, those of a session in order.

    The thread calls `stand_aside` before each entry, and waits in it for the loop.

    A session asks for the next check only once it has few outcomes to wait for, so no more pages
    are in memory than `sync.calimero.log.snapshot` allows.
    """

    def __init__(self, me: PeerId, feed: Feed, stand_aside: Callable[[], None]) -> None:
        self._me, self._feed, self._stand_aside = me, feed, stand_aside
        self._threads: ThreadPoolExecutor | None = None
        """Made for the first page: most nodes never check one."""
        self._waiting: dict[Key, deque[asyncio.Future[PageChecked]]] = {}
        self._closed = False

    def check(self, gate: Gate, wanted: CheckPage) -> None:
        """Have a page of a channel checked, and feed what comes of it after those before.

        While we say goodbye pages may still come: they are left where they are.
        """
        if self._closed:
            return
        if self._threads is None:
            self._threads = ThreadPoolExecutor(THREADS, "page check")
        loop = asyncio.get_running_loop()
        check = partial(checked_page, gate, self._me, wanted, self._stand_aside)
        outcome = loop.run_in_executor(self._threads, check)
        key = (gate.channel, wanted.session)
        self._waiting.setdefault(key, deque()).append(outcome)
        outcome.add_done_callback(lambda _: self._pass_on(key))

    def close(self) -> None:
        """Check nothing more, and feed nothing more."""
        self._closed = True
        self._waiting.clear()
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)

    def _pass_on(self, key: Key) -> None:
        """Feed what is known now, as far as nothing before it is still being checked."""
        waiting = self._waiting.get(key, deque())
        while waiting and waiting[0].done():
            outcome = waiting.popleft()
            if not outcome.cancelled():
                self._feed(key[0], outcome.result())
        if not waiting:
            self._waiting.pop(key, None)
