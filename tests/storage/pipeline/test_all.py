"""From simulated people to the report, by the two commands that a person types."""

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from storage.archive.tables import HISTORY_DIR, LOG_DIR
from storage.pipeline.command import cli
from storage.report import read_report
from tests.support.chat_tui.appearing import appearing
from tests.support.interrupting import begun

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROGRAM = (sys.executable, "-m", "chat_tui")
WITHIN_S = 300
"""Time that a machine with much else to do may take; a quiet one takes a tenth of it."""


def ran(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=WITHIN_S,
        env=os.environ | {"COLUMNS": "100"},
    )


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the export of a group of three, which no test changes."""
    made = tmp_path_factory.mktemp("simulated") / "office"
    done = ran("sim", "--peers", 3, "--messages", 20, "--loss", 20, "--seeds", 1, "--export", made)
    assert done.returncode == 0, done.stderr
    return made


def everything(office: Path, out: Path) -> tuple[object, ...]:
    return ("pipeline", "all", office, "--out", out, "--master", "local[2]", "--memory", "1g")


@pytest.mark.spark
def test_an_honest_group_gets_a_report_with_nothing_wrong(office: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"

    done = ran(*everything(office, out))

    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    path, report = read_report(out)
    assert path.with_name("report.html").is_file()
    assert report.findings == 0
    assert report.verdict in done.stdout
    jobs = json.loads((out / "manifest.json").read_text())["jobs"]
    assert {*jobs} == {"consolidate", "audit", "fingerprints", "delivery", "report"}
    held = pq.read_table(office / HISTORY_DIR, columns=["message_id"], partitioning=None)
    assert jobs["consolidate"]["figures"]["entries"] == len(held["message_id"].unique()) > 0


@pytest.mark.spark
def test_jobs_that_run_side_by_side_are_stopped_together(office: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / "runs").mkdir(parents=True)
    command = (*PROGRAM, *map(str, everything(office, out)))
    with appearing(out / "runs") as files, begun(*command) as process:
        files.next("-1", WITHIN_S, process.pid)
        files.next("-1", WITHIN_S, process.pid)
        process.send_signal(signal.SIGINT)
        said, complained = process.communicate(timeout=WITHIN_S)

    stopped = f"chat-tui pipeline: Stopped; {out} keeps what was finished.\n"
    assert (process.returncode, said, complained) == (130, "", stopped)
    finished = out / "manifest.json"  # on a busy machine the first is, before the second begins
    kept = json.loads(finished.read_text())["jobs"] if finished.exists() else {}
    assert len(kept) <= 1
    assert {path.name for path in (out / "runs").iterdir() if path.is_dir()} == {
        f"{job}-1" for job in kept
    }


@pytest.mark.spark
def test_a_job_that_fails_leaves_the_others_their_results(
    spark: "SparkSession", office: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_log, out = tmp_path / "office", tmp_path / "out"
    shutil.copytree(office, without_log)
    for file in (without_log / LOG_DIR).rglob("*.parquet"):
        file.unlink()

    # the whole command, but for a Java of its own
    monkeypatch.setattr("storage.pipeline.job_runner.session", lambda *_, **__: nullcontext(spark))
    done = CliRunner().invoke(cli, [*map(str, everything(without_log, out)[1:])])

    assert done.exit_code == 2
    assert "no protocol log" in done.stderr
    assert "without --no-log" in done.stderr
    jobs = json.loads((out / "manifest.json").read_text())["jobs"]
    assert {*jobs} == {"consolidate", "audit", "fingerprints"}
    assert {path.name for path in (out / "runs").iterdir() if path.is_dir()} == {
        "consolidate-1",
        "audit-1",
        "fingerprints-1",
    }
