"""A command that is interrupted at a moment: as Ctrl+C does it, but by no clock.

Run as a program: `python -m tests.support.interrupting MOMENT WORD...`, where MOMENT is `call` or
`return`,
a colon, and the qualified name of a function: when it is first called, or has returned, in whatever
thread, the process gets SIGINT. The words are those after `chat-tui`.
"""

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final

from chat_tui.cli.main import main
from tests.support.processes import ROOT

ENDS_WITHIN_S: Final = 150.0
"""A JVM on a busy machine."""


class Interrupter:
    """A profile function that interrupts once."""

    def __init__(self, moment: str) -> None:
        self._event, _, self._name = moment.partition(":")
        self._lock = threading.Lock()
        self._due = True

    def __call__(self, frame: FrameType, event: str, _arg: Any) -> None:  # noqa: ANN401
        """See `sys.setprofile`."""
        if event != self._event or frame.f_code.co_qualname != self._name:
            return
        with self._lock:
            due, self._due = self._due, False
        if due:
            signal.raise_signal(signal.SIGINT)


def interrupted(
    moment: str, *words: str | Path, **environment: str
) -> "subprocess.CompletedProcess[str]":
    """Run a command that is interrupted at `moment`."""
    return subprocess.run(
        [sys.executable, "-m", "tests.support.interrupting", moment, *map(str, words)],
        cwd=ROOT,
        env=environment or None,
        capture_output=True,
        text=True,
        check=False,
        timeout=ENDS_WITHIN_S,
    )


@contextmanager
def begun(
    *command: str, env: Mapping[str, str] | None = None, process_group: int | None = None
) -> Iterator["subprocess.Popen[str]"]:
    """A program that runs beside the test, whose output can be read; no longer than the block."""
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=process_group,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


if __name__ == "__main__":
    interrupter = Interrupter(sys.argv.pop(1))
    threading.setprofile(interrupter)
    sys.setprofile(interrupter)
    main()
