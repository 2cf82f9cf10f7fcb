"""Leaving as the person would when the system, or a closed terminal, asks for it."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from textual.app import App

from chat_tui.terminal.key_order import InOrder

LEAVE_SIGNALS: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)

HEARD_FOR_S: Final = 2.0
"""Time for what was typed before; a long text that came as keys takes minutes."""


def leave(app: App[Any]) -> None:
    """Leave as the person would, after what was typed before, unless that takes long."""
    app.call_later(app.action_quit)
    if isinstance(app, InOrder):
        asyncio.get_running_loop().call_later(HEARD_FOR_S, app.hear_no_more)


@contextmanager
def leaving_on_signals(app: App[Any]) -> Iterator[None]:
    """Leave as the person would when the system, or a closed terminal, asks for it."""
    loop = asyncio.get_running_loop()
    for number in LEAVE_SIGNALS:
        loop.add_signal_handler(number, leave, app)
    try:
        yield
    finally:
        for number in LEAVE_SIGNALS:
            loop.remove_signal_handler(number)
