"""Slices that share one commit, and are undone together where the disk refuses it."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path

import pytest

from storage.profile.members import Members
from storage.sqlite.journal import SqliteJournal
from sync.errors import LocalError, StorageError
from sync.group import values
from sync.machine import ChannelId, Nanos
from sync.net.engine import engine as engines
from sync.runner import input_queue
from sync.runner.batch import BATCH_MAX, Batch
from sync.runner.runner import Runner
from tests.support.storage.exports import ELSEWHERE
from tests.support.storage.stores import OWN_LOG, membership
from tests.support.sync.engines import SLICE_INPUTS, STEP, Bench, turning
from tests.support.sync.entries import CHANNEL

LINES = 100


@pytest.fixture(autouse=True)
def _soon_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that refused is asked again at once."""
    monkeypatch.setattr(engines, "DISK_RETRY", (0.001, 0.001))


async def test_a_line_by_itself_is_committed_at_once(tmp_path: Path) -> None:
    async with turning(tmp_path) as bench:
        for number in range(3):
            await bench.write(f"line {number}")

        assert bench.journal.commits == [1, 1, 1]


async def test_a_line_goes_to_the_disk_before_anything_else_has_a_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = 0
    handled: list[int] = []
    asked: list[int] = []
    turn, commit = Runner.turn, SqliteJournal.commit

    def count() -> None:
        nonlocal turns
        turns += 1
        asyncio.get_running_loop().call_soon(count)

    def handles(runner: Runner, now: Nanos, enough: Callable[[], bool], batch: Batch) -> Batch:
        if runner.has_own:
            handled.append(turns)
        return turn(runner, now, enough, batch)

    def commits(
        journal: SqliteJournal, records: Sequence[values.Record]
    ) -> Coroutine[None, None, list[values.Altered]]:
        asked.append(turns)
        return commit(journal, records)

    async with turning(tmp_path) as bench:
        monkeypatch.setattr(Runner, "turn", handles)
        monkeypatch.setattr(SqliteJournal, "commit", commits)
        count()
        await bench.write("mine")

        assert handled == asked
        assert turns > asked[0], "others had turns afterwards"


async def test_slices_of_what_waits_are_one_commit_and_the_loop_turns_between_them(
    tmp_path: Path,
) -> None:
    async with turning(tmp_path) as bench:
        waited: list[int] = []

        async def look() -> None:
            while not bench.journal.commits:
                waited.append(bench.engine.runner.waiting)
                await asyncio.sleep(0)

        looking = asyncio.create_task(look())
        await bench.write(*[f"line {number}" for number in range(2 * SLICE_INPUTS)])
        await looking

        assert bench.journal.commits == [2 * SLICE_INPUTS]
        assert SLICE_INPUTS in waited, "the loop turned between the slices"


async def test_slices_are_short_for_a_moment_after_a_key(tmp_path: Path) -> None:
    async def waited(bench: Bench) -> list[int]:
        seen: list[int] = []
        before = len(bench.journal.commits)

        async def look() -> None:
            while len(bench.journal.commits) == before:
                seen.append(bench.engine.runner.waiting)
                await asyncio.sleep(0)

        looking = asyncio.create_task(look())
        await bench.write(*[f"line {number}" for number in range(2 * SLICE_INPUTS)])
        await looking
        return seen

    async with turning(tmp_path) as bench:
        bench.engine.keys.hurry()
        hurried = await waited(bench)
        while bench.engine.keys.is_hurried:
            pass
        await bench.engine.settled()
        at_rest = await waited(bench)

        assert 2 * SLICE_INPUTS - 1 in hurried, "one line a slice"
        assert 2 * SLICE_INPUTS - 1 not in at_rest


async def test_a_group_ends_in_time_and_keeps_the_order(tmp_path: Path) -> None:
    async with turning(tmp_path) as bench:
        written = await bench.write(*[f"line {number}" for number in range(LINES)])

        assert sum(bench.journal.commits) == LINES
        assert SLICE_INPUTS < max(bench.journal.commits) <= engines.GROUP // STEP
        assert (await bench.stored())[1:] == written
        assert [text.rpartition("line ")[2] for text in bench.released.texts] == [
            str(number) for number in range(LINES)
        ]


async def test_what_a_commit_allows_is_let_out_in_slices_and_logged_once(tmp_path: Path) -> None:
    async with turning(tmp_path) as bench:
        bench.released.sent.clear()
        bench.released.flushed.clear()
        await bench.write(*[f"line {number}" for number in range(2 * SLICE_INPUTS)])
        await bench.engine.settled()

        assert bench.journal.commits == [2 * SLICE_INPUTS]
        assert 0 < bench.released.sent[0] < 2 * SLICE_INPUTS
        assert set(bench.released.flushed) == {2 * SLICE_INPUTS}


async def test_a_group_has_so_many_inputs_at_most(tmp_path: Path) -> None:
    async with turning(tmp_path, step=1) as bench:
        await bench.write(*[f"line {number}" for number in range(BATCH_MAX + 5)])

        assert bench.journal.commits == [BATCH_MAX, 5]


@pytest.mark.parametrize("slices", [1, 2, 3])
async def test_a_group_that_the_disk_refuses_has_not_happened_however_many_slices_it_had(
    slices: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "GROUP", slices * engines.GROUP)  # this clock reads slowly
    async with turning(tmp_path) as bench:
        before = await bench.stored()
        bench.journal.refusals = 1

        lost = await bench.write(*[f"lost {number}" for number in range(slices * SLICE_INPUTS)])

        assert bench.journal.commits == []
        assert all(isinstance(one, StorageError) for one in lost), "each writer is told"
        assert bench.released.texts == []
        assert bench.released.notices == ["The disk is full."]
        assert await bench.stored() == before

        written = await bench.write(*[f"line {number}" for number in range(slices * SLICE_INPUTS)])
        assert await bench.stored() == [*before, *written]
        state = await bench.journal.restore(CHANNEL)
        assert len(state.own_log) == 1 + len(written), "the log has no hole where lines were lost"


async def test_what_waits_behind_a_refused_group_is_written_after_it(tmp_path: Path) -> None:
    async with turning(tmp_path) as bench:
        before = await bench.stored()
        bench.journal.refusals = 1

        ends = await bench.write(*[f"line {number}" for number in range(LINES)])

        lost = [one for one in ends if isinstance(one, StorageError)]
        written = ends[len(lost) :]
        assert SLICE_INPUTS < len(lost) <= engines.GROUP // STEP
        assert not any(isinstance(one, BaseException) for one in written)
        assert await bench.stored() == [*before, *written]


async def test_lines_that_are_waited_for_together_each_have_an_end_in_order(tmp_path: Path) -> None:
    async with turning(tmp_path) as bench:
        before = await bench.stored()
        bench.journal.refusals = 1

        ends = await bench.write_together(*[f"line {number}" for number in range(LINES)])

        assert len(ends) == LINES
        lost = [one for one in ends if isinstance(one, StorageError)]
        written = ends[len(lost) :]
        assert SLICE_INPUTS < len(lost) < LINES
        assert await bench.stored() == [*before, *written]
        assert await bench.write_together() == []


async def test_lines_for_which_there_is_no_room_are_refused_and_the_others_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(input_queue, "QUEUE_MAX", SLICE_INPUTS)
    async with turning(tmp_path) as bench:
        ends = await bench.write_together(*[f"line {number}" for number in range(LINES)])

        refused = [one for one in ends if isinstance(one, LocalError)]
        assert refused == list(ends[SLICE_INPUTS:])
        assert (await bench.stored())[1:] == list(ends[:SLICE_INPUTS])


class RefusedSwap:
    """A swap with a line of ours beside it, which the disk refuses."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._line: asyncio.Task[object] | None = None

    async def go_on(self, _is_awaited: Callable[[], bool]) -> bool:
        if self._line is None:
            self._bench.journal.refusals = 1
            self._line = asyncio.create_task(self._bench.write("refused"))
            while not self._bench.engine.runner.has_own:  # noqa: ASYNC110  # no event tells it
                await asyncio.sleep(0)
        return False


async def test_swaps_are_left_to_the_machines_that_an_undone_commit_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    swapped: list[ChannelId] = []
    async with turning(tmp_path) as bench:
        other = membership(ELSEWHERE, "elsewhere")
        await Members(bench.journal._database).add_channel(other, OWN_LOG)
        bench.engine.runner.add_channel(other, await bench.journal.restore(ELSEWHERE))

        def swap(channel: ChannelId, _replay: object) -> RefusedSwap:
            swapped.append(channel)
            return RefusedSwap(bench)

        def turn(runner: Runner, now: Nanos, enough: Callable[[], bool], batch: Batch) -> Batch:
            monkeypatch.setattr(Runner, "turn", whole)
            whole(runner, now, enough, batch).swaps += [CHANNEL, ELSEWHERE]
            return batch

        whole = Runner.turn
        monkeypatch.setattr(bench.journal, "swap", swap)
        monkeypatch.setattr(Runner, "turn", turn)
        await bench.write("with it")
        [written] = await bench.write("after it")

    assert not isinstance(written, BaseException)
    assert swapped == [CHANNEL]
