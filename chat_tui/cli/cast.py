"""Records a command's terminal as an asciicast, version 2: what it wrote, and when.

The command runs on a terminal of its own (a pty); whoever started it sees and steers it, unless
there is no terminal. Format: https://docs.asciinema.org/manual/asciicast/v2/
"""

import errno
import fcntl
import json
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
import tty
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Final, NamedTuple

from chat_tui.model.replaced_file import replaced
from sync.errors import LocalError

VERSION: Final = 2
TERM: Final = "xterm-256color"
"""Said to the command: 256 colours look the same in every player, and take less room."""

READ_SIZE: Final = 65_536
LOOK_S: Final = 0.2
"""Seconds between looks at whether the command is there still."""

BYTES_MAX: Final = 64 * 1024 * 1024
"""Of a cast: hours of a screen that moves all the time; more is a command that fell."""

END_S: Final = 5.0
"""Seconds that the command has to end when nobody watches any more."""

SIGNALLED: Final = 128
"""Exit status of what a signal ended, less its number, as shells have it."""


class Size(NamedTuple):
    """Size of a terminal, in cells."""

    columns: int
    lines: int

    @property
    def packed(self) -> bytes:
        """The size as the kernel has it."""
        return struct.pack("HHHH", self.lines, self.columns, 0, 0)


class _Heard(NamedTuple):
    """Sizes of the terminal around that came, the oldest first, and signals to leave."""

    sizes: list[Size]
    left: list[int]


class Writer:
    """Writes events to `file`: a header, then one line for each."""

    def __init__(self, file: IO[str], size: Size, title: str) -> None:
        self._file, self._written = file, 0
        self._decoder = getincrementaldecoder("utf-8")(errors="replace")
        env = {"TERM": TERM}
        header = {"version": VERSION, "width": size.columns, "height": size.lines}
        self._line(json.dumps({**header, "title": title, "env": env}))

    def output(self, at: float, data: bytes) -> None:
        """Write what the command wrote; half a character waits for its other half."""
        text = self._decoder.decode(data)
        if text:
            self._event(at, "o", text)

    def resized(self, at: float, size: Size) -> None:
        """Write that the terminal has another size."""
        self._event(at, "r", f"{size.columns}x{size.lines}")

    def _event(self, at: float, code: str, data: str) -> None:
        self._line(json.dumps([round(at, 3), code, data], ensure_ascii=False))

    def _line(self, line: str) -> None:
        self._written += len(line)
        if self._written > BYTES_MAX:
            raise LocalError(f"A cast has {BYTES_MAX >> 20} MB at most: end it before that.")
        self._file.write(line + "\n")


def record(
    file: Path, command: Sequence[str], title: str, environment: Mapping[str, str] | None = None
) -> int:
    """Run `command` and write what its terminal shows to `file`; returns its exit status.

    Raises:
        LocalError: the file cannot be written, or the cast grows too large.
    """
    try:
        with replaced(file) as out:
            return _watched(command, out, title, environment or {})
    except OSError as error:
        raise LocalError(
            f"The cast cannot be written to {file} ({error.strerror}): name another file with "
            "--cast."
        ) from error


def _watched(
    command: Sequence[str], out: IO[str], title: str, environment: Mapping[str, str]
) -> int:
    interactive = sys.stdin.isatty() and sys.stdout.isatty()
    size = _size()
    ours, theirs = pty.openpty()
    with ExitStack() as stack:
        stack.callback(os.close, ours)
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, size.packed)
        child = subprocess.Popen(  # noqa: S603  # our own program
            command,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=_environment(environment),
            start_new_session=True,
            preexec_fn=_control,  # noqa: PLW1509  # there are no threads here
        )
        os.close(theirs)
        stack.callback(_end, child)
        writer = Writer(out, size, title)
        heard = stack.enter_context(_hearing(interactive=interactive))
        if interactive:
            stack.enter_context(_raw(sys.stdin.fileno()))
        try:
            _copy(ours, child, writer, heard, interactive=interactive)
        except BaseException:  # a full disk, for example
            _take_leave(ours, child, interactive=interactive)
            raise
        if heard.left:
            _take_leave(ours, child, interactive=interactive)
            return SIGNALLED + heard.left[0]
        return child.wait()


def _copy(
    ours: int,
    child: "subprocess.Popen[bytes]",
    writer: Writer,
    heard: _Heard,
    *,
    interactive: bool,
) -> None:
    """Copy what the command writes to the cast, and between it and whoever watches."""
    began = time.perf_counter()
    keys = [sys.stdin.fileno()] if interactive else []
    while True:
        ready, _, _ = select.select([ours, *keys], [], [], LOOK_S)
        if heard.left:
            return
        while heard.sizes:
            size = heard.sizes.pop(0)
            fcntl.ioctl(ours, termios.TIOCSWINSZ, size.packed)
            writer.resized(time.perf_counter() - began, size)
        if ours in ready:
            data = _read(ours)
            if not data:
                return
            writer.output(time.perf_counter() - began, data)
            if interactive and not _showed(data):
                heard.left.append(signal.SIGHUP)
        elif child.poll() is not None:
            return
        for descriptor in keys:
            if descriptor in ready:
                typed = _read(descriptor)
                if typed:
                    os.write(ours, typed)
                else:
                    heard.left.append(signal.SIGHUP)


def _take_leave(ours: int, child: "subprocess.Popen[bytes]", *, interactive: bool) -> None:
    """Have the command end, and show how it gives the screen back; for `END_S` at most."""
    child.terminate()
    until = time.perf_counter() + END_S
    while time.perf_counter() < until:
        ready, _, _ = select.select([ours], [], [], LOOK_S)
        if ready:
            data = _read(ours)
            if not data:
                return
            if interactive:
                _showed(data)
        elif child.poll() is not None:
            return


def _read(descriptor: int) -> bytes:
    """Return what there is; nothing once nobody has the other end open."""
    try:
        return os.read(descriptor, READ_SIZE)
    except OSError as error:
        if error.errno == errno.EIO:
            return b""
        raise


def _showed(data: bytes) -> bool:
    """Show `data` to whoever watches; returns whether their terminal is still open."""
    try:
        os.write(sys.stdout.fileno(), data)
    except OSError as error:
        if error.errno == errno.EIO:
            return False
        raise
    return True


def _environment(more: Mapping[str, str]) -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in {"COLORTERM", "COLUMNS", "LINES", "NO_COLOR"}
    }
    return {**kept, "TERM": TERM, **more}


def _control() -> None:
    """Make the terminal the command's own, so that its keys reach it as signals too."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _end(child: "subprocess.Popen[bytes]") -> None:
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(END_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def _size() -> Size:
    columns, lines = shutil.get_terminal_size((80, 24))
    return Size(columns, lines)


@contextmanager
def _raw(descriptor: int) -> Iterator[None]:
    """Hand keys over as they are, until the end."""
    before = termios.tcgetattr(descriptor)
    try:
        tty.setraw(descriptor)
        yield
    finally:
        with suppress(termios.error):  # it was closed meanwhile
            termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


@contextmanager
def _hearing(*, interactive: bool) -> Iterator[_Heard]:
    """Collect the sizes that the terminal around gets, and signals to leave."""
    heard = _Heard([], [])
    handlers: dict[signal.Signals, Callable[[int, object], None]] = {}
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as `nohup` has it
            handlers[number] = lambda told, _: heard.left.append(told)
    if interactive:
        handlers[signal.SIGWINCH] = lambda *_: heard.sizes.append(_size())
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield heard
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
