"""Consolidate and audit in one process: what a cluster must find too, and where it may listen."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow.parquet as pq

from storage.pipeline.audit import job as audit
from storage.pipeline.consolidate import job as consolidate
from storage.pipeline.inputs.inputs import Inputs
from storage.pipeline.job_context import Work
from storage.pipeline.results.publishing import Results
from storage.pipeline.results.small_tables import table_names
from tests.support.storage.standalone import listening

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOOPBACK: Final = {"[::ffff:127.0.0.1]", "127.0.0.1"}


def in_one_process(spark: "SparkSession", exports: Path, out: Path) -> dict[str, bytes]:
    """Run consolidate and audit in the session of the tests; returns what `tables` does."""
    inputs, results = Inputs.find([exports]), Results(out)
    for name, job in (("consolidate", consolidate), ("audit", audit)):
        with results.run(name) as run:
            job.run(Work(spark, inputs, results, run, out))
    check_addresses({os.getpid()})
    return tables(out)


def check_addresses(pids: set[int]) -> None:
    """Check that these processes and their children listen, and on loopback alone."""
    addresses = set(listening(pids))
    assert addresses
    assert addresses <= LOOPBACK


def tables(out: Path, jobs: Sequence[str] = ("consolidate", "audit")) -> dict[str, bytes]:
    """Return each published table of jobs as bytes, its rows sorted, by job and name."""
    found = {}
    for job in jobs:
        published = Results(out).published(job)
        assert published is not None
        for name in table_names(published.directory):
            path = published.directory / name
            rows = sorted(repr(row) for row in pq.read_table(path).to_pylist())
            found[f"{job}/{name}"] = "\n".join(rows).encode()
    return found
