"""Delivery and audit find the same whatever clocks say."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from storage.pipeline.audit import job as audit
from storage.pipeline.consolidate import job as consolidate
from storage.pipeline.inputs.inputs import Inputs
from storage.pipeline.job_context import Work
from storage.pipeline.report.sections import delivery_rows
from storage.pipeline.results.publishing import Results
from storage.pipeline.synthetic.plan import Faults
from storage.results import Figures
from sync.machine import HOUR, MILLISECOND, MINUTE, SECOND, Nanos
from tests.support.storage.deliveries import (
    CLOCKS,
    DAN,
    EVE,
    HOSTS,
    Event,
    around,
    export,
    named,
    rows_of,
    run_over,
)
from tests.support.storage.moved_clocks import with_clocks
from tests.support.storage.synthetic import AUDITED, findings, made, plan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

MOVED: tuple[Nanos, ...] = (10 * HOUR, -10 * HOUR, 10 * MINUTE)


class Found:
    """Findings of both jobs in a group that loses messages."""

    def __init__(self, spark: "SparkSession", made_: Path, out: Path) -> None:
        inputs, results = Inputs.find([made_]), Results(out)
        for name, job in (("consolidate", consolidate), ("audit", audit)):
            with results.run(name) as run:
                job.run(Work(spark, inputs, results, run, out))
        self.audited = {name: findings(results, name) for name in AUDITED}
        self.delivery = run_over(spark, out / "delivery", made_)


@pytest.fixture(scope="module")
def group(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the export of a group that loses messages, some for ever."""
    made_ = tmp_path_factory.mktemp("group") / "made"
    made(made_, plan(11, Faults(late_joiners=3), never=0.2, messages=600, hours=2.0))
    return made_


@pytest.fixture(scope="module")
def right(group: Path, spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory) -> Found:
    place = tmp_path_factory.mktemp("right")
    return Found(spark, with_clocks(group, place / "made", {}), place / "out")


@pytest.fixture(scope="module")
def moved(group: Path, spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory) -> Found:
    place = tmp_path_factory.mktemp("moved")
    nodes = Inputs.find([group]).notes[0].nodes
    ahead = dict(zip(nodes[1:], MOVED, strict=False))
    return Found(spark, with_clocks(group, place / "made", ahead), place / "out")


@pytest.mark.parametrize("name", ["due", "delivered_of_due", "not_counted", "longest_ns"])
def test_deliveries_are_those_of_right_clocks(name: str, right: Found, moved: Found) -> None:
    assert right.delivery.figures[name] == moved.delivery.figures[name] > 0


def test_losses_are_seen(right: Found) -> None:
    assert right.delivery.figures["delivered_of_due"] < right.delivery.figures["due"]


@pytest.mark.parametrize("name", ["convergence", "repair", "filters", "states"])
def test_other_figures_are_those_of_right_clocks(name: str, right: Found, moved: Found) -> None:
    """Times until everybody had a message are by its author's clock."""
    expected, found = right.delivery.figures[name], moved.delivery.figures[name]
    assert found == expected
    assert expected.get("count", 1) > 0


def test_marks_are_judged(right: Found) -> None:
    filters = right.delivery.figures["filters"]
    assert filters["marked"] > 10 * filters["unjudged"]


def test_the_matrix_is_that_of_right_clocks(right: Found, moved: Found) -> None:
    cells = right.delivery.table("matrix")

    assert moved.delivery.table("matrix") == cells
    assert {cell["column"] for cell in cells} == set(range(48))
    assert any(cell["delivered"] < cell["expected"] for cell in cells)


@pytest.mark.parametrize("name", AUDITED)
def test_findings_of_audit_are_those_of_right_clocks(name: str, right: Found, moved: Found) -> None:
    assert right.audited[name]
    assert moved.audited[name] == right.audited[name]


def test_wrong_clocks_are_told(right: Found, moved: Found) -> None:
    apart: list[Mapping[str, Any]] = moved.delivery.figures["clocks"]["largest"]

    assert abs(apart[0]["offset_ns"]) == pytest.approx(20 * HOUR, abs=SECOND)
    assert right.delivery.figures["clocks"]["largest"][0]["offset_ns"] < SECOND
    assert moved.delivery.figures["clocks"]["steps"] == []


def stepping() -> list[Event]:
    """Return what two note of each other; Eve's clock is set forward by an hour after 30 s."""
    events: list[Event] = around(CLOCKS, DAN, EVE)
    for number in range(20):
        message = named(CLOCKS, 10 + number)
        sent, ahead = 2_000 + 3_000 * number, 3_600_000 * (number >= 10)
        there = (sent, DAN), (sent + 20 + ahead, EVE)
        back = (sent + ahead, EVE), (sent + 20, DAN)
        (wrote, author), (came, other) = there if number % 2 else back
        events += [(wrote, author, "sent", message), (came, other, "received", message)]
        events.append((came, other, "delivered", message))
    return events


@pytest.fixture(scope="module")
def stepped(spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory) -> Figures:
    """Return the figures of the two."""
    place = tmp_path_factory.mktemp("stepped")
    made_ = export(place / "a", rows_of(CLOCKS, stepping()), HOSTS)
    return run_over(spark, place / "out", made_).figures


def test_a_clock_that_was_set_is_told_with_its_time(stepped: Figures) -> None:
    clocks = stepped["clocks"]
    assert (clocks["pairs"], clocks["pairs_with_steps"]) == (0, 1)
    [step] = clocks["steps"]
    assert (step["a"], step["b"]) == ("one", "two")
    assert step["by_ns"] == HOUR - 40 * MILLISECOND
    assert step["from_ns"] <= 30 * SECOND <= step["to_ns"] < 60 * SECOND
    told = dict(delivery_rows(stepped))
    assert told["clock set"].startswith("that of one or of two, by 60.0 min or more, between 1970")
    assert "-" not in told.get("clocks", "")


def test_messages_over_a_clock_that_was_set_are_counted_and_not_timed(stepped: Figures) -> None:
    assert stepped["due"] == stepped["messages"] == stepped["delivered_of_due"] == 20
    assert (stepped["convergence"]["complete"], stepped["convergence"]["count"]) == (20, 0)
    assert dict(delivery_rows(stepped))["not timed"] == "20 of these: clocks cannot be compared"
