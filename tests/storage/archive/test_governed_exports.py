"""Archives of governed channels: signed ops and what was kept out are in them, and go in again."""

import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from storage.archive.importer import Imported, Importer
from storage.archive.reader import Archive
from storage.archive.tables import NOT_LET_IN_DIR, OPS, OPS_DIR
from sync.calimero.governance.pending import Dropped
from sync.entries.identity import verify
from sync.group import writer
from sync.group.records import EndPending
from sync.machine import HOUR, MILLISECOND
from tests.support.storage.exports import Owner, files, history, read
from tests.support.storage.governed_stores import kept
from tests.support.storage.removed_writers import RemovedWriter
from tests.support.storage.stores import OWN_LOG, Store, delivered, opened
from tests.support.sync.entries import identity

NOW = 1_800_000_000_000 * MILLISECOND + HOUR


async def imported(store: Store, directory: Path, told: RemovedWriter) -> Imported:
    """Import everything into the profile of `me`."""
    me = identity("me")
    author = writer.Author(me.peer_id, me.sign, verify, lambda: 77)
    importer = Importer(author, store.journal, random.Random(0), NOW)
    return await importer.import_rows(Archive.find(directory), [told.room], lambda _: None)


async def test_signed_ops_and_what_was_not_let_in_are_exported(tmp_path: Path) -> None:
    told = RemovedWriter()
    alice = await told.alice(tmp_path, told.first, told.hers, told.last)

    summary = alice.export(tmp_path / "out")
    again = alice.export(tmp_path / "out")

    ops = read(tmp_path / "out", OPS_DIR)
    assert [row["op"] for row in ops] == [op.content for op in told.history.ops]
    assert [row["op_id"] for row in ops] == [op.id for op in told.history.ops]
    assert {(row["node"], row["channel"]) for row in ops} == {(alice.peer_id, told.channel)}
    assert {
        row["message_id"].hex(): row["label"] for row in read(tmp_path / "out", NOT_LET_IN_DIR)
    } == {
        told.refused.entry.message_id: "removed",
        told.end.entry.message_id: "removed",
        told.unknown.entry.message_id: "waits",
    }
    assert (summary.messages, summary.acts, summary.days) == (3, len(ops), 3)
    assert (again.days, again.unchanged) == (0, 3)


async def test_a_later_export_has_new_ops_and_no_wait_that_has_ended(tmp_path: Path) -> None:
    told = RemovedWriter()
    alice = await told.alice(tmp_path, told.first)
    alice.export(tmp_path / "out")
    told.history.add("alice", "carol")
    ended = EndPending(told.channel, told.unknown.entry.message_id)

    await alice.hold([kept(told.history)[-1], ended, *delivered(told.last)], [told.room])
    alice.export(tmp_path / "out")

    assert len(read(tmp_path / "out", OPS_DIR)) == len(told.history.ops)
    labels = [row["label"] for row in read(tmp_path / "out", NOT_LET_IN_DIR)]
    assert labels == ["removed", "removed"]


async def test_a_table_of_entries_of_which_none_waits_any_more_is_removed(tmp_path: Path) -> None:
    told = RemovedWriter()
    alice = await told.alice(tmp_path, told.first)
    alice.export(tmp_path / "out")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("storage.archive.stored_governance.DROPPED", NONE)
        patch.setattr("storage.archive.stored_governance.WAITING", NO_IDS)
        alice.export(tmp_path / "out")
        again = alice.export(tmp_path / "out")

    assert files(tmp_path / "out", NOT_LET_IN_DIR) == []
    assert again.days == 0


async def test_an_ungoverned_channel_has_neither_table(tmp_path: Path) -> None:
    owner = Owner(tmp_path)
    await owner.hold(delivered(*history(3)))
    owner.export(tmp_path / "out")

    assert {one.name for one in (tmp_path / "out").iterdir()} == {"export.json", "history"}


async def test_ops_are_taken_in_before_the_lines_that_they_judge(tmp_path: Path) -> None:
    told = RemovedWriter()
    mallory = await told.mallory(tmp_path)
    mallory.export(tmp_path / "out")

    async with opened(tmp_path / "chat.db") as store:
        await store.members.add_channel(told.room, OWN_LOG)
        first = await imported(store, tmp_path / "out", told)
        again = await imported(store, tmp_path / "out", told)
        state = await store.journal.restore(told.channel)

    assert (first.acts, first.new, first.not_let_in, first.total) == (
        len(told.history.ops),
        4,
        3,
        7,
    )
    assert (again.acts, again.new, again.known, again.total) == (0, 0, 7, 7)
    assert [op.content for op in state.ops] == [op.content for op in told.history.ops]
    assert dict(state.dropped) == {
        told.refused.entry.message_id: Dropped.REMOVED,
        told.end.entry.message_id: Dropped.REMOVED,
    }
    waiting = [one.entry.message_id for one in state.pending]
    assert waiting == [told.unknown.entry.message_id]


async def test_a_forged_op_of_an_archive_is_refused_and_told(tmp_path: Path) -> None:
    told = RemovedWriter()
    mallory = await told.mallory(tmp_path)
    mallory.export(tmp_path / "out")
    [file] = files(tmp_path / "out", OPS_DIR)
    rows = pq.ParquetFile(file).read().to_pylist()
    rows[-1]["op"] = rows[-1]["op"][:-1] + bytes([rows[-1]["op"][-1] ^ 1])
    pq.write_table(pa.Table.from_pylist(rows, OPS), file)

    async with opened(tmp_path / "chat.db") as store:
        await store.members.add_channel(told.room, OWN_LOG)
        found = await imported(store, tmp_path / "out", told)

    assert found.acts == len(told.history.ops) - 1
    assert found.refused.total() == 1
    assert found.known == 0


async def test_an_archive_without_ops_lets_lines_of_a_governed_channel_wait(tmp_path: Path) -> None:
    """So it is with exports of before: what they have waits until somebody brings the ops."""
    told = RemovedWriter()
    alice = await told.alice(tmp_path, told.first, told.hers)
    alice.export(tmp_path / "out")
    [file] = files(tmp_path / "out", OPS_DIR)
    file.unlink()

    async with opened(tmp_path / "chat.db") as store:
        await store.members.add_channel(told.room, OWN_LOG)
        waits = await imported(store, tmp_path / "out", told)
        alice.export(tmp_path / "whole")
        then = await imported(store, tmp_path / "whole", told)

    assert (waits.new, waits.not_let_in) == (0, 2)
    assert (then.acts, then.new, then.total) == (len(told.history.ops), 2, 2)


NO_IDS = "SELECT message_id FROM pending_entries WHERE channel = ? AND false"
NONE = "SELECT message_id, label FROM dropped_entries WHERE channel = ? AND false"
