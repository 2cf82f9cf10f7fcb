"""`chat-tui pipeline`: the jobs, their options, and what is said of their results."""

import json
import tempfile
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from storage.pipeline.inputs import Inputs
from storage.pipeline.runs import Results
from storage.pipeline.session import LOCAL, Cluster, session
from storage.pipeline.work import Work

F = TypeVar("F", bound=Callable[..., Any])

ALL: Final[tuple[str, ...]] = ()
"""What `all` does, in this order."""

directory = click.Path(file_okay=False, path_type=Path)


def cluster_options(command: F) -> F:
    """Add the options that say where a job runs and where its results go."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="The figures as one JSON object."),
        click.option(
            "--out", type=directory, required=True, help="Where results go, and are looked for."
        ),
        click.option(
            "--memory", default="2g", show_default=True, help="Of driver and of each executor."
        ),
        click.option(
            "--master",
            default=LOCAL,
            show_default=True,
            help="local[N], spark://HOST:PORT, yarn or k8s://...",
        ),
    ):
        command = option(command)
    return command


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Make one history and one audit out of many nodes' exports.

    Exit 0: done. Exit 1: done, and something was found wrong. Exit 2: it cannot be done so.
    """


def run_jobs(
    jobs: Sequence[str], named: Sequence[Path], out: Path, cluster: Cluster, *, as_json: bool
) -> int:
    """Run jobs in one session; returns the exit status: 1 if any of them has findings."""
    inputs, results = Inputs.find(named), Results(out)
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="chat-tui-") as name:
        scratch = Path(name)
        with session(cluster, scratch) as spark:
            for job in jobs:
                module = import_module(f"storage.pipeline.jobs.{job}")
                with results.run(job) as run:
                    module.run(Work(spark, inputs, results, run, scratch))
                figures[job] = run.figures
    if as_json:
        click.echo(json.dumps(figures))
    else:
        for job, found in figures.items():
            click.echo(f"{job}: {found}")
    return 1 if any(found.get("findings") for found in figures.values()) else 0


@cli.command()
@click.option("--out", type=directory, required=True, help="The results that are reported.")
@click.option("--json", "as_json", is_flag=True, help="The report as one JSON object.")
def report(*, out: Path, as_json: bool) -> None:
    """Show what is published in OUT, and make one page with pictures of it; needs no Java."""
    from storage.pipeline.jobs import report as job  # noqa: PLC0415  # pyarrow, for this alone
    from storage.pipeline.report_terminal import show  # noqa: PLC0415

    results = Results(out)
    with results.run("report") as run:
        made = job.make(results, run)
    if as_json:
        click.echo(made.to_json(), nl=False)
    else:
        show(made, Path(run.figures["page"]))
