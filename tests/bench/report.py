"""What a benchmark says: one JSON object a line, for people and for scripts."""

import cProfile
import io
import json
import math
import pstats
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

Params: TypeAlias = dict[str, str | int | float]

PROFILE_ROWS: Final = 12
"""Functions told of a figure that missed its goal: they take nine tenths of the time."""


@dataclass(frozen=True, slots=True)
class Result:
    """One figure; `goal` is None, and so is `met`, where it only explains another one.

    `peer` is the same figure of another implementation in the same run, and `ratio` how many times
    better ours is.
    """

    name: str
    value: float
    unit: str
    goal: float | None = None
    met: bool | None = None
    params: Params = field(default_factory=dict)
    peer: float | None = None
    ratio: float | None = None

    def to_json(self) -> str:
        """The line to print."""
        line = {
            "name": self.name,
            "params": self.params,
            "value": round(self.value, 3),
            "unit": self.unit,
            "goal": None if self.goal is None else round(self.goal, 3),
            "met": self.met,
        }
        if self.peer is not None and self.ratio is not None:
            line |= {"peer": round(self.peer, 3), "ratio": round(self.ratio, 1)}
        return json.dumps(line)


def at_most(name: str, value: float, unit: str, goal: float, params: Params) -> Result:
    """A figure that should be small."""
    return Result(name, value, unit, goal, value <= goal, params)


def at_least(name: str, value: float, unit: str, goal: float, params: Params) -> Result:
    """A figure that should be large."""
    return Result(name, value, unit, goal, value >= goal, params)


def quantile(values: Sequence[float], share: float) -> float:
    """The smallest of `values` that at least `share` of them (0 < share <= 1) do not exceed."""
    return sorted(values)[math.ceil(share * len(values)) - 1]


def progress(text: str) -> None:
    """Tell whoever waits how far it is; standard output is for results alone."""
    print(text, file=sys.stderr, flush=True)


def explained(result: Result, measured: Callable[[], object]) -> Result:
    """Return `result`; where it missed its goal, tell where the time of `measured` goes."""
    if result.met is False:
        profile = cProfile.Profile()
        profile.runcall(measured)
        told = io.StringIO()
        pstats.Stats(profile, stream=told).sort_stats("tottime").print_stats(PROFILE_ROWS)
        progress(f"{result.name} {result.params}: where the time goes\n{told.getvalue()}")
    return result
