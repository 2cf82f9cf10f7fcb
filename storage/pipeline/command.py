"""`chat-tui pipeline`: the jobs, their options, and what is said of their results."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from storage.pipeline.answers.command import compare, show, why
from storage.pipeline.answers.local_results import LocalDirectory
from storage.pipeline.cluster_options import cluster_of, spark_options
from storage.pipeline.errors import PipelineError
from storage.pipeline.interrupts import stoppable
from storage.pipeline.invocation import RememberedGroup, made_now
from storage.pipeline.job_runner import run_jobs
from storage.pipeline.places.place import LocalPlace, Place
from storage.pipeline.results.publishing import Results
from storage.pipeline.spark.shipping import write_job
from storage.pipeline.sweep.grid import Grid
from storage.pipeline.synthetic.command import synthesize

F = TypeVar("F", bound=Callable[..., Any])

ALL: Final = ("consolidate", "audit", "fingerprints", "delivery", "report")
"""Jobs of `all`, in this order: each reads what those before it found."""

directory = Place()
local = LocalDirectory()


def cluster_options(command: F) -> F:
    """Add the options that say where a job runs and where its results go."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="The figures as one JSON object."),
        click.option(
            "--out", type=directory, required=True, help="Where results go, and are looked for."
        ),
        spark_options,
    ):
        command = option(command)
    return command


def exports_argument(command: F) -> F:
    """Add the exports that a job reads: directories that hold some, at any level."""
    return click.argument("named", metavar="IN...", nargs=-1, required=True, type=directory)(
        command
    )


class Numbers(click.ParamType):  # type: ignore[type-arg]  # older ones are not generic
    """Numbers with commas between, each within its limits."""

    name = "numbers"

    def __init__(self, kind: type[int] | type[float], low: float, high: float) -> None:
        self._kind, self._low, self._high = kind, low, high

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float, ...]:
        """See click; each number once."""
        try:
            numbers = tuple(dict.fromkeys(self._kind(one) for one in value.split(",")))
        except ValueError:
            numbers = ()
        if not numbers or not all(self._low <= number <= self._high for number in numbers):
            words = "whole numbers" if self._kind is int else "numbers"
            self.fail(
                f"{value} is not a list of {words} from {self._low:g} to {self._high:g}, with "
                "commas between.",
                param,
                ctx,
            )
        return numbers


def grid_options(command: F) -> F:
    """Add the options of a sweep: the fields of the grid, whose defaults they tell."""
    cross = "Run every combination, not each value alone."
    command = click.option("--cross", is_flag=True, default=None, help=cross)(command)
    for option, field, kind, what in reversed(
        (
            ("--peers", "peers", Numbers(int, 2, 5000), "Sizes of the group."),
            ("--loss", "loss", Numbers(float, 0, 90), "% of frames, for each receiver."),
            ("--t-min", "t_min", Numbers(float, 0.001, 3600), "Seconds, of SDS-R."),
            ("--t-max", "t_max", Numbers(float, 0.001, 3600), "Seconds, of SDS-R."),
            ("--filter", "filter_size", Numbers(int, 1, 1_000_000), "Ids a Bloom filter is for."),
            ("--resend", "resend", Numbers(float, 0.1, 3600), "Seconds to the first resending."),
            (
                "--messages",
                "messages",
                click.IntRange(1, 100_000),
                "Number of lines written, by all together.",
            ),
            ("--seeds", "seeds", click.IntRange(1, 10_000), "Runs of each point."),
        )
    ):
        usual = getattr(Grid(), field)
        text = f"{usual}" if isinstance(usual, int) else ",".join(f"{one:g}" for one in usual)
        help_text = f"{what}  [default: {text}]"
        command = click.option(option, field, type=kind, help=help_text)(command)
    return command


@click.group(cls=RememberedGroup, context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Make one history and one audit out of many nodes' exports.

    Exit 0: done. Exit 1: done, and something was found wrong. Exit 2: it cannot be done so.
    """


def run_and_exit(jobs: Sequence[str], named: Sequence[Path], **options: Any) -> None:
    """Run jobs with what `cluster_options` says, and end with their exit status."""
    cluster = cluster_of(options)
    out, as_json = options.pop("out"), options.pop("as_json")
    sys.exit(run_jobs(jobs, named, out, cluster, as_json=as_json, options=options))


def full_option(command: F) -> F:
    """Add the option that takes nothing over from the results before."""
    help_text = "Read all days, also those whose files are as they were the last time."
    return click.option("--full", is_flag=True, help=help_text)(command)


def part_options(command: F) -> F:
    """Add the options that name a part of what exports hold."""
    days = click.DateTime(["%Y-%m-%d"])
    for option in (
        click.option(
            "--node", multiple=True, metavar="KEY", help="Of this node alone; repeatable."
        ),
        click.option(
            "--channel",
            multiple=True,
            metavar="NAME",
            help="Of this channel alone, by name or id; repeatable.",
        ),
        click.option("--before", type=days, help="What was created before this day (UTC)."),
        click.option("--since", type=days, help="What was created from this day on (UTC)."),
    ):
        command = option(command)
    return command


@cli.command(short_help="Make one history of what all nodes hold.")
@exports_argument
@part_options
@full_option
@cluster_options
def consolidate(**options: Any) -> None:
    """Make one history out of what all nodes hold; false rows are set apart, with the reason.

    Days whose files are the same as the last time, with the same --out, are not read again.
    """
    run_and_exit(["consolidate"], **options)


@cli.command(short_help="Find forks, broken order, what is missing where.")
@exports_argument
@cluster_options
def audit(**options: Any) -> None:
    """Find forks, unknown and broken dependencies, divergence, and what is missing where."""
    run_and_exit(["audit"], **options)


@cli.command(short_help="Count and fingerprint minutes, hours and days.")
@exports_argument
@cluster_options
def fingerprints(**options: Any) -> None:
    """Count and fingerprint what is held, for each minute, hour and day.

    IN may also be the --out of `consolidate`.
    """
    run_and_exit(["fingerprints"], **options)


@cli.command(short_help="Find the messages that only A or only B holds.")
@click.argument("a", type=directory)
@click.argument("b", type=directory)
@cluster_options
def diff(*, a: Path, b: Path, **options: Any) -> None:
    """Find the messages that only A or only B holds; each is an export, or several below.

    Either may also be the --out of `fingerprints` or of `consolidate`. The messages that each lacks
    are written as an export that `chat-tui import` takes. Exit 0: they hold the same. Exit 1: they
    do not.
    """
    run_and_exit(["diff"], [a, b], **options)


@cli.command(short_help="Measure latency, convergence and repairs.")
@exports_argument
@cluster_options
def delivery(**options: Any) -> None:
    """Measure latency, convergence, repairs and redundancy, from the protocol logs."""
    run_and_exit(["delivery"], **options)


@cli.command(short_help="Simulate what the parameters move.")
@grid_options
@cluster_options
def sweep(**options: Any) -> None:
    """Simulate groups with each of these parameters, and show what the parameters move.

    Lists are numbers with commas between; the first is what the others are compared with. Runs that
    are in the same --out already are not simulated again.
    """
    chosen = {one.name: options.pop(one.name, None) for one in fields(Grid)}
    grid = Grid(**{name: value for name, value in chosen.items() if value is not None})
    run_and_exit(["sweep"], [], grid=grid, **options)


@cli.command(name="all", short_help="All of it: from consolidate to the report.")
@exports_argument
@full_option
@cluster_options
def everything(**options: Any) -> None:
    """Do all of it, in one session: consolidate, audit, fingerprints, delivery, report."""
    run_and_exit(ALL, **options)


@cli.command(short_help="Show what is published, and make its page.")
@click.option("--out", type=local, required=True, help="The results that are reported.")
@click.option("--json", "as_json", is_flag=True, help="The report as one JSON object.")
def report(*, out: Path, as_json: bool) -> None:
    """Show what is published in OUT, and make one page with pictures of it; needs no Java.

    Exit 1: something was found wrong, as by the jobs themselves.
    """
    from storage.pipeline.report import job, terminal  # noqa: PLC0415  # for this alone

    results = Results(out)
    job.published_in(results)  # before a directory is made for it
    with stoppable(out), results.locked(), results.run("report", made_now(())) as run:
        made = job.make(results, run)
    if as_json:
        click.echo(made.to_json(), nl=False)
    else:
        terminal.show(made, Path(run.figures["page"]))
    sys.exit(1 if made.findings else 0)


@cli.command()
def prepare() -> None:
    """Have all jobs here start quicker from now on.

    Spark's classes are kept ready for Java, some 200 MB beside pyspark, or in your cache where you
    may not write there. It takes about a minute. After another Java or pyspark is installed, do it
    again.
    """
    from storage.pipeline import prepare as preparation  # noqa: PLC0415  # numpy, for this alone

    click.echo("All jobs run once, on an export that is made up; then Java writes ...", err=True)
    kept = preparation.prepare([job for job in ALL if job != "report"])  # it needs no Java
    megabytes = kept.stat().st_size // 1_000_000
    click.echo(f"Jobs on this computer start with {kept} from now on, {megabytes} MB.")
    click.echo("It can be deleted at any time; they then start as before.")


@cli.command(short_help="Write the two files for spark-submit.")
@click.argument("to", metavar="DIR", type=LocalPlace())
def pack(*, to: Path) -> None:
    """Write what `spark-submit` takes: chat-tui.zip and job.py, into DIR.

    `spark-submit --py-files chat-tui.zip job.py consolidate IN --out OUT` then runs a job.
    """
    try:
        to.mkdir(parents=True, exist_ok=True)
        archive, job = write_job(to)
    except OSError as error:
        raise PipelineError(
            f"Cannot write to {to} ({error.strerror}); name another DIR."
        ) from error
    click.echo(f"spark-submit --py-files {archive} {job} --help")


for one in (synthesize, show, why, compare):
    cli.add_command(one)
