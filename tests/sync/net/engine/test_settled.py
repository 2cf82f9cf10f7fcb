"""Settled is an engine once what was fed before is released; nobody waits for what comes later."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from storage.sqlite.journal import SqliteJournal
from sync.entries.entry import Kind, Text, encode_text
from sync.errors import LocalError
from sync.group import values
from tests.support.patience import PATIENCE_S
from tests.support.sync.engines import Bench, turning
from tests.support.sync.entries import CHANNEL, Author
from tests.support.sync.nodes import until


async def flood(bench: Bench, author: Author) -> None:
    """Feed garbage as a link does, as fast as the engine takes it."""
    while True:
        bench.engine.queue_input(CHANNEL, values.Arrived(author.peer_id, b"garbage"))
        await bench.engine.breathe(author.peer_id)
        await asyncio.sleep(0)


async def test_a_flood_keeps_nobody_from_settling(tmp_path: Path) -> None:
    async with turning(tmp_path) as bench:
        bench.released.refusals = []
        floods = [asyncio.create_task(flood(bench, Author(f"eve {at}"))) for at in range(3)]
        refusals = bench.released.refusals
        await until(lambda: len(refusals) >= 100, "the flood is on")
        bench.hear(Author("bob").write("before"))

        async with asyncio.timeout(PATIENCE_S):
            await bench.engine.settled()

        assert "before" in bench.released.texts[-1]
        assert bench.engine.runner.busy, "more has come meanwhile"
        for one in floods:
            one.cancel()


async def test_it_is_not_settled_before_what_is_being_committed_is_released(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, goes_on = asyncio.Event(), asyncio.Event()
    commit = SqliteJournal.commit

    async def slow(
        journal: SqliteJournal, records: Sequence[values.Record]
    ) -> list[values.Altered]:
        begun.set()
        await goes_on.wait()
        return await commit(journal, records)

    async with turning(tmp_path) as bench:
        monkeypatch.setattr(SqliteJournal, "commit", slow)
        bench.hear(Author("bob").write("slow"))
        await begun.wait()
        assert not bench.engine.runner.busy
        settled = asyncio.create_task(bench.engine.settled())
        for _ in range(10):
            await asyncio.sleep(0)
        assert not settled.done()
        assert bench.released.texts == []
        goes_on.set()

        async with asyncio.timeout(PATIENCE_S):
            await settled

        assert "slow" in bench.released.texts[-1]


async def test_a_line_that_waits_while_its_channel_is_left_is_refused(tmp_path: Path) -> None:
    async with turning(tmp_path) as bench:
        body = encode_text(Text("me", "late"))
        line = asyncio.create_task(bench.engine.submit(CHANNEL, Kind.TEXT, body))
        await asyncio.sleep(0)  # it is queued, and the engine has had no turn yet
        assert bench.engine.runner.has_own
        bench.engine.runner.remove_channel(CHANNEL, bench.engine._clock.now())

        async with asyncio.timeout(PATIENCE_S):
            with pytest.raises(LocalError, match="You are not in that channel"):
                await line
            await bench.engine.settled()


async def test_machines_made_anew_keep_the_loop_in_sight_of_a_person(tmp_path: Path) -> None:
    async with turning(tmp_path) as bench:
        await bench.engine.settled()
        bench.engine.longest_slice = 0
        left_out = 0

        def leave_out() -> None:
            nonlocal left_out
            left_out += 1

        bench.engine._watch.leave_out = leave_out  # type: ignore[method-assign]
        bench.engine.begin_anew()
        bench.hear(Author("bob").write("after it"))

        async with asyncio.timeout(PATIENCE_S):
            await bench.engine.settled()

        assert "after it" in bench.released.texts[-1]
        assert left_out == 0
        assert bench.engine.longest_slice > 0
