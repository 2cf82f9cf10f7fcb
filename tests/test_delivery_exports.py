"""Delivery where exports were taken at different times, or are not of everybody."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from storage.pipeline.report.sections import delivery_rows
from tests.support.storage.deliveries import (
    ANN,
    CAT,
    GOT,
    LOST,
    STATES,
    export,
    rows_of,
    run_over,
    sessions,
    story,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_what_two_exports_have_of_a_log_counts_once(spark: "SparkSession", tmp_path: Path) -> None:
    rows = [*rows_of(GOT, story(GOT)), *rows_of(LOST, story(LOST)), *sessions()]
    monday = export(tmp_path / "monday", rows[:-4], {})
    tuesday = export(tmp_path / "tuesday", rows, {})

    both = run_over(spark, tmp_path / "both", monday, tuesday)
    last = run_over(spark, tmp_path / "last", tuesday)

    assert last.figures["sends"] > 0
    assert both.figures == last.figures


def test_who_reconciled_and_has_no_log_here_is_told(spark: "SparkSession", tmp_path: Path) -> None:
    """Cat is the other side for both, and noted nothing herself."""
    rows = [*rows_of(GOT, story(GOT)), *sessions()]
    both = export(tmp_path / "both", [row for row in rows if row["node"] != CAT], {})
    all_three = export(tmp_path / "all", rows, {})

    without, whole = (
        run_over(spark, tmp_path / "out" / one.name, one).figures for one in (both, all_three)
    )

    assert without["reconciliation"]["peers_without_log"] == 1
    assert dict(delivery_rows(without))["no log here"].startswith("of 1 participant who reconciled")
    assert whole["reconciliation"]["peers_without_log"] == 0
    assert "no log here" not in dict(delivery_rows(whole))


@pytest.mark.parametrize("alone", [True, False])
def test_a_mark_is_judged_where_a_log_of_somebody_else_is_there(
    alone: bool, spark: "SparkSession", tmp_path: Path
) -> None:
    """One's own log cannot tell whether the sender of a filter had the message."""
    rows = [row for row in rows_of(STATES, story(STATES)) if not alone or row["node"] == ANN]
    one = export(tmp_path / "one", rows, {})

    figures = run_over(spark, tmp_path / "out", one).figures

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
