"""An engine that has ended: nobody waits for it any more."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Final

import pytest

from storage.sqlite.journal import SqliteJournal
from sync.calimero.governance.ops import Leave
from sync.entries.entry import Kind
from sync.errors import LocalError
from sync.group import values
from sync.net.engine.own_inputs import ENDED
from tests.support.patience import PATIENCE_S
from tests.support.sync.engines import Bench, turning
from tests.support.sync.entries import CHANNEL

OWN: Final[dict[str, Callable[[Bench], Awaitable[object]]]] = {
    "a line": lambda bench: bench.engine.submit(CHANNEL, Kind.TEXT, b"\x00"),
    "an op": lambda bench: bench.engine.act(CHANNEL, Leave()),
    "a register": lambda bench: bench.engine.set_state(CHANNEL, values.StateKind.TOPIC, None, b""),
}


async def end(bench: Bench) -> None:
    """End the engine as a closing chat does."""
    bench.turning.cancel()
    await asyncio.gather(bench.turning, return_exceptions=True)


@pytest.mark.parametrize("own", OWN.values(), ids=OWN)
async def test_whoever_waits_when_the_engine_ends_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: Callable[[Bench], Awaitable[object]]
) -> None:
    begun = asyncio.Event()

    async def never(
        journal: SqliteJournal, records: Sequence[values.Record]
    ) -> list[values.Altered]:
        begun.set()
        await asyncio.Event().wait()
        return []

    async with turning(tmp_path) as bench:
        monkeypatch.setattr(SqliteJournal, "commit", never)
        first = asyncio.create_task(bench.write("keeps the disk"))
        await begun.wait()
        waiting = asyncio.ensure_future(own(bench))
        settled = asyncio.create_task(bench.engine.settled())
        await asyncio.sleep(0)
        await end(bench)

        async with asyncio.timeout(PATIENCE_S):
            ended = await asyncio.gather(first, waiting, settled, return_exceptions=True)
        assert [str(one) for one in ended] == [f"[{LocalError(ENDED)!r}]", ENDED, "None"]


@pytest.mark.parametrize("own", OWN.values(), ids=OWN)
async def test_an_engine_that_has_ended_takes_nothing(
    tmp_path: Path, own: Callable[[Bench], Awaitable[object]]
) -> None:
    async with turning(tmp_path) as bench:
        await end(bench)

        async with asyncio.timeout(PATIENCE_S):
            with pytest.raises(LocalError, match="ended"):
                await own(bench)
            await bench.engine.settled()
