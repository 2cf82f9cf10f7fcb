"""A cluster gives the same bytes as one process, and opens nothing to the network."""

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from click.testing import CliRunner

from storage.pipeline.command import cli
from tests.support.chat_tui.appearing import appearing
from tests.support.storage.alone import check_addresses, in_one_process, tables
from tests.support.storage.standalone import Cluster, standalone

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROGRAM: Final = """
import sys
from pathlib import Path
from storage.pipeline.job_runner import run_jobs
from storage.pipeline.spark.session import Cluster

master, exports, out = sys.argv[1:]
sys.exit(run_jobs(
    ["consolidate", "audit"], [Path(exports)], Path(out), Cluster(master, "512m"), as_json=True
))
"""
"""Two commands would start two JVMs here, and four executors."""

WITHIN_S: Final = 240.0
"""Six JVMs on a busy machine; 30 s on a quiet one."""


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.grid
def test_two_workers_give_the_same_bytes_as_one_process(
    spark: "SparkSession", tmp_path: Path
) -> None:
    exports = tmp_path / "exports"
    size = ["--nodes=8", "--messages=400", "--channels=2", "--members=6", "--late-joiners=2"]
    made = CliRunner().invoke(cli, ["synthesize", str(exports), *size])
    assert made.exit_code == 0, made.output

    alone = in_one_process(spark, exports, tmp_path / "alone")
    with standalone(2, tmp_path) as cluster:
        spread = on(cluster, exports, tmp_path / "spread")

    assert spread == alone
    assert {"consolidate/history", "consolidate/quarantine", "audit/equivocations"} <= alone.keys()
    assert alone["audit/equivocations"]
    for worker in ("worker-0", "worker-1"):
        [said] = (tmp_path / worker).glob("app-*/*/stderr")
        assert "Running task" in said.read_text(), f"{worker} did nothing"


def on(cluster: Cluster, exports: Path, out: Path) -> dict[str, bytes]:
    """Run consolidate and audit on a cluster; returns what `tables` does."""
    out.mkdir()
    command = [sys.executable, "-c", PROGRAM, cluster.url, str(exports), str(out)]
    with (
        appearing(out) as files,
        subprocess.Popen(
            command,
            # what a cluster's administrator sets: executors take ours, which has all they need
            env={**os.environ, "PYSPARK_PYTHON": sys.executable},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        try:
            files.next("manifest.json", WITHIN_S, process.pid)  # then everybody is at work
            servers = {one.pid for one in (cluster.master, *cluster.workers)}
            check_addresses({process.pid} | servers)
            _, complained = process.communicate(timeout=WITHIN_S)
        finally:
            process.kill()
    assert process.returncode == 1, f"there are findings: {complained}"
    assert complained == ""
    return tables(out)
