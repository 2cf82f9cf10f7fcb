"""Output to a terminal, which may be slow or take nothing at all: the program never waits for it.

What the terminal takes goes out at once. The rest waits here, in order, and leaves when the event
loop hears that there is room. Textual's thread for this takes 30 texts, after which the loop, the
engine's too, would wait for a terminal that stands still (a stopped window, a lost connection).
"""

import asyncio
import os
import select
from collections.abc import Callable
from contextlib import suppress
from typing import Final, TextIO

BEHIND: Final = 64 * 1024
"""Bytes that wait, about two whole pictures, above which a new picture would only come too late."""

WAITING_MAX: Final = 1024 * 1024
"""Bytes behind which no more are taken: a text for which there is no room is lost as a whole."""

LAST_S: Final = 1.0
"""Seconds that `close` waits for the terminal to take the rest."""


class Outlet:
    """Writes to `file` as long as something takes it; what a closed terminal refuses is lost.

    `caught_up` is called when nothing waits any more. Everything here is the event loop's.
    """

    def __init__(self, file: TextIO, caught_up: Callable[[], None]) -> None:
        self._file = file
        self._caught_up = caught_up
        self._own: int | None = None
        """A descriptor of its own for the same terminal, for writing that waits for nothing."""
        self._waiting = bytearray()

    @property
    def behind(self) -> bool:
        """Return whether so much waits that another picture had better not be made."""
        return len(self._waiting) > BEHIND

    def open(self) -> None:
        """Begin to write without waiting, if the file is a terminal."""
        if self._own is None and self._file.isatty():
            self._own = opened_again(self._file.fileno())

    def write(self, text: str) -> None:
        """Write what the terminal takes now, and the rest when it takes more."""
        data = text.encode(self._file.encoding, "backslashreplace")
        if self._own is None:
            self._write_and_wait(data)
        elif not self._waiting:
            self._waiting += data
            self._send(self._own)
            if self._waiting:
                asyncio.get_running_loop().add_writer(self._own, self._go_on, self._own)
        elif len(self._waiting) + len(data) <= WAITING_MAX:
            self._waiting += data

    def close(self) -> None:
        """Give the terminal a moment to take the rest, lose what is left, and let go of it."""
        if self._own is None:
            return
        loop = asyncio.get_running_loop()
        loop.remove_writer(self._own)
        until = loop.time() + LAST_S
        room = select.poll()
        room.register(self._own, select.POLLOUT)
        while self._waiting and (left := until - loop.time()) > 0 and room.poll(left * 1000):
            self._send(self._own)
        self._waiting.clear()
        os.close(self._own)
        self._own = None

    def _go_on(self, own: int) -> None:
        """Write on: the event loop calls this when the terminal has room."""
        self._send(own)
        if not self._waiting:
            asyncio.get_running_loop().remove_writer(own)
            self._caught_up()

    def _send(self, own: int) -> None:
        """Write as much as the terminal takes; if it is gone, lose all."""
        try:
            del self._waiting[: os.write(own, self._waiting)]
        except BlockingIOError:
            return
        except OSError:
            self._waiting.clear()

    def _write_and_wait(self, data: bytes) -> None:
        """Write to what is no terminal: a file takes everything, a pipe what somebody reads."""
        with suppress(OSError, ValueError):
            self._file.buffer.write(data)
            self._file.flush()


def opened_again(number: int) -> int | None:
    """Open the same terminal once more, or the same pipe, by the name that it or the system has.

    Only a description of its own can be told not to wait: others share that of `number`.
    """
    flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    with suppress(OSError):
        return os.open(os.ttyname(number), flags)
    with suppress(OSError):
        return os.open(f"/proc/self/fd/{number}", flags)
    return None
