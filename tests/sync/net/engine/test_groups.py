"""Slices that share one commit, and are undone together where the disk refuses it."""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from storage.sqlite.journal import SqliteJournal
from sync.entries.entry import Kind, Text, encode_text
from sync.entries.identity import verify
from sync.errors import StorageError
from sync.group import values
from sync.group.writer import Author
from sync.machine import MILLISECOND, ChannelId, MessageId, Nanos, PeerId
from sync.manager.registry import WAKU_ONLY
from sync.net import engine as engines
from sync.net.clock import Clock
from sync.net.engine import Engine
from sync.runner.journal import Loaded
from sync.runner.runner import BATCH_MAX, Runner
from sync.view.view import Notice
from tests.support.patience import PATIENCE_S
from tests.support.storage.stores import ME, membership, opened
from tests.support.sync.entries import CHANNEL, identity

STEP: Nanos = 4 * MILLISECOND
SLICE_INPUTS = 3
"""As many steps of the clock are more than a slice."""

LINES = 100


class SteppingClock(Clock):
    """A clock that goes on by `step` whenever it is read."""

    def __init__(self, step: Nanos = STEP) -> None:
        super().__init__()
        self._step, self._now = step, self.anchor

    def now(self) -> Nanos:
        self._now += self._step
        return self._now


class Journal(SqliteJournal):
    """The journal over a disk that can refuse; notes how many messages each commit had."""

    def __init__(self, journal: SqliteJournal) -> None:
        super().__init__(journal._database, ME)
        self.commits: list[int] = []
        self.refusals = 0

    async def commit(self, records: Sequence[values.Record]) -> list[values.Altered]:
        if self.refusals:
            self.refusals -= 1
            raise StorageError("The disk is full.")
        self.commits.append(sum(isinstance(one, values.StoreMessage) for one in records))
        return await super().commit(records)


@dataclass
class Released:
    """Notes what the engine lets out, as a node's outlet takes it."""

    engine: Engine | None = None
    texts: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    def carry_out(
        self, _channel: ChannelId, effect: values.Effect, _loaded: dict[MessageId, Loaded]
    ) -> None:
        assert self.engine is not None
        match effect:
            case values.Written(token, message_id):
                self.engine.written(token, message_id)
            case values.Deliver(_, entry) if entry is not None:
                self.texts.append(entry.body.decode(errors="replace"))
            case _:
                pass

    def announce(self, peer: PeerId, payload: bytes) -> None:
        pass

    def flush(self) -> None:
        pass

    def refused(self, who: str, reason: str) -> None:
        raise AssertionError(f"{who}: {reason}")

    def notify(self, notice: Notice) -> None:
        self.notices.append(notice.text)

    def begin_anew(self) -> None:
        pass

    def begin_anew_in(self, channel: ChannelId) -> None:
        pass

    def staged(self, record: values.StageSnapshot | values.DropSnapshot) -> None:
        pass

    def swapped(self, channel: ChannelId) -> None:
        pass


@dataclass
class Bench:
    """An engine over a real disk, which turns."""

    engine: Engine
    journal: Journal
    released: Released

    async def write(self, *texts: str) -> list[MessageId | BaseException]:
        """Write lines that all wait at once; returns what became of each."""
        lines = [self.engine.submit(CHANNEL, Kind.TEXT, _body(text)) for text in texts]
        async with asyncio.timeout(PATIENCE_S):
            return await asyncio.gather(*lines, return_exceptions=True)

    async def stored(self) -> list[MessageId]:
        """Return the ids on the disk, in the order of the channel."""
        page = await self.journal.newest_page(CHANNEL, None, 1 << 20)
        return [one.message_id for one in reversed(page.entries)]


def _body(text: str) -> bytes:
    return encode_text(Text("me", text))


@asynccontextmanager
async def turning(
    place: Path, monkeypatch: pytest.MonkeyPatch, step: Nanos = STEP
) -> AsyncIterator[Bench]:
    monkeypatch.setattr(engines, "DISK_RETRY", (0.001, 0.001))
    me, clock = identity("me"), SteppingClock(step)
    async with opened(place / "history.db") as store:
        runner = Runner(
            Author(me.peer_id, me.sign, verify, lambda: 2), random.Random(0), protocols=WAKU_ONLY
        )
        journal, released = Journal(store.journal), Released()
        runner.add_channel(membership(), await journal.restore(CHANNEL))
        engine = released.engine = Engine(runner, journal, clock, released)
        task = asyncio.create_task(engine.turn_forever())
        bench = Bench(engine, journal, released)
        await bench.write("the first")
        journal.commits.clear()
        released.texts.clear()
        try:
            yield bench
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def test_a_line_by_itself_is_committed_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with turning(tmp_path, monkeypatch) as bench:
        for number in range(3):
            await bench.write(f"line {number}")

        assert bench.journal.commits == [1, 1, 1]


async def test_slices_of_what_waits_are_one_commit_and_the_loop_turns_between_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with turning(tmp_path, monkeypatch) as bench:
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


async def test_a_group_ends_in_time_and_keeps_the_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with turning(tmp_path, monkeypatch) as bench:
        written = await bench.write(*[f"line {number}" for number in range(LINES)])

        assert sum(bench.journal.commits) == LINES
        assert SLICE_INPUTS < max(bench.journal.commits) <= engines.GROUP // STEP
        assert (await bench.stored())[1:] == written
        assert [text.rpartition("line ")[2] for text in bench.released.texts] == [
            str(number) for number in range(LINES)
        ]


async def test_a_group_has_so_many_inputs_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with turning(tmp_path, monkeypatch, step=1) as bench:
        await bench.write(*[f"line {number}" for number in range(BATCH_MAX + 5)])

        assert bench.journal.commits == [BATCH_MAX, 5]


@pytest.mark.parametrize("slices", [1, 2, 3])
async def test_a_group_that_the_disk_refuses_has_not_happened_however_many_slices_it_had(
    slices: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "GROUP", slices * engines.GROUP)  # this clock reads slowly
    async with turning(tmp_path, monkeypatch) as bench:
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


async def test_what_waits_behind_a_refused_group_is_written_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with turning(tmp_path, monkeypatch) as bench:
        before = await bench.stored()
        bench.journal.refusals = 1

        ends = await bench.write(*[f"line {number}" for number in range(LINES)])

        lost = [one for one in ends if isinstance(one, StorageError)]
        written = ends[len(lost) :]
        assert SLICE_INPUTS < len(lost) <= engines.GROUP // STEP
        assert not any(isinstance(one, BaseException) for one in written)
        assert await bench.stored() == [*before, *written]
