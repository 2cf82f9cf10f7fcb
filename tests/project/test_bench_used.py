"""The benchmarks count what a command and all that it starts have used, and nothing twice."""

import sys

import pytest

from tests.bench.used import MB, Process, is_copy, measured

JAVA = b"/usr/lib/jvm/bin/java\0-Xmx2g\0"
PYTHON = b"python3\0-m\0pyspark.daemon\0"


def process(pid: int, program: bytes) -> Process:
    return Process(pid, parent=pid - 1, began=1, ticks=5, pages=100, program=program)


def test_what_java_starts_counts_once_it_is_a_program_of_its_own() -> None:
    java = process(1, JAVA)

    assert is_copy(process(2, JAVA), java)
    assert not is_copy(process(2, PYTHON), java)
    assert not is_copy(java, None)
    assert not is_copy(process(2, PYTHON), process(1, PYTHON)), "a worker has its own memory"


def test_what_a_command_starts_counts_with_it() -> None:
    """Two processes with so much memory each; the one waits for the other."""
    work = f"x = b'x' * {64 * MB}; print(sum(range(3_000_000)), flush=True)"
    program = f"import subprocess as s; {work}; s.run([{sys.executable!r}, '-c', {work!r}])"

    used = measured(sys.executable, "-c", program, within_s=60)

    assert used.said.splitlines() == [b"4499998500000"] * 2
    assert used.seconds > 0
    assert used.megabytes > 64


def test_a_command_that_fails_is_no_figure() -> None:
    with pytest.raises(RuntimeError, match="ended with 3"):
        measured(sys.executable, "-c", "raise SystemExit(3)", within_s=60)
