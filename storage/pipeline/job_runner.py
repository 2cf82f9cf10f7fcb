"""Jobs in one session, and what is said of their results."""

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, Final

import click
from rich.console import Console

from storage import report as reports
from storage.archive.consolidated import CONSOLIDATE
from storage.pipeline.consolidate.plan import Plan
from storage.pipeline.errors import PipelineError
from storage.pipeline.fingerprints.archive import is_of
from storage.pipeline.inputs.footers import Amount, check_files
from storage.pipeline.inputs.inputs import Inputs
from storage.pipeline.interrupts import Stop, stoppable
from storage.pipeline.invocation import made_now
from storage.pipeline.job_context import Work
from storage.pipeline.places.place import is_local
from storage.pipeline.report import terminal
from storage.pipeline.results.far import FarResults, results_in
from storage.pipeline.results.publishing import LOG, Results, Run
from storage.pipeline.results.summary import tables
from storage.pipeline.schedule import NEEDS, one_at_a_time, side_by_side
from storage.pipeline.spark.failures import said_plainly
from storage.pipeline.spark.names import naming
from storage.pipeline.spark.progress import Telling, shown
from storage.pipeline.spark.session import SHORT_BYTES, Cluster, divide, is_short, session
from storage.results import CHOSEN, Figures

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
    elif reports.JOB in figures and is_local(out):  # it says all of it, in the words of people
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
    # what is here is looked at before Java starts; what is behind a URI, only Java can look at
    here = all(map(is_local, (*named, out)))
    found = Found.of(jobs, named, out, options) if here else None
    size, beside = (found.size, found.beside) if found else (SHORT_BYTES, False)
    sources = found.inputs.sources if found else named
    made = made_now([source.absolute() for source in sources])
    with (
        found.results.locked() if found else nullcontext(),
        _log_of(out) as log,
        said_plainly(cluster.memory, log, as_json=cluster.json_log),
        tempfile.TemporaryDirectory(prefix="chat-tui-", ignore_cleanup_errors=True) as name,
        ThreadPoolExecutor(1) as loader,
    ):
        scratch = Path(name)
        modules = loader.submit(_loaded, jobs)  # while Java starts
        with (
            _started(partial(session, cluster, scratch, log, size, beside=beside, here=here)) as (
                spark,
                tell,
            ),
            ThreadPoolExecutor(len(jobs) + 1) as pool,
            stop.ending(spark.sparkContext._gateway),  # noqa: SLF001  # it has the process
        ):
            _tell_pages(spark, cluster)
            telling = Telling(jobs, tell)

            def do_all(found: Found) -> dict[str, Figures]:
                figures: dict[str, Figures] = {}

                def do(job: str) -> None:
                    run_of = found.results.run(
                        job, {**made, "unknown_columns": dict(found.amount.unknown)}
                    )
                    with telling.of(job), run_of as run, naming(spark, f"chat-tui {job}"):
                        work = found.work(spark, run, scratch, options)
                        modules.result()[job].run(work)
                    figures[job] = run.figures

                if found.beside:
                    side_by_side(jobs, do, pool)
                else:
                    one_at_a_time(jobs, do)
                return {job: figures[job] for job in jobs}

            def do_there() -> dict[str, Figures]:
                found = Found.of(jobs, named, out, options)
                with found.results.locked():
                    divide(spark, cluster, found.size)
                    figures = do_all(found)
                    if not is_local(out):
                        (out / LOG).write_bytes(log.read_bytes())
                    return figures

            if found is None:
                return pool.submit(do_there).result()
            if found.beside:  # each in a thread of its own already
                return do_all(found)
            return pool.submit(do_all, found).result()


@dataclass(frozen=True, slots=True)
class Found:
    """Inputs and results that were named, looked at; `size` is in bytes of what is read."""

    inputs: Inputs
    results: Results
    size: int
    beside: bool
    """True if jobs run side by side."""
    amount: Amount
    """All there is in the inputs."""
    plan: Plan | None = None
    """Days that consolidate makes or takes over, where it is one of the jobs."""

    @classmethod
    def of(
        cls, jobs: Sequence[str], named: Sequence[Path], out: Path, options: Mapping[str, Any]
    ) -> "Found":
        """Look at them.

        Raises:
            PipelineError: something is not as it must be.
        """
        inputs = Inputs.find(named) if named else Inputs((), ())
        amount = check_files(inputs) if named else Amount()
        if inputs.histories and set(jobs) - READ_HISTORIES:
            raise PipelineError(
                f"{inputs.histories[0].out} holds the history that consolidate made, which only "
                "`fingerprints` and `diff` read: name the exports it was made of."
            )
        results = results_in(out)
        check_needs(jobs, results, inputs)
        if isinstance(results, FarResults) and results.best_effort:
            click.echo(
                f"{out} may be a store where two commands that publish in the same moment do not "
                "see each other: let one at a time write there.",
                err=True,
            )
        size, plan = amount.size, None
        if CONSOLIDATE in jobs:
            plan = Plan.of(inputs, results, options, amount.history)
            size = plan.size if [*jobs] == [CONSOLIDATE] else size
        return cls(inputs, results, size, len(jobs) > 1 and is_short(size), amount, plan)

    def work(
        self, spark: "SparkSession", run: Run, scratch: Path, options: Mapping[str, Any]
    ) -> Work:
        """Return the arguments of a job."""
        return Work(
            spark, self.inputs, self.results, run, scratch, options, self.plan, small=self.beside
        )


@contextmanager
def _log_of(out: Path) -> Iterator[Path]:
    """Empty the log of the session; one of results behind a URI is here until they are there."""
    if is_local(out):
        (out / LOG).write_bytes(b"")  # what was said the last time is of no use any more
        yield out / LOG
        return
    with tempfile.NamedTemporaryFile(prefix="chat-tui-", suffix=f"-{LOG}", delete=False) as file:
        log = Path(file.name)
    yield log  # it stays if something fails: that says where it is
    log.unlink()


def _tell_pages(spark: "SparkSession", cluster: Cluster) -> None:
    if cluster.ui is not None and (url := spark.sparkContext.uiWebUrl):
        port = url.rpartition(":")[2]
        click.echo(f"Spark's pages are at http://{cluster.ui}:{port}", err=True)


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
            if published.figures.get(CHOSEN):
                raise PipelineError(
                    f"{job} wants everything, and {needed} was asked for a part of it: run "
                    f"`chat-tui pipeline {needed}` again without --since, --before, --channel and "
                    "--node, or `all`."
                )
            if not is_of(published.directory, inputs):
                raise PipelineError(
                    f"{job} reads what {needed} found, and these exports are others, or have "
                    f"changed since: run `chat-tui pipeline {needed}` with the same --out again, "
                    "or `all`."
                )
