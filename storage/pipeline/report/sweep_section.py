"""Report of a sweep: the results of each value of each parameter, beside a base.

Its figures are those of `storage.pipeline.sweep.job`: `effects` has a row for each value of each
parameter in each group, `base` says what the other parameters were meanwhile (null: they were all
combined).
"""

from collections.abc import Iterator, Mapping

from storage.pipeline.report.number_text import MS, bytes_text, number, span
from storage.pipeline.results.small_tables import Row
from storage.results import Figures


def sweep_rows(figures: Figures) -> Iterator[tuple[str, str]]:
    """Say what each run came to, each value beside the same base."""
    runs, kept = figures["runs"], figures["kept_from_before"]
    yield "runs", f"{number(runs)}, {number(kept)} of them simulated before"
    yield "not converged", number(figures["not_converged"])
    base = figures["base"]
    if base is not None:
        yield "base", ", ".join(f"{name} {number(value)}" for name, value in base.items())
    told = set()
    for row in figures["effects"]:
        group = f"{number(row['peers'])} peers, {number(row['loss'])} % loss"
        if not is_base(row, base):
            yield f"{group}, {row['varied']} {number(row['value'])}", _came_to(row)
        elif group not in told:
            told.add(group)
            yield f"{group}, base", _came_to(row)


def is_base(row: Row, base: Mapping[str, float] | None) -> bool:
    """Return whether a row of effects is the one that the others are compared with."""
    return base is not None and base[row["varied"]] == row["value"]


def _came_to(row: Row) -> str:
    if row["convergence_s"] is None:
        return f"none of {number(row['runs'])} runs converged"
    return (
        f"{number(row['converged'])} of {number(row['runs'])} runs converged, in "
        f"{number(row['convergence_s'])} s; latency p50 {span(row['p50_ms'] * MS)}, p99 "
        f"{span(row['p99_ms'] * MS)}; {bytes_text(row['bytes_a_line'])} a line; "
        f"{number(row['requests'])} requests and {number(row['responses'])} answers a loss"
    )
