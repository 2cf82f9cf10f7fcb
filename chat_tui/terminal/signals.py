"""Leaving as the person would when the system, or a closed terminal, asks for it."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from textual.app import App

LEAVE_SIGNALS: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


@contextmanager
def leaving_on_signals(app: App[Any]) -> Iterator[None]:
    """Leave as the person would when the system, or a closed terminal, asks for it."""
    loop = asyncio.get_running_loop()
    for number in LEAVE_SIGNALS:
        loop.add_signal_handler(number, app.call_later, app.action_quit)
    try:
        yield
    finally:
        for number in LEAVE_SIGNALS:
            loop.remove_signal_handler(number)
