"""Messages shown as sent survive `kill -9` at any moment."""

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.processes import (
    Event,
    Person,
    PlainProcess,
    equal_logs,
    everyone_sees_everyone,
    log,
)

pytestmark = [pytest.mark.net, pytest.mark.slow]

ROUNDS = 20

MOMENT_MAX = 150
"""Killed after at most so many events: links opening, catching up and writing all lie within."""

LINES_AT_ONCE = 10

LINES_IN_FLIGHT_MAX = 60
"""Typed and not yet shown as sent: the load, and the bound of what a round can write."""

CAUGHT_UP_WITHIN_S = 60.0
"""For some thousand messages after the last restart, each one verified."""

SQLITE_MAGIC = b"SQLite format 3\0"


async def write_until_killed(process: PlainProcess, moment: int, title: str) -> list[Event]:
    """Write without a pause, kill after `moment` events; return what was shown as sent."""
    typed = 0

    def is_moment_or_wants_more() -> bool:
        in_flight = typed - len(process.own)
        return len(process.seen) >= moment or in_flight <= LINES_IN_FLIGHT_MAX - LINES_AT_ONCE

    while len(process.seen) < moment:
        lines = [f"{title} line {typed + number}" for number in range(LINES_AT_ONCE)]
        await process.send(*lines)
        typed += LINES_AT_ONCE
        await process.until(is_moment_or_wants_more, "lines shown as sent")
    await process.kill()
    return process.own


def databases(folder: Path) -> list[Path]:
    def is_database(path: Path) -> bool:
        with path.open("rb") as file:
            return file.read(len(SQLITE_MAGIC)) == SQLITE_MAGIC

    return [path for path in sorted(folder.rglob("*")) if path.is_file() and is_database(path)]


def damage(database: Path, copies: Path) -> list[str]:
    """Return the faults SQLite finds, in a copy: recovery is left to the program itself."""
    copies.mkdir()
    copy = shutil.copy(database, copies)
    log_ahead = database.with_name(f"{database.name}-wal")
    if log_ahead.exists():
        shutil.copy(log_ahead, copies)
    with closing(sqlite3.connect(copy)) as connection:
        found = [str(row[0]) for row in connection.execute("PRAGMA integrity_check")]
    return [line for line in found if line != "ok"]


def check_databases(alice: Person, copies: Path) -> None:
    found = databases(alice.data_dir)
    assert found
    for number, database in enumerate(found):
        assert damage(database, copies.with_name(f"{copies.name}-{number}")) == []


async def test_twenty_kills_under_load_lose_nothing_that_was_shown_as_sent(
    tmp_path: Path,
) -> None:
    dice = random.Random(20)
    channel = "#kill-loop"
    alice = Person("alice", tmp_path / "alice", interface="127.0.0.1", channel=channel)
    bob = Person("bob", tmp_path / "bob", interface="127.0.0.1", channel=channel)
    shown: list[Event] = []
    async with PlainProcess(bob) as peer:
        for number in range(ROUNDS):
            await peer.say(f"bob before round {number}")
            moment = dice.randint(1, MOMENT_MAX)
            async with PlainProcess(alice) as process:
                shown += await write_until_killed(process, moment, f"round {number}")
            check_databases(alice, tmp_path / f"copy-{number}")
        async with PlainProcess(alice, "--history", "100000") as survivor:
            await everyone_sees_everyone([survivor, peer])
            await equal_logs([survivor, peer], within_s=CAUGHT_UP_WITHIN_S)
            survived = {message for _, message, _ in log(survivor)}

            assert shown
            assert [event["id"] for event in shown if event["id"] not in survived] == []
            assert [event["id"] for event in shown if event["id"] not in peer.messages] == []
            assert await survivor.close() == 0
    lamports = [event["lamport"] for event in shown]
    assert lamports == sorted(set(lamports))
    check_databases(alice, tmp_path / "copy-last")
