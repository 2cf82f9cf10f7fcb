"""Progress counts what Spark did: stages, tasks, and the rows they read."""

import io
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from storage.pipeline.spark.progress import Glance, Watch, shown

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


class Terminal(io.StringIO):
    """Tells when something is painted."""

    def __init__(self, awaited: str) -> None:
        super().__init__()
        self._awaited = awaited
        self.painted = threading.Event()

    def write(self, text: str) -> int:
        written = super().write(text)
        if self._awaited in self.getvalue():
            self.painted.set()
        return written


@pytest.mark.spark
def test_a_terminal_shows_the_job_its_stage_and_its_rows(spark: "SparkSession") -> None:
    terminal = Terminal(" rows")
    console = Console(file=terminal, force_terminal=True, width=120, color_system=None)

    with shown(spark, console) as tell:
        tell("audit (2 of 5)")
        spark.range(1000).write.format("noop").mode("overwrite").save()
        assert terminal.painted.wait(60)

    assert "audit (2 of 5)" in terminal.getvalue()


@pytest.mark.spark
def test_a_pipe_shows_nothing(spark: "SparkSession") -> None:
    pipe = io.StringIO()

    with shown(spark, Console(file=pipe)) as tell:
        tell("audit (2 of 5)")

    assert pipe.getvalue() == ""


def seen(spark: "SparkSession", watch: Watch) -> Glance:
    """Look when Spark has heard of all that it did."""
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    return watch.look()
