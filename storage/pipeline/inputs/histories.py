"""A published history of `consolidate`, as Spark reads it in place of what it was made of."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as fn
from pyspark.sql.pandas.types import from_arrow_schema

from storage.archive.consolidated import IN_FILES, Consolidated
from storage.archive.tables import HISTORY
from storage.pipeline.places.spark_tables import read_tables, spark_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NOBODY: Final = ""
"""The node of its rows."""


def read_history(
    spark: "SparkSession",
    history: Consolidated,
    files: Sequence[Path],
    options: Mapping[str, str],
) -> "DataFrame":
    """Return the rows of some files of a history: the columns of `HISTORY`."""
    schema = from_arrow_schema(IN_FILES.append(HISTORY.field("channel")))
    # the part of the path that says the channel lies below this
    options = {"basePath": spark_name(history.table), **options}
    rows = read_tables(spark, schema, files, options).withColumn("node", fn.lit(NOBODY))
    return rows.select(*HISTORY.names)
