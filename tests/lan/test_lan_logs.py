"""Two hosts and a thousand author logs, of which a few grew."""

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
SOON_READY = 10_000
"""Messages of which symbols are made faster than two programs meet."""

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
        session = await at_bob.wait_for("sync", got=GROWN, within_s=EQUAL_WITHIN_S)
        for process in (at_alice, at_bob):
            assert await process.close() == 0

    # Of a hundred thousand messages the symbols may not be ready when the two meet.
    ready = LOGS * entries <= SOON_READY or session["protocol"] == "sketch"
    cheapest, most = ("sketch", 22_000) if ready else ("sets", 60_000)
    assert (session["protocol"], session["outcome"]) == (cheapest, "converged"), "the cheapest"
    assert session["bytes_in"] + session["bytes_out"] < most + GROWN * 400
    assert len(log(alice, LOBBY.channel)) == LOGS * entries
    assert log(alice, LOBBY.channel) == log(bob, LOBBY.channel)
