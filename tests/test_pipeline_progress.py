"""Progress counts what Spark did: stages, tasks, and the rows they read."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from storage.pipeline.progress import Glance, Watch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.spark
def test_rows_and_stages_are_counted_as_they_are_done(
    spark: "SparkSession", tmp_path: Path
) -> None:
    path = str(tmp_path / "numbers")
    spark.range(1000).write.parquet(path)
    watch = Watch(spark.sparkContext)
    before = seen(spark, watch)

    spark.read.schema("id bigint").parquet(path).repartition(2).write.parquet(f"{path}-again")

    now = seen(spark, watch)
    assert now.stages == before.stages + 2
    assert now.rows == before.rows + 2000, "read once from the file, and once from the shuffle"
    assert now.tasks == now.done > before.done
    assert seen(spark, watch) == now


def seen(spark: "SparkSession", watch: Watch) -> Glance:
    """Look when Spark has heard of all that it did."""
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    return watch.look()
