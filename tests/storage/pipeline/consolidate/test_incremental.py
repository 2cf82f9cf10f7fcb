"""A consolidation over earlier results reads what changed, and finds what a whole one does.

Days that were taken over are shown to be unread by spoiling the rows of their files: whoever reads
these fails.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from storage.archive.tables import HISTORY, HISTORY_DIR, day_of
from storage.pipeline.consolidate.selection import Selection
from storage.pipeline.errors import PipelineError
from storage.pipeline.inputs.inputs import Inputs
from storage.pipeline.job_runner import check_needs
from storage.pipeline.results.publishing import Results
from storage.results import Published
from sync.group.values import StoredMessage
from sync.machine import DAY, ChannelId
from tests.support.storage.archived import Row, export_rows, row_of
from tests.support.storage.archives import scattered
from tests.support.storage.diffs import ran
from tests.support.sync.entries import CHANNEL

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

HELD = scattered(60, 5 * DAY, channel=CHANNEL)
"""Sixty messages of some six days, in UTC."""

DAYS = sorted({one.entry.header.created_ns // DAY for one in HELD})
OTHER = ChannelId("0e" * 16)
ELSEWHERE = scattered(8, DAY, channel=OTHER)
NAMES: dict[str, str] = {CHANNEL: "lobby", OTHER: "elsewhere"}
NULLABLE = pa.schema([field.with_nullable(True) for field in HISTORY])
TABLES = ("history", "holders", "quarantine")
OPENING = 64
"""Bytes at the beginning of a file that are spoilt; its end, which says what is in it, is whole."""

Wanted = Callable[[Row, int], bool]
"""Says whether a holder of an entry of some day was asked for."""


@dataclass(frozen=True, slots=True)
class Before:
    """Exports, and the directory of the results of one whole consolidation of them."""

    exports: Path
    results: Path

    def again(self, out: Path) -> None:
        """Put a copy of these results in a place, as the results of a run before."""
        shutil.copytree(self.results, out)


@pytest.fixture(name="before", scope="module")
def _before(spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory) -> Before:
    """Return exports of three nodes, of which one claims something false, and of a fourth."""
    where = tmp_path_factory.mktemp("before")
    for number, node in enumerate(("a", "b", "c")):
        rows = [row_of(one, node) for at, one in enumerate(HELD) if at % 4 != number]
        if node == "c":
            rows[7] = {**rows[7], "lamport": 1}
        export_rows(where / "in" / node, rows, [node], NAMES)
    export_rows(where / "in" / "g", [row_of(one, "g") for one in ELSEWHERE], ["g"], NAMES)
    ran(spark, where, "consolidate", where / "in")
    return Before(where / "in", where / "out")


def of_day(day: int) -> list[StoredMessage]:
    """Return the messages of a day."""
    return [one for one in HELD if one.entry.header.created_ns // DAY == day]


def table_rows(published: Published, name: str) -> list[Row]:
    """Return the rows of a table, with what the paths of its files say."""
    table = ds.dataset(published.directory / name, format="parquet", partitioning="hive")
    found: list[Row] = table.to_table().to_pylist()
    return found


def texts(published: Published, name: str) -> list[str]:
    """Return the rows of a table, as text, sorted."""
    return sorted(repr(sorted(row.items())) for row in table_rows(published, name))


def published_in(out: Path, job: str = "consolidate") -> Published:
    """Return what a job published."""
    published = Results(out).published(job)
    assert published is not None
    return published


def by_bits(published: Published) -> set[tuple[bytes, str]]:
    """Return who holds which message, as audit reads it."""
    members = {
        (row["channel"], row["word"], row["bit"]): row["node"]
        for row in table_rows(published, "members")
    }
    return {
        (row["message_id"], members[row["channel"], row["word"], bit])
        for row in table_rows(published, "held")
        for bit in range(64)
        if row["held"] >> bit & 1
    }


def assert_same(one: Published, other: Published) -> None:
    """Assert that two runs found the same; members may have other numbers."""
    held = {(row["message_id"], row["node"]) for row in table_rows(one, "holders")}
    assert by_bits(one) == by_bits(other) == held
    for name in TABLES:
        assert texts(one, name) == texts(other, name), name
    figures = [dict(run.figures) for run in (one, other)]
    for told in figures:
        del told["taken_over"]
    assert figures[0] == figures[1]


@contextmanager
def spoilt(exports: Path, *but: int) -> Iterator[None]:
    """Make the rows of all days but some unreadable, and nothing else, for a block."""
    kept = {f"day={day_of(day * DAY)}" for day in but}
    files = [
        file
        for file in exports.rglob(f"{HISTORY_DIR}/**/*.parquet")
        if file.parent.name not in kept
    ]
    contents = {file: file.read_bytes() for file in files}
    for file, content in contents.items():
        file.write_bytes(bytes(OPENING) + content[OPENING:])
    yield
    for file, content in contents.items():
        file.write_bytes(content)


@contextmanager
def more(exports: Path, node: str, rows: list[Row], schema: pa.Schema = HISTORY) -> Iterator[None]:
    """Have an export of a further node for a block."""
    export_rows(exports / node, rows, [node], NAMES, schema)
    yield
    shutil.rmtree(exports / node)


def test_days_behind_which_the_same_files_stand_are_not_read_again(
    tmp_path: Path, spark: "SparkSession", before: Before
) -> None:
    first = published_in(before.results)
    before.again(tmp_path / "out")

    with spoilt(before.exports):
        again = ran(spark, tmp_path, "consolidate", before.exports)

        assert first.figures["quarantined"] == {"not as signed: lamport": 1}
        assert (first.figures["days"], first.figures["taken_over"]) == (len(DAYS), 0)
        assert again.figures["taken_over"] == len(DAYS)
        assert_same(again, first)
        with pytest.raises(Exception, match=r"(?i)parquet|corrupt|expected"):
            ran(spark, tmp_path, "consolidate", before.exports, full=True)


def test_a_late_row_changes_its_day_alone(
    tmp_path: Path, spark: "SparkSession", before: Before
) -> None:
    """Also where a node that nobody knew brings it: those who were there keep their numbers."""
    before.again(tmp_path / "out")
    late = [row_of(one, "aa") for one in of_day(DAYS[2])]
    with more(before.exports, "aa", [*late, row_of(of_day(DAYS[3])[0], "aa")]):
        whole = ran(spark, tmp_path, "consolidate", before.exports, out="whole")
        with spoilt(before.exports, DAYS[2], DAYS[3]):
            again = ran(spark, tmp_path, "consolidate", before.exports)

    assert again.figures["taken_over"] == len(DAYS) - 2
    assert again.figures["nodes"] == 5
    assert_same(again, whole)


def test_an_export_that_vanished_takes_its_days_along(
    tmp_path: Path, spark: "SparkSession", before: Before
) -> None:
    """Rows that nobody else has are gone, false ones too."""
    two = [row_of(one, "d") for day in DAYS[:2] for one in of_day(day)]
    with more(before.exports, "d", [*two[:-1], {**two[-1], "seq": 9}]):
        there = ran(spark, tmp_path, "consolidate", before.exports)
        assert there.figures["findings"] == 2

    with spoilt(before.exports, *DAYS[:2]):
        again = ran(spark, tmp_path, "consolidate", before.exports)

    assert again.figures["taken_over"] == len(DAYS) - 2
    assert_same(again, published_in(before.results))


def test_rows_without_a_time_may_be_of_any_day(
    tmp_path: Path, spark: "SparkSession", before: Before
) -> None:
    """So nothing is taken over while they are there, and nothing of them is lost."""
    timeless: Row = {**row_of(HELD[0], "e"), "created_ns": None}
    with more(before.exports, "e", [timeless], NULLABLE):
        ran(spark, tmp_path, "consolidate", before.exports)
        with more(before.exports, "f", [row_of(HELD[-1], "f")]):
            again = ran(spark, tmp_path, "consolidate", before.exports)

    assert again.figures["taken_over"] == 0
    false = table_rows(again, "quarantine")
    assert sorted(row["node"] for row in false) == ["c", "e"]


@pytest.mark.parametrize("node", [None, ""])
def test_rows_of_no_node_are_false_and_nobody_is_counted_for_them(
    before: Before, tmp_path: Path, spark: "SparkSession", node: str | None
) -> None:
    """Somebody who comes later has the bits that are theirs."""
    before.again(tmp_path / "out")
    nobodys = [{**row_of(one), "node": node} for one in HELD[:5]]
    with more(before.exports, "e", nobodys, NULLABLE):
        first = ran(spark, tmp_path, "consolidate", before.exports)
        holders = {row["node"] for row in table_rows(first, "holders")}
        with more(before.exports, "h", [row_of(one, "h") for one in HELD[5:9]]):
            second = ran(spark, tmp_path, "consolidate", before.exports)
            afresh = ran(spark, tmp_path, "consolidate", before.exports, out="afresh")

    assert (first.figures["nodes"], second.figures["nodes"]) == (4, 5)
    assert first.figures["quarantined"]["no node"] == len(nobodys)
    assert holders == {"a", "b", "c", "g"}
    assert_same(second, afresh)


def test_rows_that_their_file_does_not_tell_of_are_not_lost(
    tmp_path: Path, spark: "SparkSession", before: Before
) -> None:
    """The end of a file says whose rows it has, and may be wrong."""
    of_two = [row_of(HELD[0], "node-e"), row_of(HELD[0], "node-f")]
    with more(before.exports, "e", of_two):
        true = ran(spark, tmp_path, "consolidate", before.exports, out="true")
        [file] = (before.exports / "e").rglob("*.parquet")
        file.write_bytes(with_another_end(file.read_bytes(), b"node-f", b"node-e"))
        found = ran(spark, tmp_path, "consolidate", before.exports, out="found")

    assert {row["node"] for row in table_rows(found, "members")} >= {"node-e", "node-f"}
    assert_same(found, true)


def with_another_end(file: bytes, word: bytes, instead: bytes) -> bytes:
    """Return a Parquet file whose end, not its rows, says another word."""
    length = int.from_bytes(file[-8:-4], "little") + 8
    rows, end = file[:-length], file[-length:]
    assert word in end
    return rows + end.replace(word, instead)


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (
            {"since": day_of(DAYS[2] * DAY), "before": day_of(DAYS[4] * DAY)},
            lambda row, day: DAYS[2] <= day < DAYS[4],
        ),
        ({"node": ["b"]}, lambda row, day: row["node"] == "b"),
        ({"channel": ["elsewhere"]}, lambda row, day: row["channel"] == OTHER),
    ],
)
def test_a_part_is_all_that_is_read_and_no_other_job_takes_it_for_everything(
    tmp_path: Path,
    spark: "SparkSession",
    before: Before,
    options: dict[str, Any],
    wanted: Wanted,
) -> None:
    asked: dict[str, Any] = {
        name: datetime.fromisoformat(value) if isinstance(value, str) else value
        for name, value in options.items()
    }
    days = {one.entry.message_id: one.entry.header.created_ns // DAY for one in HELD + ELSEWHERE}

    part = ran(spark, tmp_path, "consolidate", before.exports, **asked)

    there = {
        (row["message_id"], row["node"])
        for row in table_rows(published_in(before.results), "holders")
        if wanted(row, days[row["message_id"].hex()])
    }
    assert {(row["message_id"], row["node"]) for row in table_rows(part, "holders")} == there
    assert len(there) > 5
    with pytest.raises(PipelineError, match="was asked for a part of it"):
        check_needs(["audit"], Results(tmp_path / "out"), Inputs.find([before.exports]))


def test_what_is_named_and_nowhere_is_one_sentence(before: Before) -> None:
    notes = Inputs.find([before.exports]).notes

    with pytest.raises(PipelineError, match="No export names a channel kitchen"):
        Selection.of({"channel": ["kitchen"]}, notes)
    with pytest.raises(PipelineError, match="No export names a node zz"):
        Selection.of({"node": ["zz"]}, notes)
