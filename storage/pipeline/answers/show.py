"""Rows of a published table: on the terminal, as CSV, or as one JSON object a line."""

import csv
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import IO, Any, Final

import pyarrow as pa
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as Shown
from rich.text import Text

from storage.pipeline.answers.cells import arranged, cell
from storage.pipeline.answers.filters import Wanted, chosen, lists_fit
from storage.pipeline.answers.local_results import Table, tables_of, unreadable
from storage.pipeline.answers.people import Names
from storage.pipeline.results.table_meanings import MEANINGS
from storage.results import Published

ROWS_SHOWN: Final = 100
"""Rows on a terminal, unless told; files get all of them."""

ID_SHOWN: Final = 12
"""Characters of an id in a column: enough to name it again."""

ID: Final = re.compile("[0-9a-f]{64}")

Row = dict[str, Any]


def rows_of(table: Table, wanted: Wanted, names: Names) -> Iterator[Row]:
    """Yield the wanted rows of a table, a batch at a time.

    Raises:
        PipelineError: it cannot be read, or does not say what is asked for.
    """
    dataset = table.dataset()
    expression = chosen(table, dataset, wanted, names)
    try:
        for batch in dataset.to_batches(filter=expression, batch_readahead=2):
            yield from (row for row in batch.to_pylist() if lists_fit(row, wanted))
    except (OSError, pa.ArrowException) as error:
        raise unreadable(table.directory, error) from error


def first(rows: Iterator[Row], limit: int | None) -> Iterator[Row]:
    """Return the first rows, all of them without a limit."""
    return rows if limit is None else islice(rows, limit)


def as_csv(rows: Iterable[Row], columns: list[str], file: IO[str]) -> None:
    """Write rows with a line of names; ids as hex, times as they are stored."""
    writer = csv.DictWriter(file, columns, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow(
            {
                name: json.dumps(value) if isinstance(value, list) else value
                for name, value in _plain(row).items()
            }
        )


def as_json(rows: Iterable[Row], file: IO[str]) -> None:
    """Write rows, one JSON object a line."""
    for row in rows:
        file.write(json.dumps(_plain(row)) + "\n")


def _plain(row: Row) -> Row:
    return {name: _value(value) for name, value in row.items()}


def _value(value: Any) -> Any:  # noqa: ANN401  # any value of a table
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list):
        return [_value(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def on_terminal(rows: Iterator[Row], columns: list[str], console: Console, limit: int) -> None:
    """Print the first rows as a table, or one below the other where a line is too short for it."""
    shown = list(islice(rows, limit))
    if not shown:
        console.print("No rows.")
        return
    names = arranged(columns)
    cells = [[_short(name, row.get(name)) for name in names] for row in shown]
    widths = [
        max(len(name), *map(len, values))
        for name, values in zip(names, zip(*cells, strict=True), strict=True)
    ]
    if sum(widths) + 2 * len(widths) <= console.width:
        table = Shown(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
        for name in names:
            table.add_column(Text(name), no_wrap=True)
        for values in cells:
            table.add_row(*map(Text, values))
        console.print(table)
    else:
        label = max(map(len, names))
        for count, row in enumerate(shown, 1):
            console.print(Text(f"── {count} ──", "bold"))
            for name in names:
                if value := cell(name, row.get(name)):
                    console.print(Text(f"{name:<{label}}  {value}"), soft_wrap=True)
    if next(rows, None) is not None:
        console.print(f"There are more: --limit, --csv or --json shows them (these are {limit:,}).")


def _short(name: str, value: Any) -> str:  # noqa: ANN401  # any value of a table
    text = cell(name, value)
    return text[:ID_SHOWN] if ID.fullmatch(text) else text


def list_tables(results: Mapping[str, Published], console: Console) -> None:
    """Print which tables there are, with their rows and columns."""
    table = Shown(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("table", no_wrap=True)
    table.add_column("rows", justify="right")
    table.add_column("a row", overflow="fold")
    table.add_column("columns", overflow="fold")
    for one in tables_of(results):
        dataset = one.dataset()
        meaning = MEANINGS.get(one.job, {}).get(one.name, "")
        rows = f"{dataset.count_rows():,}"
        table.add_row(one.full_name, rows, meaning, ", ".join(dataset.schema.names))
    console.print(table)
