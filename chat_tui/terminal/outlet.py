"""Output to a terminal, at once as far as it takes it.

Textual writes in a thread, since a terminal may be slow: while the event loop or another thread is
busy it waits for Python's lock, 5 ms at a time, with what is to be shown. So what the terminal
takes without waiting goes out at once, and only the rest through that thread, in order.
"""

import os
from contextlib import suppress
from typing import TextIO


class Outlet:
    """Writes to `file` as long as something takes it; what a closed terminal refuses is lost.

    `write` and `flush` are the thread's, the others the loop's.
    """

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._at_once: int | None = None
        """A descriptor of its own for the same terminal, for writing that waits for nothing."""
        self._given = 0
        """Texts that were given to the thread."""
        self._written = self._flushed = 0
        """Numbers of those that are written, and that have left."""

    def open(self) -> None:
        """Begin to write at once, if the terminal has a name to open it by."""
        if self._at_once is None:
            flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
            with suppress(OSError):
                self._at_once = os.open(os.ttyname(self._file.fileno()), flags)

    def close(self) -> None:
        """Give the descriptor back."""
        if self._at_once is not None:
            os.close(self._at_once)
            self._at_once = None

    def write_at_once(self, text: str) -> bytes:
        """Write what the terminal takes now; return the rest, which is to be given to the thread.

        Nothing goes before what the thread still has.
        """
        rest = text.encode(self._file.encoding, "backslashreplace")
        if self._at_once is not None and self._flushed == self._given:
            with suppress(OSError):  # it is full, or gone
                rest = rest[os.write(self._at_once, rest) :]
        self._given += bool(rest)
        return rest

    def write(self, rest: bytes) -> None:
        """Write `rest`, or lose it."""
        with suppress(OSError, ValueError):
            self._file.buffer.write(rest)
        self._written += 1

    def flush(self) -> None:
        """Hand everything to the terminal, or lose it."""
        with suppress(OSError, ValueError):
            self._file.flush()
        self._flushed = self._written

    def fileno(self) -> int:
        """Return the descriptor of the file."""
        return self._file.fileno()
