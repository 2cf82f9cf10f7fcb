"""Two hosts and long author logs: a few that grew, and a newcomer that is killed on its way."""

import time
from pathlib import Path

import pytest

from sync.machine import HOUR, Nanos
from sync.net.invite import open_channel
from tests.lan.lab import Lab
from tests.lan.people import log, person_on
from tests.support.chat_tui.preloaded import fill
from tests.support.processes import PlainProcess, everyone_sees_everyone
from tests.support.storage.archives import histories, in_causal_order

pytestmark = [pytest.mark.lan, pytest.mark.slow]

LOBBY = open_channel("lobby")
LOGS = 1_000
GROWN = 50
READY_WITHIN_S = 60.0
EQUAL_WITHIN_S = 60.0
"""A program with so long a history starts in seconds; two share two cores with this test."""


def old() -> Nanos:
    """Return a time at which nothing of the last hour was written."""
    return time.time_ns() - 2 * HOUR


@pytest.mark.parametrize("entries", [10, pytest.param(100, marks=pytest.mark.grid)])
async def test_of_a_thousand_logs_fifty_grew(lab: Lab, tmp_path: Path, entries: int) -> None:
    logs = histories(LOGS, entries, old(), LOBBY.channel)
    everything = in_causal_order(logs)
    grown = {one[-1].entry.message_id for one in logs[:GROWN]}
    alice, bob = (person_on(lab, tmp_path, host) for host in (1, 2))
    await fill(alice, LOBBY, everything)
    await fill(bob, LOBBY, [one for one in everything if one.entry.message_id not in grown])

    async with PlainProcess(alice) as at_alice, PlainProcess(bob) as at_bob:
        await everyone_sees_everyone([at_alice, at_bob], within_s=READY_WITHIN_S)
        session = await at_bob.wait_for("sync", protocol="sets", got=GROWN, within_s=EQUAL_WITHIN_S)
        for process in (at_alice, at_bob):
            assert await process.close() == 0

    assert (session["result"], session["need"], session["logs"]) == ("reconciled", GROWN, GROWN)
    assert session["bytes_in"] + session["bytes_out"] < 22_000 + GROWN * 400
    assert len(log(alice, LOBBY.channel)) == LOGS * entries
    assert log(alice, LOBBY.channel) == log(bob, LOBBY.channel)


async def test_a_newcomer_killed_three_times_takes_everything_once(
    lab: Lab, tmp_path: Path
) -> None:
    everything = in_causal_order(histories(10, 1_000, old(), LOBBY.channel))
    alice, bob = (person_on(lab, tmp_path, host) for host in (1, 2))
    await fill(alice, LOBBY, everything)

    async with PlainProcess(alice):
        kept = 0
        for more in (1_000, 1_000, 1_000):
            async with PlainProcess(bob) as at_bob:
                await at_bob.until(
                    lambda: len(at_bob.messages) >= more,  # noqa: B023 - waited for at once
                    "some have come",
                    within_s=EQUAL_WITHIN_S,
                )
                await at_bob.kill()
            before, kept = kept, len(log(bob, LOBBY.channel))
            assert kept >= before + more, "what was shown is on the disk"
        async with PlainProcess(bob) as at_bob:
            left = len(everything) - kept
            await at_bob.until(
                lambda: len(at_bob.messages) == left, "all is shown", within_s=EQUAL_WITHIN_S
            )
            sessions = [one for one in at_bob.events("sync") if one["protocol"] != "waku"]
            assert await at_bob.close() == 0

    assert sum(one["got"] for one in sessions) <= left, "nothing came again"
    assert log(alice, LOBBY.channel) == log(bob, LOBBY.channel)
