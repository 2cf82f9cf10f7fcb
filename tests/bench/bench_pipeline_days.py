"""A second consolidation of thirty days of which one is new: `python -m tests.bench pipeline_days`.

Other sizes: `python -m tests.bench.bench_pipeline_days --messages N`. 64 nodes export thirty days.
They are consolidated without the last day, and once more with it into the same results; and all of
them into other results, with which the second result is compared: its figures must be the same.
"""

import argparse
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from storage.pipeline.results.publishing import Results
from tests.bench.pipeline_runs import DAY_H, Size, files_below, make, params, run_job
from tests.bench.report import Result, at_most, progress

DAYS: Final = 30
BEGINS_H: Final = 5.0
"""Within the fifth hour of the first day of a data set its first message is written."""

MESSAGES: Final = 64_102
"""Of 64 members each: 4.1 M rows of history. The goal is one of this size, or of a larger one."""

SHARE_GOAL: Final = 0.2
"""Of the processor time of all thirty days."""


def _moved(exports: Path, aside: Path) -> int:
    """Take the last day out of all exports; returns how many files those are."""
    files = files_below(exports)
    last = max(path.parent.name for path in files if path.parents[2].name == "history")
    taken = [path for path in files if path.parent.name >= last]
    for path in taken:
        place = aside / path.relative_to(exports)
        place.parent.mkdir(parents=True)
        path.rename(place)
        path.parent.rmdir()
    return len(taken)


def _put_back(exports: Path, aside: Path) -> None:
    for path in files_below(aside):
        place = exports / path.relative_to(aside)
        place.parent.mkdir(parents=True, exist_ok=True)
        path.rename(place)


def _figures(out: Path) -> Mapping[str, Any]:
    published = Results(out).published("consolidate")
    assert published is not None
    return published.figures


def days(place: Path, messages: int) -> Iterator[Result]:
    """Measure thirty days with so many messages.

    Raises:
        RuntimeError: the second consolidation found something else than one of all days.
    """
    size = Size(64, messages, 2, 64, hours=DAYS * DAY_H - BEGINS_H)
    exports, aside, out = place / "made", place / "aside", place / "out"
    progress(f"pipeline: making {DAYS} days of {messages:,} messages ...")
    counts = make(exports, size)
    told = params(size) | {"days": DAYS, "rows": counts["history"]}
    moved = _moved(exports, aside)
    progress(f"pipeline: consolidating {DAYS - 1} days ...")
    first = run_job("consolidate", exports, out)
    _put_back(exports, aside)
    progress(f"pipeline: consolidating them and a new day ({moved} files) ...")
    again = run_job("consolidate", exports, out)
    progress(f"pipeline: consolidating all {DAYS} days ...")
    whole = run_job("consolidate", exports, place / "other")
    found, wanted = _figures(out), _figures(place / "other")
    differing = [name for name in ("rows", "entries", "holders") if found[name] != wanted[name]]
    if differing:
        raise RuntimeError(f"another result than of all {DAYS} days: {', '.join(differing)}")
    yield Result("pipeline_days_first_cpu", first.seconds, "CPU s", params=told)
    yield Result("pipeline_days_again_cpu", again.seconds, "CPU s", params=told)
    yield Result("pipeline_days_whole_cpu", whole.seconds, "CPU s", params=told)
    share = again.seconds / whole.seconds
    name = "pipeline_days_again_share"
    if messages >= MESSAGES:
        yield at_most(name, share, "of all days", SHARE_GOAL, told)
    else:
        yield Result(name, share, "of all days", params=told)


def pipeline_days(place: Path) -> Iterator[Result]:
    """Thirty days of 64 nodes, 4.1 M rows of history: the one with the goal."""
    yield from days(place, MESSAGES)


BENCHMARKS: Final = (pipeline_days,)


def main() -> None:
    """Measure any number of messages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true", help="one JSON object a line (always so)")
    parser.add_argument("--messages", type=int, default=MESSAGES, help="default: %(default)s")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="chat-tui-bench-") as place:
        for result in days(Path(place), options.messages):
            print(result.to_json(), flush=True)


if __name__ == "__main__":
    main()
