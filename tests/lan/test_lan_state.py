"""Five hosts set topic, pins and lines on both sides of a cut; one is stopped, one killed."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from sync.calimero.state.contents import StateKind
from sync.calimero.state.entry import parse
from sync.calimero.state.registers import Registers
from sync.net.invite import open_channel
from tests.lan.lab import Lab
from tests.lan.people import log, person_on
from tests.support.processes import PlainProcess, everyone_sees_everyone

pytestmark = [pytest.mark.lan, pytest.mark.slow]

LOBBY = open_channel("lobby").channel
WITHIN_S = 90.0
"""A cut link is noticed within 14 s and dialled again; the handshake of the new link compares."""

LOOK_S = 0.5
DURING = ("two writes during the cut", "four writes during the cut")


def registers(process: PlainProcess) -> Registers:
    """Return the state on somebody's disk."""
    path = process.person.data_dir / process.person.name / "chat.db"
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        rows = db.execute("SELECT content FROM state_entries").fetchall()
    finally:
        db.close()
    return Registers([parse(content) for (content,) in rows])


async def do(process: PlainProcess, line: str) -> None:
    result = await process.ask(line)
    assert result["ok"], (line, result)


async def has(process: PlainProcess, *texts: str) -> None:
    for text in texts:
        await process.wait_for("message", text=text, within_s=WITHIN_S)


async def test_five_hosts_have_one_log_and_one_root_after_a_cut_a_stop_and_a_kill(
    lab: Lab, tmp_path: Path
) -> None:
    people = [PlainProcess(person_on(lab, tmp_path, host)) for host in range(1, 6)]
    one, two, three, four, five = people
    async with one, two, three, four, five:
        await everyone_sees_everyone(people)
        for process in people:
            await process.say(f"hello of {process.person.name}")
        for process in people:
            await has(process, *[f"hello of {other.person.name}" for other in people])
        await do(one, "/topic before the cut")

        lab.partition([1, 2], [3, 4, 5])
        await one.until(lambda: three.participant not in one.peers_up, "cut", within_s=WITHIN_S)
        await do(one, "/topic of the smaller side")
        await do(one, "/pin")
        await do(two, "/status here with one")
        await two.say(DURING[0])
        five.stop()
        await do(three, "/topic of the larger side")
        await do(three, "/pin")
        await do(four, "/nick vier")
        await four.say(DURING[1])
        await four.kill()
        five.resume()
        again = PlainProcess(four.person)
        async with again:
            await do(five, "/topic by who was stopped")
            await do(five, "/colour teal")
            lab.merge()
            there = [one, two, three, again, five]
            for process in there:
                await has(process, *[line for line in DURING if line not in shown(process)])
            async with asyncio.timeout(2 * WITHIN_S):  # no event says what is on another's disk
                while len({registers(process).tree.root for process in there}) > 1:  # noqa: ASYNC110
                    await asyncio.sleep(LOOK_S)
            held = [registers(process) for process in there]
            for process in there:
                assert await process.close() == 0

    logs = [log(process.person, LOBBY) for process in (one, two, three, five)]
    topics = {str(entry.says) for entry in held[0].of_kind(StateKind.TOPIC).values()}
    assert all(one == logs[0] for one in logs)
    assert len(logs[0]) == 7
    assert len(topics) == 3
    assert any("by who was stopped" in one for one in topics)
    assert len(held[0].of_kind(StateKind.PIN)) == 2
    assert len(held[0].of_kind(StateKind.PROFILE)) == 5


def shown(process: PlainProcess) -> set[str]:
    """Return what a program has shown; what it wrote before a restart is in its history."""
    texts = {str(message["text"]) for message in process.messages.values()}
    return texts | ({DURING[1]} if process.person.name == "host4" else set())
