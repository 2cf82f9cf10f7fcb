"""Arguments of a job: a session, its inputs, and the run to write into."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from storage.pipeline.handed import handed
from storage.pipeline.inputs.inputs import Inputs
from storage.pipeline.places.spark_tables import read_tables, spark_name
from storage.pipeline.results.publishing import Results, Run
from storage.pipeline.results.small_tables import row_count
from storage.pipeline.spark.names import naming

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from storage.pipeline.consolidate.plan import Plan


@dataclass(frozen=True, slots=True)
class Work:
    """See the module docstring; `results` are those of the jobs before, `options` a job's own."""

    spark: "SparkSession"
    inputs: Inputs
    results: Results
    run: Run
    scratch: Path
    options: Mapping[str, Any] = field(default_factory=dict)
    plan: "Plan | None" = None
    """Days that consolidate makes or takes over, if that was looked at."""
    small: bool = False
    """True if tables are so small that each is read as one part."""

    def write(self, name: str, frame: "DataFrame", *by: str) -> "DataFrame":
        """Write a table, in directories `by` columns; returns it read again, not worked out twice.

        Spark's jobs and stages for it carry its name.
        """
        path = self.run.directory / name
        with naming(self.spark, f"{self.run.job}: {name}"):
            frame.write.partitionBy(*by).parquet(spark_name(path))
        return self.whole(read_tables(self.spark, frame.schema, [path]))

    def write_side(self, name: str, frame: "DataFrame") -> "DataFrame":
        """Write a table that others are joined with: each task gets all of it if it is small."""
        return handed(self.write(name, frame), row_count(self.run.directory, name))

    def whole(self, table: "DataFrame") -> "DataFrame":
        """Return a table in one part if it is small: groups and windows need no shuffle then."""
        return table.coalesce(1) if self.small else table
