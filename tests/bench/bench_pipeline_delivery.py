"""Delivery over many logs: CPU seconds and peak memory of the whole job, its JVM included.

`python -m tests.bench.bench_pipeline_delivery EXPORTS` measures it on exports that are there, such
as those of `chat-tui pipeline synthesize`. The job runs in a process of its own, as people run it.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pyarrow.dataset as ds

from storage.tables import LOG_DIR, NOTE
from tests.bench.report import Params, Result, at_least, at_most, progress
from tests.bench.used import measured

GOAL_EVENTS: Final = 9_800_000
GOAL_CPU_S: Final = 80.0
"""Of delivery on so many events, with 2 GB."""
JOB_WITHIN_S: Final = 1200.0


def rows_in(exports: Path) -> int:
    """How many events the logs of some exports have."""
    logs = [note.parent / LOG_DIR for note in exports.rglob(NOTE)]
    return sum(int(ds.dataset(log, format="parquet").count_rows()) for log in logs if log.is_dir())


def delivery(exports: Path, memory: str = "2g") -> Iterator[Result]:
    """Run the job once."""
    events = rows_in(exports)
    progress(f"delivery of {events:,} events ...")
    with tempfile.TemporaryDirectory() as out:
        command = ["pipeline", "delivery", str(exports), "--out", f"{out}/results"]
        command += ["--master", "local[2]", "--memory", memory]
        program = Path(sys.executable).with_name("chat-tui")
        used = measured(str(program), *command, within_s=JOB_WITHIN_S)
    params: Params = {"events": events, "memory": memory}
    goal = GOAL_CPU_S * max(1.0, events / GOAL_EVENTS)
    yield at_most("pipeline_delivery_cpu", used.seconds, "s", goal, params)
    rate = events / used.seconds
    yield at_least("pipeline_delivery_rate", rate, "events/CPU s", events / goal, params)
    yield Result("pipeline_delivery_memory", used.megabytes, "MB", params=params)


def main() -> None:
    """Measure on the exports that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("exports", type=Path)
    for result in delivery(parser.parse_args().exports):
        print(result.to_json(), flush=True)


if __name__ == "__main__":
    main()
