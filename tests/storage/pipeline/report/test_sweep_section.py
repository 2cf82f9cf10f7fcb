"""A sweep in a report: each value is told beside the base, and drawn over its axis."""

import re
from typing import Any

from storage.pipeline.report.sweep_plots import PANELS, sweep_plots
from storage.pipeline.report.sweep_section import sweep_rows

BASE = {"t_min": 1.0, "t_max": 6.0, "filter_size": 1000, "resend": 5.0}


def effect(varied: str, value: float, peers: int = 10, **found: float | None) -> dict[str, Any]:
    """A row of `effects`: three runs that all converged in 5 s, unless told."""
    row = {"peers": peers, "loss": 10.0, "varied": varied, "value": value, "runs": 3}
    measured = {"converged": 3, "convergence_s": 5.0, "p50_ms": 800.0, "p99_ms": 6_400.0}
    costs = {"bytes_a_line": 7_500.0, "requests": 1.0, "responses": 2.0}
    return row | measured | costs | found


NOBODY = dict.fromkeys(("convergence_s", "p50_ms", "p99_ms", "requests", "responses"))
EFFECTS = [
    effect("t_max", 6),
    effect("t_max", 24, convergence_s=39.0, p99_ms=38_000.0),
    effect("t_max", 6, peers=200),
    effect("t_max", 24, peers=200, converged=0, **NOBODY),
    effect("t_min", 1),
    effect("t_min", 1, peers=200),
]


def figures(base: dict[str, float] | None = BASE) -> dict[str, Any]:  # not changed
    """Return the figures of a sweep with this base."""
    return {
        "runs": 12,
        "kept_from_before": 4,
        "not_converged": 3,
        "base": base,
        "effects": EFFECTS,
    }


def test_each_value_is_told_once_beside_its_base() -> None:
    said = dict(sweep_rows(figures()))

    assert said["runs"] == "12, 4 of them simulated before"
    assert said["base"] == "t_min 1, t_max 6, filter_size 1,000, resend 5"
    assert list(said)[3:] == [
        "10 peers, 10 % loss, base",
        "10 peers, 10 % loss, t_max 24",
        "200 peers, 10 % loss, base",
        "200 peers, 10 % loss, t_max 24",
    ]
    assert said["10 peers, 10 % loss, t_max 24"].startswith("3 of 3 runs converged, in 39 s;")
    assert "p99 38 s" in said["10 peers, 10 % loss, t_max 24"]
    assert said["200 peers, 10 % loss, t_max 24"] == "none of 3 runs converged"


def test_where_all_were_combined_there_is_no_base() -> None:
    said = dict(sweep_rows(figures(base=None)))

    assert "base" not in said
    assert "10 peers, 10 % loss, t_max 6" in said


def test_what_had_several_values_is_drawn_with_a_line_a_group() -> None:
    drawn = dict(sweep_plots(figures()))

    assert list(drawn) == [
        "T_max: convergence, latency and bytes at 10 % loss",
        "Group size: convergence, latency and bytes at 10 % loss",
    ]
    t_max, people = drawn.values()
    assert re.findall(r">([\d,]+ peers)<", t_max) == ["10 peers", "200 peers"]
    for panel in PANELS:
        assert panel in t_max
        assert panel in people


def test_where_all_were_combined_groups_are_not_compared() -> None:
    """Nothing says which of their runs have the same parameters."""
    assert [title for title, _ in sweep_plots(figures(base=None))] == [
        "T_max: convergence, latency and bytes at 10 % loss"
    ]
