"""Measure limits: `python -m tests.bench limits [NAME [WORD ...]]`, all but the long ones without.

Prints a line of JSON for each figure: its ratio to a floor of the same run (`value`), both, the
spread of the runs, how many of them were unsteady, and what one verification and one commit took
before and after. The exit code is 0 whether goals are met or not.
"""

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.bench.limits.calibration import Calibration
from tests.bench.limits.figures import Limit, Run, judged
from tests.bench.limits.registry import LIMITS
from tests.bench.report import progress

REPEATS_MAX: Final = 3
"""Runs repeated at most; where steady ones are still too few, the first unsteady ones count too."""


def main(words: Sequence[str]) -> None:
    """Measure what is named, and print each figure as soon as it is known."""
    parser = argparse.ArgumentParser(prog="tests.bench limits", description=__doc__)
    parser.add_argument("name", nargs="?", help=", ".join(LIMITS))
    parser.add_argument("--runs", type=int, default=None, help="instead of the usual number")
    parser.add_argument("--json", action="store_true", help="one JSON object a line (always so)")
    options, rest = parser.parse_known_args(words)
    if options.name is not None and options.name not in LIMITS:
        parser.error(f"no such limit: {options.name}; there are {', '.join(LIMITS)}")
    named = [one for one in LIMITS.values() if options.name in {None, one.name}]
    for limit in named:
        if options.name is not None or not limit.named_only:
            for line in measured(limit, rest, max(1, options.runs or limit.runs)):
                print(line, flush=True)


def measured(limit: Limit, words: Sequence[str], count: int) -> list[str]:
    """Run a limit `count` times, and again where the machine moved; return the lines to print."""
    runs: list[Run] = []
    while len(runs) < count + REPEATS_MAX and sum(not one.unsteady for one in runs) < count:
        progress(f"limits {limit.name}, run {len(runs) + 1} ...")
        runs.append(_one_run(limit, words))
    runs.sort(key=lambda one: one.unsteady)  # steady ones first; the order of others stays
    return judged(runs[:count], repeated=len(runs) - count)


def _one_run(limit: Limit, words: Sequence[str]) -> Run:
    with tempfile.TemporaryDirectory(prefix="chat-tui-limits-") as place:
        before = Calibration.taken(Path(place))
        run = Path(place) / "run"
        run.mkdir()
        figures = tuple(limit.measure(run, words))
        return Run(figures, before, Calibration.taken(Path(place)))
