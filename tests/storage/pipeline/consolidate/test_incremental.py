"""A consolidation over earlier results reads what changed, and finds what a whole one does.

Days that were taken over are shown to be unread by spoiling the rows of their files: whoever reads
these fails.
"""

import shutil
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.dataset as ds
import pytest

from storage.archive.tables import HISTORY_DIR, day_of
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
Wanted = Callable[[Row, int], bool]
"""Says whether a holder of an entry of some day was asked for."""

TABLES = ("history", "holders", "quarantine")
OPENING = 64
"""Bytes at the beginning of a file that are spoilt; its end, which says what is in it, is whole."""


@pytest.fixture(name="exports")
def _exports(tmp_path: Path) -> Path:
    """Return a directory with exports of three nodes, of which one claims something false."""
    where = tmp_path / "in"
    for number, node in enumerate(("a", "b", "c")):
        rows = [row_of(one, node) for at, one in enumerate(HELD) if at % 4 != number]
        if node == "c":
            rows[7] = {**rows[7], "lamport": 1}
        export_rows(where / node, rows, [node], {CHANNEL: "lobby"})
    return where


def of_day(day: int) -> list[StoredMessage]:
    """Return the messages of a day."""
    return [one for one in HELD if one.entry.header.created_ns // DAY == day]


def rows(published: Published, name: str) -> list[str]:
    """Return the rows of a table, as text, sorted."""
    directory = published.directory / name
    found = ds.dataset(directory, format="parquet", partitioning="hive").to_table().to_pylist()
    return sorted(repr(sorted(row.items())) for row in found)


def same(one: Published, other: Published) -> None:
    """Assert that two runs found the same; members may have other numbers."""
    for name in TABLES:
        assert rows(one, name) == rows(other, name), name
    figures = [dict(run.figures) for run in (one, other)]
    for told in figures:
        del told["taken_over"]
    assert figures[0] == figures[1]


def spoil(exports: Path, *days: int) -> None:
    """Make the rows of all days but these unreadable, and nothing else."""
    kept = {f"day={day_of(day * DAY)}" for day in days}
    for file in exports.rglob(f"{HISTORY_DIR}/**/*.parquet"):
        if file.parent.name not in kept:
            content = file.read_bytes()
            file.write_bytes(bytes(OPENING) + content[OPENING:])


def test_days_behind_which_the_same_files_stand_are_not_read_again(
    tmp_path: Path, spark: "SparkSession", exports: Path
) -> None:
    first = ran(spark, tmp_path, "consolidate", exports)
    kept = Path(shutil.copytree(first.directory, tmp_path / "kept"))
    spoil(exports)

    again = ran(spark, tmp_path, "consolidate", exports)

    assert first.figures["quarantined"] == {"not as signed: lamport": 1}
    assert first.figures["days"] == len(DAYS)
    assert again.figures["taken_over"] == len(DAYS)
    same(again, Published(kept, first.figures))
    with pytest.raises(Exception, match=r"(?i)parquet|corrupt|expected"):
        ran(spark, tmp_path, "consolidate", exports, full=True)


def test_a_late_row_changes_its_day_alone(
    tmp_path: Path, spark: "SparkSession", exports: Path
) -> None:
    """Also where a node that nobody knew brings it: those who were there keep their numbers."""
    ran(spark, tmp_path, "consolidate", exports)
    late = of_day(DAYS[2])
    export_rows(exports / "aa", [row_of(one, "aa") for one in late], ["aa"], {CHANNEL: "lobby"})
    ran(spark, tmp_path, "consolidate", exports, out="whole")
    spoil(exports, DAYS[2])

    again = ran(spark, tmp_path, "consolidate", exports)

    assert again.figures["taken_over"] == len(DAYS) - 1
    assert again.figures["nodes"] == 4
    whole = Results(tmp_path / "whole").published("consolidate")
    assert whole is not None
    same(again, whole)


def test_an_export_that_vanished_takes_its_days_along(
    tmp_path: Path, spark: "SparkSession", exports: Path
) -> None:
    """Only where it had rows: what it shared with nobody is gone, false rows too."""
    two = [row_of(one, "d") for day in DAYS[:2] for one in of_day(day)]
    export_rows(exports / "d", [*two[:-1], {**two[-1], "seq": 9}], ["d"], {CHANNEL: "lobby"})
    before = ran(spark, tmp_path, "consolidate", exports)
    assert before.figures["findings"] == 2
    shutil.rmtree(exports / "d")
    ran(spark, tmp_path, "consolidate", exports, out="whole")
    spoil(exports, *DAYS[:2])

    again = ran(spark, tmp_path, "consolidate", exports)

    assert again.figures["taken_over"] == len(DAYS) - 2
    whole = Results(tmp_path / "whole").published("consolidate")
    assert whole is not None
    same(again, whole)


def test_audit_finds_the_same_in_days_that_were_taken_over(
    tmp_path: Path, spark: "SparkSession", exports: Path
) -> None:
    ran(spark, tmp_path, "consolidate", exports)
    late = [row_of(one, "aa") for one in (*of_day(DAYS[1]), of_day(DAYS[4])[0])]
    export_rows(exports / "aa", late, ["aa"], {CHANNEL: "lobby"})
    ran(spark, tmp_path, "consolidate", exports, out="whole")
    ran(spark, tmp_path, "consolidate", exports)

    found = [ran(spark, tmp_path, "audit", exports, out=out) for out in ("out", "whole")]

    assert found[0].figures == found[1].figures
    assert found[0].figures["missing"] > 20
    assert rows(found[0], "missing") == rows(found[1], "missing")


def test_rows_without_a_time_may_be_of_any_day(
    tmp_path: Path, spark: "SparkSession", exports: Path
) -> None:
    """So nothing is taken over while they are there, and nothing of them is lost."""
    timeless: Row = {**row_of(HELD[0], "e"), "created_ns": None}
    export_rows(exports / "e", [timeless], ["e"], {CHANNEL: "lobby"})
    first = ran(spark, tmp_path, "consolidate", exports)
    kept = Path(shutil.copytree(first.directory, tmp_path / "kept"))
    export_rows(exports / "f", [row_of(HELD[-1], "f")], ["f"], {CHANNEL: "lobby"})

    again = ran(spark, tmp_path, "consolidate", exports)

    assert first.figures["findings"] == 2
    assert again.figures["taken_over"] == 0
    assert rows(again, "quarantine") == rows(Published(kept, {}), "quarantine")


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"since": DAYS[2], "before": DAYS[4]}, lambda row, day: DAYS[2] <= day < DAYS[4]),
        ({"node": ["b"]}, lambda row, day: row["node"] == "b"),
        ({"channel": ["elsewhere"]}, lambda row, day: row["channel"] != CHANNEL),
    ],
)
def test_a_part_is_all_that_is_read_and_no_other_job_takes_it_for_everything(
    tmp_path: Path, spark: "SparkSession", exports: Path, options: dict[str, Any], wanted: Wanted
) -> None:
    other = ChannelId("0e" * 16)
    elsewhere = scattered(8, DAY, channel=other)
    export_rows(exports / "g", [row_of(one, "g") for one in elsewhere], ["g"], {other: "elsewhere"})
    asked = {
        name: datetime.fromisoformat(day_of(value * DAY)) if isinstance(value, int) else value
        for name, value in options.items()
    }

    part = ran(spark, tmp_path, "consolidate", exports, **asked)
    whole = ran(spark, tmp_path, "consolidate", exports, out="whole")

    def chosen(published: Published) -> set[tuple[str, str]]:
        table = ds.dataset(published.directory / "holders", format="parquet", partitioning="hive")
        days = {one.entry.message_id: one.entry.header.created_ns // DAY for one in HELD}
        days |= {one.entry.message_id: DAYS[-1] + 1 for one in elsewhere}
        return {
            (row["message_id"].hex(), row["node"])
            for row in table.to_table().to_pylist()
            if published is part or wanted(row, days[row["message_id"].hex()])
        }

    assert chosen(part) == chosen(whole)
    assert len(chosen(part)) > 5
    assert part.figures["chosen"]
    with pytest.raises(PipelineError, match="was asked for a part of it"):
        check_needs(["audit"], Results(tmp_path / "out"), Inputs.find([exports]))
    assert ran(spark, tmp_path, "consolidate", exports).figures["taken_over"] in (0, 2)


def test_what_is_named_and_nowhere_is_one_sentence(tmp_path: Path, exports: Path) -> None:
    notes = Inputs.find([exports]).notes

    with pytest.raises(PipelineError, match="No export names a channel kitchen"):
        Selection.of({"channel": ["kitchen"]}, notes)
    with pytest.raises(PipelineError, match="No export names a node zz"):
        Selection.of({"node": ["zz"]}, notes)
