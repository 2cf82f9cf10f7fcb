"""Jobs run one after the other, and what they need and say is seen to."""

from pathlib import Path

import pytest
from rich.console import Console

from storage.pipeline.problems import PipelineError
from storage.pipeline.running import check_needs, table
from storage.pipeline.runs import Results


def test_a_job_whose_results_are_missing_says_which_to_run_first(tmp_path: Path) -> None:
    with pytest.raises(PipelineError, match="run `chat-tui pipeline consolidate`"):
        check_needs(["audit"], Results(tmp_path))


def test_what_a_job_needs_may_be_made_before_it_or_lie_there(tmp_path: Path) -> None:
    results = Results(tmp_path)
    check_needs(["consolidate", "audit"], results)

    with results.run("consolidate"):
        pass

    check_needs(["audit"], results)


def test_figures_are_shown_one_a_line() -> None:
    console = Console(width=80, no_color=True)
    figures = {"audit": {"findings": 1234, "missing": {"pairs": 2}, "channels": ["a", "b", "c"]}}

    with console.capture() as capture:
        console.print(table(figures))

    lines = [line.strip("│ ").split("│") for line in capture.get().splitlines() if "│" in line]
    shown = [[cell.strip() for cell in line] for line in lines]
    assert shown == [["audit", "findings", "1,234"], ["missing: pairs", "2"], ["channels", "3"]]
