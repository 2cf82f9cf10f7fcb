"""Requirements of jobs are checked, and their figures printed."""

from pathlib import Path

import pytest
from rich.console import Console

from storage.pipeline.errors import PipelineError
from storage.pipeline.inputs.inputs import Inputs
from storage.pipeline.job_runner import check_needs, run_jobs
from storage.pipeline.results.publishing import Results
from storage.pipeline.results.summary import tables
from storage.pipeline.spark.session import Cluster
from sync.machine import HOUR
from tests.support.storage.archived import consolidated
from tests.support.storage.archives import scattered
from tests.support.sync.entries import CHANNEL


def test_a_job_whose_results_are_missing_says_which_to_run_first(tmp_path: Path) -> None:
    with pytest.raises(PipelineError, match="run `chat-tui pipeline consolidate`"):
        check_needs(["audit"], Results(tmp_path), Inputs((), ()))


def test_what_a_job_needs_may_be_made_before_it_or_lie_there(tmp_path: Path) -> None:
    results = Results(tmp_path)
    check_needs(["consolidate", "audit"], results, Inputs((), ()))

    with results.run("consolidate"):
        pass

    check_needs(["audit"], results, Inputs((), ()))


def test_a_history_made_of_exports_is_no_export_for_who_asks_what_nodes_hold(
    tmp_path: Path,
) -> None:
    history = consolidated(tmp_path / "one", scattered(1, HOUR, channel=CHANNEL))

    with pytest.raises(PipelineError, match="name the exports it was made of"):
        run_jobs(["fingerprints", "audit"], [history], tmp_path / "out", Cluster(), as_json=False)


def test_figures_are_shown_one_a_line_and_records_as_tables() -> None:
    console = Console(width=80, no_color=True)
    figures = {
        "audit": {"findings": 1234, "missing": {"pairs": 2}, "channels": ["a", "b", "c"]},
        "sweep": {"runs": 1, "effects": [{"t_min": 1.5, "good": True, "late": None}]},
    }

    with console.capture() as capture:
        console.print(*tables(figures))

    lines = [line.strip("│ ").split("│") for line in capture.get().splitlines() if "│" in line]
    assert [[cell.strip() for cell in line] for line in lines] == [
        ["audit", "findings", "1,234"],
        ["missing: pairs", "2"],
        ["channels", "3"],
        ["sweep", "runs", "1"],
    ]
    *_, record, _ = capture.get().splitlines()
    assert record.split() == ["1.5", "yes", "-"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.25, "0.25"),
        (0.00004, "0"),
        (103.517, "103.5"),
        (1234.66, "1,235"),
        (1000.0, "1,000"),
        (-2.5, "-2.5"),
        (16711250.4, "16,711,250"),
    ],
)
def test_a_number_is_as_long_as_it_is_read(value: float, text: str) -> None:
    [shown] = tables({"job": {"figure": value}})

    assert list(shown.columns[2].cells) == [text]


def test_no_number_is_cut_off_on_a_narrow_terminal() -> None:
    record = {f"column_number_{number}": 12_345.6 for number in range(7)}
    record |= {"parameters": 1_000_000.0, "last": 1.0}
    console = Console(width=80)

    with console.capture() as capture:
        console.print(*tables({"sweep": {"effects": [record]}}))

    assert capture.get().count("12,346") == 7
