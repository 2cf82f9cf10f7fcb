"""Standard output that the program does not wait for: its reader may be slow, or read nothing.

What the reader takes goes out at once. The rest waits here, in order, and leaves as there is room;
nothing is lost. A terminal that was halted (Ctrl+S), or a bot that is busy, so holds up nobody:
the engine runs on, and peers are answered. Of more than `WAITING_MAX` bytes the program waits.
"""

import asyncio
import errno
import io
import os
import select
import socket
import stat
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, TextIO

from chat_tui.terminal.outlet import opened_again
from sync.errors import LocalError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

TOGETHER: Final = 64 * 1024
"""Bytes handed out at a time, unless a step of the program ends before: as much as a pipe holds.

A step is handed out as a whole: with PYTHONUNBUFFERED, which containers set, each line would be a
write of its own, and wake whoever reads.
"""

WAITING_MAX: Final = 16 * 1024 * 1024
"""Bytes, some 50,000 lines, behind which the program waits for the reader."""

HURRIED_S: Final = 1.0
"""Seconds that a program told to end gives its reader to take some more."""

LOOK_S: Final = 1.0
"""Seconds between looks at whether the reader of a pipe is still there."""

READER_GONE: Final = frozenset({errno.EPIPE, errno.ECONNRESET, errno.EIO})
"""The system's words for a pipe, a socket or a terminal that nobody reads any more."""

LOST: Final = "Nobody read the last {:,} bytes of output; the history has every message.\n"
NOT_WRITTEN: Final = "The output cannot be written ({}): make room, or write it elsewhere."


class StandardOutput(io.RawIOBase):
    """Writes to `file` what its reader takes, and keeps the rest.

    Everything here is of the event loop's thread.
    """

    error: OSError | None = None
    """Why nothing can be written any more: the reader is gone, or the disk full."""

    def __init__(self, file: TextIO) -> None:
        super().__init__()
        self.gone: Callable[[], None] = lambda: None
        """Called when nothing can be written any more."""
        self.file = file
        self._waiting = bytearray()
        self._moved = asyncio.Event()
        self._hurried = False
        self._watching = False
        self._next_look: asyncio.TimerHandle | None = None
        # A way of our own to write without waiting: others may write to the same terminal or pipe.
        self._own: int | None = None
        self._socket: socket.socket | None = None
        number, mode = _what_is(file)
        self._has_reader = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or file.isatty()
        if stat.S_ISSOCK(mode):
            self._socket = socket.socket(fileno=os.dup(number))
        elif self._has_reader:
            self._own = opened_again(number)
        self._number = number if self._own is None else self._own
        """The descriptor that is written to, and tells when there is room; -1: there is none."""

    # --- As a file -----------------------------------------------------------------------------

    def writable(self) -> bool:
        """Return True: it is for writing."""
        return True

    def isatty(self) -> bool:
        """Return whether it is a terminal."""
        return self.file.isatty()

    def fileno(self) -> int:
        """Return the descriptor of the file."""
        return self.file.fileno()

    def write(self, data: "ReadableBuffer", /) -> int:
        """Write what is taken now, and the rest later."""
        size = memoryview(data).nbytes
        if self.error is None:
            self._waiting += data
            if not self._watching:
                self._send()
            while len(self._waiting) > WAITING_MAX and not self._hurried:
                _has_room(self._number, HURRIED_S)
                self._send()
        return size

    # --- What waits ----------------------------------------------------------------------------

    async def room(self) -> None:
        """Wait until nothing waits for the reader, or it is gone: for whoever has much to tell."""
        while self._waiting:
            self._moved.clear()
            await self._moved.wait()

    def hurry(self) -> None:
        """Wait no longer than a moment for the reader from now on: the program is told to end."""
        self._hurried = True
        self._moved.set()

    async def end(self) -> int:
        """Wait until everything is read; returns the bytes that are lost, in a hurry."""
        try:
            while self._waiting:
                self._moved.clear()
                async with asyncio.timeout(HURRIED_S if self._hurried else None):
                    await self._moved.wait()
        except TimeoutError:
            return len(self._waiting)
        finally:
            self._let_go()
        return 0

    def _let_go(self) -> None:
        self._watch(wanted=False)
        if self._next_look is not None:
            self._next_look.cancel()
        if self._own is not None:
            os.close(self._own)
        if self._socket is not None:
            self._socket.close()
        self._own = self._socket = None

    def _send(self) -> None:
        """Write as much as is taken; what is left is written when the loop hears of room."""
        try:
            while self._waiting:
                del self._waiting[: self._write_some()]
                self._moved.set()
        except BlockingIOError:
            pass
        except OSError as error:
            self._fail(error)
        self._watch(wanted=bool(self._waiting))

    def _fail(self, error: OSError) -> None:
        self.error = error
        self._waiting.clear()
        self._moved.set()
        self.gone()

    def look_for_reader(self) -> None:
        """Look now and then whether a pipe is still read: in a quiet channel nothing else tells."""
        if not self._has_reader or self.isatty() or self._number < 0 or self.error is not None:
            return
        left = select.poll()
        left.register(self._number, 0)  # the system tells of errors and of a hangup unasked
        if left.poll(0):
            self._fail(OSError(errno.EPIPE, os.strerror(errno.EPIPE)))
        else:
            loop = asyncio.get_running_loop()
            self._next_look = loop.call_later(LOOK_S, self.look_for_reader)

    def _write_some(self) -> int:
        """Write a part of what waits.

        Raises:
            BlockingIOError: there is no room.
        """
        if self._socket is not None:
            return self._socket.send(self._waiting, socket.MSG_DONTWAIT)
        if self._number < 0:
            return self.file.buffer.write(self._waiting)
        if self._own is not None or not self._has_reader:
            return os.write(self._number, self._waiting)
        if not _has_room(self._number, 0):
            raise BlockingIOError
        return os.write(self._number, self._waiting[: select.PIPE_BUF])  # so much never waits then

    def _watch(self, *, wanted: bool) -> None:
        if wanted is not self._watching:
            loop = asyncio.get_running_loop()
            if wanted:
                loop.add_writer(self._number, self._send)
            else:
                loop.remove_writer(self._number)
            self._watching = wanted


def _what_is(file: TextIO) -> tuple[int, int]:
    """Return descriptor and mode of a file; -1 and 0 where a program that calls us took its place.

    Raises:
        OSError: the file is closed.
    """
    try:
        number = file.fileno()
    except io.UnsupportedOperation:
        return -1, 0
    return number, os.fstat(number).st_mode


def _has_room(number: int, seconds: float) -> bool:
    """Wait up to so many seconds for room; returns whether there is any."""
    room = select.poll()
    room.register(number, select.POLLOUT)
    return bool(room.poll(seconds * 1000))


@asynccontextmanager
async def written_to(output: StandardOutput) -> AsyncIterator[None]:
    """Have `sys.stdout` write to `output`; at the end, wait until all of it was read.

    Raises:
        LocalError: at the end, if anything but its reader's leaving kept it from being written.
    """
    before, theirs = sys.stdout, output.file
    theirs.flush()
    buffered = io.BufferedWriter(output, TOGETHER)
    file = sys.stdout = io.TextIOWrapper(buffered, theirs.encoding, theirs.errors)
    output.look_for_reader()
    try:
        yield
    except asyncio.CancelledError:
        output.hurry()
        raise
    finally:
        file.flush()
        sys.stdout = before
        # The reader of errors may be the same, who takes nothing.
        if (lost := await output.end()) and _has_room(sys.stderr.fileno(), 0):
            sys.stderr.write(LOST.format(lost))
    if output.error is not None and output.error.errno not in READER_GONE:
        raise LocalError(NOT_WRITTEN.format(output.error.strerror))
