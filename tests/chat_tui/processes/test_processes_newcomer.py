"""A script that comes late is told a whole history that came at once, each line once."""

import time
from pathlib import Path

import pytest

from sync.machine import HOUR
from sync.net.invite import open_channel
from tests.support.chat_tui.preloaded import fill
from tests.support.patience import PATIENCE_S
from tests.support.processes import PlainProcess, everyone_sees_everyone
from tests.support.programs import channel_of_its_own, person
from tests.support.storage.archives import histories, in_causal_order

pytestmark = [pytest.mark.net, pytest.mark.slow]

LINES = 900
"""More than are shown before the rest is there."""


async def test_a_script_that_comes_late_is_told_every_line_once(tmp_path: Path) -> None:
    name = channel_of_its_own()
    channel = open_channel(name.removeprefix("#"))
    ended = time.time_ns() - 2 * HOUR
    everything = in_causal_order(histories(3, LINES // 3, ended, channel.channel))
    alice, bob = person("alice", tmp_path, name), person("bob", tmp_path, name)
    await fill(alice, channel, everything)
    async with PlainProcess(alice) as at_alice, PlainProcess(bob) as at_bob:
        await everyone_sees_everyone([at_alice, at_bob])
        await at_bob.until(
            lambda: len(at_bob.messages) == LINES, "all is told", within_s=2 * PATIENCE_S
        )
        [session] = [one for one in at_bob.events("sync") if one["protocol"] == "snapshot"]
        assert await at_bob.close() == 0
        assert await at_alice.close() == 0

    assert session["result"] == f"{LINES:,} messages"
    assert at_bob.repeated == []
    assert set(at_bob.messages) == {one.entry.message_id for one in everything}
