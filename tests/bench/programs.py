"""Programs under measurement, with pipes or in a terminal: fed, read and timed by one loop.

Rules:
1. Whoever measures shares two cores with what is measured: arrivals get a time and are kept, and
   are looked at afterwards.
2. Every wait has an end, and a program is ended by whoever started it, by its own id.
"""

import fcntl
import os
import pty
import selectors
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

from tests.support.processes import ROOT

READ_SIZE: Final = 256 * 1024
LEAVE_WITHIN_S: Final = 10.0

TAIL: Final = 2_000
"""Bytes of output shown when something goes wrong."""

TERMINAL: Final = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
CPUCLOCK_SCHED: Final = 2
"""Linux numbers the clock of a whole process by its id and this."""

COLUMNS: Final = 120
ROWS: Final = 40


@dataclass(frozen=True, slots=True)
class Chunk:
    """Output of one read, and its time."""

    at: float
    """Seconds of `time.perf_counter`."""
    data: bytes


@dataclass(eq=False, slots=True)
class Program:
    """A running program: what it printed, and what it has still to be fed."""

    process: subprocess.Popen[bytes]
    source: int
    """The file descriptor that is read."""
    sink: int
    """The one that is written to."""
    chunks: list[Chunk] = field(default_factory=list)
    unfed: bytearray = field(default_factory=bytearray)

    @property
    def output(self) -> bytes:
        """All it has printed."""
        return b"".join([chunk.data for chunk in self.chunks])

    @property
    def chunk_count(self) -> int:
        """Now, as a number for `wait_for`."""
        return len(self.chunks)

    @property
    def cpu_ticks(self) -> int:
        """Clock ticks of processor time that all its threads have used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    @property
    def cpu_s(self) -> float:
        """Seconds of processor time that all its threads have used, to the nanosecond."""
        return time.clock_gettime(~self.process.pid << 3 | CPUCLOCK_SCHED)

    def resize(self, columns: int, rows: int) -> None:
        """Give its terminal another size."""
        fcntl.ioctl(self.source, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process.send_signal(signal.SIGWINCH)  # the terminal is not the one that controls it

    def lines(self) -> list[tuple[float, bytes]]:
        """Each whole line it has printed, and when its end came."""
        complete: list[tuple[float, bytes]] = []
        rest = b""
        for chunk in self.chunks:
            *ended, rest = (rest + chunk.data).split(b"\n")
            complete += [(chunk.at, line) for line in ended]
        return complete


class Programs:
    """The programs of one measurement, all ended at the end of the `with` block."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._running: list[Program] = []
        self._began = _machine_ticks()
        self._own_s = time.process_time()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for program in list(self._running):
            self.end(program)
        self._selector.close()

    def end(self, program: Program) -> None:
        """End a program before the others."""
        self._running.remove(program)
        for descriptor in {program.source, program.sink} & set(self._selector.get_map()):
            self._selector.unregister(descriptor)
        program.process.kill()
        program.process.wait(LEAVE_WITHIN_S)
        os.close(program.source)
        os.close(program.sink)

    def start_piped(self, command: Sequence[str]) -> Program:
        """Start a program that reads lines and prints lines."""
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=None, cwd=ROOT, bufsize=0
        )
        assert process.stdin is not None
        assert process.stdout is not None
        # The program owns its ends of the pipes; ours outlive the objects that carry them.
        sink, source = os.dup(process.stdin.fileno()), os.dup(process.stdout.fileno())
        process.stdin.close()
        process.stdout.close()
        return self._watch(Program(process, source, sink))

    def start_in_terminal(
        self, command: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> Program:
        """Start a full-screen program in a terminal of `COLUMNS` x `ROWS`.

        `environment` is what is different there from here.
        """
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        process = subprocess.Popen(
            command,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=ROOT,
            env={**os.environ, **TERMINAL, **(environment or {})},
            start_new_session=True,
        )
        os.close(theirs)
        return self._watch(Program(process, ours, os.dup(ours)))

    def pin(self) -> None:
        """Give each program a processor of its own, as far as there are enough.

        Two people have two computers; on one, the kernel may let a program that has work to do
        wait for the other one to be done with its screen.
        """
        cores = sorted(os.sched_getaffinity(0))
        for number, program in enumerate(self._running):
            for thread in Path(f"/proc/{program.process.pid}/task").iterdir():
                os.sched_setaffinity(int(thread.name), {cores[number % len(cores)]})

    def feed(self, program: Program, data: bytes) -> None:
        """Type `data`; what the program does not take yet it gets while we wait."""
        program.unfed += data
        self._push(program)

    def wait_for(self, program: Program, text: bytes, *, since: int, within_s: float) -> float:
        """Feed and read until `program` has printed `text`; return when its last byte came.

        Args:
            program: whose output is looked at, from chunk number `since` on.
            text: what it should print; found wherever reads happened to cut it.
            since: a `chunk_count` of before.
            within_s: seconds to wait at most.

        Raises:
            AssertionError: it did not within `within_s` seconds, or a program ended first.
        """
        deadline = time.perf_counter() + within_s
        printed = b""
        while True:
            for chunk in program.chunks[since:]:
                printed = printed[-len(text) :] + chunk.data
                if text in printed:
                    return chunk.at
            since = program.chunk_count
            left = deadline - time.perf_counter()
            assert left > 0, f"not within {within_s} s: {text!r}; last came {printed[-TAIL:]!r}"
            self._turn(left)

    def run(self, seconds: float) -> None:
        """Feed and read for so long."""
        deadline = time.perf_counter() + seconds
        while (left := deadline - time.perf_counter()) > 0:
            self._turn(left)

    def _turn(self, within_s: float) -> None:
        """Feed and read what is possible, once; wait at most `within_s` for that."""
        for key, events in self._selector.select(within_s):
            program: Program = key.data
            if events & selectors.EVENT_WRITE:
                self._push(program)
            if events & selectors.EVENT_READ:
                self._pull(program)

    @property
    def others(self) -> float:
        """Share of the machine, 0 to 1, that neither we nor these programs have used so far.

        Work of others, or of other guests of a shared computer, makes every figure worse.
        """
        busy, total = (now - then for now, then in zip(_machine_ticks(), self._began, strict=True))
        own = (time.process_time() - self._own_s) * os.sysconf("SC_CLK_TCK")
        ours = own + sum(program.cpu_ticks for program in self._running)
        return round(max(0.0, busy - ours) / total, 2)

    def _watch(self, program: Program) -> Program:
        os.set_blocking(program.sink, False)
        os.set_blocking(program.source, False)
        self._running.append(program)
        self._selector.register(program.source, selectors.EVENT_READ, program)
        return program

    def _push(self, program: Program) -> None:
        """Write what there is room for; listen for more room only while something waits."""
        try:
            written = os.write(program.sink, program.unfed)
        except BlockingIOError:
            written = 0
        del program.unfed[:written]
        listening = program.sink in self._selector.get_map()
        if program.unfed and not listening:
            self._selector.register(program.sink, selectors.EVENT_WRITE, program)
        elif listening and not program.unfed:
            self._selector.unregister(program.sink)

    def _pull(self, program: Program) -> None:
        try:
            data = os.read(program.source, READ_SIZE)
        except OSError:  # how a terminal says that nobody writes to it any more
            data = b""
        at = time.perf_counter()
        if not data:
            code = program.process.wait(LEAVE_WITHIN_S)
            last = program.output[-TAIL:].decode(errors="replace")
            raise AssertionError(f"a program ended with {code}: {last}")
        program.chunks.append(Chunk(at, data))


def _machine_ticks() -> tuple[int, int]:
    """Clock ticks that all processors were busy or taken from us, and all there were."""
    ticks = [int(field) for field in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
    idle, waiting = ticks[3:5]
    return sum(ticks) - idle - waiting, sum(ticks)
