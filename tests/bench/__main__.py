"""Run the benchmarks, or those that are named: `python -m tests.bench [NAME ...]`."""

import argparse
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeAlias

from tests.bench import bench_chat, bench_transcript
from tests.bench.report import Result, progress

Benchmark: TypeAlias = Callable[[Path], Iterator[Result]]
"""Measures with programs and files of its own in an empty directory."""

BENCHMARKS: Final[dict[str, Benchmark]] = {
    each.__name__: each
    for each in (
        bench_chat.plain_latency,
        bench_chat.plain_rate,
        bench_chat.plain_latency_at_rate,
        bench_chat.screen_latency,
        bench_transcript.transcript,
    )
}


def main() -> None:
    """Measure, and print each figure as soon as it is known."""
    parser = argparse.ArgumentParser(prog="tests.bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--json", action="store_true", help="one JSON object a line (always so)")
    names = parser.parse_args().names or list(BENCHMARKS)
    if unknown := [name for name in names if name not in BENCHMARKS]:
        parser.error(f"no such benchmark: {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")
    for name in names:
        progress(f"{name} ...")
        with tempfile.TemporaryDirectory(prefix="chat-tui-bench-") as place:
            for result in BENCHMARKS[name](Path(place)):
                print(result.to_json(), flush=True)


if __name__ == "__main__":
    main()
