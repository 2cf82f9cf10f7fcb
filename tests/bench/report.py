"""Results of a benchmark: one JSON object a line, for people and for scripts."""

import cProfile
import gc
import json
import math
import pstats
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Final, Self, TypeAlias

Params: TypeAlias = dict[str, str | int | float]

PROFILE_ROWS: Final = 16
"""Functions told of a figure that missed its goal: they take three quarters of the time."""

ROOT: Final = Path(__file__).parents[2]


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
            line |= {"peer": round(self.peer, 3), "ratio": round(self.ratio, 2)}
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


def floor(name: str, value: float, unit: str, params: Params) -> Result:
    """Return the bound of the figure `name`, below or above: it explains, and has no goal."""
    return Result(f"{name}_floor", value, unit, params=params)


class Stopwatch:
    """Adds up the processor time of the blocks it is entered for; they are what is profiled."""

    profile: ClassVar[cProfile.Profile | None] = None
    """Where `explained` collects; what is only prepared is left out."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._began = 0.0

    def __enter__(self) -> Self:
        self._began = time.process_time()
        if self.profile is not None:
            self.profile.enable()
        return self

    def __exit__(self, *_: object) -> None:
        if self.profile is not None:
            self.profile.disable()
        self.seconds += time.process_time() - self._began


def fresh_watch() -> Stopwatch:
    """Return a stopwatch; what was thrown away before is not paid for in its time."""
    gc.collect()
    return Stopwatch()


def explained(result: Result, measured: Callable[[], object]) -> Result:
    """Return `result`; where it missed its goal, tell where the time of `measured` goes.

    Told are the shares of files and of functions in the blocks of every `Stopwatch`. A function of
    C is its caller's share.
    """
    if result.met is False:
        profile = Stopwatch.profile = cProfile.Profile()
        measured()
        Stopwatch.profile = None
        by_function = _own_time(profile)
        by_file: Counter[str] = Counter()
        for (file, _), seconds in by_function.items():
            by_file[file] += seconds
        whole = by_file.total()
        files = [f"{share / whole:6.1%}  {file}" for file, share in by_file.most_common()]
        functions = [
            f"{share / whole:6.1%}  {name} ({file})"
            for (file, name), share in by_function.most_common(PROFILE_ROWS)
        ]
        told = "\n".join(["by file:", *files[:PROFILE_ROWS], "by function:", *functions])
        progress(f"{result.name} {result.params}: where the time goes\n{told}")
    return result


def _own_time(profile: cProfile.Profile) -> Counter[tuple[str, str]]:
    """Seconds by (file, function), without what it calls; what is built in is its caller's."""
    spent: Counter[tuple[str, str]] = Counter()
    stats = pstats.Stats(profile).stats  # type: ignore[attr-defined]  # typeshed leaves it out
    for (file, _, name), (_, _, seconds, _, callers) in stats.items():
        if file == "~":
            for (calling, _, caller), (_, _, share, _) in callers.items():
                spent[_short(calling), caller] += share
        else:
            spent[_short(file), name] += seconds
    return spent


def _short(file: str) -> str:
    path = Path(file)
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name
