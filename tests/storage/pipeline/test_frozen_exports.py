"""Exports that were written by each format so far, and by one of the future, through every job."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from storage.archive.tables import LOG_DIR
from storage.pipeline.results.table_meanings import MEANINGS
from tests.support.storage.table_pages import stale

FROZEN = sorted(Path("tests/vectors/exports").iterdir())
FOUND = {
    "entries": 9,
    "quarantined": {},
    "findings": 0,
    "due": 18,
    "delivered": 18,
    "sessions": 10,
}
"""Both are of one simulated run of three people: nine messages, each due at two, five sessions."""

JOBS = {"consolidate", "audit", "fingerprints", "delivery", "report"}
SMALL = ("--master", "local[2]", "--memory", "1g")
WITHIN_S = 300


def ran(job: str, export: Path, out: Path) -> dict[str, Any]:
    """Run a job, or all; returns what the manifest says of each."""
    words = ("pipeline", job, str(export), "--out", str(out), *SMALL)
    done = subprocess.run(
        [sys.executable, "-m", "chat_tui", *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=WITHIN_S,
    )
    assert done.returncode == 0, done.stderr
    jobs: dict[str, Any] = json.loads((out / "manifest.json").read_text())["jobs"]
    return jobs


@pytest.mark.spark
@pytest.mark.parametrize("export", FROZEN, ids=lambda one: one.name)
def test_every_job_reads_every_format(export: Path, tmp_path: Path) -> None:
    jobs = ran("all", export, tmp_path / "out")

    assert set(jobs) == JOBS
    found = {
        "entries": jobs["consolidate"]["figures"]["entries"],
        "quarantined": jobs["consolidate"]["figures"]["quarantined"],
        "findings": jobs["audit"]["figures"]["findings"],
        "due": jobs["delivery"]["figures"]["due"],
        "delivered": jobs["delivery"]["figures"]["delivered_of_due"],
        "sessions": jobs["delivery"]["figures"]["reconciliation"]["sides"],
    }
    assert found == FOUND
    for job in MEANINGS.keys() & jobs.keys():
        assert stale(job, tmp_path / "out" / jobs[job]["directory"]) == [], job


@pytest.mark.spark
def test_what_a_later_format_adds_is_counted_and_told(tmp_path: Path) -> None:
    export, out = tmp_path / "export", tmp_path / "out"
    shutil.copytree(FROZEN[-1], export)
    [file] = (export / LOG_DIR).rglob("*.parquet")
    rows = pq.read_table(file, partitioning=None).to_pylist()
    strange = rows[-1] | {"kind": "teleported", "seq": rows[-1]["seq"] + 1}
    schema = pq.read_schema(file).append(pa.field("mood", pa.string()))
    pq.write_table(pa.Table.from_pylist([*rows, strange], schema), file)

    jobs = ran("delivery", export, out)

    assert jobs["delivery"]["made"]["unknown_columns"] == {"mood": 1}
    assert jobs["delivery"]["figures"]["unknown_kinds"] == {"rows": 1, "kind": "teleported"}
