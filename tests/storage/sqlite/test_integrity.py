"""Damaged indexes: found on a connection beside the chat, and made anew from the messages."""

import asyncio
import time
from pathlib import Path

import pytest

from chat_tui.client.disk_watch import DiskWatch
from storage.sqlite.database import Database
from storage.sqlite.integrity import beside, problems_of, rotten
from storage.sqlite.open_file import OpenFile
from sync.entries.changes import Edit, Redaction
from sync.errors import StorageError
from sync.group.values import Discard
from sync.view.view import Notice
from tests.support.storage.rotting import bring_back, hide_index, rot, scribble
from tests.support.storage.searching import searched
from tests.support.storage.stores import Store, delivered, ids, opened
from tests.support.sync.changed import changed
from tests.support.sync.entries import CHANNEL, Author


async def filled(path: Path) -> None:
    ann = Author("ann")
    async with opened(path) as store:
        lines = [ann.write(f"tea {number}") for number in range(30)]
        edit = changed(ann, Edit(lines[0].entry.message_id, "coffee"), lines[0])
        await store.journal.commit(delivered(*lines, edit))


async def shown(store: Store) -> list[str]:
    return [line.text for line in await store.history.page(CHANNEL, before=None, limit=100)]


WHOLE = ["coffee", *(f"tea {number}" for number in range(1, 30))]


async def test_a_row_that_an_index_lacks_is_found_and_the_index_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    await filled(path)
    schema = hide_index(path, "messages_in_order")
    late = Author("bob").write("late", lamport=99)
    async with opened(path) as store:
        await store.journal.commit(delivered(late))
    bring_back(path, schema)

    async with opened(path) as store:
        assert len((await store.journal.restore(CHANNEL)).log) == 31 * 40, "nobody notices"
        told: list[Notice] = []
        anew: list[bool] = []
        watch = DiskWatch(store.database, told.append, lambda: anew.append(True))
        await watch.look()
        assert len((await store.journal.restore(CHANNEL)).log) == 32 * 40
        assert await beside(path, problems_of) == []
        [notice] = told
        assert "missing from index messages_in_order" in notice.text
        assert "has been rebuilt" in notice.text
        assert anew == [True]
        await watch.look()
        assert len(told) == 1


@pytest.mark.parametrize(
    "what", ["messages_in_order", "messages_by_time", "texts_data", "texts_idx"]
)
async def test_a_page_of_an_index_that_is_gone_is_mended(tmp_path: Path, what: str) -> None:
    path = tmp_path / "chat.db"
    await filled(path)
    scribble(path, what)

    async with opened(path) as store:
        reads = (
            store.journal.restore(CHANNEL),
            shown(store),
            searched(store, CHANNEL, "tea", limit=5),
        )
        refusals = [str(one) for one in await asyncio.gather(*reads, return_exceptions=True)]
        assert any("is damaged" in refusal for refusal in refusals)
        await store.database.mend()
        assert not store.database.is_damaged
        assert await shown(store) == WHOLE
        found = await searched(store, CHANNEL, "tea", limit=100)
        assert [line.text for line in found] == WHOLE[1:]
        assert await beside(path, problems_of) == []


async def test_a_copy_of_a_damaged_file_shows_nothing_that_was_deleted(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    ann = Author("ann")
    deleted, gone = ann.write("tea at four"), ann.write("milk at five")
    found_out, not_yet = (
        changed(ann, Redaction(line.entry.message_id), line) for line in (deleted, gone)
    )
    async with opened(path) as store:
        await store.journal.commit(delivered(deleted, gone, found_out, not_yet))
        await store.journal.commit([Discard(CHANNEL, found_out.entry.message_id)])
    target = bytes.fromhex(gone.entry.message_id)
    rot(path, "", replaced=target, message_id=not_yet.entry.message_id)
    scribble(path, "texts_data")

    async with opened(path) as store:
        await store.database.mend()
        assert path.with_name("chat.db.damaged").exists(), "it took a copy"
        assert await shown(store) == ["", ""]
        assert await searched(store, CHANNEL, "at", limit=9) == []


async def test_what_cannot_be_mended_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    await filled(path)
    scribble(path, "messages")

    async with opened(path) as store:
        told: list[Notice] = []
        watch = DiskWatch(store.database, told.append, lambda: None)
        await watch.look()
        [notice] = told
        assert "move that file aside" in notice.text
        assert "/invite" in notice.text


def copy_of(directory: Path) -> Path:
    copy = directory / "copy"
    copy.mkdir()
    for file in directory.glob("chat.db*"):
        (copy / file.name).write_bytes(file.read_bytes())
    return copy


async def test_whoever_did_not_close_the_database_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    await filled(path)
    async with opened(path) as store:
        assert not store.database.ended_badly
        await store.journal.commit(delivered(Author("bob").write("late")))
        copy = copy_of(tmp_path)

    database = await Database.open(copy / "chat.db")
    assert database.ended_badly
    await database.close()
    again = await Database.open(copy / "chat.db")
    assert not again.ended_badly
    await again.close()


async def test_looking_ends_as_soon_as_nobody_waits_for_it(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    await filled(path)
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n"
    looking = asyncio.create_task(beside(path, lambda db: db.execute(endless).fetchone()))
    while not looking.done():
        await asyncio.sleep(0)
        looking.cancel()
    began = time.monotonic()
    await asyncio.get_running_loop().shutdown_default_executor()
    assert time.monotonic() - began < 5


COLUMNS_THAT_NO_HASH_COVERS = (
    "UPDATE messages SET kind = kind + 1 WHERE number = 5",
    "UPDATE messages SET seq = seq + 1 WHERE number = 7",
    "UPDATE messages SET log = log + 1 WHERE number = 9",
    "UPDATE messages SET backlink = x'00' WHERE number = 11",
)


async def test_every_column_is_held_against_the_bytes(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    await filled(path)
    steps: list[tuple[int, int]] = []
    assert await beside(path, lambda db: rotten(db, lambda *step: steps.append(step))) == []
    assert steps == [(31, 31)]

    rot(path, "tea 3")
    async with opened(path) as store:
        await store.database.write(
            lambda db: [db.execute(change) for change in COLUMNS_THAT_NO_HASH_COVERS]
        )
        found = await beside(path, rotten)
        assert len(found) == 5


# --- A file taken away --------------------------------------------------------------------------


async def test_nothing_is_committed_into_a_file_without_a_name(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    await filled(path)
    async with opened(path) as store:
        bob = Author("bob")
        await store.journal.commit(delivered(bob.write("before")))
        aside = path.rename(tmp_path / "aside")
        late = bob.write("late")
        with pytest.raises(StorageError, match="deleted"):
            await store.journal.commit(delivered(late))
        assert "late" not in await shown(store)
        aside.rename(path)
        await store.database.try_again()
        await store.journal.commit(delivered(late))
        assert "late" in await shown(store)

        path.with_name("chat.db-wal").unlink()
        with pytest.raises(StorageError, match="deleted"):
            await store.journal.commit(delivered(bob.write("later")))


def test_asking_costs_next_to_nothing(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    path.write_bytes(b"something")
    file = OpenFile(path)
    file.require()
    path.write_bytes(b"some")
    with pytest.raises(StorageError, match="emptied"):
        file.require()
    assert ids([]) == []
