"""Run the benchmarks, or those that are named: `python -m tests.bench [NAME ...]`.

`python -m tests.bench limits` measures ratios to floors instead (`tests.bench.limits.command`).

Of a benchmark that others on this computer disturb, the least disturbed of a few runs counts:
`others` among its parameters says what share of the machine they took. The exit code is 0 whether
goals are met or not. Garbage is looked for as in the running chat (`chat_tui.client.gc_policy`).
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeAlias

from chat_tui.client import gc_policy
from tests.bench import (
    bench_chat,
    bench_export,
    bench_governance,
    bench_governed_nodes,
    bench_logs,
    bench_newcomer,
    bench_pipeline,
    bench_pipeline_days,
    bench_pipeline_diff,
    bench_reconcile,
    bench_relay,
    bench_replication,
    bench_replication_newcomer,
    bench_replication_stores,
    bench_sds,
    bench_sim,
    bench_state_sync,
    bench_sync,
    bench_ui,
)
from tests.bench.finding import bench_finding
from tests.bench.limits import command as limits
from tests.bench.live import newcomer
from tests.bench.report import Result, progress

Benchmark: TypeAlias = Callable[[Path], Iterator[Result]]
"""Measures with programs and files of its own in an empty directory."""

PIPELINE: Final = (
    *bench_pipeline.BENCHMARKS,
    *bench_pipeline_days.BENCHMARKS,
    *bench_pipeline_diff.BENCHMARKS,
)

BENCHMARKS: Final[dict[str, Benchmark]] = {
    each.__name__: each
    for each in (
        bench_chat.plain_latency,
        bench_chat.plain_rate,
        bench_chat.plain_latency_at_rate,
        bench_chat.screen_latency,
        bench_finding.finding,
        *bench_ui.BENCHMARKS,
        *bench_sds.BENCHMARKS,
        *bench_reconcile.BENCHMARKS,
        bench_replication.replication,
        bench_replication_stores.replication_stores,
        bench_replication_newcomer.replication_newcomer,
        bench_logs.author_logs,
        bench_governance.governance,
        bench_governed_nodes.governed_links,
        bench_governed_nodes.state_nodes,
        bench_governed_nodes.joining,
        bench_state_sync.state_sync,
        *bench_sync.BENCHMARKS,
        *bench_newcomer.BENCHMARKS,
        newcomer.live_newcomer,
        bench_sim.simulator,
        *bench_relay.BENCHMARKS,
        *bench_export.BENCHMARKS,
        *PIPELINE,
    )
}

NAMED_ONLY: Final = {each.__name__ for each in PIPELINE}
"""They make data of up to 50 M rows and run for minutes, so they run when they are named."""

CALM: Final = 0.05
"""Load by others that does not spoil a run."""

RUNS_MAX: Final = 3
REPEAT_WITHIN_S: Final = 90.0
"""No run is repeated later than this after the start."""


def main() -> None:
    """Measure, and print each figure as soon as it is known."""
    if sys.argv[1:2] == ["limits"]:
        gc_policy.settle()
        limits.main(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(prog="tests.bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--json", action="store_true", help="one JSON object a line (always so)")
    names = parser.parse_args().names or [name for name in BENCHMARKS if name not in NAMED_ONLY]
    if unknown := [name for name in names if name not in BENCHMARKS]:
        parser.error(f"no such benchmark: {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")
    gc_policy.settle()
    repeat_until = time.perf_counter() + REPEAT_WITHIN_S
    for name in names:
        for result in _least_disturbed(name, repeat_until):
            print(result.to_json(), flush=True)


def _least_disturbed(name: str, repeat_until: float) -> list[Result]:
    """Run a benchmark until one run is calm, the third is over, or it is too late for another."""
    runs: list[list[Result]] = []
    while len(runs) < RUNS_MAX:
        progress(f"{name} ...")
        with tempfile.TemporaryDirectory(prefix="chat-tui-bench-") as place:
            runs.append(list(BENCHMARKS[name](Path(place))))
        if _disturbance(runs[-1]) <= CALM or time.perf_counter() > repeat_until:
            break
    return min(runs, key=_disturbance)


def _disturbance(results: list[Result]) -> float:
    """Return the share of the machine that others took; 0 where processor time is measured."""
    return max(float(result.params.get("others", 0.0)) for result in results)


if __name__ == "__main__":
    main()
