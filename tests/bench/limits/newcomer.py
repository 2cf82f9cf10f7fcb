"""`limits newcomer [--whole] [--snapshot]`: a program that fetches a history, beside the floor.

Somebody with 10,000 lines of ten logs waits (100,000 with `--whole`); `plain --json` with nothing
links to them, fetches all by Waku Sync (or by snapshot) and prints it. The floor is a receiver of
as many messages, without machines. With `--whole` memory is told as well: how much more a message
takes above 40,000. The first line is that of `plain` without `--json`, on its way or delivered.
Names of figures begin with `snapshot` or `newcomer`.
"""

import argparse
import asyncio
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.bench.limits import floor_pair
from tests.bench.limits.figures import Figure, Limit
from tests.bench.live.newcomer import history_of, stock
from tests.bench.live.source import NAME, running
from tests.bench.programs import Program, Programs
from tests.bench.report import Params
from tests.support.processes import Person, free_port

ENTRIES: Final = 10_000
WHOLE: Final = 100_000
FEWER: Final = 40_000
"""Messages from which on memory is counted."""

WITHIN_S: Final = 1_800.0
CPU_MAX: Final = {"waku": 1.9, "snapshot": 1.6}
SECONDS_MAX: Final = 1.2
KB_MAX: Final = 0.3
FIRST_LINE_MAX_S: Final = 2.0
FIRST: Final = b": line "
DONE_S: Final = 0.5
"""For what comes behind the last line."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """Cost of one newcomer."""

    seconds: float
    cpu_s: float
    peak_kb: int


def measure(place: Path, words: Sequence[str]) -> Iterator[Figure]:
    """Yield the figures of one run."""
    parser = argparse.ArgumentParser(prog="tests.bench limits newcomer", description=__doc__)
    parser.add_argument("--whole", action="store_true", help=f"{WHOLE} messages, and memory")
    parser.add_argument("--snapshot", action="store_true", help="by snapshot, not by Waku Sync")
    options = parser.parse_args(words)
    entries = WHOLE if options.whole else ENTRIES
    by = "snapshot" if options.snapshot else "waku"
    params: Params = {"entries": entries, "protocol": by}
    name = "snapshot" if options.snapshot else "newcomer"
    stocked(place / "source", entries)
    floor = floor_pair.measure(place, entries)
    with running(place / "source", by) as port:
        one = fetched(place, port, entries)
    cpu_us = one.cpu_s / entries * 1e6
    yield Figure(
        f"{name}_cpu", cpu_us, floor.receiver_us, "us a message", CPU_MAX[by], params=params
    )
    alone = floor.receiver_us * entries / 1e6
    seconds = None if options.snapshot else SECONDS_MAX
    yield Figure(f"{name}_seconds", one.seconds, alone, "s", seconds, params=params)
    with running(place / "source", by) as port:
        first = _first_line(place, port)
    goal = None if options.snapshot else 1.0
    yield Figure(f"{name}_first_line", first, FIRST_LINE_MAX_S, "s", goal, params=params)
    if options.whole:
        stocked(place / "fewer", FEWER)
        with running(place / "fewer", by) as port:
            less = fetched(place, port, FEWER)
        more_kb = (one.peak_kb - less.peak_kb) / (WHOLE - FEWER)
        yield Figure(f"{name}_memory", more_kb, KB_MAX, "kB a message", 1.0, params=params)


def stocked(place: Path, entries: int) -> None:
    """Make a directory with so many messages, which `running` starts a program on."""
    place.mkdir()
    asyncio.run(stock(place, history_of(entries)))


def _newcomer(programs: Programs, place: Path, port: int, *, json: bool) -> Program:
    """Start somebody who has nothing, in a directory that is made anew."""
    shutil.rmtree(place / "newcomer", ignore_errors=True)
    person = Person("newcomer", place / "newcomer", "127.0.0.1", free_port(), channel=f"#{NAME}")
    command = person.plain("--no-discovery", "--connect", f"127.0.0.1:{port}")
    return programs.start_piped(command if json else [one for one in command if one != "--json"])


def fetched(place: Path, port: int, entries: int) -> Fetched:
    """Return what it costs somebody who has nothing to fetch so many messages and print them."""
    with Programs() as programs:
        program = _newcomer(programs, place, port, json=True)
        programs.wait_for(program, b'"event": "peer"', since=0, within_s=WITHIN_S)
        began, cpu_s = time.perf_counter(), program.cpu_s
        seen, told, rest = 0, 0, b""
        while told < entries:  # each line is told once; in which order, is the protocol's
            assert time.perf_counter() < began + WITHIN_S, f"{told} lines of {entries} came"
            programs.run(DONE_S / 10)
            news = rest + b"".join([chunk.data for chunk in program.chunks[seen:]])
            seen = len(program.chunks)
            *lines, rest = news.split(b"\n")  # the last one may not be whole yet
            told += sum([b'"event": "message"' in line for line in lines])
        seconds = program.chunks[-1].at - began
        programs.run(DONE_S)
        return Fetched(seconds, program.cpu_s - cpu_s, _peak_kb(program))


def _first_line(place: Path, port: int) -> float:
    with Programs() as programs:
        program = _newcomer(programs, place, port, json=False)
        programs.wait_for(program, b" is here.", since=0, within_s=WITHIN_S)
        began = next(chunk.at for chunk in program.chunks if b" is here." in chunk.data)
        programs.wait_for(program, FIRST, since=0, within_s=WITHIN_S)
        return next(chunk.at for chunk in program.chunks if FIRST in chunk.data) - began


def _peak_kb(program: Program) -> int:
    """Return the most memory that it has had."""
    status = Path(f"/proc/{program.process.pid}/status").read_text(encoding="ascii")
    [line] = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1])


LIMIT: Final = Limit("newcomer", measure)
