"""The database file: brought up to date, transactional, and clear about what is wrong with it."""

import os
import sqlite3
import stat
import subprocess
import sys
import threading
from contextlib import closing, suppress
from pathlib import Path

import pytest

from storage.sqlite import connections
from storage.sqlite.damage import mending
from storage.sqlite.database import Database
from storage.sqlite.migrations import MIGRATIONS
from storage.sqlite.rows import execute_for_rows
from sync.errors import StorageError
from sync.group.values import Status, StoreMessage
from tests.support.storage.stores import Store, opened
from tests.support.sync.entries import CHANNEL, Author

ROOT = Path(__file__).parents[3]
FULL = 2  # SQLite's number of `PRAGMA synchronous = FULL`

FILL = """
import asyncio, sys
from pathlib import Path
from sync.errors import StorageError
from sync.group.values import Status, StoreMessage
from tests.support.sync.entries import CHANNEL, Author
from tests.support.storage.stores import opened

async def main(disk: Path) -> None:
    ballast = disk / "ballast"
    ballast.write_bytes(bytes(256 * 1024))
    ann = Author("ann")
    async with opened(disk / "chat.db") as store:
        committed = 0
        refusal = None
        while refusal is None and committed < 10_000:
            try:
                message = ann.write("x" * 1000)
                await store.journal.commit([StoreMessage(message, Status.DELIVERED)])
                committed += 1
            except StorageError as error:
                refusal = error
        print(refusal)
        print(await store.history.count(CHANNEL) == committed > 0)
        ballast.unlink()
        await store.journal.commit([StoreMessage(message, Status.DELIVERED)])
        print(await store.history.count(CHANNEL) == committed + 1, await store.database.problems())

asyncio.run(main(Path(sys.argv[1])))
"""


def value(connection: sqlite3.Connection, query: str) -> object:
    return connection.execute(query).fetchone()[0]


def rights(directory: Path) -> set[int]:
    return {stat.S_IMODE(path.stat().st_mode) for path in directory.iterdir()}


async def fill(store: Store, author: Author) -> None:
    for _ in range(1000):
        await store.journal.commit([StoreMessage(author.write("x" * 2000), Status.DELIVERED)])


def tables(path: Path) -> set[str]:
    with sqlite3.connect(path) as connection:
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
    connection.close()
    return names


async def test_a_new_database_is_durable_private_and_up_to_date(tmp_path: Path) -> None:
    async with opened(tmp_path / "chat.db") as store:
        settings = await store.database.read(
            lambda db: [
                value(db, f"PRAGMA {name}")
                for name in ("journal_mode", "synchronous", "foreign_keys", "user_version")
            ]
        )
        modes = rights(tmp_path)

    full = 2
    assert settings == ["wal", full, 1, len(MIGRATIONS)]
    assert modes == {0o600}


async def test_a_newer_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    connection.close()

    with pytest.raises(StorageError, match="newer chat-tui"):
        await Database.open(path)

    assert tables(path) == set()


async def test_steps_are_done_once_and_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "chat.db"
    await (await Database.open(path)).close()
    steps = (*MIGRATIONS, "CREATE TABLE second (x);", "ALTER TABLE second RENAME TO third;")
    monkeypatch.setattr(connections, "MIGRATIONS", steps)

    for _ in range(2):
        await (await Database.open(path)).close()

    assert "third" in tables(path)
    assert "second" not in tables(path)


@pytest.mark.parametrize("before", [0, 3])
def test_a_new_database_waits_for_the_disk_once_and_an_older_one_after_each_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: int
) -> None:
    said: list[str] = []
    with closing(sqlite3.connect(tmp_path / "chat.db", isolation_level=None)) as db:
        with monkeypatch.context() as older:
            older.setattr(connections, "MIGRATIONS", MIGRATIONS[:before])
            connections.prepare(db)
        db.set_trace_callback(said.append)

        connections.prepare(db)

        assert db.execute("PRAGMA synchronous").fetchone() == (FULL,)
    waiting, full = False, list[bool]()
    for one in said:
        if "synchronous" in one:
            waiting = one.endswith("FULL")
        elif one == "COMMIT":
            full.append(waiting)
    steps = len(MIGRATIONS) - before
    assert full == [before > 0] * (steps - 1) + [True]


async def test_a_step_that_fails_leaves_nothing_of_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "chat.db"
    bad = "CREATE TABLE second (x); INSERT INTO nowhere VALUES (1);"
    monkeypatch.setattr(connections, "MIGRATIONS", (*MIGRATIONS, bad))

    with pytest.raises(StorageError, match="nowhere"):
        await Database.open(path)
    monkeypatch.undo()

    again = await Database.open(path)
    assert await again.read(lambda db: value(db, "PRAGMA user_version")) == len(MIGRATIONS)
    await again.close()
    assert "second" not in tables(path)


async def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    path.write_bytes(b"this was never a database " * 400)

    with pytest.raises(StorageError, match=r"is damaged: put that file back from a backup"):
        await Database.open(path)


async def test_a_damaged_page_is_explained_when_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    ann = Author("ann")
    async with opened(path) as store:
        records = [StoreMessage(ann.write("x" * 500), Status.DELIVERED) for _ in range(50)]
        await store.journal.commit(records)
    page = 4096
    content = bytearray(path.read_bytes())
    content[2 * page :] = b"\xff" * (len(content) - 2 * page)
    path.write_bytes(content)

    with pytest.raises(StorageError, match="is damaged"):
        async with opened(path) as store:
            await store.journal.restore(CHANNEL)


async def test_a_path_that_cannot_be_opened_is_explained(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="--data-dir"):
        await Database.open(tmp_path)
    with pytest.raises(StorageError, match="--data-dir"):
        await Database.open(tmp_path / "missing" / "chat.db")


async def test_no_thread_outlives_a_database_that_cannot_be_opened(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    os.mkfifo(path)

    for _ in range(20):
        with pytest.raises(StorageError):
            await Database.open(path)
        assert not any("_connection_worker" in one.name for one in threading.enumerate())


async def test_a_full_disk_loses_nothing_and_goes_on_when_there_is_space(tmp_path: Path) -> None:
    ann = Author("ann")
    async with opened(tmp_path / "chat.db") as store:
        await store.database.read(lambda db: value(db, "PRAGMA max_page_count = 60"))
        with pytest.raises(StorageError, match=r"The disk is full: free some space;"):
            await fill(store, ann)

        committed = len(ann.entries) - 1
        assert await store.history.count(CHANNEL) == committed > 0
        assert await store.database.problems() == []
        await store.database.read(lambda db: value(db, "PRAGMA max_page_count = 1000000"))
        await store.journal.commit([StoreMessage(ann.entries[-1], Status.DELIVERED)])
        assert await store.history.count(CHANNEL) == committed + 1


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_really_full_disk_loses_nothing_and_goes_on_when_there_is_space(tmp_path: Path) -> None:
    mount = f"mount -t tmpfs -o size=2m none {tmp_path} && exec {sys.executable} - {tmp_path}"
    command = ["unshare", "--mount", "sh", "-c", mount]

    run = subprocess.run(command, input=FILL, cwd=ROOT, capture_output=True, text=True, check=False)

    assert run.stderr == ""
    refusal, kept, resumed = run.stdout.splitlines()
    assert "full" in refusal
    assert (kept, resumed) == ("True", "True []")


async def test_a_read_only_database_is_explained(tmp_path: Path) -> None:
    async with opened(tmp_path / "chat.db") as store:
        await store.database.read(lambda db: db.execute("PRAGMA query_only = ON"))

        with pytest.raises(StorageError, match="cannot be written"):
            await store.journal.commit([StoreMessage(Author("ann").write(), Status.DELIVERED)])

        assert await store.history.count(CHANNEL) == 0


async def test_a_database_locked_by_another_program_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    record = StoreMessage(Author("ann").write(), Status.DELIVERED)
    async with opened(path) as store:
        await store.database.read(lambda db: value(db, "PRAGMA busy_timeout = 0"))
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")

        with pytest.raises(StorageError, match=r"keeps .*chat\.db locked"):
            await store.journal.commit([record])
        other.close()

        await store.journal.commit([record])
        assert await store.history.count(CHANNEL) == 1


async def test_what_raises_in_a_transaction_undoes_it(tmp_path: Path) -> None:
    def fail(db: sqlite3.Connection) -> None:
        db.execute("DELETE FROM channels")
        raise ZeroDivisionError

    async with opened(tmp_path / "chat.db") as store:
        with pytest.raises(ZeroDivisionError):
            await store.database.write(fail)

        assert len(await store.members.channels()) == 1


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 200])
async def test_rows_of_any_number_are_all_written_in_order(tmp_path: Path, count: int) -> None:
    rows = [(number, str(number)) for number in range(count)]

    async with opened(tmp_path / "chat.db") as store:
        await store.database.read(lambda db: db.execute("CREATE TABLE rows (a, b)"))
        changed = await store.database.write(
            lambda db: execute_for_rows(db, "INSERT INTO rows VALUES", rows)
        )
        found = await store.database.read(lambda db: db.execute("SELECT * FROM rows").fetchall())

    assert changed == count
    assert found == rows


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="no list of open files")
async def test_a_commit_of_many_lines_makes_no_file_to_undo_its_statements(tmp_path: Path) -> None:
    """Such a file is removed as soon as it is made, so it is looked for while statements run."""
    ann, made = Author("ann"), set()
    messages = [ann.write(f"line {number}") for number in range(512)]

    def look() -> int:
        for one in Path("/proc/self/fd").iterdir():
            with suppress(OSError):  # it is closed by now
                made.add(str(one.readlink()))
        return 0

    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit([StoreMessage(one, Status.DELIVERED) for one in messages[:448]])
        await store.database.read(lambda db: db.set_progress_handler(look, 200))
        await store.journal.commit([StoreMessage(one, Status.DELIVERED) for one in messages[448:]])
        await store.database.read(lambda db: db.set_progress_handler(None, 0))

    assert [one for one in made if "chat.db-wal" in one], "statements were watched"
    assert not [one for one in made if "etilqs" in one]


async def test_indexes_are_sorted_on_the_disk_and_statements_are_undone_in_memory_again(
    tmp_path: Path,
) -> None:
    """SQLite has 1 for files and 2 for memory."""
    async with opened(tmp_path / "chat.db") as store:
        seen: list[object] = []
        real = mending.reindex

        def watched(db: sqlite3.Connection) -> None:
            seen.append(value(db, "PRAGMA temp_store"))
            real(db)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(mending, "reindex", watched)
            await store.database.mend()
        seen.append(await store.database.read(lambda db: value(db, "PRAGMA temp_store")))

    assert seen == [1, 2]


async def test_what_is_deleted_is_overwritten_but_for_pages_that_are_swapped_in(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path / "chat.db") as store:
        before = await store.database.read(overwrites)
        during = await store.database.write_long(overwrites)
        after = await store.database.read(overwrites)

    assert (before, during, after) == (1, 2, 1)


def overwrites(db: sqlite3.Connection) -> object:
    """Return SQLite's setting: 1 if it overwrites what is deleted, 2 where that writes no more."""
    return value(db, "PRAGMA secure_delete")


@pytest.mark.parametrize("kind", [bytes, bool, type(None)])
def test_values_of_rows_are_bound_without_a_search_for_how(kind: type) -> None:
    assert (kind, sqlite3.PrepareProtocol) in sqlite3.adapters
