"""Query plans of the jobs: no Python on rows but the signature check, few readings of logs, and no
task that grows with the data.

What a job reads, and how often, decides what it costs; a plan that got worse is seen here before
any benchmark tells it.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from storage.archive.layout import Layout
from storage.archive.tables import HISTORY_DIR, LOG_DIR
from storage.pipeline import handed
from storage.pipeline.results.publishing import Results
from storage.pipeline.synthetic.plan import Faults
from storage.results import Figures
from tests.support.storage.diffs import ran
from tests.support.storage.plans import Plans, recorded
from tests.support.storage.synthetic import KINDS, findings, made, plan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

READINGS = {
    "consolidate": {HISTORY_DIR: 2, LOG_DIR: 0},
    "audit": {HISTORY_DIR: 0, LOG_DIR: 3},
    "delivery": {HISTORY_DIR: 0, LOG_DIR: 2},
}
"""Readings of the exports' tables: consolidate asks first who is there, where files have rows of
several; the first one of audit is for nodes that hold nothing of a channel, where an export has
several nodes; its last one is of the logs of the few who are suspected."""

PYTHON = ("MapInArrow", "MapInPandas", "ArrowEvalPython", "BatchEvalPython", "FlatMapGroupsIn")
"""Steps that hand rows to Python."""

ENDS = "first_ns last_ns first_lamport last_lamport"
MEMBERS = {
    "channel node",
    "channel node had",
    f"channel node {ENDS} host clock_id before",
    "member channel",
}
CLOCKS = {f"member channel node host {ENDS}"}
"""Nodes of one channel, or members that go by one clock: the job hands all of them to each task."""

VALUES = {
    f"{by}{rows}".strip()
    for by, value in (("", "latency_us"), ("number ", "latency_us"), ("span ", "us"))
    for rows in (
        f"none bucket {value} times",
        "none bucket within below_zero",
        f"{value} total below_zero until none",
    )
}
"""Distinct values of one bucket, buckets, and values that a percentile falls on."""

WINDOWS = {
    "consolidate": MEMBERS,
    # a 64th of the rows that a node logged from one start to the next; and the times that nodes
    # tell of one message
    "audit": {"run boot node begin end", "channel message_id lamport signed_lamport"},
    # one row a range and channel: not more than there are tasks
    "delivery": MEMBERS | CLOCKS | VALUES | {"channel range first within"},
}
"""Rows of the windows, by their columns; what bounds the largest part of each stands beside it."""


SMALL = {
    "consolidate": set[str](),
    # one row a channel
    "audit": {"channel newest"},
    # one row a channel, or a channel and a range; cells of the matrix; a hundred partitions
    "delivery": {
        "earlier others",
        "channel before",
        "channel others",
        "channel range first before total",
        "row column delivered",
        "number begins_ns ends_ns links",
    },
}
"""Rows that every task is given however many there are, by their columns."""

SIDES = {
    "consolidate": {"channel node word bit"},
    "audit": {"channel node word bit", "channel node word bit first last", "number signed tells"},
    "delivery": {"member channel node", "message_id author sent_ns lamport stretch"},
}
"""Some of those that it is given if they are few."""

BY_ITSELF = "spark.sql.autoBroadcastJoinThreshold"
"""Bytes up to which Spark hands a table to every task without being told to."""


@pytest.fixture(name="place", scope="module")
def _place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where there is a data set with every fault."""
    place = tmp_path_factory.mktemp("plans")
    made(place / "in", plan(1, Faults(late_joiners=2), messages=120))
    return place


@pytest.fixture(name="plans", scope="module")
def _plans(spark: "SparkSession", place: Path) -> dict[str, Plans]:
    """Return the plans of each job."""
    return planned(spark, place, "out")


@pytest.fixture(name="of_many", scope="module")
def _of_many(spark: "SparkSession", place: Path) -> dict[str, Plans]:
    """Return the plans of each job where nothing is few."""
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(handed, "HANDED_MAX", -1)
        return planned(spark, place, "many")


def planned(spark: "SparkSession", place: Path, out: str) -> dict[str, Plans]:
    """Run each job, where Spark hands to every task what it is told to alone."""
    found = {}
    before = spark.conf.get(BY_ITSELF)
    spark.conf.set(BY_ITSELF, "-1")
    try:
        for job in READINGS:
            with recorded(spark, place / "in") as found[job]:
                ran(spark, place, job, place / "in", out=out)
    finally:
        spark.conf.set(BY_ITSELF, str(before))
    return found


@pytest.mark.parametrize("job", READINGS)
def test_exports_are_read_so_often(plans: dict[str, Plans], job: str) -> None:
    found = {table: plans[job].scans(table) for table in (HISTORY_DIR, LOG_DIR)}

    assert found == READINGS[job]


def test_exports_of_single_nodes_are_consolidated_in_one_reading(
    spark: "SparkSession", tmp_path: Path
) -> None:
    """The end of a file says whose rows it has."""
    made(tmp_path / "in", plan(1, Faults(late_joiners=2), messages=120), Layout.NODES)
    made(tmp_path / "one", plan(1, Faults(late_joiners=2), messages=120))
    first = min(path for path in (tmp_path / "in").iterdir() if path.is_dir())

    with recorded(spark, first) as plans:
        ran(spark, tmp_path, "consolidate", tmp_path / "in")

    assert plans.scans(HISTORY_DIR) == 1
    ran(spark, tmp_path, "consolidate", tmp_path / "one", out="of one")
    of_nodes, of_one = (
        Results(tmp_path / out).published("consolidate") for out in ("out", "of one")
    )
    assert of_nodes is not None
    assert of_one is not None
    assert dict(of_nodes.figures) == dict(of_one.figures)


@pytest.mark.parametrize("job", READINGS)
def test_python_sees_rows_for_their_signatures_alone(plans: dict[str, Plans], job: str) -> None:
    steps = plans[job].steps(*PYTHON)

    assert [step for step in steps if "verified" not in step] == []
    assert bool(steps) == (job == "consolidate")


@pytest.mark.parametrize("job", ["audit", "delivery"])
def test_logs_are_grouped_by_hash_and_not_sorted_first(plans: dict[str, Plans], job: str) -> None:
    """The greatest of texts, for one, would have every row sorted."""
    reading = [text for text in plans[job].texts if plans[job].reads(text, LOG_DIR)]

    assert len(reading) >= 2
    assert [text for text in reading if "SortAggregate" in text] == []


def test_files_are_not_asked_for_what_nearly_every_row_is(plans: dict[str, Plans]) -> None:
    """To write the question down for each of thousands of small files took longer than it saved."""
    plan = plans["delivery"]
    reading = [text for text in plan.texts if plan.reads(text, LOG_DIR)]

    asked = [line for text in reading for line in text.splitlines() if "PushedFilters" in line]
    assert asked
    assert [
        line for line in asked if "kind" in line or "ts_ns" in line.partition("Pushed")[2]
    ] == []


@pytest.mark.parametrize("job", READINGS)
def test_the_parts_of_each_window_are_bounded(plans: dict[str, Plans], job: str) -> None:
    """A part is one task's: one of all messages of a channel would grow with it."""
    found = plans[job].windows()

    assert found
    assert found - WINDOWS[job] == set()


@pytest.mark.parametrize("job", READINGS)
def test_every_task_is_given_what_is_few(plans: dict[str, Plans], job: str) -> None:
    assert SIDES[job] - plans[job].handed() == set()


@pytest.mark.parametrize("job", READINGS)
def test_of_many_rows_no_task_is_given_all(of_many: dict[str, Plans], job: str) -> None:
    found = of_many[job].handed()

    assert found - SMALL[job] == set()


def test_of_many_rows_as_much_is_found(
    plans: dict[str, Plans], of_many: dict[str, Plans], place: Path
) -> None:
    few, many = Results(place / "out"), Results(place / "many")

    for kind in KINDS:
        assert findings(many, kind) == findings(few, kind)
    one, other = figures_of(few), figures_of(many)
    # sums of doubles, in no order
    assert one.pop("filters") == pytest.approx(other.pop("filters"))
    assert one == other


def figures_of(results: Results) -> Figures:
    """Return what delivery found."""
    published = results.published("delivery")
    assert published is not None
    return dict(published.figures)
