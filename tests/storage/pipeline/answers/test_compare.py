"""`compare` puts the figures of two results side by side."""

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from storage.pipeline.command import cli
from storage.pipeline.results.publishing import Results


def publish(out: Path, p50_us: float, missing_at: int, **audit: int) -> Path:
    """Publish a delivery and an audit."""
    results = Results(out)
    with results.run("delivery") as run:
        run.figures = {
            "messages": 100,
            "latency": {"p50_us": p50_us, "p95_us": None},
            "sent_bytes": 321_404,
            "repair": {"missing_at": missing_at},
        }
    if audit:
        with results.run("audit") as run:
            run.figures = dict(audit)
    return out


def compared(a: Path, b: Path) -> dict[str, dict[str, Any]]:
    """The figures that `compare --json` prints, by name."""
    done = CliRunner().invoke(cli, ["compare", str(a), str(b), "--json"])
    assert done.exit_code == 0, done.output
    return {one["figure"]: one for one in json.loads(done.stdout)["figures"]}


def test_figures_of_both_stand_side_by_side(tmp_path: Path) -> None:
    a = publish(tmp_path / "a", 40_000, 0, missing=3, findings=3)
    b = publish(tmp_path / "b", 50_000, 12, missing=0, findings=0)

    figures = compared(a, b)

    assert (figures["latency, p50"]["a"], figures["latency, p50"]["b"]) == (40_000, 50_000)
    assert (figures["missing"]["a"], figures["missing"]["b"]) == (3, 0)
    assert "latency, p95" not in figures, "neither has one"
    said = CliRunner().invoke(cli, ["compare", str(a), str(b)]).output
    lines = {line.split("  ")[0].strip(): line for line in said.splitlines()}
    assert "+25.0 %" in lines["latency, p50"]
    assert lines["times missing"].rstrip().endswith("new")
    assert lines["findings"].rstrip().endswith("-100.0 %")
    assert "321 kB" in lines["bytes of messages sent"]
    assert "the same" in lines["messages sent"]


def test_what_one_of_them_has_not_stays_empty(tmp_path: Path) -> None:
    a = publish(tmp_path / "a", 40_000, 0)
    b = publish(tmp_path / "b", 40_000, 0, missing=1)

    figures = compared(a, b)

    assert figures["missing"]["a"] is None
    assert figures["missing"]["b"] == 1


def test_a_directory_without_results_is_said(tmp_path: Path) -> None:
    done = CliRunner().invoke(cli, ["compare", str(tmp_path), str(tmp_path)])

    assert done.exit_code == 2
    assert "There are no results in" in done.output
