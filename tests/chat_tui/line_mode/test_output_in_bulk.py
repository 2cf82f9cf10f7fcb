"""Output of line mode: what a step says leaves together, however Python was started."""

import io
import os
import sys

import pytest

from chat_tui.line_mode.line_mode import write_in_bulk

LINES = 100


def test_lines_are_written_together_also_where_python_buffers_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    unbuffered = io.TextIOWrapper(io.FileIO(writing, "w"), encoding="utf-8", write_through=True)
    monkeypatch.setattr(sys, "stdout", unbuffered)
    write_in_bulk()

    for number in range(LINES):
        sys.stdout.write(f"line {number} \N{EM DASH}\n")
    with pytest.raises(BlockingIOError):
        os.read(reading, 1)
    sys.stdout.flush()

    assert os.read(reading, 1 << 16).decode().count("\N{EM DASH}\n") == LINES
    sys.stdout.close()
    unbuffered.close()
    os.close(reading)
