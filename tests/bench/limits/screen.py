"""`limits screen`: from Enter to the line on another screen, beside two commits and a key's echo.

The echo is that of an empty Textual application in the same kind of terminal.
"""

import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from tests.bench.bench_chat import commit_ms, screen_pair, typed_line
from tests.bench.limits.empty_app import READY
from tests.bench.limits.figures import Figure, Limit
from tests.bench.programs import Program, Programs
from tests.bench.report import Params, quantile

LINES: Final = 50
WARM_UP: Final = 5
ECHOES: Final = 60
REST_S: Final = 0.03
WITHIN_S: Final = 30.0
EMPTY_APP: Final = (sys.executable, "-m", "tests.bench.limits.empty_app")


def echoes_ms(programs: Programs, program: Program, count: int) -> list[float]:
    """Type that many letters, one after the other; return how long each took to be painted."""
    took = []
    for _ in range(count):
        since = program.chunk_count
        began = time.perf_counter()
        programs.feed(program, b"x")
        painted = programs.wait_for(program, b"x", since=since, within_s=WITHIN_S)
        took.append((painted - began) * 1e3)
        programs.run(REST_S)
    return took


def empty_echoes_ms(count: int = ECHOES) -> list[float]:
    """Return the echoes of keys in an empty application."""
    with Programs() as programs:
        empty = programs.start_in_terminal(EMPTY_APP)
        programs.wait_for(empty, READY.encode(), since=0, within_s=WITHIN_S)
        programs.run(REST_S)
        return echoes_ms(programs, empty, WARM_UP + count)[WARM_UP:]


def measure(place: Path, _words: Sequence[str]) -> Iterator[Figure]:
    """Yield the p50 beside the floor, and the p99 beside the p50, of one run."""
    floor = 2 * commit_ms(place) + quantile(empty_echoes_ms(), 0.5)
    with Programs() as programs:
        alice, bob = screen_pair(programs, place)
        programs.pin()
        took = [
            typed_line(programs, alice, bob, f"typed{number}end") * 1e3
            for number in range(-WARM_UP, LINES)
        ][WARM_UP:]
    p50 = quantile(took, 0.5)
    params: Params = {"lines": LINES}
    yield Figure("screen_p50", p50, floor, "ms", 2.2, params=params)
    yield Figure("screen_p99", quantile(took, 0.99), p50, "ms", 2.5, params=params)


LIMIT: Final = Limit("screen", measure)
