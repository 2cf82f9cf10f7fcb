"""`chat-tui pipeline`: the jobs, their options, and what is said of their results."""

import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from storage.pipeline.running import JOBS, run_jobs
from storage.pipeline.runs import Results
from storage.pipeline.session import LOCAL, Cluster

F = TypeVar("F", bound=Callable[..., Any])

ALL: Final = ("consolidate", "audit", "fingerprints", "delivery", "report")
"""What `all` does, in this order: each reads what those before it found."""

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


def exports_argument(command: F) -> F:
    """Add the exports that a job reads: directories that hold some, at any level."""
    return click.argument("named", metavar="IN...", nargs=-1, required=True, type=directory)(
        command
    )


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Make one history and one audit out of many nodes' exports.

    Exit 0: done. Exit 1: done, and something was found wrong. Exit 2: it cannot be done so.
    """


def run_and_exit(jobs: Sequence[str], named: Sequence[Path], **options: Any) -> None:
    """Run jobs with what `cluster_options` says, and end with their exit status."""
    cluster = Cluster(options["master"], options["memory"])
    sys.exit(run_jobs(jobs, named, options["out"], cluster, as_json=options["as_json"]))


@cli.command()
@exports_argument
@cluster_options
def consolidate(**options: Any) -> None:
    """Make one history out of what all nodes hold; false rows are set apart, with the reason."""
    run_and_exit(["consolidate"], **options)


@cli.command()
@exports_argument
@cluster_options
def audit(**options: Any) -> None:
    """Find forks, unknown and broken dependencies, divergence, and what is missing where."""
    run_and_exit(["audit"], **options)


@cli.command()
@exports_argument
@cluster_options
def fingerprints(**options: Any) -> None:
    """Count and fingerprint what is held, for each minute, hour and day."""
    run_and_exit(["fingerprints"], **options)


@cli.command()
@exports_argument
@cluster_options
def delivery(**options: Any) -> None:
    """Measure latency, convergence, repairs and redundancy, from the protocol logs."""
    run_and_exit(["delivery"], **options)


@cli.command(name="all")
@exports_argument
@cluster_options
def everything(**options: Any) -> None:
    """Do all of it, in one session: consolidate, audit, fingerprints, delivery, report."""
    run_and_exit([job for job in ALL if find_spec(f"{JOBS}.{job}")], **options)


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
