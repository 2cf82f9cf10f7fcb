"""Plots of a report and their values, read by pyarrow from the small tables of delivery."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from storage.pipeline.delivery.filter_errors import false_positive_rate
from storage.pipeline.delivery.latency import PERCENTS
from storage.pipeline.delivery.missing_matrix import COLUMNS, ROWS
from storage.pipeline.report import svg
from storage.pipeline.results.small_tables import Row, first_rows
from storage.results import Figures
from sync.structures.bloom_parameters import LAN, WAKU

US: Final = 1_000_000

SPANS_MAX: Final = 10
LOADS_MAX: Final = 8
"""Numbers of response groups whose load is drawn; 8 groups are a thousand people."""

KEY_CHARS: Final = 8

FILTER_POINTS: Final = 60

LEAST: Final = 1e-9
"""The lowest rate that is drawn."""

EVERYBODY: Final = "until everybody had it"


def delivery_plots(directory: Path, figures: Figures) -> Iterator[tuple[str, str]]:
    """Yield the title and the SVG of each plot that there are values for."""
    if latency := _curve(first_rows(directory, "latency", 1)):
        yield (
            "Latency: sending to delivery",
            svg.curves("latency", latency, "seconds since it was sent", "% of deliveries"),
        )
    spans = first_rows(directory, "spans", SPANS_MAX)
    if everybody := _curve([row for row in spans if row["span"] == EVERYBODY]):
        yield (
            "Convergence: sending until everybody had it",
            svg.curves("convergence", everybody, "seconds since it was sent", "% of messages"),
        )
    if states := _curve([row for row in spans if row["span"] != EVERYBODY]):
        yield (
            "Delivery states of own messages",
            svg.curves("states", states, "seconds", "% of messages"),
        )
    if repair := figures["repair"]["by_groups"][:LOADS_MAX]:
        yield "Repair load", _repair(repair)
    if figures["filters"]["messages"]:
        yield "False “possibly acknowledged” against theory", _filters(figures["filters"])
    if cells := first_rows(directory, "matrix", ROWS * COLUMNS, ["row", "column"]):
        yield "Who lacks what", _matrix(directory, cells)


def _curve(rows: list[Row]) -> Mapping[str, list[tuple[float, float]]]:
    """Return distributions by name, as seconds and percents; those of nothing are left out."""
    return {
        str(row.get("span", "all")): [
            (us / US, percent) for us, percent in zip(row["at_us"], PERCENTS, strict=True)
        ]
        for row in rows
        if row["count"]
    }


def _repair(rows: list[Row]) -> str:
    labels = [f"{row['groups']} group{'s' * (row['groups'] > 1)}" for row in rows]
    per_message = {
        "requests a message": [row["requests"] / row["messages"] for row in rows],
        "answers a message": [row["answers"] / row["messages"] for row in rows],
        "answers in each response group": [row["answers_per_group"] for row in rows],
    }
    return svg.bars("repair", labels, per_message, "for each message that was missing")


def _filters(found: Figures) -> str:
    theory = {}
    for name, parameters in (("lan", LAN), ("waku", WAKU)):
        counts = [
            max(1, round(parameters.capacity * 10 ** (3 * (at / FILTER_POINTS - 1))))
            for at in range(FILTER_POINTS + 1)
        ]
        label = f"{name}, up to {parameters.capacity:,} ids"
        theory[label] = [(float(n), false_positive_rate(parameters, n)) for n in counts]
    chances = found["chances"]
    if not chances:
        return svg.filters("filters", theory, None, None)
    low, high = wilson(found["false"], max(chances, found["false"]))
    return svg.filters("filters", theory, found["rate_found"], (max(low, LEAST), high))


def wilson(hits: float, of: float, z: float = 1.96) -> tuple[float, float]:
    """Return the interval of a share that hits allow with 95 % (Wilson's score)."""
    share, square = hits / of, z * z / of
    middle = share + square / 2
    width = z * math.sqrt(share * (1 - share) / of + square / of / 4)
    return max(0.0, (middle - width) / (1 + square)), min(1.0, (middle + width) / (1 + square))


def _matrix(directory: Path, rows: list[Row]) -> str:
    names = _row_names(directory, max(row["row"] for row in rows) + 1)
    cells: list[list[float | None]] = [[None] * COLUMNS for _ in names]
    for row in rows:
        cells[row["row"]][row["column"]] = 1 - row["delivered"] / row["expected"]
    return svg.matrix("matrix", cells, names)


def _row_names(directory: Path, rows: int) -> list[str]:
    """Return the beginnings of keys where each member has its own row, else numbers of members."""
    members = first_rows(directory, "members", ROWS + 1, ["member"])
    if len(members) > ROWS:
        return [""] * rows
    names = [_ascii(row["node"]) for row in members]
    return [*names, *[""] * rows][:rows]


def _ascii(key: str) -> str:
    return "".join(char for char in key[:KEY_CHARS] if char.isascii() and char.isprintable())
