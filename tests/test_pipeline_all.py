"""From simulated people to the report, by the two commands that a person types."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from storage.report import read_report
from storage.tables import HISTORY_DIR

PROGRAM = (sys.executable, "-m", "chat_tui")
WITHIN_S = 300
"""What a machine with much else to do may take; a quiet one takes a tenth of it."""


def ran(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=WITHIN_S,
        env=os.environ | {"COLUMNS": "100"},
    )


@pytest.mark.spark
def test_an_honest_group_gets_a_report_with_nothing_wrong(tmp_path: Path) -> None:
    office, out = tmp_path / "office", tmp_path / "out"
    simulated = ran(
        "sim", "--peers", 3, "--messages", 20, "--loss", 20, "--seeds", 1, "--export", office
    )
    assert simulated.returncode == 0, simulated.stderr

    done = ran("pipeline", "all", office, "--out", out, "--master", "local[2]", "--memory", "1g")

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
