"""`chat-tui pipeline show`, `why` and `compare`: their options, and how they end."""

import json
import sys
from pathlib import Path
from typing import Any, Final

import click
from rich.console import Console

from storage.pipeline.answers import compare as comparing
from storage.pipeline.answers import show as showing
from storage.pipeline.answers.filters import Wanted
from storage.pipeline.answers.local_results import (
    LocalDirectory,
    find_table,
    published_results,
)
from storage.pipeline.answers.people import names_of
from storage.pipeline.answers.why import Told
from storage.pipeline.errors import PipelineError

ROWS_MAX: Final = 1_000_000_000

out_argument = click.argument("out", type=LocalDirectory())


@click.command(short_help="Show rows of a table; needs no Java.")
@out_argument
@click.argument("table", required=False)
@click.option("--node", metavar="KEY", help="Rows of this node.")
@click.option("--author", metavar="KEY", help="Rows about messages of this author.")
@click.option("--message", metavar="ID", help="Rows about this message.")
@click.option("--channel", metavar="NAME", help="Rows of this channel, by name or id.")
@click.option(
    "--limit",
    type=click.IntRange(1, ROWS_MAX),
    help=f"Rows at most.  [default: {showing.ROWS_SHOWN} on a terminal, all in a file]",
)
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
def show(  # its options
    *,
    out: Path,
    table: str | None,
    limit: int | None,
    as_csv: bool,
    as_json: bool,
    **wanted: Any,
) -> None:
    """Show the rows of a TABLE that is published in OUT; without a TABLE, which there are.

    Keys and ids may be their beginnings. Times are in UTC; CSV and JSON have them as nanoseconds
    since 1970, and ids whole. A table of two jobs is named JOB/TABLE.
    """
    if as_csv and as_json:
        raise PipelineError("Rows are printed as CSV or as JSON: leave --csv or --json out.")
    if table is None and (
        limit or as_csv or as_json or any(one is not None for one in wanted.values())
    ):
        raise PipelineError(
            "These options are about rows: name a TABLE. Without any, all are listed."
        )
    results = published_results(out)
    console = Console(file=sys.stdout, highlight=False)
    if table is None:
        showing.list_tables(results, console)
        return
    found = find_table(results, table)
    rows = showing.rows_of(found, Wanted(**wanted), names_of(results))
    columns = list(found.dataset().schema.names)
    if as_csv or as_json:
        rows = showing.first(rows, limit)
    if as_csv:
        showing.as_csv(rows, columns, sys.stdout)
    elif as_json:
        showing.as_json(rows, sys.stdout)
    else:
        showing.on_terminal(rows, columns, console, limit or showing.ROWS_SHOWN)


@click.command(short_help="Tell the story of one message; needs no Java.")
@out_argument
@click.argument("message")
@click.argument("node", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def why(*, out: Path, message: str, node: str | None, as_json: bool) -> None:
    """Tell how a MESSAGE came to each node, or why it did not; of one NODE, all that concerns it.

    OUT are results, whose exports are still where they were, or exports. MESSAGE is an id, NODE a
    key or a name; both may be their beginnings. Exit 1: a node does not have it.
    """
    told = Told(out, message, node)
    if as_json:
        click.echo(told.to_json())
    else:
        told.show(Console(file=sys.stdout, highlight=False))
    sys.exit(1 if any(one.has_it is False for one in told.outcomes) else 0)


@click.command(short_help="Compare two results; needs no Java.")
@click.argument("a", type=LocalDirectory())
@click.argument("b", type=LocalDirectory())
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def compare(*, a: Path, b: Path, as_json: bool) -> None:
    """Compare the results in A with those in B: latency, bytes, repairs, and what is wrong."""
    found = list(comparing.differences(published_results(a), published_results(b)))
    if as_json:
        click.echo(json.dumps({"a": str(a), "b": str(b), "figures": comparing.as_records(found)}))
    else:
        comparing.show(found, (str(a), str(b)), Console(file=sys.stdout, highlight=False))
