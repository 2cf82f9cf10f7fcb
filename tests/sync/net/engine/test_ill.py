"""While the disk refuses nothing of peers piles up, and what is told once is not lost."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, get_args

import pytest

from sync.errors import LocalError
from sync.group import values
from sync.machine import ChannelId
from sync.net.engine import engine as engines
from sync.runner.input_queue import QUEUE_MAX
from sync.runner.input_rules import RULES, Ill, Kind
from tests.support.patience import PATIENCE_S
from tests.support.sync.alone.inputs import caused_by
from tests.support.sync.engines import Bench, turning
from tests.support.sync.entries import CHANNEL, Author

EVE: Final = Author("eve").peer_id
FROM_PEERS: Final = [kind for kind in get_args(values.Input) if RULES[kind].from_peer]
MANY: Final = 500


@asynccontextmanager
async def refusing(place: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Bench]:
    """An engine whose disk has just refused something."""
    monkeypatch.setattr(engines, "DISK_RETRY", (0.2, 0.2))
    async with turning(place, step=1) as bench:
        bench.released.refusals = []
        bench.journal.refusals = 1
        rebuilt, rebuild = asyncio.Event(), bench.engine.runner.rebuild

        def rebuild_and_tell(states: Mapping[ChannelId, values.ChannelState]) -> None:
            rebuild(states)
            rebuilt.set()

        monkeypatch.setattr(bench.engine.runner, "rebuild", rebuild_and_tell)
        await bench.write("refused")
        async with asyncio.timeout(PATIENCE_S):
            await rebuilt.wait()
        assert bench.engine._ill
        yield bench


@pytest.mark.parametrize("kind", FROM_PEERS)
async def test_a_flood_of_anything_is_let_go_but_for_the_newest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: Kind
) -> None:
    async with refusing(tmp_path, monkeypatch) as bench:
        taken = bench.engine.runner.inputs.taken
        for _ in range(MANY):
            bench.engine.queue_input(CHANNEL, caused_by(EVE, kind))
            await bench.engine.breathe(EVE)
        waiting = bench.engine.runner.waiting
        is_ill = bench.engine._ill
        await bench.engine.settled()

        assert is_ill
        assert waiting == 0
        assert bench.engine.runner.inputs.taken - taken <= (RULES[kind].ill is not Ill.LET_GO)
        assert bench.engine.runner.inputs.bytes_waiting == 0


async def test_a_peer_that_goes_meanwhile_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    friend = Author("friend").peer_id
    async with refusing(tmp_path, monkeypatch) as bench:
        await bench.engine.settled()
        for peer in (EVE, friend):
            bench.engine.queue_input(CHANNEL, values.PeerJoined(peer))
        await bench.engine.settled()
        bench.journal.refusals = 1
        await bench.write("refused")
        for _ in range(QUEUE_MAX + 1):
            bench.engine.queue_input(CHANNEL, values.RootTold(EVE, bytes(32)))
        bench.engine.queue_input(CHANNEL, values.PeerGone(EVE))
        own = await bench.write("mine")
        peers = bench.engine.runner.groups[CHANNEL].peers

        assert not isinstance(own[0], LocalError)
        assert set(peers) == {friend}
