"""Full garbage collections in quiet moments, where nobody waits for the event loop meanwhile."""

import asyncio
import gc
import time
from typing import Final

LOOK_S: Final = 30.0
"""Seconds between two looks."""

QUIET_S: Final = LOOK_S / 4
"""Seconds of processor time between two looks, below which little happens: a history that arrives
takes four times that, a full screen on which people talk a third."""

WORTH: Final = 20
"""Middle collections since the last full one, from which on there may be much to find: 300,000
objects have been made that are still there, or hang together in cycles that nobody uses."""


class QuietCollections:
    """Collects what the rare full collections of `chat_tui.client.gc_policy` would leave for days.

    Screens, connections and tasks are cycles that have lived too long to be found by the others.
    """

    def __init__(self) -> None:
        self._used_s = 0.0

    def look(self, used_s: float) -> None:
        """Collect if it is worth it, and little happened since the last look.

        Args:
            used_s: processor time that the program has used so far, in seconds.
        """
        is_quiet = used_s - self._used_s < QUIET_S
        self._used_s = used_s
        if is_quiet and gc.get_count()[2] >= WORTH:
            gc.collect()

    async def look_forever(self) -> None:
        """Look every half a minute, until cancelled."""
        while True:
            await asyncio.sleep(LOOK_S)
            self.look(time.process_time())
