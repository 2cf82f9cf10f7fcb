"""`chat-tui pipeline synthesize`: its options."""

import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import click

from storage.archive.layout import Layout
from storage.pipeline.places.place import LocalPlace
from storage.pipeline.synthetic.dataset import synthesize as make
from storage.pipeline.synthetic.plan import Faults, Plan

F = TypeVar("F", bound=Callable[..., Any])


def fault_options(command: F) -> F:
    """Add an option for the count of each fault."""
    for fault in reversed(fields(Faults)):
        words = fault.name.replace("_", "-")
        option = click.option(
            f"--{words}",
            type=click.IntRange(0, 10_000),
            default=fault.default,
            show_default=True,
            help=f"Planted {words.replace('-', ' ')}.",
        )
        command = option(command)
    return command


@click.command(short_help="Make exports with planted faults.")
@click.argument("directory", metavar="DIR", type=LocalPlace())
@click.option("--nodes", default=16, show_default=True, help="Nodes, in one export or in one each.")
@click.option("--messages", default=2000, show_default=True, help="In all channels together.")
@click.option("--channels", default=4, show_default=True, help="The first one is the busiest.")
@click.option("--members", default=8, show_default=True, help="Nodes of each channel.")
@click.option("--loss", default=0.03, show_default=True, help="Share of copies that are lost.")
@click.option("--never", default=0.02, show_default=True, help="Share of those never repaired.")
@click.option("--duplicates", default=0.25, show_default=True, help="Share that comes twice.")
@click.option("--hours", default=24.0, show_default=True, help="Over how long it is written.")
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="All of it follows from this.",
)
@click.option(
    "--layout",
    type=click.Choice([one.value for one in Layout]),
    default=Layout.ONE.value,
    show_default=True,
    help="One export of all nodes, or one a node, with the files that nodes really export.",
)
@fault_options
@click.option("--json", "as_json", is_flag=True, help="The counts as one JSON object.")
def synthesize(
    directory: Path,
    *,
    layout: str,
    as_json: bool,
    **options: Any,  # noqa: ANN401
) -> None:
    """Make exports of many nodes with planted faults in DIR, and the truth beside it."""
    planted = Faults(**{fault.name: options.pop(fault.name) for fault in fields(Faults)})
    plan = Plan(**options, faults=planted)
    counts = make(directory, plan, lambda said: click.echo(said, err=True), Layout(layout))
    if as_json:
        click.echo(json.dumps(counts))
    else:
        for name, count in counts.items():
            click.echo(f"{name.replace('_', ' ')}: {count:,}")
