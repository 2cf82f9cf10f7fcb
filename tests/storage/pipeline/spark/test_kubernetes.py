"""Kubernetes gives the same rows as one process; its API server here is one of the tests."""

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from tests.support.storage.alone import LOOPBACK, in_one_process, tables
from tests.support.storage.kubernetes import kubernetes
from tests.support.storage.standalone import listening
from tests.support.storage.synthetic import made, plan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

IMAGE: Final = "registry.example/spark:tests"

WITHIN_S: Final = 300.0

PROGRAM: Final = "from storage.pipeline.command import cli; cli(prog_name='chat-tui pipeline')"

SETTINGS: Final = (
    f"spark.kubernetes.container.image={IMAGE}",
    "spark.kubernetes.allocation.batch.delay=1s",
    "spark.kubernetes.executor.podNamePrefix=tests",
)


@pytest.mark.spark
@pytest.mark.slow
def test_pods_give_the_same_rows_as_one_process(spark: "SparkSession", tmp_path: Path) -> None:
    made(tmp_path / "in", plan())
    alone = in_one_process(spark, tmp_path / "in", tmp_path / "alone")
    heard: set[str] = set()

    with kubernetes(tmp_path / "pods") as server:
        for job in ("consolidate", "audit"):
            process = subprocess.Popen(
                [
                    *(sys.executable, "-c", PROGRAM, job, str(tmp_path / "in")),
                    *("--out", str(tmp_path / "out"), "--master", server.url, "--json"),
                    *("--memory", "512m", "--num-executors", "1", "--executor-cores", "1"),
                    *(f"--conf={setting}" for setting in SETTINGS),
                ],
                env={**os.environ, "PYSPARK_PYTHON": sys.executable},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            with server.node.watched() as told:
                while told.get(timeout=WITHIN_S)["type"] != "MODIFIED":
                    pass  # until the pod runs
            heard |= set(listening({process.pid, *server.node.pids}))
            _, said = process.communicate(timeout=WITHIN_S)
            assert process.returncode == 0, said

        assert set(server.node.images) == {IMAGE}
        assert len(server.node.images) == 2, "one pod for each command"
        assert server.node.listed("")["items"] == [], "each command has taken its pods away"
    assert tables(tmp_path / "out") == alone
    assert heard <= LOOPBACK
