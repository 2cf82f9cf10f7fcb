"""Kubernetes gives the same rows as one process; its API server here is one of the tests."""

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from tests.support.storage.alone import LOOPBACK, tables
from tests.support.storage.diffs import ran
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
)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.grid
def test_pods_give_the_same_rows_as_one_process(spark: "SparkSession", tmp_path: Path) -> None:
    made(tmp_path / "in", plan())
    ran(spark, tmp_path, "consolidate", tmp_path / "in", out="alone")

    with kubernetes(tmp_path / "pods") as server:
        process = subprocess.Popen(
            [
                *(sys.executable, "-c", PROGRAM, "consolidate", str(tmp_path / "in")),
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
        heard = set(listening({process.pid, *server.node.pids}))
        _, said = process.communicate(timeout=WITHIN_S)

        assert process.returncode == 0, said
        assert server.node.images == [IMAGE], "one pod, of the image that was named"
        assert "Running task" in server.node.log, "the pod has done the work"
        assert server.node.listed("")["items"] == [], "the command has taken its pod away"
    in_pod, alone = (tables(tmp_path / name, ("consolidate",)) for name in ("out", "alone"))
    assert in_pod == alone
    assert alone["consolidate/holders"]
    assert heard <= LOOPBACK
