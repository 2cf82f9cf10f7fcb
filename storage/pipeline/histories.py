"""A published history of `consolidate`, read in place of the exports that it was made of.

It has each message once, and no node: `history/channel=<hex>/*.parquet`. What channels are called
stands beside it, for whoever imports from it.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa
from pyspark.sql import functions as fn
from pyspark.sql.pandas.types import from_arrow_schema

from storage.pipeline.runs import MANIFEST, Results
from storage.tables import HISTORY, HISTORY_DIR, replace_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CONSOLIDATE: Final = "consolidate"
"""The job that makes it."""

NAMES: Final = "channels.json"
"""Names of channels by id."""

NOBODY: Final = ""
"""The node of its rows."""

IN_FILES: Final = pa.schema([field for field in HISTORY if field.name not in ("node", "channel")])
"""The columns of its files; the channel stands in their path."""


@dataclass(frozen=True, slots=True)
class Consolidated:
    """A run of `consolidate`, below its directory."""

    directory: Path

    @classmethod
    def find(cls, out: Path) -> "Consolidated | None":
        """Return the history that is published in `out`, None if there is none.

        Raises:
            PipelineError: there are results, and they cannot be read.
        """
        if not (out / MANIFEST).is_file():
            return None
        published = Results(out).published(CONSOLIDATE)
        return None if published is None else cls(published.directory)

    @property
    def table(self) -> Path:
        """Where the rows are."""
        return self.directory / HISTORY_DIR

    @property
    def names(self) -> Mapping[str, str]:
        """What its channels are called, as far as it is known."""
        with suppress(OSError, ValueError, AttributeError):
            named = json.loads((self.directory / NAMES).read_text()).items()
            return {str(channel): str(name) for channel, name in named}
        return {}

    def read(
        self, spark: "SparkSession", files: Sequence[Path], options: Mapping[str, str]
    ) -> "DataFrame":
        """Return the rows of some files: the columns of `HISTORY`."""
        schema = from_arrow_schema(IN_FILES.append(HISTORY.field("channel")))
        # the part of the path that says the channel lies below this
        reader = spark.read.schema(schema).options(basePath=str(self.table), **options)
        rows = reader.parquet(*map(str, files)).withColumn("node", fn.lit(NOBODY))
        return rows.select(*HISTORY.names)


def write_names(directory: Path, names: Mapping[str, str]) -> None:
    """Write the names of channels beside a history that is being made."""
    replace_text(directory / NAMES, json.dumps(dict(sorted(names.items()))) + "\n")
