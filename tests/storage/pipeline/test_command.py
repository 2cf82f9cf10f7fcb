"""Errors of the pipeline command: one sentence, exit code 2, nothing written."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from storage.archive.tables import NOTE
from storage.pipeline.command import cli
from storage.pipeline.sweep.grid import Grid
from tests.conftest import need_java
from tests.support.storage.archived import export_log


def said(*words: str, **environment: str) -> str:
    """Run a command that cannot be done; returns the one line it says."""
    result: Result = CliRunner().invoke(cli, words, env=environment)
    assert result.exit_code == 2, result.output
    [line] = result.output.splitlines()
    assert line.startswith("chat-tui pipeline: ")
    return line


def test_exports_that_cannot_be_read_are_said_and_nothing_is_written(tmp_path: Path) -> None:
    exports, out = tmp_path / "exports", tmp_path / "out"
    exports.mkdir()
    command = ("all", str(exports), "--out", str(out))
    assert "No export in" in said(*command)

    path = export_log(exports)
    path.write_bytes(path.read_bytes()[:-8])
    assert "is damaged" in said(*command)

    path.unlink()
    assert "hold no rows" in said(*command)

    (exports / NOTE).write_text('{"format": 99}')
    assert "has format 99" in said(*command)

    (exports / NOTE).write_text("[" * 100_000)
    assert "cannot be read" in said(*command)
    assert not out.exists()


def test_where_a_job_cannot_run_is_said(tmp_path: Path) -> None:
    exports = tmp_path / "exports"
    exports.mkdir()
    export_log(exports)
    command = ("all", str(exports), "--out", str(tmp_path / "out"))

    assert "--master here" in said(*command, "--master", "here")
    assert "--memory 1g2" in said(*command, "--memory", "1g2")
    assert not (tmp_path / "out").exists()


def test_a_report_of_nothing_makes_no_directory(tmp_path: Path) -> None:
    assert "There are no results in" in said("report", "--out", str(tmp_path / "nowhere"))
    assert not (tmp_path / "nowhere").exists()


def test_an_audit_of_what_was_never_consolidated_makes_no_directory(tmp_path: Path) -> None:
    exports, out = tmp_path / "exports", tmp_path / "out"
    export_log(exports)

    assert "run `chat-tui pipeline consolidate`" in said("audit", str(exports), "--out", str(out))
    assert not out.exists()


def test_help_says_what_a_sweep_is_run_with_unless_told() -> None:
    shown = CliRunner().invoke(cli, ["sweep", "--help"]).output

    for field in ("peers", "t_min", "t_max"):
        first, *_ = getattr(Grid(), field)
        assert f"[default: {first:g}," in shown
    _, _, commands = CliRunner().invoke(cli, ["--help"]).output.partition("Commands:")
    assert commands
    assert "..." not in commands, "no line is cut off"


def test_results_are_not_mixed_with_other_files(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch()

    assert "holds other files" in said("sweep", "--out", str(tmp_path))


@pytest.mark.parametrize("home", ["", "nowhere"])
def test_a_missing_java_leaves_no_result(
    home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    line = said("sweep", "--out", str(tmp_path / "out"), JAVA_HOME=home)

    assert "install it" in line or "unset it" in line
    assert not (tmp_path / "out" / "manifest.json").exists()


def test_a_master_that_does_not_answer_is_said(tmp_path: Path) -> None:
    need_java()
    master = "spark://127.0.0.1:1"

    line = said("sweep", "--out", str(tmp_path / "out"), "--master", master)

    assert "No Spark master answers at 127.0.0.1:1" in line
