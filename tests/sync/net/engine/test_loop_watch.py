"""The watch of an event loop: every callback counts, a rest does not."""

import asyncio
import time
from pathlib import Path

from sync.machine import MILLISECOND, SECOND
from sync.net.loop_watch import Watch, WatchedLoop, run_watched, watch_of_loop
from tests.support.sync.engines import turning

BUSY_S = 0.03


def keep() -> None:
    """Keep the loop for a while, as a paint does."""
    until = time.monotonic() + BUSY_S
    while time.monotonic() < until:
        pass


async def watched(*, begins: bool = True, left_out: bool = False) -> int:
    watch = watch_of_loop()
    if begins:
        watch.begin()
    await asyncio.sleep(0)
    asyncio.get_running_loop().call_soon(keep)
    if left_out:
        asyncio.get_running_loop().call_soon(watch.leave_out)
    await asyncio.sleep(0.1)
    return watch.longest


def test_a_callback_of_anybody_counts_and_a_rest_does_not() -> None:
    longest = run_watched(watched())

    assert longest >= BUSY_S * SECOND
    assert run_watched(asyncio.sleep(0.01, 7)) == 7


def test_nothing_counts_before_the_watch_begins_or_where_it_is_left_out() -> None:
    assert run_watched(watched(begins=False)) == 0
    assert run_watched(watched(left_out=True)) < BUSY_S * SECOND


def test_another_loop_has_a_watch_that_measures_nothing() -> None:
    assert asyncio.run(watched()) == 0


def test_the_longest_block_of_an_engine_is_also_that_of_paints(tmp_path: Path) -> None:
    async def block(place: Path) -> int:
        async with turning(place) as bench:
            asyncio.get_running_loop().call_soon(keep)
            await asyncio.sleep(0.05)
            return bench.engine.longest_block

    assert run_watched(block(tmp_path)) >= BUSY_S * SECOND


async def test_the_time_that_a_channel_is_taken_up_is_left_out() -> None:
    watch = Watch()
    watch.begin()
    watch.looked()
    watch.leave_out()
    watch.looks()

    assert watch.longest < MILLISECOND
    assert isinstance(asyncio.get_running_loop(), WatchedLoop) is False
