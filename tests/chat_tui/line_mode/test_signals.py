"""Signals that end line mode."""

import asyncio
import os
import signal

import pytest

from chat_tui.line_mode.signals import END_SIGNALS, ending_on_signals
from tests.support.patience import PATIENCE_S


@pytest.mark.parametrize("number", END_SIGNALS)
async def test_each_of_them_ends_it_and_the_loop_looks_again(number: signal.Signals) -> None:
    ended = asyncio.Event()
    with ending_on_signals(ended.set):
        os.kill(os.getpid(), number)
        async with asyncio.timeout(PATIENCE_S):
            await ended.wait()


async def test_a_closed_terminal_is_ignored_where_the_shell_says_so() -> None:
    ended: list[str] = []
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with ending_on_signals(lambda: ended.append("ended")):
            os.kill(os.getpid(), signal.SIGHUP)
            await asyncio.sleep(0)
    finally:
        signal.signal(signal.SIGHUP, before)

    assert not ended
