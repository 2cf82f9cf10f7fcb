"""Signals that end line mode, also where it waits for whoever reads its output."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

END_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def ending_on_signals(end: Callable[[], None]) -> Iterator[None]:
    """Have `end` called at once, wherever the program is; the event loop then looks again.

    A closed terminal is left as a person would leave, unless that is ignored, as by `nohup`.
    """
    loop = asyncio.get_running_loop()

    def handle(_number: int, _frame: FrameType | None) -> None:
        end()
        loop.call_soon_threadsafe(lambda: None)

    numbers = list(END_SIGNALS)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        numbers.remove(signal.SIGHUP)
    before = {number: signal.signal(number, handle) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
