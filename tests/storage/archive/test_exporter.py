"""`chat-tui export`: what is in it, and that it only ever adds what is new."""

import hashlib
import json
from contextlib import closing
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from proto import entry_pb2
from storage.archive import parquet
from storage.archive.exporter import Exporter, Wanted, day_begins
from storage.archive.tables import (
    BEFORE,
    HISTORY_DIR,
    LOG_DIR,
    LOG_IN_PART,
    NOTE,
    PROGRESS,
    SINCE,
    day_of,
    sync_hash,
    sync_words,
)
from storage.sqlite.clock_id import clock_id
from sync.errors import LocalError
from sync.group.values import SetStatus, Status, StoreMessage
from sync.machine import DAY
from tests.support.storage.archives import archive
from tests.support.storage.exports import (
    BEGAN,
    ELSEWHERE,
    Owner,
    files,
    history,
    log_of,
    note_of,
    read,
    received,
    written,
)
from tests.support.storage.rotting import rot
from tests.support.storage.stores import delivered, membership
from tests.support.sync.entries import CHANNEL, Author

# --- What is in it -----------------------------------------------------------------------------


async def test_history_is_exported_as_it_is_held(tmp_path: Path) -> None:
    owner, messages = Owner(tmp_path), history(10)
    await owner.hold(delivered(*messages))

    summary = owner.export(tmp_path / "out")
    rows = read(tmp_path / "out", HISTORY_DIR)

    assert (summary.messages, summary.days, summary.unchanged) == (10, 3, 0)
    in_order = sorted(messages, key=lambda one: (one.entry.header.created_ns, one.waku_hash))
    assert [row["message_id"].hex() for row in rows] == [one.entry.message_id for one in in_order]
    for row, message in zip(rows, in_order, strict=True):
        words = [row[f"sync_{number}"] for number in range(4)]
        assert tuple(words) == sync_words(message.waku_hash)
        assert sync_hash(words) == message.waku_hash
        assert hashlib.sha256(row["header"]).digest() == row["message_id"]
        assert row["signature"] == message.entry.signature
        assert row["body"] == message.entry.body
        assert (row["node"], row["channel"], row["delivered"]) == (owner.peer_id, CHANNEL, True)


async def test_what_the_disk_has_damaged_is_left_out_and_counted(tmp_path: Path) -> None:
    owner, messages = Owner(tmp_path), history(10)
    await owner.hold(delivered(*messages))
    bad = messages[-1].entry
    rot(owner.directory / "chat.db", "", replaced=bad.signature, message_id=bad.message_id)

    summary = owner.export(tmp_path / "out")
    rows = read(tmp_path / "out", HISTORY_DIR)

    assert (summary.messages, summary.damaged) == (9, 1)
    assert bad.message_id not in {row["message_id"].hex() for row in rows}


async def test_the_signed_header_says_what_the_columns_say(tmp_path: Path) -> None:
    owner = Owner(tmp_path)
    largest = Author("bea", log=2**64 - 3)
    first = largest.write("one", created_ns=BEGAN)
    await owner.hold(delivered(first, largest.write("two", after=[first], created_ns=BEGAN + 1)))

    owner.export(tmp_path / "out")

    for row in read(tmp_path / "out", HISTORY_DIR):
        header = entry_pb2.Header.FromString(row["header"])
        assert row["author"] == header.author.hex()
        assert row["channel"] == header.channel_id.hex()
        assert row["log"] % 2**64 == header.log == 2**64 - 3
        assert row["parents"] == [parent.message_id for parent in header.parents]
        for column in ("created_ns", "lamport", "seq", "kind"):
            assert row[column] == getattr(header, column)


async def test_what_is_held_back_is_there_and_what_is_parked_is_not(tmp_path: Path) -> None:
    owner = Owner(tmp_path)
    messages = history(4)
    statuses = [Status.DELIVERED, Status.WAITING, Status.LOADING, Status.PARKED]
    await owner.hold(
        [StoreMessage(one, status) for one, status in zip(messages, statuses, strict=True)]
    )

    owner.export(tmp_path / "out")

    rows = {row["message_id"].hex(): row["delivered"] for row in read(tmp_path / "out", "history")}
    assert [rows.get(one.entry.message_id) for one in messages] == [True, False, False, None]


async def test_each_day_of_each_channel_is_a_file_that_says_so(tmp_path: Path) -> None:
    owner = Owner(tmp_path)
    rooms = [membership(), membership(ELSEWHERE, "coffee")]
    await owner.hold(delivered(*history(5), *history(1, channel=ELSEWHERE)), rooms)

    owner.export(tmp_path / "out")

    first, second = day_of(BEGAN), day_of(BEGAN + DAY)
    assert [
        str(path.relative_to(tmp_path / "out")) for path in files(tmp_path / "out", "history")
    ] == [
        f"history/channel={ELSEWHERE}/day={first}/history.parquet",
        f"history/channel={CHANNEL}/day={first}/history.parquet",
        f"history/channel={CHANNEL}/day={second}/history.parquet",
    ]
    note = note_of(tmp_path / "out")
    assert note["nodes"] == [owner.peer_id]
    assert note["channels"] == {CHANNEL: "tea", ELSEWHERE: "coffee"}
    assert set(note["hosts"]) == {owner.peer_id}


async def test_row_groups_end_at_their_size_and_are_sorted_by_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "ROW_GROUP", 3)
    owner = Owner(tmp_path)
    await owner.hold(delivered(*archive("ann", 8, BEGAN, 1000, CHANNEL)))

    owner.export(tmp_path / "out")

    [path] = files(tmp_path / "out", HISTORY_DIR)
    about = pq.ParquetFile(path).metadata
    groups = [about.row_group(number) for number in range(about.num_row_groups)]
    at = about.schema.names.index("created_ns")
    spans = [group.column(at).statistics for group in groups]
    assert [group.num_rows for group in groups] == [3, 3, 2]
    assert all(one.max < other.min for one, other in pairwise(spans))
    assert {group.column(0).compression for group in groups} == {"ZSTD"}


async def test_long_texts_end_a_row_group_early(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "GROUP_BYTES_MAX", 2000)
    owner = Owner(tmp_path)
    ann = Author("ann")
    await owner.hold(delivered(*[ann.write("x" * 900, created_ns=BEGAN + at) for at in range(4)]))

    owner.export(tmp_path / "out")

    [path] = files(tmp_path / "out", HISTORY_DIR)
    assert pq.ParquetFile(path).metadata.num_row_groups == 2


async def test_the_protocol_log_is_exported_as_it_was_noted(tmp_path: Path) -> None:
    owner = Owner(tmp_path)
    await owner.hold(delivered(*history(1)))
    owner.note(*log_of(0, 1))

    summary = owner.export(tmp_path / "out")
    rows = read(tmp_path / "out", LOG_DIR)

    assert summary.log_rows == 10
    assert [row["seq"] for row in rows] == list(range(1, 11))
    assert {(row["run"], row["boot"], row["node"], row["kind"]) for row in rows} == {
        ("0001020304050607", 1, owner.peer_id, "received")
    }
    assert note_of(tmp_path / "out")["more"]["boots"] == [
        {
            "run": "0001020304050607",
            "node": owner.peer_id,
            "boot": 1,
            "first": 1,
            "last": 10,
            "cut_short": False,
            "clock": clock_id(),
            "kept": [[1, 10]],
        }
    ]


# --- Only what changed -------------------------------------------------------------------------


async def test_a_second_export_writes_nothing_that_has_not_changed(tmp_path: Path) -> None:
    owner, out = Owner(tmp_path), tmp_path / "out"
    await owner.hold(delivered(*history(9)))
    owner.note(*log_of(0, 1))
    owner.export(out)
    before = written(out)

    summary = owner.export(out)

    assert (summary.days, summary.unchanged) == (0, 5)
    assert written(out) == before


async def test_a_late_message_of_an_old_day_has_that_day_written_again(tmp_path: Path) -> None:
    owner, out = Owner(tmp_path), tmp_path / "out"
    *early, late = history(9)
    late = Author("bea").write("late", created_ns=BEGAN + 5)
    await owner.hold(delivered(*early))
    owner.export(out)
    before = written(out)
    await owner.hold(delivered(late))

    summary = owner.export(out)

    changed = {path for path, at in written(out).items() if before.get(path) != at}
    assert changed == {f"history/channel={CHANNEL}/day={day_of(BEGAN)}/history.parquet"}
    assert (summary.messages, summary.unchanged) == (5, 1)
    assert late.entry.message_id in [row["message_id"].hex() for row in read(out, HISTORY_DIR)]


async def test_a_message_that_is_delivered_later_is_exported_so(tmp_path: Path) -> None:
    owner, out = Owner(tmp_path), tmp_path / "out"
    [message] = history(1)
    await owner.hold([StoreMessage(message, Status.WAITING)])
    owner.export(out)
    await owner.hold([SetStatus(CHANNEL, message.entry.message_id, Status.DELIVERED, True)])

    owner.export(out)

    assert [row["delivered"] for row in read(out, HISTORY_DIR)] == [True]


async def test_a_day_whose_messages_had_a_wrong_clock_is_taken_out(tmp_path: Path) -> None:
    owner, out = Owner(tmp_path), tmp_path / "out"
    messages = history(5)
    await owner.hold(delivered(*messages))
    owner.export(out)
    wrong = messages[-1].entry.message_id
    await owner.hold([SetStatus(CHANNEL, wrong, Status.PARKED, False)])

    owner.export(out, Wanted(since=BEGAN + 2 * DAY))
    assert len(read(out, HISTORY_DIR)) == 5, "it was not asked about that day"
    owner.export(out)

    assert len(read(out, HISTORY_DIR)) == 4
    assert not any(day_of(BEGAN + DAY) in where for where in note_of(out)["more"]["days"])


async def test_an_interrupted_export_goes_on(tmp_path: Path) -> None:
    owner, out = Owner(tmp_path), tmp_path / "out"
    await owner.hold(delivered(*history(12)))

    def interrupt(done: int, _total: int) -> None:
        if done == 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Exporter(owner.directory, out, Wanted()).run(interrupt)
    assert not (out / NOTE).exists(), "nobody takes it for a whole one"
    before = written(out)

    summary = owner.export(out)

    assert len(before) == 2
    assert (summary.days, summary.unchanged) == (1, 2)
    assert before.items() <= written(out).items()
    assert len(read(out, HISTORY_DIR)) == 12
    assert not (out / PROGRESS).exists()


async def test_a_line_of_progress_that_was_cut_off_is_done_again(tmp_path: Path) -> None:
    owner, out = Owner(tmp_path), tmp_path / "out"
    await owner.hold(delivered(*history(4)))
    out.mkdir()
    (out / PROGRESS).write_text(f'"{owner.peer_id}"\n["history/chan')

    owner.export(out)

    assert len(read(out, HISTORY_DIR)) == 4


@pytest.mark.parametrize("cut", ['["history/chan', '["history/x", 5, 6]\n', '{"no": "pair"}\n'])
async def test_progress_behind_a_damaged_line_is_kept_in_an_interruption_more(
    tmp_path: Path, cut: str
) -> None:
    owner, out = Owner(tmp_path), tmp_path / "out"
    await owner.hold(delivered(*history(12)))
    out.mkdir()
    (out / PROGRESS).write_text(f'"{owner.peer_id}"\n{cut}')

    def interrupt(done: int, _total: int) -> None:
        if done == 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Exporter(owner.directory, out, Wanted()).run(interrupt)
    summary = owner.export(out)

    assert (summary.days, summary.unchanged) == (1, 2)


async def test_a_damaged_note_is_said(tmp_path: Path) -> None:
    owner, out = Owner(tmp_path), tmp_path / "out"
    await owner.hold(delivered(*history(4)))
    owner.export(out)
    (out / NOTE).write_text(json.dumps({**note_of(out), "more": []}))

    with pytest.raises(LocalError, match="cannot be read"):
        owner.export(out)


async def test_what_the_log_has_forgotten_stays_in_the_export(tmp_path: Path) -> None:
    owner, out = Owner(tmp_path), tmp_path / "out"
    await owner.hold(delivered(*history(1)))
    owner.note(*log_of(0, count=2000))
    owner.export(out)
    owner.note((BEGAN, 1, received(CHANNEL, 10)), bytes_max=50_000)

    summary = owner.export(out)

    rows = [(row["boot"], row["seq"]) for row in read(out, LOG_DIR)]
    assert summary.log_rows == 10
    assert sorted(rows) == [(1, seq) for seq in range(1, 2001)] + [(2, n) for n in range(1, 11)]
    [old, new] = note_of(out)["more"]["boots"]
    assert (old["first"], old["last"], new["last"]) == (1, 2000, 10)


async def test_what_the_log_forgot_between_two_exports_is_told(tmp_path: Path) -> None:
    owner, out = Owner(tmp_path), tmp_path / "out"
    await owner.hold(delivered(*history(1)))
    with closing(owner.log(bytes_max=50_000)) as log:
        log.append([(BEGAN, 1, received(CHANNEL, 100))])
        owner.export(out)
        for seq in range(101, 3001, 100):
            log.append([(BEGAN, seq, received(CHANNEL, 100))])
        owner.export(out, Wanted("tea"))
        part = note_of(out)["more"]["boots"]
        owner.export(out)

    [boot] = note_of(out)["more"]["boots"]
    rows = {row["seq"] for row in read(out, LOG_DIR)}
    assert [one["kept"] for one in part] == [[[1, 100]]], "a part has holes of its own"
    assert [stretch[0] == 1 for stretch in boot["kept"]] == [True, False]
    assert rows == {seq for first, last in boot["kept"] for seq in range(first, last + 1)}
    assert max(rows) == 3000


async def test_new_rows_of_a_day_are_added_to_its_file(tmp_path: Path) -> None:
    owner, out = Owner(tmp_path), tmp_path / "out"
    await owner.hold(delivered(*history(1)))
    owner.note(*log_of(0))
    owner.export(out)
    owner.note((BEGAN + 7, 1, received(CHANNEL, 3)))

    summary = owner.export(out)

    assert summary.log_rows == 8
    assert len(files(out, LOG_DIR)) == 1
    assert len(read(out, LOG_DIR)) == 8


async def test_a_log_that_was_moved_away_begins_a_new_file(tmp_path: Path) -> None:
    owner, out = Owner(tmp_path), tmp_path / "out"
    await owner.hold(delivered(*history(1)))
    owner.note(*log_of(0))
    owner.export(out)
    run = read(out, LOG_DIR)[0]["run"]
    (owner.directory / "protocol.db").unlink()

    owner.export(out)

    assert {row["run"] for row in read(out, LOG_DIR)} == {run}


async def test_a_log_that_is_only_being_made_is_exported_once_it_has_rows(tmp_path: Path) -> None:
    owner, out = Owner(tmp_path), tmp_path / "out"
    await owner.hold(delivered(*history(1)))
    (owner.directory / "protocol.db").write_bytes(b"")

    none = owner.export(out)
    owner.note(*log_of(0))
    some = owner.export(out)

    assert none.log_rows == 0
    assert some.log_rows > 0


# --- What was asked for ------------------------------------------------------------------------


async def test_one_channel_days_from_one_on_and_no_log(tmp_path: Path) -> None:
    owner, out = Owner(tmp_path), tmp_path / "out"
    rooms = [membership(), membership(ELSEWHERE, "coffee")]
    await owner.hold(delivered(*history(12), *history(3, channel=ELSEWHERE)), rooms)
    owner.note(*log_of(0, 1, 2))
    since = day_begins(datetime.fromisoformat(day_of(BEGAN + DAY)))

    owner.export(out, Wanted("#tea", since, log=False))

    assert len(read(out, HISTORY_DIR)) == 8
    assert {row["channel"] for row in read(out, HISTORY_DIR)} == {CHANNEL}
    assert read(out, LOG_DIR) == []
    owner.export(out, Wanted("tea", since))
    assert len(read(out, LOG_DIR)) == 10
    assert note_of(out)["more"][LOG_IN_PART] is True
    left_out = {bytes.fromhex(one) for one in note_of(out)["more"][BEFORE]}
    assert set(read(out, HISTORY_DIR)[0]["parents"]) == left_out
    assert note_of(out)["more"][SINCE] == {CHANNEL: since}
    owner.export(out)
    assert (len(read(out, HISTORY_DIR)), len(read(out, LOG_DIR))) == (15, 15)
    assert not {LOG_IN_PART, BEFORE, SINCE} & set(note_of(out)["more"])


@pytest.mark.parametrize(("day", "rows"), [("1969-12-31", 8), ("0001-01-01", 8), ("9999-12-31", 0)])
async def test_any_day_can_be_asked_for(day: str, rows: int, tmp_path: Path) -> None:
    """Times are unsigned and have 64 bits; a day that none can be of is no reason to fail."""
    owner, out = Owner(tmp_path), tmp_path / "out"
    await owner.hold(delivered(*history(8)))

    owner.export(out, Wanted(since=day_begins(datetime.fromisoformat(day))))

    assert len(read(out, HISTORY_DIR)) == rows


async def test_an_unknown_channel_names_those_there_are(tmp_path: Path) -> None:
    owner = Owner(tmp_path)
    await owner.hold(delivered(*history(1)))

    with pytest.raises(LocalError, match="there are: #tea"):
        owner.export(tmp_path / "out", Wanted("cofee"))
