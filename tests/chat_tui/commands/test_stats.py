"""`/stats`: the last report, on the screen and in line mode, without Spark or pyarrow."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from chat_tui.commands.command import At
from chat_tui.commands.table import Commands
from storage import report as reports
from tests.support.chat_tui import scenes
from tests.support.chat_tui.readings import command, reading, shown, until
from tests.support.storage.written_reports import written_report


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of a user who has none yet."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data"


async def test_stats_shows_the_last_report_on_the_screen(tmp_path: Path) -> None:
    reports.remember(written_report(tmp_path))

    async with reading(scenes.empty(), (100, 30)) as (app, pilot):
        await command(pilot, "/stats")
        await until(pilot, lambda: "2 things found wrong." in shown(app))
        # the path may be longer than the screen is wide
        await until(pilot, lambda: "report.html" in re.sub(r"[\s│]", "", shown(app)))

        assert "latency p50 27 ms, p95 87 ms" in " ".join(shown(app).split())
        assert "Missing: this job has not run." in shown(app)
        assert "\x1b" not in shown(app)
        await pilot.press("escape")
        await until(pilot, lambda: "2 things found wrong." not in shown(app))


async def test_stats_takes_the_results_that_are_named(tmp_path: Path) -> None:
    out = written_report(tmp_path)

    result = await commands().run(f"/stats {out}", At(None))

    assert result.ok
    assert f"With pictures: {out}/runs/report-1/report.html" in result.text


async def test_without_a_report_stats_says_how_to_make_one(tmp_path: Path) -> None:
    for line in ("/stats", f"/stats {tmp_path}"):
        result = await commands().run(line, At(None))

        assert not result.ok
        assert "`chat-tui pipeline report --out DIR` makes" in result.text
        assert "\n" not in result.text


async def test_a_damaged_report_is_said_with_the_fix(tmp_path: Path) -> None:
    out = written_report(tmp_path)
    (out / "runs" / "report-1" / reports.REPORT).write_text("{")

    result = await commands().run(f"/stats {out}", At(None))

    assert not result.ok
    assert "makes it anew" in result.text


def commands() -> Commands:
    return Commands(scenes.empty().chat)


def test_what_reads_a_report_loads_nothing_heavy() -> None:
    heavy = ("pyarrow", "pyspark", "numpy", "storage.pipeline", "matplotlib")
    program = "import storage.report, sys; print('\\n'.join(sys.modules))"

    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.splitlines()

    assert [name for name in loaded if name.startswith(heavy)] == []
