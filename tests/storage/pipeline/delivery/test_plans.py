"""No step of delivery is one task's alone: windows have partitions."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark


def windows(frame: "DataFrame") -> list[bool]:
    """Return of each window in the plan of a frame whether it has partitions."""
    plan = frame._jdf.queryExecution().optimizedPlan()
    return [not node.partitionSpec().isEmpty() for node in _below(plan) if _is_window(node)]


def _is_window(node: Any) -> bool:  # noqa: ANN401  # a plan of Spark
    return str(node.nodeName()) == "Window"


def _below(node: Any) -> Iterator[Any]:  # noqa: ANN401
    yield node
    children = node.children()
    for at in range(children.size()):
        yield from _below(children.apply(at))


def test_a_window_over_everything_is_seen(spark: "SparkSession") -> None:
    from pyspark.sql import Window  # noqa: PLC0415
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    rows = spark.createDataFrame([(1, 2), (3, 4)], "a int, b int")

    assert windows(rows.select(F.row_number().over(Window.orderBy("a")))) == [False]
    assert windows(rows.select(F.row_number().over(Window.partitionBy("b").orderBy("a")))) == [True]


@pytest.mark.parametrize("by", [None, "of"])
def test_percentiles_have_no_window_over_everything(by: str | None, spark: "SparkSession") -> None:
    from storage.pipeline.delivery.latency import distribution  # noqa: PLC0415

    spans = spark.createDataFrame([(1, 5, 1), (2, None, 3)], "of int, us long, times long")

    found = windows(distribution(spans, "us", by))

    assert found
    assert all(found)


@pytest.mark.parametrize("by", [None, "of"])
def test_windows_of_percentiles_see_each_value_once(by: str | None, spark: "SparkSession") -> None:
    """One of the messages that were never acknowledged would have all of them in one part."""
    from storage.pipeline.delivery.latency import distribution  # noqa: PLC0415

    spans = spark.createDataFrame([(1, 5, 1), (2, None, 3)], "of int, us long, times long")
    plan = distribution(spans, "us", by)._jdf.queryExecution().optimizedPlan()

    found = [node for node in _below(plan) if _is_window(node)]

    assert found
    for window in found:
        assert "Aggregate" in {str(node.nodeName()) for node in _below(window)}


def test_members_are_numbered_without_a_window_over_everything(spark: "SparkSession") -> None:
    from storage.pipeline.inputs.members import HOSTS, members  # noqa: PLC0415

    rows = [("b", "x"), ("a", "y"), ("a", "x"), ("c", "y")]
    columns = "channel string, node string"
    ends = ("first_ns", "last_ns", "first_lamport", "last_lamport")
    seen = spark.createDataFrame(rows, columns).selectExpr("*", *[f"1L as {name}" for name in ends])

    found = members(seen, spark.createDataFrame([("x", "one", "one"), ("y", "one", "one")], HOSTS))

    assert all(windows(found))
    numbered = sorted((row.member, row.channel, row.node) for row in found.collect())
    assert numbered == [(1, "a", "x"), (2, "a", "y"), (3, "b", "x"), (4, "c", "y")]
