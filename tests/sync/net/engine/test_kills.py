"""Groups of lines survive `kill -9` at any moment: what was told to be committed is there."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processes import ROOT
from tests.support.storage.stores import opened
from tests.support.sync.entries import CHANNEL

KILLS = 25
WITHIN_S = 120

pytestmark = [pytest.mark.net, pytest.mark.slow]


async def test_twenty_five_kills_within_groups_lose_nothing_that_was_told(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.support.sync.killed_engines", str(tmp_path), str(KILLS)]
    done = await asyncio.to_thread(
        subprocess.run,
        [*command, "7"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=True,
    )
    rounds = [line.split() for line in done.stdout.splitlines()]

    async with opened(tmp_path / "history.db") as store:
        page = await store.journal.newest_page(CHANNEL, None, 1 << 30)
        stored = [one.message_id for one in reversed(page.entries)]
        state = await store.journal.restore(CHANNEL)
        assert await store.database.problems() == []

    assert len(rounds) == KILLS
    told = [message_id for one in rounds for message_id in one]
    assert len(told) > KILLS
    assert set(told) <= set(stored)
    assert [one for one in stored if one in set(told)] == told, "in the order they were written"
    assert list(state.own_log) == stored, "no place of the log is taken twice, and none is left out"
