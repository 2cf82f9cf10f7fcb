"""All jobs read and write over a scheme what they do on this computer's disk."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pyarrow.dataset as ds
import pytest

from storage.pipeline.results.publishing import Results
from storage.pipeline.results.small_tables import table_names
from storage.pipeline.synthetic.plan import Faults
from tests.conftest import need_java
from tests.support.storage.schemes import SETTINGS, over
from tests.support.storage.synthetic import made, plan

pytestmark = [pytest.mark.spark, pytest.mark.slow]

JOBS: Final = ("consolidate", "audit", "fingerprints", "delivery")

WITHIN_S: Final = 400

CONF: Final = [f"--conf=spark.hadoop.{key}={value}" for key, value in SETTINGS.items()]

QUICK: Final = (
    "--conf=spark.sql.codegen.factoryMode=NO_CODEGEN",
    "--conf=spark.sql.shuffle.partitions=1",
    "--conf=spark.sql.adaptive.enabled=false",
    "--conf=spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1",
)
"""Options for a job of few rows: how many there are behind a URI is not known before."""

PIPELINE: Final = "from storage.pipeline.command import cli; cli(prog_name='chat-tui pipeline')"


def pipeline(*words: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    """Run a command of the pipeline, as a program of its own."""
    return subprocess.run(
        [sys.executable, "-c", PIPELINE, *words],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=WITHIN_S,
    )


def rows(out: Path) -> dict[str, list[str]]:
    """Return the rows of every table, sorted, by job and name."""
    found = {}
    for job in JOBS:
        published = Results(out).published(job)
        assert published is not None
        for name in table_names(published.directory):
            path = published.directory / name
            table = ds.dataset(path, format="parquet", partitioning="hive").to_table()
            found[f"{job}/{name}"] = sorted(map(row_text, table.to_pylist()))
    return found


def row_text(row: dict[str, Any]) -> str:
    """Return a row as text."""
    return repr(rounded(row))


def figures(out: Path) -> dict[str, Any]:
    """Return the figures of every job but the report; places are named otherwise there."""
    jobs = json.loads((out / "manifest.json").read_text())["jobs"]
    found = {name: dict(job["figures"]) for name, job in jobs.items() if name != "report"}
    for one in found.values():
        one.pop("exports", None)
    same: dict[str, Any] = rounded(found)
    return same


def rounded(value: Any) -> Any:  # noqa: ANN401  # JSON
    """Return figures without the last digits: a sum has those of the order it was taken in."""
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return round(value, 9) if isinstance(value, float) else value


@pytest.mark.grid
def test_all_jobs_give_the_same_rows_over_a_scheme(tmp_path: Path) -> None:
    need_java()
    made(tmp_path / "in", plan(faults=Faults()))
    work = tmp_path / "cwd"
    work.mkdir()
    size = ("--master", "local[2]", "--memory", "600m", "--json")
    here, there = tmp_path / "here", tmp_path / "there"

    local = pipeline("all", str(tmp_path / "in"), "--out", str(here), *size, cwd=work)
    far = pipeline(
        "all",
        str(over("demo", tmp_path / "in")),
        *("--out", str(over("viewfs", there)), *size, *CONF),
        cwd=work,
    )

    assert (local.returncode, far.returncode) == (1, 1), far.stderr
    assert rows(there) == rows(here)
    assert figures(there) == figures(here)
    assert len(rows(here)["audit/missing"]) > 1
    report = Results(there).published("report")
    assert report is not None
    assert (report.directory / "report.html").stat().st_size > 10_000
    assert "runs/report-" in json.loads(far.stdout)["report"]["page"]
    assert (there / "spark.log").is_file()
    assert [*work.iterdir()] == [], "nothing is called demo:"


def test_two_archives_are_compared_over_a_scheme(tmp_path: Path) -> None:
    need_java()
    for name, seed in (("a", 1), ("b", 2)):
        made(tmp_path / name, plan(seed))
    sides = [str(over("demo", tmp_path / name)) for name in ("a", "b")]
    out = str(over("demo", tmp_path / "out"))

    done = pipeline("diff", *sides, "--out", out, "--json", *CONF, *QUICK, cwd=tmp_path)

    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)["diff"]
    assert (found["only_a"], found["only_b"]) == (240, 240)
    assert found["for_a"].startswith("demo:///")
    published = Results(tmp_path / "out").published("diff")
    assert published is not None
    assert (published.directory / "for_a" / "export.json").is_file()
    assert [*(published.directory / "for_a" / "history").glob("channel=*/day=*/*.parquet")]
    assert "do not see each other" in done.stderr


def test_a_store_without_its_package_is_one_sentence_and_no_directory(tmp_path: Path) -> None:
    need_java()

    done = pipeline("audit", "s3a://bucket/in", "--out", "s3a://bucket/out", cwd=tmp_path)

    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert "add --packages org.apache.hadoop:hadoop-aws:3." in line
    assert [*tmp_path.iterdir()] == []
