"""Five hosts on one network: what pulled cables, partitions, sleep and new addresses may do.

Nothing here waits for time alone: while a fault lasts, the test watches that nothing gets through.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from tests.lan.lab import Lab
from tests.lan.people import person_on
from tests.support.processes import Event, PlainProcess, equal_logs, everyone_sees_everyone

pytestmark = [pytest.mark.lan, pytest.mark.slow]

MISSED_WITHIN_S = 20.0
"""A silent peer is dead after 15 s; the rest is for a busy machine."""

HEALED_WITHIN_S = 10.0
"""From the heal to equal logs everywhere."""

PLUGGED_BACK_WITHIN_S = 12.0
"""The same, with up to 2 s until the kernel believes in the carrier."""

PARTITION_S = 20.0
FROZEN_S = 60.0


@asynccontextmanager
async def people_on(
    lab: Lab, tmp_path: Path, hosts: Sequence[int]
) -> AsyncIterator[list[PlainProcess]]:
    """One person a host, who see each other."""
    async with AsyncExitStack() as running:
        processes = await asyncio.gather(
            *(
                running.enter_async_context(PlainProcess(person_on(lab, tmp_path, host)))
                for host in hosts
            )
        )
        await everyone_sees_everyone(processes)
        yield list(processes)


async def everybody_says(processes: Sequence[PlainProcess], what: str) -> list[str]:
    """Each writes one line; returns the lines once all are shown as sent."""
    lines = [f"{process.person.name} {what}" for process in processes]
    await asyncio.gather(
        *(process.say(line) for process, line in zip(processes, lines, strict=True))
    )
    return lines


async def nothing_gets_through(
    watching: Sequence[PlainProcess], gone: Sequence[PlainProcess], since: float, lasting_s: float
) -> None:
    """Those `watching` miss all who are `gone`, and hear nothing of them until `lasting_s` is over.

    `since` is when the fault began, in the event loop's seconds; at least `lasting_s` seconds have
    passed since then when this returns.
    """
    absent = {process.participant for process in gone}

    def is_sign_of_life(event: Event) -> bool:
        back = (
            event["event"] == "peer" and event["participant"] in absent and event["state"] == "up"
        )
        return back or (event["event"] == "message" and event["author"] in absent)

    async def misses(process: PlainProcess) -> None:
        await process.until(
            lambda: not absent & process.peers_up, "peers down", within_s=MISSED_WITHIN_S
        )
        left_s = max(0.0, since + lasting_s - asyncio.get_running_loop().time())
        await process.never(is_sign_of_life, since=process.mark(), for_s=left_s)

    await asyncio.gather(*(misses(process) for process in watching))


async def test_a_partition_in_which_both_sides_write_heals_within_ten_seconds(
    lab: Lab, tmp_path: Path
) -> None:
    async with people_on(lab, tmp_path, lab.hosts) as everyone:
        left, right = everyone[:2], everyone[2:]
        before = await everybody_says(everyone, "before the partition")
        assert sorted(await equal_logs(everyone)) == sorted(before)

        lab.partition([1, 2], [3, 4, 5])
        began = asyncio.get_running_loop().time()
        at_first = await everybody_says(everyone, "when the partition begins")
        await asyncio.gather(
            nothing_gets_through(left, right, began, PARTITION_S),
            nothing_gets_through(right, left, began, PARTITION_S),
        )
        in_it = await everybody_says(everyone, "within the partition")
        on_the_left = sorted(await equal_logs(left))
        on_the_right = sorted(await equal_logs(right))

        lab.merge()
        read = await equal_logs(everyone, within_s=HEALED_WITHIN_S)

        assert on_the_left == sorted([*before, *at_first[:2], *in_it[:2]])
        assert on_the_right == sorted([*before, *at_first[2:], *in_it[2:]])
        assert sorted(read) == sorted([*before, *at_first, *in_it])


async def test_who_joins_late_gets_everything(lab: Lab, tmp_path: Path) -> None:
    async with people_on(lab, tmp_path, [1, 2, 3, 4]) as early:
        said: list[str] = []
        for number in range(10):
            said += await everybody_says(early, f"says {number}")
        await equal_logs(early)

        async with PlainProcess(person_on(lab, tmp_path, 5)) as late:
            read = await equal_logs([*early, late], within_s=HEALED_WITHIN_S)

            assert sorted(read) == sorted(said)


@pytest.mark.grid
async def test_a_host_frozen_for_a_minute_catches_up(lab: Lab, tmp_path: Path) -> None:
    async with people_on(lab, tmp_path, lab.hosts) as everyone:
        *awake, frozen = everyone
        said = await everybody_says(everyone, "before")
        await equal_logs(everyone)

        frozen.stop()
        began = asyncio.get_running_loop().time()
        said += await everybody_says(awake, "at once")
        await nothing_gets_through(awake, [frozen], began, FROZEN_S)
        said += await everybody_says(awake, "a minute later")
        frozen.resume()
        read = await equal_logs(everyone, within_s=HEALED_WITHIN_S)

        assert sorted(read) == sorted(said)


async def test_a_host_whose_address_changes_and_changes_back_is_there_within_ten_seconds(
    lab: Lab, tmp_path: Path
) -> None:
    async with people_on(lab, tmp_path, lab.hosts) as everyone:
        said = await everybody_says(everyone, "at the old address")
        await equal_logs(everyone)

        for last_octet in (50, 5):
            lab.change_address(5, last_octet)
            said += await everybody_says(everyone, f"with 5 at {last_octet}")
            read = await equal_logs(everyone, within_s=HEALED_WITHIN_S)

            assert sorted(read) == sorted(said)


async def test_who_has_no_address_any_more_does_not_say_that_it_listens(
    lab: Lab, tmp_path: Path
) -> None:
    async with people_on(lab, tmp_path, [1, 2]) as (alice, _):
        before = str((await alice.ask("/status"))["text"])
        lab.take_address(1)
        await alice.until(lambda: not alice.peers_up, "nobody is here", within_s=MISSED_WITHIN_S)

        after = str((await alice.ask("/status"))["text"])

        assert f"listening on {lab.address(1)}" in before
        assert "not listening" in after
        assert "No network" in after


async def test_a_pulled_cable_shows_and_heals_when_it_is_plugged_back(
    lab: Lab, tmp_path: Path
) -> None:
    async with people_on(lab, tmp_path, [1, 2, 3]) as everyone:
        *plugged, cut = everyone
        lab.cut(3)
        began = asyncio.get_running_loop().time()
        said = await everybody_says(everyone, "without the cable")
        await asyncio.gather(
            nothing_gets_through(plugged, [cut], began, MISSED_WITHIN_S),
            nothing_gets_through([cut], plugged, began, MISSED_WITHIN_S),
        )

        lab.heal(3)
        await asyncio.gather(
            everyone_sees_everyone(everyone, within_s=PLUGGED_BACK_WITHIN_S),
            equal_logs(everyone, within_s=PLUGGED_BACK_WITHIN_S),
        )

        assert sorted(await equal_logs(everyone)) == sorted(said)
