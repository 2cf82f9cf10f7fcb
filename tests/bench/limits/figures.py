"""Figures beside their floors: what one run gives, and what several interleaved runs say together.

A ratio is judged, never a figure alone: the machine moves both.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, median_low
from typing import Final, TypeAlias

from tests.bench.limits.calibration import Calibration
from tests.bench.report import Params

RUNS: Final = 5
"""Usual number of runs."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure and its floor in one run, both in `unit`; `goal` is for their ratio."""

    name: str
    value: float
    floor: float
    unit: str
    goal: float | None
    largest_wins: bool = False
    """Set if the ratio must reach the goal; else it must not exceed it."""
    params: Params = field(default_factory=dict)

    @property
    def ratio(self) -> float:
        """Return the figure as a multiple of its floor."""
        return self.value / self.floor


Measure: TypeAlias = Callable[[Path, Sequence[str]], Iterable[Figure]]
"""Measures once, in an empty directory, with the words after the name: the same figures in each
run, in one order. What is compared goes right behind each other."""


@dataclass(frozen=True, slots=True)
class Limit:
    """One name of `python -m tests.bench limits NAME`."""

    name: str
    measure: Measure
    runs: int = RUNS
    named_only: bool = False
    """Set if it runs only when it is named: it takes minutes."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run: what it gave, and what the machine gave right before and after."""

    figures: tuple[Figure, ...]
    before: Calibration
    after: Calibration

    @property
    def unsteady(self) -> bool:
        """Return whether the machine was another one after this run than before it."""
        return self.before.moved(self.after)


def judged(runs: Sequence[Run], repeated: int) -> list[str]:
    """Return a line of JSON for each figure of these runs.

    `value` is the median of the ratios, `spread` the least and the largest one; figure and floor
    are medians too, and so are numbers in `params`. `repeated` more runs were left out, since the
    machine changed during each. `unsteady` runs count although it did so: there were too few
    others.
    """
    lines = []
    for several in zip(*[run.figures for run in runs], strict=True):
        one, ratios = several[0], sorted(each.ratio for each in several)
        ratio = median(ratios)
        met = ratio >= (one.goal or 0) if one.largest_wins else ratio <= (one.goal or 0)
        line = {
            "name": one.name,
            "params": _middle([each.params for each in several]),
            "value": round(ratio, 3),
            "unit": "of the floor",
            "goal": one.goal,
            "met": None if one.goal is None else met,
            "spread": [round(ratios[0], 3), round(ratios[-1], 3)],
            "figure": round(median(each.value for each in several), 3),
            "floor": round(median(each.floor for each in several), 3),
            "of": one.unit,
            "runs": len(runs),
            "repeated": repeated,
            "unsteady": sum(run.unsteady for run in runs),
            "verification_us": _moved([run.before.verification_us for run in runs],
                                      [run.after.verification_us for run in runs]),
            "commit_ms": _moved([run.before.commit_ms for run in runs],
                                [run.after.commit_ms for run in runs]),
        }  # fmt: skip
        lines.append(json.dumps(line))
    return lines


def _middle(several: Sequence[Params]) -> Params:
    """Return the parameters of several runs: of numbers, those in the middle."""
    middle = dict(several[0])
    for name in middle:
        values = [params[name] for params in several]
        if numbers := [value for value in values if not isinstance(value, str)]:
            middle[name] = median_low(numbers)
    return middle


def _moved(before: Sequence[float], after: Sequence[float]) -> list[float]:
    return [round(median(before), 3), round(median(after), 3)]
