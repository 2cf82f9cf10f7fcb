"""Pages of entries in spans of logs: each way on disk, and the simulator's, by their definition."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from storage.sqlite import entry_pages
from sync.group.values import Status, StoredMessage, StoreMessage
from sync.machine import MessageId
from sync.runner.journal import PAGE_BYTES, EntriesPage, Journal
from sync.sim.disk import Disk
from sync.structures.log_spans import LogSpan
from tests.support.storage.stores import ME, OWN_LOG, delivered, opened
from tests.support.sync.entries import CHANNEL, Author

WAYS = {"by log": (1024, 0), "from the lowest": (0, 1000), "from the beginning": (0, 0)}
"""Counts up to which entries are looked up by log, and their lowest Lamport time is."""


def key_of(author: Author) -> bytes:
    return bytes.fromhex(author.peer_id)


def place(one: StoredMessage) -> tuple[int, MessageId]:
    return one.entry.header.lamport, one.entry.message_id


def in_spans(held: Sequence[StoredMessage], spans: Sequence[LogSpan]) -> list[StoredMessage]:
    """The definition: all that is held of these spans, in order."""
    wanted = {
        (span.key.hex(), span.log, seq)
        for span in spans
        for seq in range(span.after + 1, span.height + 1)
    }
    headers = [(one, one.entry.header) for one in held]
    found = [one for one, its in headers if (its.author, its.log, its.seq) in wanted]
    return sorted(found, key=place)


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[tuple[StoredMessage, Status]], list[LogSpan]]:
    """Messages of a few logs, with whatever Lamport times, and spans of some of them."""
    stored: list[tuple[StoredMessage, Status]] = []
    spans: list[LogSpan] = []
    often = [Status.DELIVERED] * 4
    for name in ("ann", "bob"):
        for log in (1, 2**64 - 1):
            author = Author(name, log=log)
            for _ in range(draw(st.integers(0, 8))):
                lamport = draw(st.integers(0, 2**64 - 1) | st.integers(1, 9))
                one = author.write(lamport=lamport, created_ns=5)
                stored.append((one, draw(st.sampled_from([*often, *Status]))))
            after, height = sorted([draw(st.integers(0, 9)), draw(st.integers(0, 9))])
            if draw(st.booleans()):
                spans.append(LogSpan(key_of(author), log, after, height))
    gone = draw(st.integers(0, 3))
    return draw(st.permutations(stored))[gone:], draw(st.permutations(spans))


@pytest.mark.parametrize("way", list(WAYS))
@settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(history=histories(), limit=st.integers(1, 6))
async def test_pages_are_those_of_the_definition_whichever_way_they_are_found(
    monkeypatch: pytest.MonkeyPatch,
    way: str,
    history: tuple[list[tuple[StoredMessage, Status]], list[LogSpan]],
    limit: int,
) -> None:
    by_log, lowest = WAYS[way]
    monkeypatch.setattr(entry_pages, "BY_LOG_MAX", by_log)
    monkeypatch.setattr(entry_pages, "LOWEST_MAX", lowest)
    stored, spans = history
    expected = in_spans([one for one, how in stored if how is not Status.PARKED], spans)
    records = [StoreMessage(one, how) for one, how in stored]
    disk = Disk(ME, OWN_LOG)
    disk.commit(records)
    with tempfile.TemporaryDirectory() as directory:
        async with opened(Path(directory) / "chat.db") as store:
            await store.journal.commit(records)
            at, after, more = 0, None, True
            while more:
                page = await store.journal.entries_page(CHANNEL, spans, after, limit)
                assert disk.entries_page(spans, after, limit) == page
                ids = [one.message_id for one in page.entries]
                assert ids == [one.entry.message_id for one in expected[at : at + limit]]
                at, more = at + limit, page.more
                assert more is (at < len(expected))
                after = place(expected[at - 1]) if more else None


async def all_pages(journal: Journal, span: LogSpan, limit: int) -> list[EntriesPage]:
    pages: list[EntriesPage] = []
    after: tuple[int, MessageId] | None = None
    while not pages or pages[-1].more:
        pages.append(await journal.entries_page(CHANNEL, [span], after, limit))
        last = pages[-1].entries[-1]
        after = (last.entry.header.lamport, last.message_id)
    return pages


async def test_a_page_has_a_megabyte_at_most_and_one_entry_at_least(tmp_path: Path) -> None:
    ann, size = Author("ann"), 60_000
    lines = [ann.write(body=b"x" * size) for _ in range(40)]
    span = LogSpan(key_of(ann), 1, 0, 40)
    disk = Disk(ME, OWN_LOG)
    disk.commit(delivered(*lines))
    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit(delivered(*lines))
        pages = await all_pages(store.journal, span, 256)
        alone = await all_pages(store.journal, span, 1)
    sizes = [sum([len(one.payload) for one in page.entries]) for page in pages]
    assert [len(page.entries) for page in pages] == [17, 17, 6]
    assert max(sizes) <= PAGE_BYTES < max(sizes) + size
    assert [len(page.entries) for page in alone] == [1] * 40
    assert disk.entries_page([span], None, 256) == pages[0]


@pytest.mark.parametrize("way", list(WAYS))
async def test_what_rotted_is_left_out_though_a_whole_page_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    by_log, lowest = WAYS[way]
    monkeypatch.setattr(entry_pages, "BY_LOG_MAX", by_log)
    monkeypatch.setattr(entry_pages, "LOWEST_MAX", lowest)
    ann = Author("ann")
    lines = [ann.write(str(number)) for number in range(9)]
    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit(delivered(*lines))
        rot = "UPDATE messages SET payload = x'00' WHERE number BETWEEN 2 AND 7"
        await store.database.write(lambda db: db.execute(rot))
        span = LogSpan(key_of(ann), 1, 1, 9)
        page = await store.journal.entries_page(CHANNEL, [span], None, 3)
        assert len(store.database.damage) == 6
    assert [one.message_id for one in page.entries] == [one.entry.message_id for one in lines[7:]]
    assert not page.more
