"""Jobs of the pipeline on made exports, run as people run them: shared by its benchmarks."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from storage.archive.layout import Layout
from storage.pipeline.spark import class_archive
from storage.pipeline.synthetic.dataset import synthesize
from storage.pipeline.synthetic.plan import Faults, Plan
from tests.bench.report import Params
from tests.bench.used import Used, measured

MEMORY: Final = "2g"
MASTER: Final = "local[2]"
JOB_WITHIN_S: Final = 1200.0

PROGRAM: Final = str(Path(sys.executable).with_name("chat-tui"))

DAY_H: Final = 24.0


@dataclass(frozen=True, slots=True)
class Size:
    """Size of a data set; `members` are those of each channel."""

    nodes: int
    messages: int
    channels: int
    members: int
    hours: float = DAY_H


def make(directory: Path, size: Size, layout: Layout = Layout.NODES) -> dict[str, int]:
    """Make a data set with faults; returns what it holds."""
    plan = Plan(
        nodes=size.nodes,
        messages=size.messages,
        channels=size.channels,
        members=size.members,
        loss=0.03,
        never=0.02,
        duplicates=0.25,
        hours=size.hours,
        seed=1,
        faults=Faults(),
    )
    return synthesize(directory, plan, lambda said: None, layout)


def run_job(job: str, exports: Path, out: Path) -> Used:
    """Run a job as a command of its own."""
    return measured(
        *(PROGRAM, "pipeline", job, str(exports), "--out", str(out)),
        *("--master", MASTER, "--memory", MEMORY, "--json"),
        within_s=JOB_WITHIN_S,
    )


def params(size: Size, layout: Layout = Layout.NODES) -> Params:
    """Return what all figures of a data set were measured with."""
    prepared = class_archive.kept() is not None
    return {
        "layout": layout.value,
        "nodes": size.nodes,
        "memory": MEMORY,
        "master": MASTER,
        "prepared": prepared,
    }


def files_below(directory: Path) -> Sequence[Path]:
    """Return the Parquet files of a data set."""
    return sorted(directory.rglob("*.parquet"))
