"""Delivery where exports were taken at different times, or are not of everybody."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from storage.pipeline.inputs import Inputs
from storage.pipeline.jobs import delivery
from storage.pipeline.report_sections import delivery_rows
from storage.pipeline.runs import Published, Results
from storage.pipeline.work import Work
from tests.test_delivery import ANN, GOT, LOST, STATES, Ran, export, rows_of, sessions, story

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


@pytest.mark.parametrize("alone", [True, False])
def test_a_mark_is_judged_where_a_log_of_somebody_else_is_there(
    alone: bool, spark: "SparkSession", tmp_path: Path
) -> None:
    """Whose filter claimed the message had it, perhaps: one's own log cannot say."""
    rows = [row for row in rows_of(STATES, story(STATES)) if not alone or row["node"] == ANN]
    one = export(tmp_path / "one", rows, {})

    figures = measured(spark, tmp_path / "out", one).figures

    filters, states = figures["filters"], figures["states"]
    judged = {name: filters[name] for name in ("marked", "false", "unjudged")}
    if alone:
        assert judged == {"marked": 0, "false": 0, "unjudged": 1}
        assert states["possibly_acknowledged"] == 1
        told = dict(delivery_rows(figures))
        assert told["marks"] == "1 cannot be judged: nobody else's log tells of that time"
        assert (told["logs"], told["clock unknown"]) == ("1 node in 1 channel", "1 node")
    else:
        assert judged == {"marked": 2, "false": 1, "unjudged": 0}
        assert "marks" not in dict(delivery_rows(figures))
