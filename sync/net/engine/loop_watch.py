"""An event loop that knows for how long it was kept from keys and the network.

From the moment it has looked at what came until it looks again it runs callbacks: machines, paints,
whatever is due. What comes meanwhile waits for all of them.
"""

import asyncio
import selectors
import signal
import threading
from collections.abc import Coroutine, Iterator
from contextlib import closing, contextmanager
from types import FrameType
from typing import Any, TypeVar

from sync.machine import Nanos
from sync.net.clock import elapsed

T = TypeVar("T")


class Watch:
    """The longest time for which a loop was kept, from `begin` on."""

    def __init__(self) -> None:
        self.longest: Nanos = 0
        self._since: Nanos | None = None
        self._watching = False

    def begin(self) -> None:
        """Measure from now on, from the next look at what came: before, nobody waited."""
        self._watching = True
        self.leave_out()

    def leave_out(self) -> None:
        """Leave out what the loop runs now."""
        self._since = None

    def looks(self) -> None:
        """Take note that the loop is about to look at what came."""
        if self._since is not None:
            self.longest = max(self.longest, elapsed() - self._since)

    def looked(self) -> None:
        """Take note that the loop has looked, and runs callbacks from now on."""
        if self._watching:
            self._since = elapsed()


class _Selector(selectors.DefaultSelector):
    """Tells a watch when it is asked."""

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self._watch = watch

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self._watch.looks()
        ready = super().select(timeout)
        self._watch.looked()
        return ready


class WatchedLoop(asyncio.SelectorEventLoop):
    """The usual loop, with a watch."""

    def __init__(self) -> None:
        self.watch = Watch()
        super().__init__(_Selector(self.watch))


def watch_of_loop() -> Watch:
    """Return the watch of the running loop; one that measures nothing, if that has none."""
    loop = asyncio.get_running_loop()
    return loop.watch if isinstance(loop, WatchedLoop) else Watch()


def run_watched(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine as `asyncio.run` does, in a loop with a watch.

    Raises:
        KeyboardInterrupt: somebody pressed Ctrl+C; before `main` began, nothing of it was done.
    """
    runner = asyncio.Runner(loop_factory=WatchedLoop)
    with closing(main), closing(runner):  # one that never ran complains when it is let go of
        with _interrupts_wait():
            runner.get_loop()
        return runner.run(main)


@contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Have Ctrl+C wait for the end of the block: a half-made loop complains when it is let go of.

    Only where it would raise an error: elsewhere somebody else listens, or nobody is to.
    """
    listens = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not listens or threading.current_thread() is not threading.main_thread():
        yield
        return
    came = False

    def note(_number: int, _frame: FrameType | None) -> None:
        nonlocal came
        came = True

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if came:
        raise KeyboardInterrupt
