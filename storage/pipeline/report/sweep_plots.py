"""The plots of a sweep: how each parameter moves convergence, latency and bytes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from storage.pipeline.report import svg
from storage.pipeline.report.number_text import MS, number
from storage.pipeline.report.sweep_section import is_base
from storage.pipeline.results.small_tables import Row
from storage.results import Figures

SIZES_MAX: Final = 6
"""Groups whose lines are drawn: there are so many colours."""

LABELS: Final = {
    "t_min": ("T_min", "seconds"),
    "t_max": ("T_max", "seconds"),
    "filter_size": ("Filter size", "ids"),
    "resend": ("First resend", "seconds"),
    "peers": ("Group size", "people"),
}
"""The varied parameter, in a title, and along its axis."""

PANELS: Final[Mapping[str, Callable[[Row], float | None]]] = {
    "seconds until everybody had all": lambda row: row["convergence_s"],
    "p99 of latency, seconds": lambda row: row["p99_ms"] and row["p99_ms"] / MS,
    "bytes sent a line": lambda row: row["bytes_a_line"],
}
"""Figures drawn of a row, side by side."""


def sweep_plots(figures: Figures) -> Iterator[tuple[str, str]]:
    """Yield the title and the SVG of a plot for each parameter that had several values."""
    effects: Sequence[Row] = figures["effects"]
    for loss in sorted({row["loss"] for row in effects}):
        rows = [row for row in effects if row["loss"] == loss]
        for name in sorted({row["varied"] for row in rows}):
            of_it = [row for row in rows if row["varied"] == name]
            if len({row["value"] for row in of_it}) > 1:
                yield _plot(name, loss, "value", _by_size(of_it))
        based = [row for row in rows if is_base(row, figures["base"])]
        if len({row["peers"] for row in based}) > 1:
            yield _plot("peers", loss, "peers", {"base": based})


def _by_size(rows: Sequence[Row]) -> Mapping[str, Sequence[Row]]:
    sizes = sorted({row["peers"] for row in rows})[:SIZES_MAX]
    return {f"{size:,} peers": [row for row in rows if row["peers"] == size] for size in sizes}


def _plot(
    name: str, loss: float, along: str, lines: Mapping[str, Sequence[Row]]
) -> tuple[str, str]:
    panels = {
        label: {
            line: sorted(
                (float(row[along]), float(y)) for row in rows if (y := value(row)) is not None
            )
            for line, rows in lines.items()
        }
        for label, value in PANELS.items()
    }
    title, unit = LABELS[name]
    drawn = svg.panels(f"sweep-{name}-{loss:g}", panels, unit)
    return f"{title}: convergence, latency and bytes at {number(loss)} % loss", drawn
