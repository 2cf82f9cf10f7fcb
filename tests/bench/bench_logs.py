"""Cost of knowing how far author logs go, and of the pages that are sent of them.

One channel of 100,000 signed messages in 1,000 logs. A start is that of a file nobody has read in
this process, and the heights' share of it. Seconds are processor time, SQLite's thread included.
"""

import asyncio
import tracemalloc
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from storage.sqlite.author_logs import logs_of
from sync.group.logs import ChannelLogs, LogState, place_of
from sync.group.values import StoredMessage
from sync.machine import MessageId
from sync.sessions.values import PAGE
from sync.structures.log_spans import LogSpan
from tests.bench.report import Params, Result, at_most, fresh_watch, progress
from tests.support.storage.stores import delivered, opened
from tests.support.sync.entries import CHANNEL, Author

AUTHORS: Final = 100
LOGS_EACH: Final = 10
ENTRIES_EACH: Final = 100
RUNS: Final = 3

START_S: Final = 0.1
ENTRY_US: Final = 6.0
LOG_BYTES: Final = 1024.0
NEWEST: Final = (1, 10, ENTRIES_EACH)
"""Entries of each log that a peer lacks."""


def author_logs(place: Path) -> Iterator[Result]:
    """Heights at a start and a stored entry's share, bytes a log, and pages to send."""
    path = place / "chat.db"
    progress("author_logs: writing 100000 messages ...")
    written = _written()
    asyncio.run(_fill(path, written))
    params: Params = {"messages": len(written), "logs": AUTHORS * LOGS_EACH}
    starts = [asyncio.run(_start(path)) for _ in range(RUNS)]
    yield at_most("heights_start", min(seconds for seconds, _ in starts), "s", START_S, params)
    states = starts[0][1]
    assert all(one.top == ENTRIES_EACH == one.runs[0].last for one in states), "sound logs"
    entry = min(_told(written)[0] for _ in range(RUNS)) / len(written) * 1e6
    yield at_most("heights_stored_entry", entry, "us", ENTRY_US, params)
    yield at_most("heights_log", _bytes(written) / len(states), "bytes", LOG_BYTES, params)
    for newest in NEWEST:
        spans = [LogSpan(one.key, one.log, one.top - newest, one.top) for one in states]
        seconds = asyncio.run(_paged(path, spans))
        count = newest * len(states)
        more: Params = {**params, "lacking": count}
        yield Result("pages_entry", seconds / count * 1e6, "us", params=more)


def _written() -> list[StoredMessage]:
    """Return the messages by their Lamport times: everybody in turn."""
    logs = [
        Author(f"author {number}", log=log + 1)
        for number in range(AUTHORS)
        for log in range(LOGS_EACH)
    ]
    lines = range(ENTRIES_EACH * len(logs))
    return [logs[at % len(logs)].write(f"line {at}", lamport=10**12 + at) for at in lines]


async def _fill(path: Path, written: Sequence[StoredMessage]) -> None:
    async with opened(path) as store:
        for start in range(0, len(written), PAGE):
            await store.journal.commit(delivered(*written[start : start + PAGE]))


async def _start(path: Path) -> tuple[float, Sequence[LogState]]:
    async with opened(path) as store:
        watch = fresh_watch()
        with watch:
            states = await store.database.read(lambda db: logs_of(bytes.fromhex(CHANNEL), db, []))
    return watch.seconds, states


def _told(written: Sequence[StoredMessage]) -> tuple[float, ChannelLogs]:
    watch, logs = fresh_watch(), ChannelLogs()
    with watch:
        for one in written:
            header = one.entry.header
            logs.add(header.author, one.entry.message_id, place_of(header))
    return watch.seconds, logs


def _bytes(written: Sequence[StoredMessage]) -> int:
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        _, logs = _told(written)
        after, _ = tracemalloc.get_traced_memory()
        assert len(logs)
        return after - before
    finally:
        tracemalloc.stop()


async def _paged(path: Path, spans: Sequence[LogSpan]) -> float:
    async with opened(path) as store:
        watch, count, more = fresh_watch(), 0, True
        place: tuple[int, MessageId] | None = None
        with watch:
            while more:
                page = await store.journal.entries_page(CHANNEL, spans, place, PAGE)
                last, more = page.entries[-1], page.more
                place = (last.entry.header.lamport, last.message_id)
                count += len(page.entries)
        assert count == sum(one.height - one.after for one in spans)
    return watch.seconds
