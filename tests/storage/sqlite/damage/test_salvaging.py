"""Pages of tables that are gone: what lies beside them is kept, and what is lost is known."""

import asyncio
import errno
import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from storage.sqlite.damage.copying import replace_by_copy
from storage.sqlite.database import Database
from storage.sqlite.integrity import beside, problems_of
from storage.sqlite.open_file import mended_of
from storage.sqlite.sqlite_errors import DamagedError
from sync.errors import StorageError
from sync.group.values import StoredMessage
from tests.support.storage.rotting import scribble
from tests.support.storage.stores import Store, delivered, opened
from tests.support.sync.entries import CHANNEL, Author

LINES = 200


async def filled(path: Path) -> list[str]:
    """A history that takes many pages; returns its texts."""
    ann = Author("ann")
    lines: list[StoredMessage] = []
    for number in range(LINES):
        lines.append(ann.write(f"tea {number}", after=lines[-1:]))
    async with opened(path) as store:
        await store.journal.commit(delivered(*lines))
        await store.database.empty_log()
    return [f"tea {number}" for number in range(LINES)]


async def shown(store: Store) -> list[str]:
    return [line.text for line in await store.history.page(CHANNEL, before=None, limit=LINES)]


def pages_with(path: Path, text: str) -> Sequence[int]:
    """Places in the file of pages in which a text stands."""
    with closing(sqlite3.connect(path)) as db:
        (size,) = db.execute("PRAGMA page_size").fetchone()
    data = path.read_bytes()
    return [at for at in range(0, len(data), size) if text.encode() in data[at : at + size]]


def own_log(path: Path) -> int:
    with closing(sqlite3.connect(path)) as db:
        return int(db.execute("SELECT own_log FROM channels").fetchone()[0])


async def test_a_page_of_messages_that_is_gone_costs_the_messages_in_it_alone(
    tmp_path: Path,
) -> None:
    path = tmp_path / "chat.db"
    whole = await filled(path)
    before = own_log(path)
    with path.open("r+b") as file:
        for at in pages_with(path, "tea 100"):
            file.seek(at)
            file.write(bytes(4096))

    async with opened(path) as store:
        lost = await store.database.mend()
        kept = await shown(store)
        page = await store.history.page(CHANNEL, before=None, limit=LINES)
        assert await beside(path, problems_of) == []

    assert lost == {"messages"}
    assert "tea 100" not in kept
    assert LINES - 10 < len(kept) < LINES
    assert kept == [text for text in whole if text in kept]
    after_gap = [line.text for line in page if line.after_gap]
    behind = whole[whole.index("tea 100") :]
    assert after_gap[0] == next(text for text in behind if text in kept)
    assert own_log(path) != before, "no number is signed twice"
    assert path.with_name("chat.db.damaged").exists()


@pytest.mark.parametrize("table", ["damaged", "clocks", "awaited_links", "authors", "nicks"])
async def test_a_small_table_that_is_gone_takes_no_message_with_it(
    tmp_path: Path, table: str
) -> None:
    path = tmp_path / "chat.db"
    whole = await filled(path)
    before = own_log(path)
    scribble(path, table)

    async with opened(path) as store:
        assert await store.database.mend() == {table}
        assert await shown(store) == whole
        assert await beside(path, problems_of) == []

    assert own_log(path) == before


async def test_a_file_that_was_cut_off_is_replaced_by_what_is_left_of_it(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    whole = await filled(path)
    [*_, last] = pages_with(path, "tea 150")
    os.truncate(path, last)
    with pytest.raises(DamagedError, match="doctor --deep"):
        async with opened(path):
            pass

    assert replace_by_copy(path) == {"messages"}

    async with opened(path) as store:
        kept = await shown(store)
        assert await beside(path, problems_of) == []
    assert 100 < len(kept) < LINES
    assert kept == [text for text in whole if text in kept]


@pytest.mark.parametrize("steps", [1, 2, 3])
async def test_who_is_stopped_while_a_copy_takes_its_place_goes_on_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    path = tmp_path / "chat.db"
    whole = await filled(path)
    with path.open("r+b") as file:
        file.seek(pages_with(path, "tea 100")[0])
        file.write(bytes(4096))
    rename = Path.replace
    left = steps

    def stopping(one: Path, to: Path) -> Path:
        nonlocal left
        left -= 1
        if not left:
            raise KeyboardInterrupt
        return rename(one, to)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", stopping)
        with pytest.raises(KeyboardInterrupt):
            replace_by_copy(path)
    if steps == 1:  # no copy was made for good yet
        replace_by_copy(path)

    async with opened(path) as store:
        kept = await shown(store)
    assert LINES - 10 < len(kept) < LINES
    assert kept == [text for text in whole if text in kept]
    assert not mended_of(path).exists()


@pytest.mark.parametrize("step", [1, 2, 3])
async def test_what_is_written_after_a_repair_was_refused_is_there_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    path = tmp_path / "chat.db"
    await filled(path)
    with path.open("r+b") as file:
        file.seek(pages_with(path, "tea 100")[0])
        file.write(bytes(4096))
    rename, left = Path.replace, step

    def refusing(one: Path, to: Path) -> Path:
        nonlocal left
        left -= 1
        if not left:
            raise OSError(errno.EIO, "the disk refuses once")
        return rename(one, to)

    async with opened(path) as store:
        with monkeypatch.context() as patched:
            patched.setattr(Path, "replace", refusing)
            with pytest.raises(StorageError):
                await store.database.mend()
        later = Author("bob").write("written later")
        await store.journal.commit(delivered(later))
    await (await Database.open(path)).close()

    with closing(sqlite3.connect(path)) as db:
        found = db.execute(
            "SELECT 1 FROM messages WHERE message_id = ?", (bytes.fromhex(later.entry.message_id),)
        ).fetchall()
    assert found == [(1,)]
    assert not mended_of(path).exists()


def test_of_damaged_files_the_first_and_the_last_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    asyncio.run(filled(path))
    sizes: list[bytes] = []
    for number in range(4):
        with path.open("ab") as file:
            file.write(bytes([number]) * 4096)
        sizes.append(path.read_bytes())
        replace_by_copy(path)

    assert path.with_name("chat.db.damaged-first").read_bytes() == sizes[0]
    assert path.with_name("chat.db.damaged").read_bytes() == sizes[-1]


@pytest.mark.parametrize("table", ["channels", "group_ops", "messages"])
def test_without_what_all_else_needs_the_damaged_file_stays(tmp_path: Path, table: str) -> None:
    path = tmp_path / "chat.db"
    asyncio.run(filled(path))
    scribble(path, table)
    before = path.read_bytes()

    with pytest.raises(StorageError, match="put that file back from a backup"):
        replace_by_copy(path)

    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir() if "copy" in one.name] == []


def test_what_a_newer_program_wrote_is_not_copied_by_one_that_does_not_know_it(
    tmp_path: Path,
) -> None:
    path = tmp_path / "chat.db"
    asyncio.run(filled(path))
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 999")
    before = path.read_bytes()

    with pytest.raises(StorageError):
        replace_by_copy(path)

    assert path.read_bytes() == before
