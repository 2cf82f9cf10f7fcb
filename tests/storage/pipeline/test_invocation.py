"""Results remember the command that made them, when, and from what; passwords they do not."""

import json
from datetime import datetime
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from storage.pipeline.command import cli
from storage.pipeline.invocation import RememberedGroup, made_now, without_secret
from storage.pipeline.results.publishing import Results
from storage.results import published_in


def test_a_command_is_remembered_as_it_was_typed() -> None:
    made: list[str] = []

    @click.group(cls=RememberedGroup)
    def jobs() -> None:
        pass

    @jobs.command()
    @click.argument("named")
    @click.option("--conf", multiple=True)
    def audit(named: str, conf: str) -> None:
        made.append(made_now([Path("a")])["command"])

    words = ["audit", "my exports", "--conf", "spark.hadoop.fs.s3a.secret.key=hush"]
    CliRunner().invoke(jobs, words, prog_name="chat-tui pipeline", catch_exceptions=False)

    hidden = "'spark.hadoop.fs.s3a.secret.key=***'"
    assert made == [f"chat-tui pipeline audit 'my exports' --conf {hidden}"]


@pytest.mark.parametrize(
    ("word", "kept"),
    [
        ("--conf=a.password=b", "--conf=a.password=***"),
        ("fs.s3a.access.key=AKIA", "fs.s3a.access.key=***"),
        ("spark.ui.enabled=true", "spark.ui.enabled=true"),
        ("tokens", "tokens"),
    ],
)
def test_a_password_is_not_remembered(word: str, kept: str) -> None:
    assert without_secret(word) == kept


def test_a_report_is_published_with_its_command(tmp_path: Path) -> None:
    results = Results(tmp_path / "out")
    with results.run("audit", made_now(["exports"])) as run:
        run.figures = {"findings": 0}

    done = CliRunner().invoke(
        cli, ["report", "--out", str(tmp_path / "out")], prog_name="chat-tui pipeline"
    )

    assert done.exit_code == 0, done.output
    report = published_in(tmp_path / "out", "report")
    assert report is not None
    assert report.made["command"] == f"chat-tui pipeline report --out {tmp_path / 'out'}"
    audit = published_in(tmp_path / "out", "audit")
    assert audit is not None
    assert audit.made["from"] == ["exports"]
    assert datetime.fromisoformat(audit.made["at"]).tzinfo is not None


def test_results_of_earlier_versions_say_nothing_of_it(tmp_path: Path) -> None:
    out = tmp_path / "out"
    jobs = {"audit": {"directory": "runs/audit-1", "figures": {}}}
    (out / "runs" / "audit-1").mkdir(parents=True)
    (out / "manifest.json").write_text(json.dumps({"format": 1, "jobs": jobs}))

    published = published_in(out, "audit")

    assert published is not None
    assert published.made == {}
