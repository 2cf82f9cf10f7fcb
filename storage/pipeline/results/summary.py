"""Results of jobs, as tables on the terminal."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rich.box import SIMPLE_HEAD
from rich.table import Table

from storage.results import Figures

DIGITS: Final = 4
"""More would not be read; the results have all."""

NAME_WIDTH: Final = 6
"""Of a column whose values are shorter than its name: eleven of these fit 80 characters."""

ROWS_MAX: Final = 100
"""Of a list; the results have all."""


def tables(figures: Mapping[str, Figures]) -> Iterator[Table]:
    """Yield the figures of all jobs, one a line, and a table for each list of records."""
    shown = Table("job", "figure")
    shown.add_column("value", justify="right")
    for job, found in figures.items():
        for number, (name, value) in enumerate(_lines(found)):
            shown.add_row("" if number else job, name, value)
        shown.add_section()
    yield shown
    for job, found in figures.items():
        for name, value in found.items():
            if _is_records(value):
                yield _records(f"{job}: {_words(name)}", value)


def _records(title: str, records: list[dict[str, Any]]) -> Table:
    over = len(records) - ROWS_MAX
    shown = Table(
        title=title,
        box=SIMPLE_HEAD,
        padding=0,
        caption=f"and {over:,} more" if over > 0 else None,
    )
    rows = [[_value(record.get(name)) for name in records[0]] for record in records[:ROWS_MAX]]
    for name, values in zip(records[0], zip(*rows, strict=True), strict=True):
        # a name may take several lines; a number that is cut in two would say something else
        word = max(map(len, _words(name).split()))
        width = max(min(word, NAME_WIDTH), *map(len, values))
        shown.add_column(_words(name), justify="right", overflow="fold", width=width)
    for row in rows:
        shown.add_row(*row)
    return shown


def _lines(found: Figures, above: str = "") -> Iterator[tuple[str, str]]:
    for key, value in found.items():
        name = f"{above}{_words(key)}"
        if isinstance(value, dict):
            yield from _lines(value, f"{name}: ")
        elif not _is_records(value):
            yield name, _value(value)


def _is_records(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _value(value: object) -> str:
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return _short(value)
        case list() | dict():
            return f"{len(value):,}"
        case _:
            return str(value)


def _short(value: float) -> str:
    """Return a number with at most `DIGITS`, and with all that stand before its point."""
    before = len(str(int(abs(value)))) if abs(value) >= 1 else 0
    text = f"{value:,.{max(0, DIGITS - before)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _words(name: str) -> str:
    return name.replace("_", " ")
