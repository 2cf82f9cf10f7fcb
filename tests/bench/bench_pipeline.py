"""The pipeline on the exports of many nodes: processor time, memory and rows a second of each job.

`python tests/bench/bench_pipeline.py --json` measures all sizes and all goals, and says how the
jobs grow from each size to the next. It takes an hour and up to 20 GB of disk; `--sizes 100k` or
`--sizes 1M,10M` less, and `--parts` leaves out others. `python -m tests.bench pipeline_10m` is one
size, `pipeline_small` what a person waits for with 20 nodes, `pipeline_days` a second
consolidation.

Each node has an export of its own, in the files that `chat-tui export` writes (`--layout one`: one
export of all nodes, in fewer and smaller files). Each job is a command of its own, so start-up of
the JVM counts. Processor time and memory are those of all its processes (driver, JVM, Python
workers), see `tests.bench.used`. DuckDB answers the questions of the audit beside it, in one
process, on the same files and with the same memory; signatures it cannot check. `prepared` among
the parameters says whether `chat-tui pipeline prepare` has kept Spark's classes on this computer,
which each of the jobs gains by.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

if not __package__:  # run as a file
    sys.path.insert(0, str(Path(__file__).parents[2]))

from storage.archive.layout import Layout
from storage.pipeline.inputs.footers import check_files
from storage.pipeline.inputs.inputs import Inputs
from storage.pipeline.results.publishing import Results
from storage.pipeline.synthetic.dataset import TRUTH
from tests.bench.bench_pipeline_days import pipeline_days
from tests.bench.pipeline_runs import JOB_WITHIN_S, Size, make, params, run_job
from tests.bench.report import Params, Result, at_least, at_most, progress
from tests.bench.used import Used, measured
from tests.support.storage.synthetic import KINDS, findings

AUDIT_GOAL_S: Final = 110.0
"""consolidate and audit together, on the size with the goals."""

DELIVERY_GOAL_S: Final = 80.0
"""delivery alone, on the same."""

SMALL_GOAL_S: Final = 25.0
"""All jobs in one command on few rows: wall time."""

TOGETHER: Final = "pipeline_consolidate_and_audit"
"""The figure that DuckDB's is beside."""


@dataclass(frozen=True, slots=True)
class Job:
    """A job that is measured: the table whose rows it is measured in, and its own goal, if any."""

    name: str
    table: str
    goal_s: float | None = None


JOBS: Final = (
    Job("consolidate", "history"),
    Job("audit", "log"),
    Job("delivery", "log", DELIVERY_GOAL_S),
    Job("fingerprints", "history"),
)
"""In this order: each reads what those before it found."""

SIZES: Final = {
    "100k": Size(16, 2_500, 4, 16),
    "1M": Size(64, 6_400, 16, 64),
    "10M": Size(256, 64_102, 32, 64),
    "50M": Size(256, 320_000, 32, 64),
}
"""By the rows of their logs."""

GROWN: Final = ("1M", "10M", "50M")
"""The sizes that are measured unless others are named."""

WITH_GOALS: Final = "10M"


def _grown(place: Path, name: str, layout: Layout = Layout.NODES) -> Iterator[Result]:
    size, made, out = SIZES[name], place / "made", place / "out"
    progress(f"pipeline: making {name} ...")
    counts = make(made, size, layout)
    told = {"size": name} | params(size, layout)
    yield _ends(made, told)
    together = 0.0
    for job in JOBS:
        progress(f"pipeline: {job.name} of {name} ...")
        used = run_job(job.name, made, out)
        yield from _figures(job, used, counts[job.table], told)
        together += used.seconds if job.name in ("consolidate", "audit") else 0
    yield _exact(place, told)
    progress(f"pipeline: DuckDB's audit of {name} ...")
    duck = measured(
        *(sys.executable, "-m", "tests.bench.duckdb_audit", str(made), str(place / "duck")),
        within_s=JOB_WITHIN_S,
    )
    goal = AUDIT_GOAL_S if name == WITH_GOALS else None
    met = None if goal is None else together <= goal
    rows: Params = {"rows": counts["history"] + counts["log"]}
    ratio = duck.seconds / together
    yield Result(TOGETHER, together, "CPU s", goal, met, told | rows, duck.seconds, ratio)
    yield Result("pipeline_duckdb_memory", duck.megabytes, "MB", params=told)


def _ends(made: Path, told: Params) -> Result:
    """Measure the look at each file that every job begins with."""
    began = time.perf_counter()
    amount = check_files(Inputs.find([made]))
    wall_ms = (time.perf_counter() - began) * 1000
    sizes: Params = {"files": amount.files, "MB": round(amount.size / 2**20)}
    return Result("pipeline_file_end_wall", wall_ms / amount.files, "ms", params=told | sizes)


def _exact(place: Path, told: Params) -> Result:
    """Say how many faults are told rightly: those of each kind of which exactly all are told."""
    truth = json.loads((place / "made" / TRUTH).read_text())["truth"]
    found = {kind: findings(Results(place / "out"), kind) for kind in KINDS}
    right = sum(len(truth[kind]) for kind in KINDS if found[kind] == sorted(truth[kind]))
    planted = sum(len(truth[kind]) for kind in KINDS)
    return at_least("pipeline_faults_told", right, "faults", planted, told)


def _figures(job: Job, used: Used, rows: int, sized: Params) -> Iterator[Result]:
    name = f"pipeline_{job.name}"
    told = sized | {"rows": rows}
    if job.goal_s is None or sized["size"] != WITH_GOALS:
        yield Result(f"{name}_cpu", used.seconds, "CPU s", params=told)
    else:
        yield at_most(f"{name}_cpu", used.seconds, "CPU s", job.goal_s, told)
    yield Result(f"{name}_wall", used.wall_s, "s", params=told)
    yield Result(f"{name}_rate", rows / used.seconds, "rows/CPU s", params=told)
    yield Result(f"{name}_memory", used.megabytes, "MB", params=told)


def pipeline_1m(place: Path) -> Iterator[Result]:
    """64 nodes, a million rows of logs."""
    yield from _grown(place, "1M")


def pipeline_10m(place: Path) -> Iterator[Result]:
    """256 nodes, 4.1 M rows of history and 10 M of logs: the one with the goals."""
    yield from _grown(place, "10M")


def pipeline_50m(place: Path) -> Iterator[Result]:
    """256 nodes, 20 M rows of history and 50 M of logs."""
    yield from _grown(place, "50M")


def pipeline_small(place: Path) -> Iterator[Result]:
    """20 nodes with 10,000 messages: all jobs and the report in one command."""
    for members in (8, 20):
        progress(f"pipeline: 20 nodes, {members} in each of 4 channels ...")
        size = Size(20, 10_000, 4, members)
        made, out = (place / f"{members}" / name for name in ("made", "out"))
        counts = make(made, size)
        used = run_job("all", made, out)
        told = params(size) | {"members": members, "rows": counts["history"] + counts["log"]}
        yield at_most("pipeline_small_wall", used.wall_s, "s", SMALL_GOAL_S, told)
        yield Result("pipeline_small_cpu", used.seconds, "CPU s", params=told)
        yield Result("pipeline_small_memory", used.megabytes, "MB", params=told)


BENCHMARKS: Final = (pipeline_small, pipeline_1m, pipeline_10m, pipeline_50m)

PARTS: Final = {"small": pipeline_small, "days": pipeline_days}
"""Choices of `--parts`, beside `growth`, the sizes."""


def growth(smaller: Mapping[str, Result], larger: Mapping[str, Result]) -> Iterator[Result]:
    """Say how many times the processor time of each job grows, and its rows, by job."""
    for name in (*[f"pipeline_{job.name}_cpu" for job in JOBS], TOGETHER):
        before, after = smaller[name], larger[name]
        rows = float(after.params["rows"]) / float(before.params["rows"])
        sizes = {"size": after.params["size"], "from": before.params["size"]}
        told: Params = {**sizes, "rows_times": round(rows, 2)}
        times = after.value / before.value
        peer = None
        if before.peer is not None and after.peer is not None:
            peer = after.peer / before.peer
        ratio = None if peer is None else peer / times
        named = f"{name.removesuffix('_cpu')}_growth"
        yield Result(named, times, "x", params=told, peer=peer, ratio=ratio)


def _measure_growth(sizes: list[str], layout: Layout) -> Iterator[Result]:
    """Measure sizes, one after the other, and what each is to the one before."""
    before: dict[str, Result] = {}
    for size in sizes:
        results: dict[str, Result] = {}
        with tempfile.TemporaryDirectory(prefix="chat-tui-bench-") as place:
            for result in _grown(Path(place), size, layout):
                yield result
                results[result.name] = result
        yield from growth(before, results) if before else ()
        before = results


def main() -> None:
    """Measure, and print each figure as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line (always so)")
    parser.add_argument(
        "--sizes", default=",".join(GROWN), help=f"of {', '.join(SIZES)}; default: %(default)s"
    )
    parser.add_argument(
        "--parts", default=",".join(("growth", *PARTS)), help="default: %(default)s"
    )
    layouts = [layout.value for layout in Layout]
    parser.add_argument("--layout", choices=layouts, default=Layout.NODES.value)
    options = parser.parse_args()
    sizes, parts = options.sizes.split(","), options.parts.split(",")
    for named, known in ((sizes, SIZES), (parts, {"growth", *PARTS})):
        if unknown := [one for one in named if one not in known]:
            parser.error(f"no such thing: {', '.join(unknown)}; there are {', '.join(known)}")
    if "growth" in parts:
        for result in _measure_growth(sizes, Layout(options.layout)):
            print(result.to_json(), flush=True)
    for part in parts:
        if part in PARTS:
            with tempfile.TemporaryDirectory(prefix="chat-tui-bench-") as place:
                for result in PARTS[part](Path(place)):
                    print(result.to_json(), flush=True)


if __name__ == "__main__":
    main()
