"""Jobs, one after the other in one session, and what is said of their results."""

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final, TypeAlias

import click
from rich.console import Console
from rich.table import Table

from storage.pipeline.inputs import Inputs
from storage.pipeline.problems import PipelineError
from storage.pipeline.runs import Figures, Results
from storage.pipeline.session import Cluster, session
from storage.pipeline.work import Work

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JOBS: Final = "storage.pipeline.jobs"

NEEDS: Final[Mapping[str, Sequence[str]]] = {"audit": ("consolidate",)}
"""Whose results a job reads; they may come from an earlier command with the same --out."""

Opened: TypeAlias = Callable[[Cluster, Path], "AbstractContextManager[SparkSession]"]


def run_jobs(
    jobs: Sequence[str],
    named: Sequence[Path],
    out: Path,
    cluster: Cluster,
    *,
    as_json: bool,
    opened: Opened = session,
) -> int:
    """Run jobs in one session; returns the exit status: 1 if any of them has findings.

    Raises:
        PipelineError: something is not as it must be. The results of jobs before stay.
    """
    modules = {job: import_module(f"{JOBS}.{job}") for job in jobs}
    inputs, results = Inputs.find(named), Results(out)
    check_needs(jobs, results)
    figures = _figures(modules, inputs, results, cluster, opened)
    if as_json:
        click.echo(json.dumps(figures))
    else:
        Console().print(table(figures))
    return 1 if any(found.get("findings") for found in figures.values()) else 0


def check_needs(jobs: Sequence[str], results: Results) -> None:
    """Make sure that what each job reads is there, or is made before.

    Raises:
        PipelineError: something is not.
    """
    for number, job in enumerate(jobs):
        for needed in NEEDS.get(job, ()):
            if needed not in jobs[:number] and results.published(needed) is None:
                raise PipelineError(
                    f"{job} reads what {needed} found, and {results.out} has nothing of it: run "
                    f"`chat-tui pipeline {needed}` with the same --out first, or `all`."
                )


def table(figures: Mapping[str, Figures]) -> Table:
    """Return the figures of jobs, one line each; what is a list counts its items."""
    shown = Table("job", "figure")
    shown.add_column("value", justify="right")
    for job, found in figures.items():
        for number, (name, value) in enumerate(_lines(found)):
            shown.add_row("" if number else job, name, value)
        shown.add_section()
    return shown


def _figures(
    modules: Mapping[str, ModuleType],
    inputs: Inputs,
    results: Results,
    cluster: Cluster,
    opened: Opened,
) -> dict[str, Figures]:
    figures: dict[str, Figures] = {}
    with tempfile.TemporaryDirectory(prefix="chat-tui-") as name:
        scratch = Path(name)
        with opened(cluster, scratch) as spark:
            for job, module in modules.items():
                with results.run(job) as run:
                    module.run(Work(spark, inputs, results, run, scratch))
                figures[job] = run.figures
    return figures


def _lines(found: Figures, above: str = "") -> Iterator[tuple[str, str]]:
    for key, value in found.items():
        name = f"{above}{key}".replace("_", " ")
        if isinstance(value, dict):
            yield from _lines(value, f"{name}: ")
        elif isinstance(value, list):
            yield name, f"{len(value):,}"
        elif isinstance(value, int) and not isinstance(value, bool):
            yield name, f"{value:,}"
        else:
            yield name, f"{value:,.3f}" if isinstance(value, float) else str(value)
