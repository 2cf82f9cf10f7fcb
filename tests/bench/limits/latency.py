"""`limits latency [RATE ...]`: lines at a rate, beside single lines of the same two programs.

Each line is timed from the moment it was due, so what waits behind others counts. Told with each
figure: how late the feeder itself was (p99), and how many processors both programs and the feeder
took. Where these are nearly all there are, lines wait for a processor, whatever the programs do.
"""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from tests.bench.bench_chat import arrivals, one_line, plain_pair, warm_up
from tests.bench.limits.figures import Figure, Limit
from tests.bench.programs import Program, Programs
from tests.bench.report import Params, quantile

SINGLE: Final = 100
STEADY_S: Final = 5
WITHIN_S: Final = 60.0
GOALS: Final = {1_000: 4.0, 2_500: 10.0}


def measure(place: Path, words: Sequence[str]) -> Iterator[Figure]:
    """Yield the p99 of each rate beside the p50 of single lines, of one run."""
    with Programs() as programs:
        alice, bob = plain_pair(programs, place)
        warm_up(programs, alice, bob)
        single = [one_line(programs, alice, bob, f"single {at} ends") for at in range(SINGLE)]
        floor = quantile(single, 0.5) * 1e3
        for rate in [int(word) for word in words] or GOALS:
            texts = [f"at {rate} number {number}" for number in range(rate * STEADY_S)]
            before, began = _used_s(alice, bob), time.perf_counter() + 0.1
            due = [began + number / rate for number in range(len(texts))]
            late: list[float] = []
            for text, at in zip(texts, due, strict=True):
                if at > time.perf_counter():
                    programs.run(at - time.perf_counter())
                late.append((time.perf_counter() - at) * 1e3)
                programs.feed(alice, f"{text}\n".encode())
            times = arrivals(programs, bob, texts, within_s=WITHIN_S)
            used = (_used_s(alice, bob) - before) / (max(times) - began)
            took = [(shown - at) * 1e3 for shown, at in zip(times, due, strict=True)]
            params: Params = {
                "rate": rate,
                "p50_ms": round(quantile(took, 0.5), 1),
                "feeder_late_ms": round(quantile(late, 0.99), 1),
                "processors": round(used, 2),
            }
            p99 = quantile(took, 0.99)
            yield Figure(f"latency_{rate}_p99", p99, floor, "ms", GOALS.get(rate), params=params)


def _used_s(*programs: Program) -> float:
    """Return the processor time that these and we have used so far, in seconds."""
    return time.process_time() + sum(one.cpu_s for one in programs)


LIMIT: Final = Limit("latency", measure)
