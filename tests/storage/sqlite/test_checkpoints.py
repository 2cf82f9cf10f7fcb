"""SQLite's log goes to its file beside the commits, and nothing depends on it."""

import shutil
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from storage.sqlite import checkpoints
from storage.sqlite.database import Database
from tests.support.patience import PATIENCE_S
from tests.support.storage.stores import delivered, opened
from tests.support.sync.entries import Author

COMMITS = 200


def in_the_file_alone(path: Path, place: Path) -> int:
    """Return how many messages the file has without its log."""
    with closing(sqlite3.connect(shutil.copy(path, place))) as db:
        return int(db.execute("SELECT count(*) FROM messages").fetchone()[0])


async def test_the_log_is_copied_when_it_is_due_by_no_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, author = tmp_path / "chat.db", Author("ann")
    async with opened(path) as store:
        await store.journal.commit(delivered(author.write("first")))
        assert store.database._checkpoints._copying is None
        monkeypatch.setattr(checkpoints, "DUE", 10)
        await store.journal.commit(delivered(author.write("second")))
        await store.database._checkpoints.settled()

        assert in_the_file_alone(path, tmp_path / "copy.db") == 2


async def test_commits_go_on_while_the_log_is_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, author = tmp_path / "chat.db", Author("ann")
    monkeypatch.setattr(checkpoints, "DUE", 10)
    async with opened(path) as store:
        for number in range(COMMITS):
            await store.journal.commit(delivered(author.write(f"line {number}")))

    database = await Database.open(path)
    rows = await database.read(lambda db: db.execute("SELECT count(*) FROM messages").fetchone())
    assert rows == (COMMITS,)
    assert await database.problems() == []
    await database.close()


async def test_the_log_begins_again_though_commits_went_on_while_it_was_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it grows until a commit has to copy it: while lines come, none is the last of it."""
    author, log = Author("ann"), tmp_path / "chat.db-wal"
    copy, is_over = checkpoints._checkpoint, threading.Event()

    def copy_for_long(path: Path) -> None:
        copy(path)
        is_over.wait(PATIENCE_S)

    monkeypatch.setattr(checkpoints, "_checkpoint", copy_for_long)
    async with opened(tmp_path / "chat.db") as store:

        async def commit(count: int) -> None:
            for _ in range(count):
                await store.journal.commit(delivered(author.write()))

        with monkeypatch.context() as now:
            now.setattr(checkpoints, "DUE", 10)
            await commit(1)
        await commit(10)
        is_over.set()
        await store.database._checkpoints.settled()
        await commit(1)
        await store.database.problems()  # which waits for what was handed in before
        size = log.stat().st_size
        await commit(10)

        assert log.stat().st_size == size


async def test_a_commit_copies_the_log_itself_where_nothing_else_does(tmp_path: Path) -> None:
    async with opened(tmp_path / "chat.db") as store:
        bound = await store.database.read(
            lambda db: db.execute("PRAGMA wal_autocheckpoint").fetchone()
        )

    assert bound == (checkpoints.LOG_MAX,)
