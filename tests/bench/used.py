"""Resources used by a command and all that it starts: the one measure of the pipeline.

Processes are looked at ten times a second, those of the command's session: what ends between two
looks keeps what it had at the last one. Not every one is waited for by who started it, so nobody
could say at the end what all have used together.
"""

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from tests.support.processes import ROOT

LOOK_S: Final = 0.1
TICKS: Final = os.sysconf("SC_CLK_TCK")
PAGE: Final = os.sysconf("SC_PAGE_SIZE")
MB: Final = 2**20


class Process(NamedTuple):
    """One process as /proc reports it: `ticks` of processor time, `pages` of memory it has."""

    pid: int
    parent: int
    began: int
    ticks: int
    pages: int
    program: bytes
    """Its command line."""


@dataclass(slots=True)
class Used:
    """Resources used by the processes of a command, by process."""

    ticks: dict[tuple[int, int], int] = field(default_factory=dict)
    bytes_max: int = 0
    wall_s: float = 0.0
    said: bytes = b""
    """On stdout."""

    def look(self, session: int) -> None:
        """Look at all processes of a session."""
        there = {one.pid: one for one in processes(session)}
        self.ticks |= {(one.pid, one.began): one.ticks for one in there.values()}
        pages = sum(one.pages for one in there.values() if not is_copy(one, there.get(one.parent)))
        self.bytes_max = max(self.bytes_max, pages * PAGE)

    @property
    def seconds(self) -> float:
        """Processor time of all, also of those that have ended."""
        return sum(self.ticks.values()) / TICKS

    @property
    def megabytes(self) -> float:
        """The most memory that all had at one time; what several share counts for each."""
        return self.bytes_max / MB


def processes(session: int) -> Iterator[Process]:
    """Yield the processes of a session."""
    for path in Path("/proc").glob("[0-9]*"):
        try:
            fields = (path / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) == session:
                yield Process(
                    pid=int(path.name),
                    parent=int(fields[1]),
                    began=int(fields[19]),
                    ticks=int(fields[11]) + int(fields[12]),
                    pages=int(fields[21]),
                    program=(path / "cmdline").read_bytes(),
                )
        except OSError:  # it has just ended
            continue


def is_copy(one: Process, parent: Process | None) -> bool:
    """Return whether it is a fork of Java before its exec, whose memory is still Java's.

    Python makes copies of itself too, its workers; each has memory of its own.
    """
    if parent is None or one.program != parent.program:
        return False
    return Path(os.fsdecode(one.program.partition(b"\0")[0])).name == "java"


def measured(*command: str, within_s: float) -> Used:
    """Run a command, and tell what it used. Findings are no failure.

    Raises:
        RuntimeError: it failed, or took too long.
    """
    used, began = Used(), time.perf_counter()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            command, cwd=ROOT, stdout=out, stderr=log, start_new_session=True
        )
        try:
            while process.poll() is None:
                used.look(process.pid)
                used.wall_s = time.perf_counter() - began
                if used.wall_s > within_s:
                    raise RuntimeError(f"{command} takes more than {within_s:.0f} s")
                time.sleep(LOOK_S)
        finally:
            process.kill()
            process.wait()
        out.seek(0)
        log.seek(0)
        used.said = out.read()
        if process.returncode not in (0, 1):
            raise RuntimeError(f"{command} ended with {process.returncode}: {log.read()!r}")
    return used
