"""The history taken away under a real program, or before it starts: nothing is called sent then."""

import os
import shutil
import sqlite3
import uuid
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.processes import Person, PlainProcess, texts
from tests.support.storage.rotting import scribble

pytestmark = [pytest.mark.net, pytest.mark.slow]


def remove(database: Path) -> None:
    for file in database.parent.glob("chat.db*"):
        file.unlink()


def empty(database: Path) -> None:
    os.truncate(database, 0)


def replace(database: Path) -> None:
    other = database.with_name("other")
    shutil.copy(database, other)
    other.replace(database)


@pytest.mark.parametrize(
    ("lose", "word"), [(remove, "deleted"), (empty, "emptied"), (replace, "replaced")]
)
async def test_what_is_lost_under_the_chat_is_said_before_the_next_line_is_called_sent(
    tmp_path: Path, lose: Callable[[Path], None], word: str
) -> None:
    channel = f"#test-{uuid.uuid4().hex[:12]}"
    alice = Person("alice", tmp_path / "alice", interface="127.0.0.1", channel=channel)
    database = alice.data_dir / "alice" / "chat.db"
    async with PlainProcess(alice, "--no-discovery") as process:
        await process.say("kept")
        lose(database)
        await process.send("not kept")
        told = await process.wait_for("error")
        assert word in told["message"]
        assert texts(process) == ["kept"]

    if lose is replace:
        return
    async with PlainProcess(alice, "--no-discovery", "--history", "9") as process:
        told = await process.wait_for("error")
        assert "history of this profile is gone" in told["message"]
        assert "identity" in told["message"]
        await process.say("anew")


async def test_a_new_profile_and_one_with_its_history_are_told_nothing(tmp_path: Path) -> None:
    alice = Person("alice", tmp_path / "alice", interface="127.0.0.1", channel="#lobby")
    for line in ("first", "second"):
        async with PlainProcess(alice, "--no-discovery") as process:
            await process.say(line)
            await process.close()
        assert process.events("error") == []


async def test_an_index_damaged_by_a_crash_is_mended_and_nothing_is_missing(tmp_path: Path) -> None:
    channel = f"#test-{uuid.uuid4().hex[:12]}"
    alice = Person("alice", tmp_path / "alice", interface="127.0.0.1", channel=channel)
    database = alice.data_dir / "alice" / "chat.db"
    async with PlainProcess(alice, "--no-discovery") as process:
        await process.say("one", "two", "three")
        await process.close()
    with closing(sqlite3.connect(database, isolation_level=None)) as crashed:
        scribble(database, "messages_by_time")
        crashed.execute("UPDATE channels SET own_log = own_log")  # its log is there until it ends
        async with PlainProcess(alice, "--no-discovery", "--history", "9") as process:
            told = await process.wait_for("error")
            assert "damaged" in told["message"]
            assert "rebuilt" in told["message"]
            await process.say("four")
    async with PlainProcess(alice, "--no-discovery", "--history", "9") as process:
        await process.until(lambda: len(texts(process)) == 4, "all that was written")
        assert texts(process) == ["one", "two", "three", "four"]
        assert process.events("error") == []
