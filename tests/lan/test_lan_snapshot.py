"""Two hosts: a newcomer that is killed often in a snapshot goes on each time where it was."""

import asyncio
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from sync.machine import HOUR
from sync.net.invite import open_channel
from tests.lan.lab import Lab
from tests.lan.people import log, person_on
from tests.support.chat_tui.preloaded import fill
from tests.support.processes import Person, PlainProcess
from tests.support.storage.archives import histories, in_causal_order

pytestmark = [pytest.mark.lan, pytest.mark.slow]

LOBBY = open_channel("lobby")
LATER = 20
"""Answers of the program between two moments of its swap: some 5 ms each."""

LINES = 10_000
WITHIN_S = 60.0
"""For a start and a page; two programs share two cores with this test."""


def staged(person: Person) -> tuple[int, int]:
    """Pages and messages of a snapshot that are on a person's disk and not history yet."""
    path = person.data_dir / person.name / "chat.db"
    if not path.exists():
        return 0, 0
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as db:
            (pages,) = db.execute("SELECT count(*) FROM staged_pages").fetchone()
            row = db.execute("SELECT count FROM staged_snapshots").fetchone()
            return pages, 0 if row is None else row[0]
    except sqlite3.OperationalError:  # it is being made just now
        return 0, 0


async def reach(process: PlainProcess, holds: Callable[[], bool], meaning: str) -> None:
    """Look at the disk of another program until it is so, once after each of its answers."""
    try:
        async with asyncio.timeout(WITHIN_S):
            while not holds():
                await process.ask("/who")
    except TimeoutError:
        raise AssertionError(f"not within {WITHIN_S:.0f} s: {meaning}") from None


@pytest.mark.parametrize(
    ("kills", "in_the_swap"), [(6, 2), pytest.param(25, 5, marks=pytest.mark.grid)]
)
async def test_a_newcomer_killed_in_a_snapshot_has_everything_once(
    lab: Lab, tmp_path: Path, kills: int, in_the_swap: int
) -> None:
    """The last kills are once all pages are staged: while these are judged, written, committed.

    A line is written then each time, and there once from when it is shown as sent on.
    """
    ended = time.time_ns() - 2 * HOUR
    everything = in_causal_order(histories(10, LINES // 10, ended, LOBBY.channel))
    alice, bob = (person_on(lab, tmp_path, host) for host in (1, 2))
    await fill(alice, LOBBY, everything)
    kept: list[tuple[int, int]] = []
    said: list[str] = []
    async with PlainProcess(alice):
        for number in range(kills):
            swapping = number >= kills - in_the_swap

            def is_time(swapping: bool = swapping) -> bool:
                pages, count = staged(bob)
                before = kept[-1][0] if kept else 0
                return count == LINES if swapping else pages > before or count == LINES

            async with PlainProcess(bob) as at_bob:
                await reach(
                    at_bob, lambda: is_time() or bool(at_bob.messages), "a page more is staged"
                )
                if swapping:  # each time a little later in it
                    said += [one["id"] for one in await at_bob.say(f"mine {number}")]
                    for _ in range((number - kills + in_the_swap) * LATER):
                        await at_bob.ask("/who")
                await at_bob.kill()
            kept.append(staged(bob))
            if not staged(bob)[0]:
                break  # the last swap was quicker than we
        async with PlainProcess(bob) as at_bob:
            await reach(at_bob, lambda: len(log_now(bob)) == LINES + len(said), "all is history")
            await reach(at_bob, lambda: len(log_now(alice)) == LINES + len(said), "alice has ours")
            assert await at_bob.close() == 0

    pages = [one for one, _ in kept if one]
    assert pages == sorted(pages), "no page was lost"
    assert len(kept) >= kills - in_the_swap
    assert log(alice, LOBBY.channel) == log(bob, LOBBY.channel)
    ours = [one.hex() for _, one in log(bob, LOBBY.channel) if one.hex() in said]
    assert sorted(ours) == sorted(said)
    assert staged(bob) == (0, 0)


def log_now(person: Person) -> list[tuple[int, bytes]]:
    """The messages delivered on a person's disk, while the program runs."""
    path = person.data_dir / person.name / "chat.db"
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as db:
        return db.execute("SELECT lamport, message_id FROM delivered").fetchall()
