"""The file of a profile's protocol log: written, read, rotated, and done without."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from storage.sqlite.clock_id import clock_id, hashed
from storage.sqlite.protocol_log import MIGRATIONS, SCHEMA, LogFile, LogReader
from sync.errors import StorageError
from sync.machine import DAY, ChannelId, PeerId
from sync.runner.log_notes import Chunk, Details, Note
from sync.runner.log_rows import LogKind, LogRow, Role, Route
from tests.support.sync.channels import message_id

HERE, ELSEWHERE = ChannelId("0c" * 16), ChannelId("0d" * 16)
ME, PEER = PeerId("aa" * 32), PeerId("bb" * 32)
ONE = message_id("one")


def draw(size: int) -> bytes:
    return bytes(range(size))


def received(channel: ChannelId = HERE) -> Note:
    return Note(channel, LogKind.RECEIVED, PEER, ONE, 7, 300)


def filled(path: Path, *batches: Sequence[Chunk]) -> LogFile:
    file = LogFile(path, draw)
    for batch in batches:
        file.append(batch)
    return file


def rows(path: Path) -> list[LogRow]:
    with LogReader(path, ME) as reader:
        return [row for day in reader.days() for row in reader.rows(day, 0)]


def test_what_was_noted_comes_back_as_rows(tmp_path: Path) -> None:
    path = tmp_path / "protocol.db"
    ended = Note(HERE, LogKind.SESSION_ENDED, PEER, None, None, 164, None, Details(3, 4))
    filled(path, [(5, 1, [received()]), (6, 2, [ended])]).close()

    assert rows(path) == [
        LogRow("0001020304050607", 1, 1, 5, ME, PEER, HERE, LogKind.RECEIVED, ONE, 7, 300),
        LogRow(
            "0001020304050607", 1, 2, 6, ME, PEER, HERE, LogKind.SESSION_ENDED,
            size=164, session=3, round=4,
        ),
    ]  # fmt: skip


@pytest.mark.parametrize("kind", LogKind)
def test_every_kind_can_be_kept(tmp_path: Path, kind: LogKind) -> None:
    filled(tmp_path / "protocol.db", [(5, 1, [replace(received(), kind=kind)])]).close()

    assert [row.kind for row in rows(tmp_path / "protocol.db")] == [kind]


def test_each_start_with_rows_is_a_boot_and_says_whether_it_ended_well(tmp_path: Path) -> None:
    path = tmp_path / "protocol.db"
    filled(path, [(5, 1, [received()])]).close()
    LogFile(path, draw).close()  # noted nothing
    crashed = filled(path, [(7, 1, [received()])], [(8, 2, [received(), received()])])

    with LogReader(path, ME) as reader:
        boots = reader.boots()
    crashed.close()

    assert [(one.boot, one.first, one.last, one.closed) for one in boots] == [
        (1, 1, 1, True),
        (2, 1, 3, False),
    ]


def test_days_are_told_by_channel_and_read_from_any_row_on(tmp_path: Path) -> None:
    path = tmp_path / "protocol.db"
    late = [(DAY + 3, 3, [received(ELSEWHERE), received()])]
    filled(path, [(DAY - 1, 1, [received(), received()])], late).close()

    with LogReader(path, ME) as reader:
        days = reader.days()
        [_, today, _] = days
        again = [row.seq for row in reader.rows(today, today.first)]

    assert [(one.channel, one.begins, one.count) for one in days] == [
        (HERE, 0, 2),
        (HERE, DAY, 1),
        (ELSEWHERE, DAY, 1),
    ]
    assert again == []


def test_the_oldest_rows_of_a_full_file_go_and_it_grows_no_more(tmp_path: Path) -> None:
    path = tmp_path / "protocol.db"
    file = LogFile(path, draw, bytes_max=200_000)
    for batch in range(60):
        file.append([(batch, 1 + 200 * batch, [received()] * 200)])
    file.close()

    kept = [row.seq for row in rows(path)]
    with LogReader(path, ME) as reader:
        [boot] = reader.boots()

    assert kept == list(range(boot.first, 60 * 200 + 1))
    assert boot.first > 1
    assert len(kept) > 1000
    assert path.stat().st_size < 300_000


def test_what_is_forgotten_while_somebody_reads_is_read_all_the_same(tmp_path: Path) -> None:
    """An export that replaced a file by what is left would lose rows that it had."""
    path = tmp_path / "protocol.db"
    file = LogFile(path, draw, bytes_max=48_000)
    file.append([(5, 1, [received()] * 200)])
    with LogReader(path, ME) as reader:
        [day] = reader.days()

        for batch in range(1, 10):
            file.append([(6, 1 + 200 * batch, [received()] * 200)])

        assert [row.seq for row in reader.rows(day, 0)] == [*range(1, 201)]
        [boot] = reader.boots()
        assert (boot.first, boot.last) == (1, 200), "as far as the rows that were read"
    file.close()
    assert rows(path)[0].seq > 1


def test_names_that_no_row_has_any_more_are_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "protocol.db"
    file = LogFile(path, draw, bytes_max=200_000)
    file.append([(1, 1, [received(ELSEWHERE)])])
    for batch in range(60):
        file.append([(batch, 2 + 200 * batch, [received()] * 200)])
    file.close()

    with closing(sqlite3.connect(path)) as db:
        names = {name for (name,) in db.execute("SELECT name FROM names")}

    assert names == {HERE, PEER}


def test_nobody_else_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "protocol.db"
    file = filled(path, [(5, 1, [received()])])

    rights = {one.name: one.stat().st_mode & 0o777 for one in tmp_path.iterdir()}
    file.close()

    assert rights.keys() >= {"protocol.db", "protocol.db-wal"}
    assert set(rights.values()) == {0o600}


def test_a_file_that_cannot_be_written_is_said_with_the_fix(tmp_path: Path) -> None:
    path = tmp_path / "protocol.db"
    path.mkdir()

    with pytest.raises(StorageError, match="protocol_log off"):
        LogFile(path, draw).append([(5, 1, [received()])])


def test_rows_lost_to_a_bad_disk_are_a_hole_and_the_next_ones_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "protocol.db"
    file = filled(path, [(5, 1, [received()])])
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA busy_timeout = 0")
        db.execute("ALTER TABLE rows RENAME TO gone")
        with pytest.raises(StorageError):
            file.append([(6, 2, [received(ELSEWHERE)])])
        db.execute("ALTER TABLE gone RENAME TO rows")
    file.append([(7, 3, [received(ELSEWHERE)])])
    file.close()

    assert [row.seq for row in rows(path)] == [1, 3]


def test_a_reader_never_meets_half_of_a_new_log(tmp_path: Path) -> None:
    path = tmp_path / "protocol.db"
    seen: list[str] = []

    def looking(size: int) -> bytes:
        with LogReader(path, ME) as reader:
            seen.append(reader.run)
        return draw(size)

    file = LogFile(path, looking)
    file.append([(5, 1, [received()])])
    file.close()
    with LogReader(path, ME) as reader:
        seen.append(reader.run)

    assert seen == ["", draw(8).hex()]


def test_a_log_whose_making_a_power_cut_ended_is_made_to_its_end(tmp_path: Path) -> None:
    """Of a program that named it after its tables were there."""
    path = tmp_path / "protocol.db"
    with closing(sqlite3.connect(path)) as db:
        db.executescript("".join(MIGRATIONS))
    with LogReader(path, ME) as reader:
        unnamed = reader.run

    filled(path, [(5, 1, [received()])]).close()

    assert unnamed == ""
    assert [row.run for row in rows(path)] == [draw(8).hex()]


def test_what_is_no_log_is_said(tmp_path: Path) -> None:
    (tmp_path / "protocol.db").write_bytes(b"no database" * 100)

    with pytest.raises(StorageError, match="cannot be used"):
        LogReader(tmp_path / "protocol.db", ME)


NARROW = """
    DROP TABLE rows; DROP TABLE boots; DROP TABLE log; DROP TABLE names;
    {schema}
    INSERT INTO log VALUES ('0001020304050607');
    INSERT INTO boots VALUES (1, 1);
    INSERT INTO names VALUES (1, '{here}'), (2, '{peer}');
    INSERT INTO rows VALUES (1, 1, 1, 5, 1, 1, 2, NULL, 7, 300, NULL, NULL);
"""


def released(path: Path) -> None:
    """Make a file as the first version left it."""
    with closing(sqlite3.connect(path)) as db:
        db.executescript(
            "BEGIN; "
            + NARROW.replace("DROP TABLE", "DROP TABLE IF EXISTS").format(
                schema=SCHEMA, here=HERE, peer=PEER
            )
            + " COMMIT"
        )


def test_a_log_of_the_first_version_is_read_as_it_is(tmp_path: Path) -> None:
    released(tmp_path / "protocol.db")

    [row] = rows(tmp_path / "protocol.db")

    assert (row.kind, row.peer, row.lamport) == (LogKind.RECEIVED, PEER, 7)
    assert (row.mono_ns, row.route, row.reason) == (None, None, None)


def test_a_log_of_the_first_version_is_migrated_in_place(tmp_path: Path) -> None:
    path = tmp_path / "protocol.db"
    released(path)
    ended = Note(
        HERE, LogKind.SESSION_ENDED, PEER, None, None, 164, None,
        Details(3, 4, "waku", Role.BEGAN, "converged", 5, 6, None, "done"),
    )  # fmt: skip

    file = LogFile(path, draw)
    file.append([(90, 1, [replace(received(), route=Route.ANSWER), ended])], anchor=60)
    file.close()

    old, came, over = rows(path)
    with LogReader(path, ME) as reader:
        first, second = reader.boots()
    assert (old.boot, old.mono_ns, old.route) == (1, None, None)
    assert (came.boot, came.mono_ns, came.route) == (2, 30, Route.ANSWER)
    assert (over.protocol, over.role, over.outcome) == ("waku", Role.BEGAN, "converged")
    assert (over.items_in, over.items_out, over.reason) == (5, 6, "done")
    assert (first.clock, second.clock) == (None, clock_id())


def test_two_computers_or_two_starts_are_two_clocks() -> None:
    assert len({hashed("a", "1"), hashed("b", "1"), hashed("a", "2"), hashed("", "1")}) == 4
