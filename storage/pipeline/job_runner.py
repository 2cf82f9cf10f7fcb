"""Jobs in one session, and what is said of their results."""

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, Final

import click
from rich.console import Console

from storage import report as reports
from storage.pipeline.errors import PipelineError
from storage.pipeline.fingerprints.archive import is_of
from storage.pipeline.inputs.footers import Amount, check_files
from storage.pipeline.inputs.inputs import Inputs
from storage.pipeline.interrupts import Stop, stoppable
from storage.pipeline.invocation import made_now
from storage.pipeline.job_context import Work
from storage.pipeline.report import terminal
from storage.pipeline.results.publishing import LOG, Results
from storage.pipeline.results.summary import tables
from storage.pipeline.schedule import NEEDS, one_at_a_time, side_by_side
from storage.pipeline.spark.failures import said_plainly
from storage.pipeline.spark.names import naming
from storage.pipeline.spark.progress import Telling, shown
from storage.pipeline.spark.session import Cluster, is_short, session
from storage.results import Figures

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MODULES: Final = {
    "consolidate": "storage.pipeline.consolidate.job",
    "audit": "storage.pipeline.audit.job",
    "fingerprints": "storage.pipeline.fingerprints.job",
    "diff": "storage.pipeline.fingerprints.diff_job",
    "delivery": "storage.pipeline.delivery.job",
    "sweep": "storage.pipeline.sweep.job",
    "report": "storage.pipeline.report.job",
}
"""The module of each job; imported when the job is about to run."""

READ_HISTORIES: Final = {"diff", "fingerprints"}
"""Jobs that ask for messages alone, not who holds them."""


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

    Args: those of `finished`; `as_json` says whether figures are printed as JSON.

    Raises:
        PipelineError: something is not as it must be. The results of jobs before stay.
    """
    figures = finished(jobs, named, out, cluster, options)
    if as_json:
        click.echo(json.dumps(figures))
    elif reports.JOB in figures:  # it says all of it, in the words of people
        _, report = reports.read_report(out)
        terminal.show(report, Path(figures[reports.JOB]["page"]))
    else:
        for table in tables(figures):
            Console().print(table)
    return 1 if any(found.get("findings") for found in figures.values()) else 0


def finished(
    jobs: Sequence[str],
    named: Sequence[Path],
    out: Path,
    cluster: Cluster,
    options: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, Figures]:
    """Run jobs in one session; returns the figures of each, in the order of `jobs`.

    Args:
        jobs: by name, in this order.
        named: where their exports are; nothing for jobs that read none.
        out: where results go.
        cluster: where they run.
        options: what a job wants to know besides.

    Raises:
        PipelineError: something is not as it must be, or the person stopped it. The results of
            jobs before stay.
    """
    with stoppable(out) as stop:
        return _figures(jobs, named, out, cluster, options, stop)


def _figures(  # all that they are told
    jobs: Sequence[str],
    named: Sequence[Path],
    out: Path,
    cluster: Cluster,
    options: Mapping[str, Any],
    stop: Stop,
) -> dict[str, Figures]:
    """Run jobs, and return what each found."""
    inputs = Inputs.find(named) if named else Inputs((), ())
    amount = check_files(inputs) if named else Amount()
    size = amount.size
    if inputs.histories and set(jobs) - READ_HISTORIES:
        raise PipelineError(
            f"{inputs.histories[0].out} holds the history that consolidate made, which only "
            "`fingerprints` and `diff` read: name the exports it was made of."
        )
    results = Results(out)
    check_needs(jobs, results, inputs)
    beside = len(jobs) > 1 and is_short(size)
    figures: dict[str, Figures] = {}
    made = made_now([source.absolute() for source in inputs.sources], amount.unknown)
    with (
        results.locked(),
        said_plainly(cluster.memory, out / LOG, as_json=cluster.json_log),
        tempfile.TemporaryDirectory(prefix="chat-tui-", ignore_cleanup_errors=True) as name,
        ThreadPoolExecutor(1) as loader,
    ):
        log, scratch = out / LOG, Path(name)
        log.write_bytes(b"")  # what was said the last time is of no use any more
        modules = loader.submit(_loaded, jobs)  # while Java starts
        with (
            _started(partial(session, cluster, scratch, log, size, beside=beside)) as (spark, tell),
            ThreadPoolExecutor(len(jobs)) as pool,
            stop.ending(spark.sparkContext._gateway),  # noqa: SLF001  # it has the process
        ):
            if cluster.ui is not None and (url := spark.sparkContext.uiWebUrl):
                port = url.rpartition(":")[2]
                click.echo(f"Spark's pages are at http://{cluster.ui}:{port}", err=True)
            telling = Telling(jobs, tell)

            def do(job: str) -> None:
                named = naming(spark, f"chat-tui {job}")
                with telling.of(job), results.run(job, made) as run, named:
                    work = Work(spark, inputs, results, run, scratch, options)
                    modules.result()[job].run(work)
                figures[job] = run.figures

            if beside:
                side_by_side(jobs, do, pool)
            else:
                pool.submit(one_at_a_time, jobs, do).result()
    return {job: figures[job] for job in jobs}


def _loaded(jobs: Sequence[str]) -> dict[str, ModuleType]:
    """Import what the jobs need, pictures too, which takes as long as a small job."""
    if reports.JOB in jobs:
        with suppress(ImportError):  # the report says what is missing, and how to install it
            import_module("storage.pipeline.report.plots")
    return {job: import_module(MODULES[job]) for job in jobs}


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


def check_needs(jobs: Sequence[str], results: Results, inputs: Inputs) -> None:
    """Make sure that what each job reads is there, or is made before.

    Raises:
        PipelineError: something is not, or was made of other exports than these are now.
    """
    for number, job in enumerate(jobs):
        for needed in NEEDS.get(job, ()):
            if needed in jobs[:number]:
                continue
            published = results.published(needed)
            if published is None:
                raise PipelineError(
                    f"{job} reads what {needed} found, and {results.out} has nothing of it: run "
                    f"`chat-tui pipeline {needed}` with the same --out first, or `all`."
                )
            if not is_of(published.directory, inputs):
                raise PipelineError(
                    f"{job} reads what {needed} found, and these exports are others, or have "
                    f"changed since: run `chat-tui pipeline {needed}` with the same --out again, "
                    "or `all`."
                )
