"""Delivery where the log of a node is in several exports, taken at different times."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from storage.pipeline.inputs import Inputs
from storage.pipeline.jobs import delivery
from storage.pipeline.runs import Published, Results
from storage.pipeline.work import Work
from tests.test_delivery import GOT, LOST, Ran, export, rows_of, sessions, story

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def measured(spark: "SparkSession", directory: Path, *named: Path) -> Ran:
    """Run the job over these exports."""
    results = Results(directory)
    with results.run("delivery") as run:
        delivery.run(Work(spark, Inputs.find(named), results, run, directory))
    published = results.published("delivery")
    assert isinstance(published, Published)
    return Ran(published.figures, published.directory)


def test_what_two_exports_have_of_a_log_counts_once(spark: "SparkSession", tmp_path: Path) -> None:
    rows = [*rows_of(GOT, story(GOT)), *rows_of(LOST, story(LOST)), *sessions()]
    monday = export(tmp_path / "monday", rows[:-4], {})
    tuesday = export(tmp_path / "tuesday", rows, {})

    both = measured(spark, tmp_path / "both", monday, tuesday)
    last = measured(spark, tmp_path / "last", tuesday)

    assert last.figures["sends"] > 0
    assert both.figures == last.figures
