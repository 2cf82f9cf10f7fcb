"""A snapshot on the disk: pages staged, and one transaction that makes them history."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from storage.sqlite.writes import swapping
from storage.sqlite.writes.staging import PageRottedError
from sync.entries import changes
from sync.entries.changes import Change, Edit, Reactions, Redaction
from sync.errors import StorageError
from sync.group.snapshots.values import Renewed, unchanged
from sync.group.values import (
    DropSnapshot,
    Record,
    SetLog,
    StagedSnapshot,
    StageSnapshot,
    Status,
    StoredMessage,
    StoreMessage,
    StoreState,
)
from sync.runner.journal import Replay
from tests.support.storage.searching import searched
from tests.support.storage.stores import Store, delivered, ids, opened
from tests.support.sync.entries import CHANNEL, Author
from tests.support.sync.states import pin_of

SCOPE = b"s" * 32
FLOOR = 2**64 - 1


def history(count: int) -> list[StoredMessage]:
    """Lines by two authors in (lamport, id) order, some of them edited, hidden and liked."""
    ann, bob = Author("ann"), Author("bob")
    written: list[StoredMessage] = []
    while len(written) < count:
        author = (ann, bob)[len(written) % 2]
        written.append(author.write(f"line {len(written)}", after=written[-2:]))
        if len(written) % 7 == 0:
            target = next(one for one in reversed(written) if one.entry.header.kind == 1)
            mine = target.entry.header.author == ann.peer_id
            kinds: list[Change] = [
                Edit(target.entry.message_id, f"edited {len(written)}"),
                Redaction(target.entry.message_id),
                Reactions(target.entry.message_id, ("👍",)),
            ]
            change = kinds[len(written) // 7 % 3]
            body, kind = changes.encode(change), changes.kind_of(change)
            by = ann if mine else bob
            written.append(by.write(body=body, kind=kind, after=written[-2:]))
    return written


class Pages:
    """Pages of a history, newest first, each of a few entries; and what makes records of them."""

    def __init__(self, messages: Sequence[StoredMessage], each: int = 10) -> None:
        self.messages, self.each = list(messages), each
        newest = list(reversed(range(len(messages))))
        self.chunks = [
            b",".join([b"%d" % at for at in newest[start : start + each]])
            for start in range(0, len(newest), each)
        ]

    def replay(self, chunks: Iterable[bytes], _renewed: Renewed = unchanged, /) -> Iterator[Record]:
        for chunk in chunks:
            for at in reversed(chunk.split(b",")):
                yield StoreMessage(self.messages[int(at)], Status.DELIVERED)

    async def stage(self, store: Store) -> None:
        """Commit them, one by one, as they come."""
        for number, chunk in enumerate(self.chunks):
            last = self.messages[int(chunk.split(b",")[-1])].entry
            place = (last.header.lamport, last.message_id)
            count = min(len(self.messages), (number + 1) * self.each)
            page = StageSnapshot(CHANNEL, number, chunk, place, count, SCOPE, FLOOR)
            await store.journal.commit([page])


def nobody() -> bool:
    """Nobody waits for the disk."""
    return False


async def swapped(store: Store, replay: Replay) -> bool:
    """Swap in what is staged, as one transaction; return whether all is done."""
    return await store.journal.swap(CHANNEL, replay).go_on(nobody)


async def shown(store: Store) -> list[object]:
    """All that can be seen of a channel, and all that its machines get of it."""
    lines = await store.history.page(CHANNEL, before=None, limit=10_000)
    found = await searched(store, CHANNEL, "edited", limit=10_000)
    state = await store.journal.restore(CHANNEL)
    return [lines, found, state, await store.journal.forks(CHANNEL)]


async def count(store: Store, table: str) -> int:
    query = f"SELECT count(*) FROM {table}"  # ours
    (rows,) = await store.database.read(lambda db: db.execute(query).fetchone())
    return int(rows)


async def test_a_swap_leaves_what_commits_of_the_same_messages_leave(tmp_path: Path) -> None:
    messages = history(700)
    fork = Author("ann").write("another first line")
    messages = sorted(
        [*messages, fork], key=lambda one: (one.entry.header.lamport, one.entry.message_id)
    )
    async with opened(tmp_path / "one.db") as one, opened(tmp_path / "two.db") as two:
        for message in messages:
            await one.journal.commit(delivered(message))
        pages = Pages(messages)
        await pages.stage(two)

        assert await swapped(two, pages.replay)

        assert await shown(two) == await shown(one)
        assert await count(two, "contradictions") == await count(one, "contradictions") == 1
        assert await count(two, "staged_pages") == 0
        assert await two.database.problems() == []


async def test_a_swap_adds_to_what_is_stored_and_replaces_nothing(tmp_path: Path) -> None:
    messages = history(50)
    own = Author("me").write("mine", lamport=100)
    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit([StoreMessage(messages[20], Status.PARKED)])
        await store.journal.commit(delivered(own))
        pages = Pages(messages)
        await pages.stage(store)

        await swapped(store, pages.replay)

        assert await count(store, "messages") == len(messages) + 1
        state = await store.journal.restore(CHANNEL)
        assert ids(state.parked) == ids([messages[20]])


def somebody() -> bool:
    """Somebody waits for the disk, after each part."""
    return True


async def texts(store: Store) -> list[str]:
    """The lines on a page of the transcript."""
    return [line.text for line in await store.history.page(CHANNEL, before=None, limit=10_000)]


@dataclass
class Writing:
    """Somebody who writes a line after each part of a swap, on what was there before it."""

    store: Store
    author: Author = field(default_factory=lambda: Author("me", log=7))
    lines: list[StoredMessage] = field(default_factory=list)

    async def write(self) -> None:
        """Commit a line, and see that it is on the page, and nothing else is."""
        text = f"mine {len(self.lines)}"
        self.lines.append(self.author.write(text, after=self.lines[-1:], lamport=None))
        await self.store.journal.commit(delivered(self.lines[-1]))
        assert await texts(self.store) == [f"mine {at}" for at in range(len(self.lines))]

    async def swap(self, replay: Replay, parts: int = 1_000) -> bool:
        """Swap in what is staged, or so many parts of it; return whether all is done."""
        swap = self.store.journal.swap(CHANNEL, replay)
        for _ in range(parts):
            if await swap.go_on(somebody):
                return True
            await self.write()
        return False


@asynccontextmanager
async def with_pages(path: Path, pages: Pages) -> AsyncIterator[Store]:
    """A database with staged pages, in which our log is the one that `Writing` writes."""
    async with opened(path) as store:
        await store.journal.commit([SetLog(CHANNEL, 7)])
        await pages.stage(store)
        yield store


async def test_lines_written_between_the_parts_of_a_swap_change_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(swapping, "RECORDS_AT_ONCE", 100)
    pages = Pages(history(700))
    async with (
        with_pages(tmp_path / "one.db", pages) as one,
        with_pages(tmp_path / "two.db", pages) as two,
    ):
        writing = Writing(two)
        assert await writing.swap(pages.replay)
        assert await swapped(one, pages.replay)
        await one.journal.commit(delivered(*writing.lines))

        assert len(writing.lines) == 8
        assert await shown(two) == await shown(one)
        assert await two.database.problems() == []


@pytest.mark.parametrize("crash", range(1, 9))
async def test_a_start_after_a_crash_between_two_parts_of_a_swap_ends_it_with_each_line_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, crash: int
) -> None:
    monkeypatch.setattr(swapping, "RECORDS_AT_ONCE", 100)
    pages = Pages(history(700))
    async with with_pages(tmp_path / "one.db", pages) as one:
        writing = Writing(one)
        assert not await writing.swap(pages.replay, crash)
        for name in ("one.db", "one.db-wal"):  # as a power cut leaves them
            (tmp_path / name.replace("one", "two")).write_bytes((tmp_path / name).read_bytes())
        assert await swapped(one, pages.replay), "begun anew, it passes over what is there"
        async with opened(tmp_path / "two.db") as two:
            staged = (await two.journal.restore(CHANNEL)).snapshot
            assert staged is not None
            assert staged.swapping
            assert await texts(two) == [f"mine {at}" for at in range(crash)]

            assert await swapped(two, pages.replay)

            assert await count(two, "messages") == len(pages.messages) + crash
            assert await shown(two) == await shown(one)
            assert (await two.journal.restore(CHANNEL)).snapshot is None


async def test_a_page_that_rots_between_two_parts_ends_the_swap_with_what_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(swapping, "RECORDS_AT_ONCE", 100)
    pages = Pages(history(700))
    async with with_pages(tmp_path / "chat.db", pages) as store:
        swap = store.journal.swap(CHANNEL, pages.replay)
        assert not await swap.go_on(somebody)
        await store.database.write(
            lambda db: db.execute("UPDATE staged_pages SET chunk = x'30' WHERE number = 1")
        )
        assert await swap.go_on(nobody)

        assert await count(store, "messages") == 100
        assert len(await texts(store)) > 50, "no snapshot hides them any more"
        assert (await store.journal.restore(CHANNEL)).snapshot is None


@pytest.mark.parametrize("lost", ["number >= 0", "number = 1"])
async def test_pages_that_are_gone_after_a_part_of_the_swap_hide_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    monkeypatch.setattr(swapping, "RECORDS_AT_ONCE", 100)
    pages = Pages(history(700))
    async with with_pages(tmp_path / "chat.db", pages) as store:
        assert not await store.journal.swap(CHANNEL, pages.replay).go_on(somebody)
        assert await texts(store) == [], "it may go on yet"
        await store.database.write(lambda db: db.execute(f"DELETE FROM staged_pages WHERE {lost}"))

        assert (await store.journal.restore(CHANNEL)).snapshot is None

        assert len(await texts(store)) > 50
        assert await count(store, "staged_snapshots") == await count(store, "staged_pages") == 0


async def test_state_of_ours_that_is_newer_than_the_swap_is_told_to_the_replay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(swapping, "RECORDS_AT_ONCE", 100)
    pages, told = Pages(history(150)), list[Sequence[bytes] | None]()
    entry = pin_of(1, 1, 1)

    def replay(chunks: Iterable[bytes], renewed: Renewed = unchanged, /) -> Iterator[Record]:
        yield from pages.replay(chunks)
        told.extend([renewed(), renewed()])

    async with with_pages(tmp_path / "chat.db", pages) as store:
        assert await swapped(store, replay)
        assert told == [None, None], "nothing was stored meanwhile"
    async with with_pages(tmp_path / "other.db", pages) as store:
        swap = store.journal.swap(CHANNEL, replay)
        assert not await swap.go_on(somebody)
        await store.journal.commit([StoreState(CHANNEL, entry.content)])
        assert await swap.go_on(nobody)
        assert told[2:] == [(entry.content,), None]


async def test_a_swap_that_fails_leaves_the_pages_and_nothing_else(tmp_path: Path) -> None:
    messages = history(600)
    pages = Pages(messages)

    def broken(chunks: Iterable[bytes], _renewed: Renewed = unchanged, /) -> Iterator[Record]:
        for number, record in enumerate(pages.replay(chunks)):
            if number == 500:
                raise sqlite3.OperationalError("disk I/O error")
            yield record

    async with opened(tmp_path / "chat.db") as store:
        await pages.stage(store)
        with pytest.raises(StorageError):
            await swapped(store, broken)
        assert await count(store, "messages") == 0
        assert await count(store, "staged_pages") == len(pages.chunks)

        assert await swapped(store, pages.replay)
        assert await count(store, "messages") == len(messages)


async def test_what_is_read_during_a_swap_is_what_was_before(tmp_path: Path) -> None:
    pages = Pages(history(600))
    reached, go_on = threading.Event(), threading.Event()

    def slow(chunks: Iterable[bytes], _renewed: Renewed = unchanged, /) -> Iterator[Record]:
        for number, record in enumerate(pages.replay(chunks)):
            if number == 500:
                reached.set()
                assert go_on.wait(30)
            yield record

    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit(delivered(Author("me").write("mine", lamport=10_000)))
        await pages.stage(store)
        swap = asyncio.create_task(swapped(store, slow))
        await asyncio.to_thread(reached.wait, 30)

        lines = await store.history.page(CHANNEL, before=None, limit=100)
        assert [line.text for line in lines] == ["mine"]
        assert not swap.done()

        go_on.set()
        assert await swap
        assert await store.history.count(CHANNEL) > 500


async def test_a_swap_gives_up_when_the_database_is_to_be_closed(tmp_path: Path) -> None:
    pages = Pages(history(600))
    reached, go_on = threading.Event(), threading.Event()

    def slow(chunks: Iterable[bytes], _renewed: Renewed = unchanged, /) -> Iterator[Record]:
        for number, record in enumerate(pages.replay(chunks)):
            if number == 0:
                reached.set()
                assert go_on.wait(30)
            yield record

    async with opened(tmp_path / "chat.db") as store:
        await pages.stage(store)
        swap = asyncio.create_task(swapped(store, slow))
        await asyncio.to_thread(reached.wait, 30)
        closing = asyncio.create_task(store.database.close())
        await asyncio.sleep(0)
        assert store.database.is_closing
        go_on.set()
        with pytest.raises(StorageError, match="later"):
            await swap
        await closing
    async with opened(tmp_path / "chat.db") as store:
        assert await count(store, "messages") == 0
        assert await swapped(store, pages.replay)


async def test_a_page_that_rotted_ends_the_snapshot_and_nothing_of_it_is_taken_in(
    tmp_path: Path,
) -> None:
    pages = Pages(history(60))
    async with opened(tmp_path / "chat.db") as store:
        await pages.stage(store)
        await store.database.write(
            lambda db: db.execute("UPDATE staged_pages SET chunk = x'30' WHERE number = 1")
        )

        assert await swapped(store, pages.replay)

        assert await count(store, "messages") == await count(store, "staged_pages") == 0
        assert issubclass(PageRottedError, StorageError)


async def test_no_log_is_left_as_large_as_the_history(tmp_path: Path) -> None:
    pages = Pages(history(600))
    async with opened(tmp_path / "chat.db") as store:
        await pages.stage(store)
        await swapped(store, pages.replay)
        assert (tmp_path / "chat.db-wal").stat().st_size == 0


async def test_what_is_staged_is_known_after_a_start_and_dropped_when_it_is_told(
    tmp_path: Path,
) -> None:
    pages = Pages(history(25))
    async with opened(tmp_path / "chat.db") as store:
        assert (await store.journal.restore(CHANNEL)).snapshot is None
        await pages.stage(store)
    oldest = pages.messages[0].entry
    async with opened(tmp_path / "chat.db") as store:
        state = await store.journal.restore(CHANNEL)
        place = (oldest.header.lamport, oldest.message_id)
        staged = StagedSnapshot(SCOPE, FLOOR, place, len(pages.messages), len(pages.chunks))
        assert state.snapshot == staged
        assert not state.log, "what is staged counts nowhere"

        await store.journal.commit([DropSnapshot(CHANNEL)])
        assert (await store.journal.restore(CHANNEL)).snapshot is None
        assert await count(store, "staged_pages") == 0


async def test_a_page_without_a_message_has_no_place_to_go_on_from(tmp_path: Path) -> None:
    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit([StageSnapshot(CHANNEL, 0, b"state", None, 0, SCOPE, 0)])
        state = await store.journal.restore(CHANNEL)
        assert state.snapshot == StagedSnapshot(SCOPE, 0, None, 0, 1)


async def test_pages_of_which_one_is_missing_are_none(tmp_path: Path) -> None:
    pages = Pages(history(25))
    async with opened(tmp_path / "chat.db") as store:
        await pages.stage(store)
        await store.database.write(
            lambda db: db.execute("DELETE FROM staged_pages WHERE number = 1")
        )
        assert (await store.journal.restore(CHANNEL)).snapshot is None

        await pages.stage(store)  # another one begins anew
        assert (await store.journal.restore(CHANNEL)).snapshot is not None
