"""Delivery where exports were taken at different times, or are not of everybody."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from storage.pipeline.inputs.copies import doubtful
from storage.pipeline.report.sections import delivery_rows
from tests.support.storage.deliveries import (
    ANN,
    CAT,
    GOT,
    HOSTS,
    STATES,
    Ran,
    all_rows,
    export,
    rows_of,
    run_over,
    sessions,
    story,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_what_two_exports_have_of_a_log_counts_once(
    spark: "SparkSession", tmp_path: Path, delivery: Ran
) -> None:
    monday = export(tmp_path / "monday", all_rows()[:-4], HOSTS)
    tuesday = export(tmp_path / "tuesday", all_rows(), HOSTS)

    both = run_over(spark, tmp_path / "both", monday, tuesday)

    assert delivery.figures["sends"] > 0
    assert both.figures == delivery.figures | {"copies": len(all_rows()) - 4}
    assert dict(delivery_rows(both.figures))["copies"].endswith("more than once, and count once")


def test_copied_part_files_count_once(spark: "SparkSession", tmp_path: Path, delivery: Ran) -> None:
    made = export(tmp_path / "made", all_rows(), HOSTS)
    files = sorted(made.rglob("*.parquet"))
    rows = sum(pq.read_metadata(path).num_rows for path in files)
    for path in files:
        shutil.copy(path, path.with_name("copy.parquet"))

    twice = run_over(spark, tmp_path / "out", made)

    assert twice.figures == delivery.figures | {"copies": rows}


def test_only_files_that_may_share_a_row_are_looked_into(tmp_path: Path) -> None:
    made = export(tmp_path / "made", all_rows(), HOSTS)
    files = sorted(made.rglob("*.parquet"))
    copy = files[0].with_name("copy.parquet")
    shutil.copy(files[0], copy)

    assert doubtful(files) == set()
    assert doubtful([*files, copy]) == {files[0], copy}


def test_who_reconciled_and_has_no_log_here_is_told(
    spark: "SparkSession", tmp_path: Path, delivery: Ran
) -> None:
    """Cat is the other side for both, and noted nothing herself."""
    rows = [row for row in [*rows_of(GOT, story(GOT)), *sessions()] if row["node"] != CAT]

    without = run_over(spark, tmp_path / "out", export(tmp_path / "both", rows, {})).figures
    whole = delivery.figures

    assert without["reconciliation"]["peers_without_log"] == 1
    assert dict(delivery_rows(without))["no log here"].startswith("of 1 participant who reconciled")
    assert whole["reconciliation"]["peers_without_log"] == 0
    assert "no log here" not in dict(delivery_rows(whole))


def test_a_mark_is_judged_where_a_log_of_somebody_else_is_there(delivery: Ran) -> None:
    filters = delivery.figures["filters"]

    assert judged(filters) == {"marked": 2, "false": 1, "unjudged": 0}
    assert "marks not counted" not in dict(delivery_rows(delivery.figures))


def test_a_mark_is_not_judged_by_the_log_of_its_author_alone(
    spark: "SparkSession", tmp_path: Path
) -> None:
    """One's own log cannot tell whether the sender of a filter had the message."""
    rows = [row for row in rows_of(STATES, story(STATES)) if row["node"] == ANN]
    one = export(tmp_path / "one", rows, {})

    figures = run_over(spark, tmp_path / "out", one).figures

    assert judged(figures["filters"]) == {"marked": 0, "false": 0, "unjudged": 1}
    assert figures["states"]["possibly_acknowledged"] == 1
    told = dict(delivery_rows(figures))
    assert told["marks not counted"].startswith("1: nobody else's log tells of that time")
    assert (told["logs"], told["clock unknown"]) == ("1 node in 1 channel", "1 node")


def judged(filters: Mapping[str, int]) -> dict[str, int]:
    """Return how many marks there are, how many are false, and how many nobody can judge."""
    return {name: filters[name] for name in ("marked", "false", "unjudged")}
