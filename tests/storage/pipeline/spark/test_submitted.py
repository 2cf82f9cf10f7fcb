"""`spark-submit` runs our jobs, and Spark's pages, events and log are as they were asked for."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pyspark
import pytest
from click.testing import CliRunner

from storage.pipeline.command import cli
from storage.pipeline.results.publishing import Results
from storage.pipeline.results.small_tables import row_count
from storage.pipeline.spark.session import STARTING
from tests.conftest import need_java
from tests.support.storage.synthetic import made, plan

pytestmark = [pytest.mark.spark, pytest.mark.slow]

WITHIN_S: Final = 300

QUICK: Final = (
    *("--driver-java-options", "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"),
    *("--conf", "spark.sql.codegen.factoryMode=NO_CODEGEN"),
    *("--conf", "spark.sql.shuffle.partitions=1"),
)
"""Options without what a job of few rows does not need, and spends half of its time on."""

WATCHED: Final = """
import os, sys
from pathlib import Path
from storage.pipeline.spark.names import naming
from storage.pipeline.spark.session import Cluster, session
from tests.support.storage.standalone import listening

events, scratch = map(Path, sys.argv[1:])
settings = {
    "spark.eventLog.enabled": "true",
    "spark.eventLog.dir": events.as_uri(),
    "spark.eventLog.compress": "false",
    "spark.ui.port": "0",
}
cluster = Cluster("local[1]", "512m", settings=settings, ui="127.0.0.1", json_log=True)
with session(cluster, scratch) as spark:
    with naming(spark, "ours: counted"):
        spark.range(10).repartition(2).write.parquet(str(scratch / "table"))
    spark.sparkContext._jvm.org.slf4j.LoggerFactory.getLogger("ours").warn("two\\nlines")
    print(spark.sparkContext.uiWebUrl)
    print(*sorted(set(listening({os.getpid()}))))
"""


def test_spark_submit_runs_a_job_with_the_two_files_we_write(tmp_path: Path) -> None:
    need_java()
    made(tmp_path / "in", plan())
    assert CliRunner().invoke(cli, ["pack", str(tmp_path)]).exit_code == 0
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    files = ("--py-files", "chat-tui.zip", "job.py")
    job = ("consolidate", str(tmp_path / "in"), "--out", str(tmp_path / "out"), "--json")

    done = subprocess.run(
        [str(submit), "--master", "local[1]", "--driver-memory", "512m", *QUICK, *files, *job],
        cwd=tmp_path,  # ours must come from the zip
        env={
            **os.environ,
            **STARTING,
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_LOCAL_IP": "127.0.0.1",
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=WITHIN_S,
    )

    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)["consolidate"]
    published = Results(tmp_path / "out").published("consolidate")
    assert published is not None
    assert published.figures == figures
    assert row_count(published.directory, "history") == figures["entries"] == 240
    assert "chat-tui.zip/storage" in done.stderr, "the stages name their places"
    assert "Traceback" not in done.stderr


def test_pages_events_and_log_are_as_asked_for(tmp_path: Path) -> None:
    need_java()
    for name in ("events", "scratch"):
        (tmp_path / name).mkdir()

    said = subprocess.run(
        [sys.executable, "-c", WATCHED, str(tmp_path / "events"), str(tmp_path / "scratch")],
        capture_output=True,
        text=True,
        check=True,
        timeout=WITHIN_S,
    ).stdout

    url, addresses = said.splitlines()
    assert url.startswith("http://127.0.0.1:")
    assert {*addresses.split()} <= {"127.0.0.1", "[::ffff:127.0.0.1]"}
    events = [
        json.loads(line)
        for file in (tmp_path / "events").rglob("events_*")
        for line in file.read_text().splitlines()
    ]
    jobs = [one for one in events if one["Event"] == "SparkListenerJobStart"]
    stages = [one["Stage Info"] for one in events if one["Event"] == "SparkListenerStageSubmitted"]
    assert {one["Properties"]["spark.job.description"] for one in jobs} == {"ours: counted"}
    assert {one["Stage Name"] for one in stages} == {"ours: counted"}
    lines = (tmp_path / "scratch" / "spark.log").read_text().splitlines()
    logged = [json.loads(line) for line in lines if line.startswith("{")]
    assert [one["message"] for one in logged if one["log.logger"] == "ours"] == ["two\nlines"]
