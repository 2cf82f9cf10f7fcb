"""`limits reconcile --negentropy BINARY`: both sides of Waku Sync beside negentropy in C++.

Both compare the same two files, in this process and in one of its own, and each must find what
differs, to the number. `negentropy_session.cpp` says how to build the program; the commit that it
was built from stands with each figure. Seconds are processor time of both sides, bytes those of a
session. Names of figures tell ids, differences and where these are.
"""

import argparse
import json
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from statistics import median
from typing import Final

import numpy as np

from sync.structures.ordered_set import OrderedSet
from sync.structures.sorted_run import HASH_WORDS, Words
from tests.bench.bench_reconcile import MAGIC, Sets, cpu_of, made, run_session
from tests.bench.limits.figures import Figure, Limit
from tests.bench.report import Params

SESSIONS: Final = 5
MS: Final = 1_000
SEEDS: Final = count(1)
"""Of the sets, another one in each run."""


@dataclass(frozen=True, slots=True)
class Case:
    """So many ids, of which so many differ; the goal is for the processor time of both sides."""

    ids: int
    differ: int
    shape: str
    goal: float | None = None

    @property
    def name(self) -> str:
        """Return the name of its figure."""
        return f"reconcile_{self.ids}_{self.differ}_{self.shape}"


CASES: Final = (
    Case(1_000_000, 1_000, "uniform", 1.0),
    Case(1_000_000, 1_000, "recent", 1.4),
    Case(1_000_000, 10_000, "uniform"),
    Case(1_000_000, 10_000, "recent"),
    Case(1_000_000, 10, "uniform"),
    Case(10_000, 1_000, "uniform"),
)


@dataclass(frozen=True, slots=True)
class Theirs:
    """A session of negentropy; see `negentropy_session.cpp`."""

    commit: str
    seconds: float
    bytes: int
    payloads: int
    have: int
    need: int


def measure(place: Path, words: Sequence[str]) -> Iterator[Figure]:
    """Yield the processor time and the bytes of each case."""
    parser = argparse.ArgumentParser(prog="tests.bench limits reconcile")
    parser.add_argument(
        "--negentropy",
        required=True,
        type=Path,
        metavar="BINARY",
        help="built from tests/bench/limits/negentropy_session.cpp",
    )
    binary: Path = parser.parse_args(words).negentropy
    seed = next(SEEDS)
    for case in CASES:
        yield from _compared(binary, case, made(case.ids, case.differ, case.shape, seed), place)


def _compared(binary: Path, case: Case, sets: Sets, place: Path) -> Iterator[Figure]:
    files = place / "ours.bin", place / "theirs.bin"
    for path, columns in zip(files, (sets.ours, sets.theirs), strict=True):
        path.write_bytes(file_of(*columns))
    ours, theirs = OrderedSet(), OrderedSet()
    ours.fill(*sets.ours)
    theirs.fill(*sets.theirs)
    seconds: list[float] = []
    sent = 0
    for _ in range(SESSIONS):
        run = run_session(ours, theirs)
        (initiator, responder), _, _ = run
        assert (len(initiator.have), len(initiator.need)) == (sets.have, sets.need)
        seconds.append(sum(cpu_of(run)))
        sent = initiator.sent + responder.sent
    told = subprocess.run(  # the program that was named
        [binary, *files, str(SESSIONS)], check=True, capture_output=True, text=True
    )
    beside = Theirs(**json.loads(told.stdout))
    assert (beside.have, beside.need) == (sets.have, sets.need)
    params: Params = {
        "ids": case.ids,
        "differ": case.differ,
        "shape": case.shape,
        "negentropy": beside.commit,
    }
    ours_ms, theirs_ms = MS * median(seconds), MS * beside.seconds
    yield Figure(case.name, ours_ms, theirs_ms, "ms of both sides", case.goal, params=params)
    name, of_theirs = f"{case.name}_bytes", float(beside.bytes)
    yield Figure(name, float(sent), of_theirs, "bytes", None, params=params)


def file_of(timestamps: Words, hashes: Words) -> bytes:
    """Return a data set as `tests.bench.bench_reconcile` says, from its columns."""
    rows = np.empty((len(timestamps), 1 + HASH_WORDS), "<u8")
    rows[:, 0] = timestamps
    rows[:, 1:] = hashes.view("<u8")  # the bytes of a hash stay as they are
    return MAGIC + len(timestamps).to_bytes(8, "little") + rows.tobytes()


LIMIT: Final = Limit("reconcile", measure, named_only=True)
