"""Runs of jobs over small exports in one session, and what they found."""

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from storage.pipeline.fingerprints.fingerprints import SPANS
from storage.pipeline.inputs.inputs import Inputs
from storage.pipeline.results.publishing import Results
from storage.results import Published
from sync.group.values import StoredMessage

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
import pyarrow.parquet as pq

from storage.archive.tables import sync_hash
from storage.pipeline.fingerprints.fingerprints import XOR
from storage.pipeline.job_context import Work
from storage.pipeline.job_runner import MODULES


def ran(
    spark: "SparkSession",
    tmp_path: Path,
    job: str,
    *named: Path,
    out: str = "out",
    **options: Any,  # noqa: ANN401
) -> Published:
    """Run a job as the command line does, with options of its own."""
    results = Results(tmp_path / out)
    with results.run(job) as run:
        work = Work(spark, Inputs.find(named), results, run, tmp_path, options)
        import_module(MODULES[job]).run(work)
    published = results.published(job)
    assert published is not None
    return published


def found(published: Published, table: str) -> set[str]:
    """The message ids of a table."""
    files = (published.directory / table).rglob("*.parquet")
    columns = [pq.ParquetFile(file).read(columns=["message_id"])["message_id"] for file in files]
    return {value.hex() for column in columns for value in column.to_pylist()}


def ids(messages: Iterable[StoredMessage]) -> set[str]:
    return {one.entry.message_id for one in messages}


def levels(published: Published, spark: "SparkSession") -> dict[tuple[str, str, int], object]:
    """Count and fingerprint by level, channel and start."""
    return {
        (level, row["channel"], row["start_ns"]): (
            row["count"],
            sync_hash([row[xor] for xor in XOR]),
        )
        for level in SPANS
        for row in spark.read.parquet(str(published.directory / level)).collect()
    }
