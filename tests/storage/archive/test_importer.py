"""`chat-tui import`: an archive goes the one way in, whole, once, and nothing false with it."""

import random
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from storage.archive.importer import (
    AHEAD,
    MISPLACED,
    NO_ROW,
    OTHER_ID,
    OTHERWISE,
    REASONS_MAX,
    Imported,
    Importer,
)
from storage.archive.reader import FILES_AT_ONCE, Archive
from storage.archive.tables import HISTORY, NOTE
from storage.sqlite.journal import SqliteJournal
from sync.entries.entry import encode_content, open_content
from sync.entries.identity import verify
from sync.errors import LocalError, StorageError
from sync.group import writer
from sync.group.ingest import Gate, message_of
from sync.group.inputs.admission import RESTORED
from sync.group.records import Altered
from sync.group.values import Record, StoredMessage
from sync.machine import DAY, HOUR, MILLISECOND, ChannelId, MessageId
from sync.sds.wire import encode_canonical
from tests.support.storage.archived import export, export_rows, row_of
from tests.support.storage.archives import archive
from tests.support.storage.exports import Owner
from tests.support.storage.rows import log_of, stamped
from tests.support.storage.stores import OWN_LOG, Store, delivered, membership, opened
from tests.support.sync.entries import CHANNEL, Author, identity

NOW = 1_800_000_000_000 * MILLISECOND
TEA = membership()


async def imported(store: Store, directory: Path, journal: SqliteJournal | None = None) -> Imported:
    """Import everything into the profile of `me`."""
    me = identity("me")
    author = writer.Author(me.peer_id, me.sign, verify, lambda: 77)
    importer = Importer(author, journal or store.journal, random.Random(0), NOW)
    return await importer.import_rows(Archive.find(directory), [TEA], lambda _: None)


async def log_in(store: Store) -> list[tuple[int, MessageId]]:
    """Return what is delivered in the channel, in order."""
    return log_of((await store.journal.restore(CHANNEL)).log)


def in_order(messages: Sequence[StoredMessage]) -> list[tuple[int, MessageId]]:
    """Return the delivery order of these messages."""
    return sorted((one.entry.header.lamport, one.entry.message_id) for one in messages)


async def test_a_relative_name_may_have_a_colon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Elsewhere, such a name is an address."""
    monkeypatch.chdir(tmp_path)
    written = archive("ann", 3, channel=CHANNEL)
    owner = Owner(tmp_path)
    await owner.hold(delivered(*written))
    owner.export(Path("co:lon"))

    async with opened(tmp_path / "chat.db") as store:
        done = await imported(store, Path("co:lon"))

    assert done.new == len(written)


def test_canonical_bytes_and_waku_hash_are_a_function_of_the_entry() -> None:
    gate = Gate.of(CHANNEL, verify)
    for message in archive("ann", 40, channel=CHANNEL):
        entry = message.entry
        row = entry.header_bytes, entry.signature, entry.body

        rebuilt = open_content(encode_content(*row))

        stored = gate.store(rebuilt, message_of(rebuilt))
        assert stored == message
        assert encode_canonical(message_of(rebuilt)) == message.payload


async def test_an_archive_is_taken_in_whole_and_once(tmp_path: Path) -> None:
    history = archive("ann", 700, channel=CHANNEL)
    export(tmp_path / "export", history)

    async with opened(tmp_path / "chat.db") as store:
        first = await imported(store, tmp_path / "export")
        again = await imported(store, tmp_path / "export")
        state = await store.journal.restore(CHANNEL)
        loaded = await store.journal.load(CHANNEL, [one.entry.message_id for one in history])

    assert (first.new, first.known, first.refused.total()) == (700, 0, 0)
    assert (again.new, again.known, again.refused.total()) == (0, 700, 0)
    assert log_of(state.log) == in_order(history)
    assert stamped(state.sync_ids) == [
        (one.entry.header.created_ns, one.waku_hash) for one in history
    ]
    assert [one.payload for one in loaded.values()] == [one.payload for one in history]
    assert not any(one.after_gap for one in loaded.values())


async def test_what_was_cut_off_is_begun_again(tmp_path: Path) -> None:
    class Full(SqliteJournal):
        """A disk that is full after two pages."""

        pages = 0

        async def commit(self, records: Sequence[Record]) -> list[Altered]:
            self.pages += 1
            if self.pages > 2:
                raise StorageError("The disk is full.")
            return await super().commit(records)

    history = archive("ann", 700, channel=CHANNEL)
    export(tmp_path / "export", history)

    async with opened(tmp_path / "chat.db") as store:
        with pytest.raises(StorageError, match="full"):
            await imported(store, tmp_path / "export", Full(store.database, identity("me").peer_id))
        rest = await imported(store, tmp_path / "export")
        log = await log_in(store)

    assert rest.new > 0
    assert rest.known > 0
    assert rest.new + rest.known == 700
    assert log == in_order(history)


async def test_what_is_named_comes_first_whichever_export_it_is_in(tmp_path: Path) -> None:
    history = archive("ann", 3 * FILES_AT_ONCE, begin=NOW - 90 * DAY, step=HOUR, channel=CHANNEL)
    for node in range(3):
        export(tmp_path / "all" / str(node), history[node::3], [str(node)])

    async with opened(tmp_path / "chat.db") as store:
        result = await imported(store, tmp_path / "all")
        state = await store.journal.restore(CHANNEL)

    assert result.new == len(history)
    assert log_of(state.log) == in_order(history)
    assert not state.waiting
    assert not state.gaps


async def test_a_message_waits_for_what_it_names(tmp_path: Path) -> None:
    history = archive("ann", 12, channel=CHANNEL)
    export(tmp_path / "late", history[6:])
    export(tmp_path / "early", history[:6])

    async with opened(tmp_path / "chat.db") as store:
        late = await imported(store, tmp_path / "late")
        nothing = await log_in(store)
        early = await imported(store, tmp_path / "early")
        log = await log_in(store)

    assert (late.new, nothing, early.new) == (6, [], 6)
    assert log == in_order(history)


async def test_nothing_false_is_stored_and_each_reason_is_counted(tmp_path: Path) -> None:
    ann, mallory = Author("ann"), Author("mallory")
    good = ann.write("one")
    forged = row_of(ann.write("two"))
    forged["signature"] = mallory.identity.sign(forged["header"])
    swapped = row_of(ann.write("six")) | {"body": good.entry.body}
    renamed = row_of(ann.write("four")) | {"message_id": bytes(32)}
    elsewhere = row_of(Author("ann", ChannelId("0d" * 16)).write()) | {"in_channel": CHANNEL}
    claimed = elsewhere | {"channel": CHANNEL}
    empty = row_of(ann.write("five")) | {"header": None}
    junk = row_of(ann.write("six")) | {"header": b"junk", "message_id": b"", "created_ns": None}
    loose = pa.schema([field.with_nullable(nullable=True) for field in HISTORY])
    rows = [row_of(good), forged, swapped, renamed, elsewhere, claimed, empty, junk]
    export_rows(tmp_path / "export", rows, schema=loose)

    async with opened(tmp_path / "chat.db") as store:
        result = await imported(store, tmp_path / "export")
        state = await store.journal.restore(CHANNEL)

    assert (result.new, result.known) == (1, 0)
    assert result.refused["the signature is not its author's"] == 1
    assert result.refused["the body is not the one that was signed"] == 1
    assert result.refused[OTHER_ID] == 1
    assert result.refused[MISPLACED] == 1
    assert result.refused["a message of another channel came in this one"] == 1
    assert result.refused[NO_ROW] == 1
    assert result.refused.total() == result.total - 1 == 7
    assert log_of(state.log) == in_order([good])
    assert not state.waiting


async def test_reasons_are_counted_up_to_a_limit() -> None:
    counted = Imported()
    for number in range(3 * REASONS_MAX):
        counted.refuse(f"body of {number} bytes")

    assert len(counted.refused) == REASONS_MAX + 1
    assert counted.refused[OTHERWISE] == 2 * REASONS_MAX


async def test_channels_of_others_are_left_out(tmp_path: Path) -> None:
    other = ChannelId("0d" * 16)
    export(tmp_path / "export", [Author("ann").write(), *archive("ann", 5, channel=other)])

    async with opened(tmp_path / "chat.db") as store:
        result = await imported(store, tmp_path / "export")

    assert (result.new, dict(result.elsewhere), result.total) == (1, {other: 5}, 6)


async def test_what_is_stamped_in_the_future_is_set_aside_and_that_is_said(tmp_path: Path) -> None:
    export(tmp_path / "export", [Author("ann").write(created_ns=NOW + DAY)])

    async with opened(tmp_path / "chat.db") as store:
        result = await imported(store, tmp_path / "export")
        state = await store.journal.restore(CHANNEL)

    assert (result.new, list(result.warnings)) == (1, [AHEAD])
    assert len(state.parked) == 1
    assert state.log == b""


async def test_our_own_messages_of_a_lost_disk_begin_a_new_log(tmp_path: Path) -> None:
    mine = Author("me", log=OWN_LOG)
    export(tmp_path / "export", [mine.write("one"), mine.write("two")])

    async with opened(tmp_path / "chat.db") as store:
        result = await imported(store, tmp_path / "export")
        state = await store.journal.restore(CHANNEL)

    assert (result.new, list(result.warnings)) == (2, [RESTORED])
    assert state.log_number == 77
    assert log_of(state.log) == in_order(mine.entries)
    assert state.outgoing == ()


async def test_what_is_here_already_is_told_from_what_is_new(tmp_path: Path) -> None:
    history = archive("ann", 10, channel=CHANNEL)
    export(tmp_path / "export", history)

    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit(delivered(*history[:4]))
        result = await imported(store, tmp_path / "export")

    assert (result.new, result.known) == (6, 4)


async def test_a_damaged_file_stops_it_with_a_sentence(tmp_path: Path) -> None:
    export(tmp_path / "export", archive("ann", 3, channel=CHANNEL))
    [file] = (tmp_path / "export").rglob("*.parquet")
    file.write_bytes(file.read_bytes()[:200])

    async with opened(tmp_path / "chat.db") as store:
        with pytest.raises(LocalError, match=r"0\.parquet cannot be read .* again"):
            await imported(store, tmp_path / "export")


def test_a_file_without_a_column_is_no_export(tmp_path: Path) -> None:
    schema = HISTORY.remove(HISTORY.get_field_index("body"))
    export_rows(tmp_path, [row_of(Author("ann").write())], schema=schema)

    with pytest.raises(LocalError, match="no column body"):
        list(Archive.find(tmp_path).rows(CHANNEL))


def test_no_export_and_another_format_are_said_with_the_fix(tmp_path: Path) -> None:
    with pytest.raises(LocalError, match="chat-tui export DIR"):
        Archive.find(tmp_path)

    (tmp_path / NOTE).write_text('{"format": 99, "channels": {}}')
    with pytest.raises(LocalError, match="format 99"):
        Archive.find(tmp_path)

    for no_note in ("[]", "[" * 100_000):
        (tmp_path / NOTE).write_text(no_note)
        with pytest.raises(LocalError, match="cannot be read"):
            Archive.find(tmp_path)
