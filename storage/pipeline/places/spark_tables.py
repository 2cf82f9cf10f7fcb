"""Tables in places, as Spark reads and writes them.

Rules:
1. A name means itself. To Spark, a name with `*`, `?`, `[` or `{` is a pattern, which other tables
   may fit, and a relative one with a colon has a scheme.
2. The rows of a table are in its files `*.parquet`; whatever lies beside them has none.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from pyspark.sql.types import StructType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

AS_NAMED: Final = {"__globPaths__": "false", "pathGlobFilter": "*.parquet"}
"""Options of every reading; the first one is what Spark itself sets where it has listed files."""


def spark_name(place: Path) -> str:
    """Return a place as Spark is told of it."""
    return str(place.absolute())


def read_tables(
    spark: "SparkSession",
    schema: StructType | str | None,
    places: Sequence[Path],
    options: Mapping[str, str] = MappingProxyType({}),
) -> "DataFrame":
    """Return the rows of tables, or of single files of some.

    Args:
        spark: the session
        schema: their columns; None: as the files have them
        places: at least one
        options: of the reader
    """
    reader = spark.read.options(**AS_NAMED, **options)
    if schema is not None:
        reader = reader.schema(schema)
    return reader.parquet(*map(spark_name, places))
