"""Two hosts with a hundred thousand messages each, a hundredth of them different, meet."""

import asyncio
from functools import cache
from pathlib import Path

import pytest

from sync.group.values import StoredMessage
from sync.machine import SECOND
from sync.net.invite import open_channel
from sync.sim.world import EPOCH
from tests.lan.lab import Lab
from tests.lan.people import log
from tests.support.chat_tui.preloaded import fill
from tests.support.processes import Person, PlainProcess, everyone_sees_everyone
from tests.support.storage.archives import archive

pytestmark = [pytest.mark.lan, pytest.mark.slow]

LOBBY = open_channel("lobby")
EACH = 100_000
OWN = EACH // 200
"""Messages that only one of the two holds: together a hundredth."""

COMMON = EACH - OWN
BEGAN = EPOCH - 3 * COMMON * SECOND
READY_WITHIN_S = 60.0
EQUAL_WITHIN_S = 60.0
"""A program with so long a history starts in seconds; two share two cores with this test."""


@cache
def history(owner: str) -> tuple[StoredMessage, ...]:
    """Return the messages that everybody has, and over the same time those only `owner` has."""
    common = archive("carol", COMMON, BEGAN, SECOND, LOBBY.channel)
    step = COMMON // OWN * SECOND
    return (*common, *archive(owner, OWN, BEGAN, step, LOBBY.channel))


async def shows_the_others(process: PlainProcess) -> None:
    """Wait until a process has shown all that it lacked."""
    await process.until(
        lambda: len(process.messages) == OWN, "all is shown", within_s=EQUAL_WITHIN_S
    )


async def test_two_who_differ_in_a_hundredth_of_a_hundred_thousand_messages_become_equal(
    lab: Lab, tmp_path: Path
) -> None:
    people = [
        Person(name, tmp_path / name, prefix=lab.prefix(host))
        for host, name in enumerate(("paula", "quentin"), start=1)
    ]
    for person in people:
        await fill(person, LOBBY, history(person.name))

    processes = [PlainProcess(person) for person in people]
    async with processes[0] as paula, processes[1] as quentin:
        await everyone_sees_everyone(processes, within_s=READY_WITHIN_S)
        ended = await asyncio.gather(
            *(
                process.wait_for("sync", result="reconciled", got=OWN, within_s=EQUAL_WITHIN_S)
                for process in (paula, quentin)
            )
        )
        await asyncio.gather(*(shows_the_others(process) for process in processes))
        for process in processes:
            assert await process.close() == 0

    for event in ended:
        print({key: event[key] for key in ("rounds", "bytes_in", "bytes_out", "milliseconds")})
    left, right = (log(person, LOBBY.channel) for person in people)
    assert left == right
    assert len(left) == COMMON + 2 * OWN
