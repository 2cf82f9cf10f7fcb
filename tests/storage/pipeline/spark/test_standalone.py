"""A cluster gives the same bytes as one process, and opens nothing to the network."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from storage.pipeline.command import cli
from storage.pipeline.results.publishing import Results
from storage.pipeline.results.small_tables import table_names
from tests.conftest import need_java
from tests.support.chat_tui.appearing import appearing
from tests.support.storage.standalone import Cluster, listening, standalone

PROGRAM: Final = """
import sys
from pathlib import Path
from storage.pipeline.running import run_jobs
from storage.pipeline.session import Cluster

master, exports, out = sys.argv[1:]
sys.exit(run_jobs(
    ["consolidate", "audit"], [Path(exports)], Path(out), Cluster(master, "512m"), as_json=True
))
"""
"""Two commands would start two JVMs here, and four executors."""

WITHIN_S: Final = 240.0
"""Seven JVMs on a busy machine; 30 s on a quiet one."""


@pytest.mark.spark
@pytest.mark.slow
def test_two_workers_give_the_same_bytes_as_one_process(tmp_path: Path) -> None:
    need_java()
    exports = tmp_path / "exports"
    size = ["--nodes=8", "--messages=400", "--channels=2", "--members=6", "--late-joiners=2"]
    made = CliRunner().invoke(cli, ["synthesize", str(exports), *size])
    assert made.exit_code == 0, made.output

    alone = ran("local[2]", exports, tmp_path / "alone")
    with standalone(2, tmp_path) as cluster:
        spread = ran(cluster.url, exports, tmp_path / "spread", cluster)

    assert spread == alone
    assert {"consolidate/history", "consolidate/quarantine", "audit/equivocations"} <= alone.keys()
    assert alone["audit/equivocations"]
    for worker in ("worker-0", "worker-1"):
        [said] = (tmp_path / worker).glob("app-*/*/stderr")
        assert "Running task" in said.read_text(), f"{worker} did nothing"


def ran(master: str, exports: Path, out: Path, cluster: Cluster | None = None) -> dict[str, bytes]:
    """Run consolidate and audit there; returns each table as bytes, its rows sorted."""
    out.mkdir()
    command = [sys.executable, "-c", PROGRAM, master, str(exports), str(out)]
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
            servers = {one.pid for one in (cluster.master, *cluster.workers)} if cluster else set()
            addresses = set(listening({process.pid} | servers))
            _, complained = process.communicate(timeout=WITHIN_S)
        finally:
            process.kill()
    assert process.returncode == 1, f"there are findings: {complained}"
    assert complained == ""
    assert addresses <= {"[::ffff:127.0.0.1]", "127.0.0.1"}
    assert addresses
    return tables(out)


def tables(out: Path) -> dict[str, bytes]:
    """Every published table, by job and name."""
    found = {}
    for job in ("consolidate", "audit"):
        published = Results(out).published(job)
        assert published is not None
        for name in table_names(published.directory):
            path = published.directory / name
            rows = sorted(repr(row) for row in pq.read_table(path).to_pylist())
            found[f"{job}/{name}"] = "\n".join(rows).encode()
    return found
