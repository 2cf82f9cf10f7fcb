"""Two hosts with very many messages each, a hundredth of them different, meet."""

import asyncio
from functools import cache
from pathlib import Path

import pytest

from sync.group.values import StoredMessage
from sync.machine import SECOND
from sync.net.invite import open_channel
from sync.sim.timeline import EPOCH
from tests.lan.lab import Lab
from tests.lan.people import log
from tests.support.chat_tui.preloaded import fill
from tests.support.processes import Person, PlainProcess, everyone_sees_everyone
from tests.support.storage.archives import archive

pytestmark = [pytest.mark.lan, pytest.mark.slow]

LOBBY = open_channel("lobby")
READY_WITHIN_S = 60.0
EQUAL_WITHIN_S = 60.0
"""A program with so long a history starts in seconds; two share two cores with this test."""


@cache
def history(owner: str, common: int, own: int) -> tuple[StoredMessage, ...]:
    """Return the messages that everybody has, and over the same time those only `owner` has."""
    began = EPOCH - 3 * common * SECOND
    shared = archive("carol", common, began, SECOND, LOBBY.channel)
    step = common // own * SECOND
    return (*shared, *archive(owner, own, began, step, LOBBY.channel))


async def shows_the_others(process: PlainProcess, lacked: int) -> None:
    """Wait until a process has shown all that it lacked."""
    await process.until(
        lambda: len(process.messages) == lacked, "all is shown", within_s=EQUAL_WITHIN_S
    )


@pytest.mark.parametrize("each", [20_000, pytest.param(100_000, marks=pytest.mark.grid)])
async def test_two_who_differ_in_a_hundredth_of_very_many_messages_become_equal(
    lab: Lab, tmp_path: Path, each: int
) -> None:
    own = each // 200  # that only one of the two holds: together a hundredth
    common = each - own
    people = [
        Person(name, tmp_path / name, prefix=lab.prefix(host))
        for host, name in enumerate(("paula", "quentin"), start=1)
    ]
    for person in people:
        await fill(person, LOBBY, history(person.name, common, own))

    processes = [PlainProcess(person) for person in people]
    async with processes[0] as paula, processes[1] as quentin:
        await everyone_sees_everyone(processes, within_s=READY_WITHIN_S)
        ended = await asyncio.gather(
            *(
                process.wait_for("sync", result="reconciled", got=own, within_s=EQUAL_WITHIN_S)
                for process in (paula, quentin)
            )
        )
        await asyncio.gather(*(shows_the_others(process, own) for process in processes))
        for process in processes:
            assert await process.close() == 0

    for event in ended:
        print({key: event[key] for key in ("rounds", "bytes_in", "bytes_out", "milliseconds")})
    left, right = (log(person, LOBBY.channel) for person in people)
    assert left == right
    assert len(left) == common + 2 * own
