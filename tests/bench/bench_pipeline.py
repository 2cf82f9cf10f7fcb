"""The pipeline on many made nodes: processor time, memory and rows a second of each job.

Each node has an export of its own, written as nodes write them: 1.6 GB of 10M.

`python tests/bench/bench_pipeline.py --json` measures all sizes, and says how the jobs grow from
each to the next; it takes half an hour, and `--sizes 1M,10M` less. `python -m tests.bench
pipeline_10m` is one size, `pipeline_small` what a person waits for with 20 nodes.

Each job is a command of its own, so start-up of the JVM counts. Processor time and memory are those
of all its processes (driver, JVM, Python workers), see `tests.bench.used`. DuckDB answers the
questions of the audit beside it, in one process, on the same files and with the same memory;
signatures it cannot check. `prepared` among the parameters says whether `chat-tui pipeline prepare`
has kept Spark's classes on this computer, which each of the jobs gains by.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

if not __package__:  # run as a file
    sys.path.insert(0, str(Path(__file__).parents[2]))

from storage.archive.layout import Layout
from storage.archive.tables import HISTORY_DIR
from storage.pipeline.results.publishing import Results
from storage.pipeline.spark import class_archive
from storage.pipeline.synthetic.dataset import TRUTH, synthesize
from storage.pipeline.synthetic.plan import Faults, Plan
from tests.bench.report import Params, Result, at_least, at_most, progress
from tests.bench.used import Used, measured
from tests.support.storage.synthetic import KINDS, findings

MEMORY: Final = "2g"
MASTER: Final = "local[2]"
JOB_WITHIN_S: Final = 1200.0

PROGRAM: Final = str(Path(sys.executable).with_name("chat-tui"))

AUDIT_GOAL_S: Final = 110.0
"""consolidate and audit together, on the size with the goals."""

DELIVERY_GOAL_S: Final = 80.0
"""delivery alone, on the same."""

SMALL_GOAL_S: Final = 25.0
"""All jobs in one command on few rows: wall time."""

DAYS: Final = 30
ONE_DAY_GOAL: Final = 0.2
"""Of the processor time of a consolidation of `DAYS` days: of one where one of them is new."""


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
    "1M": (64, 6_400, 16),
    "10M": (256, 64_102, 32),
    "50M": (256, 320_000, 32),
}
"""By the rows of their logs: nodes, messages and channels."""

WITH_GOALS: Final = "10M"


def _plan(nodes: int, messages: int, channels: int, members: int, days: int = 1) -> Plan:
    return Plan(
        nodes=nodes,
        messages=messages,
        channels=channels,
        members=members,
        loss=0.03,
        never=0.02,
        duplicates=0.25,
        hours=24.0 * days,
        seed=1,
        faults=Faults(),
    )


def _run(place: Path, job: str) -> Used:
    return measured(
        *(PROGRAM, "pipeline", job, str(place / "made"), "--out", str(place / "out")),
        *("--master", MASTER, "--memory", MEMORY, "--json"),
        within_s=JOB_WITHIN_S,
    )


def _params(nodes: int) -> Params:
    prepared = class_archive.kept() is not None
    return {
        "nodes": nodes,
        "memory": MEMORY,
        "master": MASTER,
        "prepared": prepared,
        "layout": Layout.NODES.value,
    }


def _made(place: Path, plan: Plan) -> dict[str, int]:
    return synthesize(place / "made", plan, lambda said: None, Layout.NODES)


def _grown(place: Path, size: str) -> Iterator[Result]:
    nodes, messages, channels = SIZES[size]
    progress(f"pipeline: making {size} ...")
    plan = _plan(nodes, messages, channels, members=64)
    counts = _made(place, plan)
    params = {"size": size} | _params(nodes)
    together = 0.0
    for job in JOBS:
        progress(f"pipeline: {job.name} of {size} ...")
        used = _run(place, job.name)
        yield from _figures(job, used, counts[job.table], params)
        together += used.seconds if job.name in ("consolidate", "audit") else 0
    yield _exact(place, params)
    progress(f"pipeline: DuckDB's audit of {size} ...")
    duck = measured(
        *(sys.executable, "-m", "tests.bench.duckdb_audit"),
        *(str(place / "made"), str(place / "duck")),
        within_s=JOB_WITHIN_S,
    )
    goal = AUDIT_GOAL_S if size == WITH_GOALS else None
    name = "pipeline_consolidate_and_audit"
    met = None if goal is None else together <= goal
    ratio = duck.seconds / together
    yield Result(name, together, "CPU s", goal, met, params, peer=duck.seconds, ratio=ratio)
    yield Result("pipeline_duckdb_memory", duck.megabytes, "MB", params=params)


def _exact(place: Path, params: Params) -> Result:
    """Say how many faults are told rightly: those of each kind of which exactly all are told."""
    truth = json.loads((place / "made" / TRUTH).read_text())["truth"]
    told = {kind: findings(Results(place / "out"), kind) for kind in KINDS}
    right = sum(len(truth[kind]) for kind in KINDS if told[kind] == sorted(truth[kind]))
    planted = sum(len(truth[kind]) for kind in KINDS)
    return at_least("pipeline_faults_told", right, "faults", planted, params)


def _figures(job: Job, used: Used, rows: int, params: Params) -> Iterator[Result]:
    name = f"pipeline_{job.name}"
    told = params | {"rows": rows}
    if job.goal_s is None or params["size"] != WITH_GOALS:
        yield Result(f"{name}_cpu", used.seconds, "CPU s", params=told)
    else:
        yield at_most(f"{name}_cpu", used.seconds, "CPU s", job.goal_s, told)
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
        plan = _plan(20, 10_000, 4, members)
        counts = _made(place / f"{members}", plan)
        used = _run(place / f"{members}", "all")
        params = _params(20) | {"members": members, "rows": counts["history"] + counts["log"]}
        yield at_most("pipeline_small_wall", used.wall_s, "s", SMALL_GOAL_S, params)
        yield Result("pipeline_small_cpu", used.seconds, "CPU s", params=params)
        yield Result("pipeline_small_memory", used.megabytes, "MB", params=params)


def pipeline_new_day(place: Path) -> Iterator[Result]:
    """64 nodes, 2 M rows of history in `DAYS` days: consolidated, then again with one day more."""
    progress(f"pipeline: making {DAYS} days ...")
    counts = _made(place, _plan(64, 32_000, 8, 64, DAYS))
    newest = max(path.name for path in (place / "made").glob(f"*/{HISTORY_DIR}/*/day=*"))
    aside = place / "aside"
    for path in (place / "made").glob(f"*/{HISTORY_DIR}/*/{newest}"):
        (to := aside / path.relative_to(place / "made")).parent.mkdir(parents=True)
        path.rename(to)
    progress(f"pipeline: consolidate of {DAYS - 1} days ...")
    whole = _run(place, "consolidate")
    for path in aside.glob(f"*/{HISTORY_DIR}/*/{newest}"):
        path.rename(place / "made" / path.relative_to(aside))
    progress("pipeline: consolidate with a new day ...")
    again = _run(place, "consolidate")
    params = _params(64) | {"days": DAYS, "rows": counts["history"]}
    yield Result("pipeline_all_days_cpu", whole.seconds, "CPU s", params=params)
    yield Result("pipeline_new_day_cpu", again.seconds, "CPU s", params=params)
    part = again.seconds / whole.seconds
    yield at_most("pipeline_new_day_part", part, "of all days", ONE_DAY_GOAL, params)


BENCHMARKS: Final = (
    pipeline_small,
    pipeline_new_day,
    pipeline_1m,
    pipeline_10m,
    pipeline_50m,
)


def growth(smaller: Mapping[str, Result], larger: Mapping[str, Result]) -> Iterator[Result]:
    """Say how many times the processor time of each job grows, and its rows, by job."""
    for job in JOBS:
        before, after = (results[f"pipeline_{job.name}_cpu"] for results in (smaller, larger))
        rows = float(after.params["rows"]) / float(before.params["rows"])
        sizes = {"size": after.params["size"], "from": before.params["size"]}
        params: Params = {**sizes, "rows_times": round(rows, 2)}
        yield Result(f"pipeline_{job.name}_growth", after.value / before.value, "x", params=params)


def main() -> None:
    """Measure sizes, one after the other, and print each figure as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line (always so)")
    parser.add_argument("--sizes", default=",".join(SIZES), help="default: %(default)s")
    sizes = parser.parse_args().sizes.split(",")
    if unknown := [size for size in sizes if size not in SIZES]:
        parser.error(f"no such size: {', '.join(unknown)}; there are {', '.join(SIZES)}")
    before: dict[str, Result] = {}
    for size in sizes:
        results: dict[str, Result] = {}
        with tempfile.TemporaryDirectory(prefix="chat-tui-bench-") as place:
            for result in _grown(Path(place), size):
                print(result.to_json(), flush=True)
                results[result.name] = result
        for result in growth(before, results) if before else ():
            print(result.to_json(), flush=True)
        before = results


if __name__ == "__main__":
    main()
