"""Keys before the engine: it takes no slice while one is on its way, and waits for none long."""

import asyncio
from pathlib import Path

import pytest

from sync.machine import MessageId
from sync.net.clock import Clock
from sync.net.engine import key_priority
from tests.support.sync.engines import SLICE_INPUTS, Bench, turning

TURNS = 50
LONG_S = 60.0
SHORT_S = 0.001
LINES = [f"line {number}" for number in range(3 * SLICE_INPUTS)]


async def turns() -> None:
    for _ in range(TURNS):
        await asyncio.sleep(0)


async def writing_while_a_key_comes(
    bench: Bench,
) -> "asyncio.Task[list[MessageId | BaseException]]":
    """Begin to write lines behind a key, and let the loop turn."""
    await bench.engine.settled()
    bench.engine.keys.key_came()
    writing = asyncio.create_task(bench.write(*LINES))
    await turns()
    return writing


async def test_no_slice_keeps_the_loop_from_a_key_on_its_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_priority, "KEY_WITHIN_S", LONG_S)
    async with turning(tmp_path) as bench:
        writing = await writing_while_a_key_comes(bench)
        waiting = bench.engine.runner.waiting
        bench.engine.keys.key_shown()
        await writing

        assert waiting == 2 * SLICE_INPUTS, "the slice that was begun is all"
        assert sum(bench.journal.commits) == len(LINES)


async def test_keys_right_behind_each_other_let_a_slice_through_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_priority, "KEY_WITHIN_S", LONG_S)
    async with turning(tmp_path) as bench:
        writing = await writing_while_a_key_comes(bench)
        bench.engine.keys.key_came()
        await turns()
        waiting = bench.engine.runner.waiting
        bench.engine.keys.key_shown()
        await writing

        assert waiting == SLICE_INPUTS


async def test_a_key_that_is_never_shown_is_waited_for_a_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_priority, "KEY_WITHIN_S", SHORT_S)
    async with turning(tmp_path) as bench:
        await bench.engine.settled()
        bench.engine.keys.key_came()
        await bench.write(*LINES)

        assert sum(bench.journal.commits) == len(LINES)


async def test_a_key_that_was_shown_leaves_the_next_one_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with turning(tmp_path) as bench:
        await bench.engine.settled()
        monkeypatch.setattr(key_priority, "KEY_WITHIN_S", SHORT_S)
        bench.engine.keys.key_came()
        first = bench.engine.keys._patience
        monkeypatch.setattr(key_priority, "KEY_WITHIN_S", LONG_S)
        bench.engine.keys.key_shown()
        bench.engine.keys.key_came()

        assert first is not None
        assert first.cancelled(), "the time of the first key ends nothing"
        bench.engine.keys.key_shown()


async def test_between_two_slices_a_key_on_its_way_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(key_priority, "KEY_WITHIN_S", LONG_S)
    monkeypatch.setattr(key_priority.KeyPriority, "is_spent", lambda _keys, _began: True)
    keys, done = key_priority.KeyPriority(Clock()), list[int]()

    async def work() -> None:
        async for item in keys.in_slices(range(3)):
            done.append(item)

    keys.key_came()
    working = asyncio.create_task(work())
    await turns()
    before = list(done)
    keys.key_shown()
    await working

    assert before == [0]
    assert done == [0, 1, 2]
