"""The pipeline on 256 made nodes: processor time, memory and rows a second of each job.

Each job is a command of its own, so start-up of the JVM counts. Processor time and memory are those
of all its processes (driver, JVM, Python workers), see `tests.bench.used`. DuckDB answers the
questions of the audit beside it, in one process, on the same files and with the same memory;
signatures it cannot check. `prepared` among the parameters says whether `chat-tui pipeline prepare`
has kept Spark's classes on this computer, which each of the jobs gains by.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from storage.pipeline import classes
from storage.pipeline.synthesize import synthesize
from storage.pipeline.synthetic.plan import Faults, Plan
from tests.bench.report import Params, Result, at_most, progress
from tests.bench.used import Used, measured

MEMORY: Final = "2g"
MASTER: Final = "local[2]"
JOB_WITHIN_S: Final = 1200.0

AUDIT_GOAL_S: Final = 110.0
"""consolidate and audit together, on the largest plan but one."""

DELIVERY_GOAL_S: Final = 80.0
"""delivery alone, on the same."""


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
)
"""In this order: each reads what those before it found."""

PLANS: Final = {
    "1M": (64, 6_400, 16),
    "10M": (256, 64_102, 32),
    "50M": (256, 320_000, 32),
}
"""By the rows of their logs: nodes, messages and channels."""


def _grown(place: Path, size: str) -> Iterator[Result]:
    nodes, messages, channels = PLANS[size]
    progress(f"pipeline: making {size} ...")
    plan = Plan(
        nodes=nodes,
        messages=messages,
        channels=channels,
        members=64,
        loss=0.03,
        never=0.02,
        duplicates=0.25,
        hours=24.0,
        seed=1,
        faults=Faults(),
    )
    counts = synthesize(place / "made", plan, lambda said: None)
    params: Params = {
        "size": size,
        "nodes": nodes,
        "memory": MEMORY,
        "master": MASTER,
        "prepared": classes.kept() is not None,
    }
    together = 0.0
    for job in JOBS:
        progress(f"pipeline: {job.name} of {size} ...")
        used = measured(
            str(Path(sys.executable).with_name("chat-tui")),
            *("pipeline", job.name, str(place / "made"), "--out", str(place / "out")),
            *("--master", MASTER, "--memory", MEMORY, "--json"),
            within_s=JOB_WITHIN_S,
        )
        yield from _figures(job, used, counts[job.table], params)
        together += used.seconds if job.name in ("consolidate", "audit") else 0
    progress(f"pipeline: DuckDB's audit of {size} ...")
    duck = measured(
        *(sys.executable, "-m", "tests.bench.duckdb_audit"),
        *(str(place / "made"), str(place / "duck")),
        within_s=JOB_WITHIN_S,
    )
    goal = AUDIT_GOAL_S if size == "10M" else None
    name = "pipeline_consolidate_and_audit"
    met = None if goal is None else together <= goal
    ratio = duck.seconds / together
    yield Result(name, together, "CPU s", goal, met, params, peer=duck.seconds, ratio=ratio)
    yield Result("pipeline_duckdb_memory", duck.megabytes, "MB", params=params)


def _figures(job: Job, used: Used, rows: int, params: Params) -> Iterator[Result]:
    name = f"pipeline_{job.name}"
    told = params | {"rows": rows}
    if job.goal_s is None or params["size"] != "10M":
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


BENCHMARKS: Final = (pipeline_1m, pipeline_10m, pipeline_50m)
