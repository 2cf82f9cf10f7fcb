"""The watch of an event loop: every callback counts, a rest does not."""

import asyncio
import gc
import selectors
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from sync.machine import HOUR, MILLISECOND, Nanos
from sync.net.engine import loop_watch
from sync.net.engine.loop_watch import Watch, WatchedLoop, run_watched, watch_of_loop
from tests.support.sync.engines import turning

BUSY: Final = 30 * MILLISECOND


class HandClock:
    """A clock that goes on by what it is told, and by an hour while a loop rests."""

    def __init__(self) -> None:
        self.shows: Nanos = 0

    def elapsed(self) -> Nanos:
        return self.shows

    def keep(self) -> None:
        """Keep the loop for a while, as a paint does."""
        self.shows += BUSY


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> HandClock:
    hand = HandClock()
    rests = selectors.DefaultSelector.select

    def rest(
        self: selectors.DefaultSelector, timeout: float | None = None
    ) -> list[tuple[selectors.SelectorKey, int]]:
        hand.shows += HOUR
        return rests(self, timeout)

    monkeypatch.setattr(loop_watch, "elapsed", hand.elapsed)
    monkeypatch.setattr(selectors.DefaultSelector, "select", rest)
    return hand


async def run_once(*callbacks: Callable[[], None]) -> None:
    """Let the loop run these, and look at what came after them."""
    for callback in callbacks:
        asyncio.get_running_loop().call_soon(callback)
    await asyncio.sleep(0)
    await asyncio.sleep(0)


async def watched(clock: HandClock, *, begins: bool = True, left_out: bool = False) -> Nanos:
    watch = watch_of_loop()
    if begins:
        watch.begin()
    await run_once()
    await run_once(clock.keep, *[watch.leave_out] * left_out)
    return watch.longest


async def seven() -> int:
    return 7


def test_a_callback_of_anybody_counts_and_a_rest_does_not(clock: HandClock) -> None:
    assert run_watched(watched(clock)) == BUSY
    assert run_watched(seven()) == 7


def test_nothing_counts_before_the_watch_begins_or_where_it_is_left_out(clock: HandClock) -> None:
    assert run_watched(watched(clock, begins=False)) == 0
    assert run_watched(watched(clock, left_out=True)) == 0


def test_another_loop_has_a_watch_that_measures_nothing(clock: HandClock) -> None:
    assert asyncio.run(watched(clock)) == 0


def test_the_longest_block_of_an_engine_is_also_that_of_paints(
    clock: HandClock, tmp_path: Path
) -> None:
    async def block(place: Path) -> Nanos:
        async with turning(place) as bench:
            await run_once(clock.keep)
            return bench.engine.longest_block

    assert run_watched(block(tmp_path)) == BUSY


async def test_the_time_that_a_channel_is_taken_up_is_left_out() -> None:
    watch = Watch()
    watch.begin()
    watch.looked()
    watch.leave_out()
    watch.looks()

    assert watch.longest < MILLISECOND
    assert isinstance(asyncio.get_running_loop(), WatchedLoop) is False


@pytest.mark.filterwarnings("error")
def test_ctrl_c_while_the_loop_is_made_ends_it_without_a_word(
    monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    """Half a loop, and a coroutine that never ran, complain once they are let go of."""
    complaints: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", complaints.append)
    pair, began = socket.socketpair, False

    def interrupted() -> tuple[socket.socket, socket.socket]:
        signal.raise_signal(signal.SIGINT)
        return pair()

    async def main() -> None:
        nonlocal began
        began = True

    monkeypatch.setattr(socket, "socketpair", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_watched(main())
    gc.collect()

    assert not began
    assert not complaints
    assert not recwarn.list
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_that_nobody_is_to_hear_is_not_heard_while_the_loop_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As with `nohup`, or where a test runs in a thread."""
    pair = socket.socketpair

    def interrupted() -> tuple[socket.socket, socket.socket]:
        signal.raise_signal(signal.SIGINT)
        return pair()

    async def main() -> str:
        return "done"

    monkeypatch.setattr(socket, "socketpair", interrupted)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert run_watched(main()) == "done"
    finally:
        signal.signal(signal.SIGINT, before)
