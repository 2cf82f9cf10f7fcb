"""Exports that were written by each format so far, and by one of the future, through every job."""

import json
import shutil
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from storage.archive.tables import LOG_DIR
from storage.pipeline.command import cli
from tests.support.storage.diffs import ran
from tests.support.storage.table_pages import stale

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FROZEN = sorted(Path("tests/vectors/exports").iterdir())
NEWEST = FROZEN[-1]
FOUND = {
    "entries": 9,
    "quarantined": {},
    "findings": 0,
    "due": 18,
    "delivered": 18,
    "sessions": 10,
}
"""Those until 1.1 are of one simulated run of three people: nine messages, each due at two, five
sessions."""

GOVERNED = FOUND | {"entries": 7, "due": 12, "delivered": 12, "sessions": 12}
"""That of 1.2 is of three people; one was removed after five messages. Of what that one wrote
afterwards one line was dropped twice, and one waits somewhere."""

REPLIES = FOUND | {"sessions": 12}
"""That of 1.3 is of three people as well: nine messages, five of them replies, and six sessions."""

JOBS = ("consolidate", "audit", "fingerprints", "delivery", "report")


@pytest.mark.spark
@pytest.mark.parametrize("export", FROZEN, ids=lambda one: one.name)
def test_every_job_reads_every_format(spark: "SparkSession", export: Path, tmp_path: Path) -> None:
    published = {job: ran(spark, tmp_path, job, export) for job in JOBS}

    consolidated, audit, delivery = (
        published[job].figures for job in ("consolidate", "audit", "delivery")
    )
    found = {
        "entries": consolidated["entries"],
        "quarantined": consolidated["quarantined"],
        "findings": audit["findings"],
        "due": delivery["due"],
        "delivered": delivery["delivered_of_due"],
        "sessions": delivery["reconciliation"]["sides"],
    }
    assert found == {"governed": GOVERNED, "replies": REPLIES}.get(export.name[4:], FOUND)
    assert audit.get("not_let_in") == (3 if export.name.endswith("governed") else None)
    assert published["report"].figures["wrong"] == 0
    for job in JOBS[:-1]:
        assert stale(job, published[job].directory) == [], f"TABLES.md on {job}"


@pytest.mark.spark
def test_what_a_later_format_adds_is_counted_and_told(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export, out = tmp_path / "export", tmp_path / "out"
    shutil.copytree(NEWEST, export)
    [file] = (export / LOG_DIR).rglob("*.parquet")
    rows = pq.read_table(file, partitioning=None).to_pylist()
    strange = rows[-1] | {"kind": "teleported", "seq": rows[-1]["seq"] + 1}
    schema = pq.read_schema(file).append(pa.field("mood", pa.string()))
    pq.write_table(pa.Table.from_pylist([*rows, strange], schema), file)

    # the whole command, but for a Java of its own
    monkeypatch.setattr("storage.pipeline.job_runner.session", lambda *_, **__: nullcontext(spark))
    done = CliRunner().invoke(cli, ["delivery", str(export), "--out", str(out)])

    assert done.exit_code == 0, done.output
    jobs = json.loads((out / "manifest.json").read_text())["jobs"]

    assert jobs["delivery"]["made"]["unknown_columns"] == {"mood": 1}
    assert jobs["delivery"]["figures"]["unknown_kinds"] == {"rows": 1, "kind": "teleported"}
