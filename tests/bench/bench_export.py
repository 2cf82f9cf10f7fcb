"""Cost of the protocol log for the live chat, and of an export.

A message that is received and delivered takes some 300 us of processor time at a live node, with
its signature, its filter and its commit: the log's two rows are noted in its midst, and written
down by another thread, which keeps the same processor busy. An export decodes every message from
its stored bytes, checks that they are whole, and hands the columns over to Arrow.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from storage.archive.exporter import Exporter, Wanted
from storage.sqlite.protocol_log import LogFile
from sync.group import values
from sync.machine import DAY, MILLISECOND, SECOND
from sync.runner.log_notes import Chunk, Note
from sync.runner.log_rows import LogKind
from sync.runner.logbook import Logbook
from tests.bench.report import Params, Result, at_least, at_most, fresh_watch
from tests.support.storage.archives import archive
from tests.support.storage.exports import Owner
from tests.support.storage.stores import delivered
from tests.support.sync.entries import CHANNEL, Author
from tests.support.sync.groups import NOW, Member, arrived, sds_of

MESSAGES: Final = 2_000
RUNS: Final = 5
AT_ONCE: Final = 50
"""Messages of one turn."""

NOTED_US: Final = 5.0
"""For a message's rows, in the midst of its way: a hundredth of it."""

WRITTEN_US: Final = 15.0
"""For a message's rows, by the thread that writes them down."""

EXPORTED: Final = 20_000
EXPORTED_DAYS: Final = 20
ROWS_PER_S: Final = 10_000.0
LOG_ROWS_PER_S: Final = 50_000.0


def protocol_log(place: Path) -> Iterator[Result]:
    """Receive and deliver messages, and note that."""
    params: Params = {"messages": MESSAGES}
    noting, writing, rows = [], [], 0
    for run in range(RUNS):
        chunks, seconds = _noted()
        noting.append(seconds)
        rows = sum(len(notes) for _, _, notes in chunks)
        with closing(LogFile(place / f"{run}.db", bytes)) as file:
            file.append(chunks[:1])
            with fresh_watch() as watch:
                file.append(chunks[1:])
            writing.append(watch.seconds)
    params["rows"] = rows
    noted, written = (1e6 * min(each) / MESSAGES for each in (noting, writing))
    yield at_most("protocol_log_noted", noted, "us/message CPU", NOTED_US, params)
    yield at_most("protocol_log_written", written, "us/message CPU", WRITTEN_US, params)


def _noted() -> tuple[list[Chunk], float]:
    """Rows of messages received in order, and the seconds that noting them took."""
    author, member, logbook = Author("ann"), Member("bob"), Logbook()
    handled = []
    for number in range(MESSAGES):
        message = author.write("x" * 100, after=author.entries[-2:], created_ns=NOW + number)
        event = arrived(sds_of(message), author.peer_id)
        handled.append((event, member.group.handle(event, NOW)))
    with fresh_watch() as watch:
        for at, (event, effects) in enumerate(handled):
            logbook.handled(CHANNEL, member.group, event, effects)
            if at % AT_ONCE == AT_ONCE - 1:
                logbook.let_out(NOW)
    return logbook.take_chunks(), watch.seconds


def export(place: Path) -> Iterator[Result]:
    """Export a profile, first all of it, then again with nothing new."""
    owner = Owner(place)
    step = EXPORTED_DAYS * DAY // EXPORTED
    messages = archive("ann", EXPORTED, 20_000 * DAY, step, CHANNEL)
    asyncio.run(owner.hold(delivered(*messages)))
    owner.note(*_received(messages))
    params: Params = {"messages": EXPORTED, "days": EXPORTED_DAYS}
    with fresh_watch() as watch:
        Exporter(owner.directory, place / "history", Wanted(log=False)).run()
    rate = EXPORTED / watch.seconds
    yield at_least("export_history", rate, "rows/s CPU", ROWS_PER_S, params)
    with fresh_watch() as again:
        Exporter(owner.directory, place / "history", Wanted()).run()
    rate = 2 * EXPORTED / again.seconds
    yield at_least("export_log", rate, "rows/s CPU", LOG_ROWS_PER_S, params)
    with fresh_watch() as nothing:
        Exporter(owner.directory, place / "history", Wanted()).run()
    yield at_most("export_nothing_new", nothing.seconds, "s CPU", 0.5, params)


def _received(messages: Sequence[values.StoredMessage]) -> Iterator[Chunk]:
    """Two rows of each message, in batches."""
    for start in range(0, len(messages), 1000):
        entries = [message.entry for message in messages[start : start + 1000]]
        notes = [
            Note(CHANNEL, kind, one.header.author, one.message_id, one.header.lamport, 900)
            for one in entries
            for kind in (LogKind.RECEIVED, LogKind.DELIVERED)
        ]
        at = messages[start].entry.header.created_ns + 50 * MILLISECOND
        yield at // SECOND * SECOND, 1 + 2 * start, notes


BENCHMARKS: Final = (protocol_log, export)
