"""Jobs, one after the other in one session, and what is said of their results."""

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import click
from rich.console import Console

from storage import report as reports
from storage.pipeline import report_terminal
from storage.pipeline.footers import check_files
from storage.pipeline.inputs import Inputs
from storage.pipeline.problems import PipelineError
from storage.pipeline.progress import shown
from storage.pipeline.runs import LOG, Figures, Results
from storage.pipeline.session import Cluster, session
from storage.pipeline.summary import tables
from storage.pipeline.work import Work

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JOBS: Final = "storage.pipeline.jobs"

NEEDS: Final[Mapping[str, Sequence[str]]] = {"audit": ("consolidate",)}
"""Whose results a job reads; they may come from an earlier command with the same --out."""


def run_jobs(
    jobs: Sequence[str],
    named: Sequence[Path],
    out: Path,
    cluster: Cluster,
    *,
    as_json: bool,
    options: Mapping[str, Any] = MappingProxyType({}),
) -> int:
    """Run jobs in one session; returns the exit status: 1 if any of them has findings.

    Args:
        jobs: by name, in this order.
        named: where their exports are; nothing for jobs that read none.
        out: where results go.
        cluster: where they run.
        as_json: whether figures are printed as JSON.
        options: what a job wants to know besides.

    Raises:
        PipelineError: something is not as it must be. The results of jobs before stay.
    """
    modules = {job: import_module(f"{JOBS}.{job}") for job in jobs}
    inputs = Inputs.find(named) if named else Inputs((), ())
    size = check_files(inputs).size if named else 0
    results = Results(out)
    check_needs(jobs, results)
    with results.locked(), tempfile.TemporaryDirectory(prefix="chat-tui-") as name:
        log, scratch = out / LOG, Path(name)
        log.write_bytes(b"")  # what was said the last time is of no use any more
        with _started(partial(session, cluster, scratch, log, size)) as (spark, tell):
            figures: dict[str, Figures] = {}
            for number, (job, module) in enumerate(modules.items(), 1):
                tell(f"{job} ({number} of {len(modules)})" if len(modules) > 1 else job)
                with results.run(job) as run:
                    module.run(Work(spark, inputs, results, run, scratch, options))
                figures[job] = run.figures
    if as_json:
        click.echo(json.dumps(figures))
    elif reports.JOB in figures:  # it says all of it, in the words of people
        _, report = reports.read_report(out)
        report_terminal.show(report, Path(figures[reports.JOB]["page"]))
    else:
        for table in tables(figures):
            Console().print(table)
    return 1 if any(found.get("findings") for found in figures.values()) else 0


@contextmanager
def _started(
    opened: "Callable[[], AbstractContextManager[SparkSession]]",
) -> "Iterator[tuple[SparkSession, Callable[[str], None]]]":
    """Open a session with its progress on the terminal; yields what says which job it is."""
    console = Console(stderr=True)
    with ExitStack() as stack:
        with console.status("Starting Spark ..."):
            spark = stack.enter_context(opened())
        yield spark, stack.enter_context(shown(spark, console))


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
