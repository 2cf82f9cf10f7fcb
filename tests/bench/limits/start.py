"""`limits start`: processor time to the first paint, beside an empty Textual application."""

import asyncio
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from tests.bench.bench_ui import EMPTY_APP, NEWEST, PROGRAM, cpu_until, extend
from tests.bench.limits.figures import Figure, Limit
from tests.bench.measured_screen import PROFILE
from tests.bench.programs import Programs
from tests.bench.report import Params

MESSAGES: Final = 1_000


def measure(place: Path, _words: Sequence[str]) -> Iterator[Figure]:
    """Yield the figure of one run; what is started first compiles, and is started again."""
    asyncio.run(extend(place, 0, MESSAGES))
    where = ["--profile", PROFILE, "--interface", "127.0.0.1", "--data-dir", str(place)]
    commands = [*PROGRAM, *where], [sys.executable, "-c", EMPTY_APP.format(text=NEWEST)]
    compiled = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(place / "compiled")}
    with Programs() as programs:
        for command in commands:
            cpu_until(programs, command, compiled)
        ours, floor = [cpu_until(programs, command, compiled) for command in commands]
    params: Params = {"messages": MESSAGES}
    yield Figure("start", ours * 1e3, floor * 1e3, "ms CPU", 1.5, params=params)


LIMIT: Final = Limit("start", measure)
