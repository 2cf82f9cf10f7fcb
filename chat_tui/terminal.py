"""The terminal as Textual drives it, which may be gone from one moment to the next.

A failed write would end Textual's writer thread; the queue before it would fill, and then the
whole program, engine and all, would wait for room for ever, with the profile locked.
"""

from contextlib import suppress
from typing import IO, Any, cast

from textual.app import App
from textual.drivers.linux_driver import LinuxDriver


class Outlet:
    """Writes to `file` as long as something takes it; what a closed terminal refuses is lost."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, text: str) -> int:
        """Write `text`, or lose it."""
        with suppress(OSError, ValueError):
            self._file.write(text)
        return len(text)

    def flush(self) -> None:
        """Hand everything to the terminal, or lose it."""
        with suppress(OSError, ValueError):
            self._file.flush()

    def fileno(self) -> int:
        """Return the descriptor of the file."""
        return self._file.fileno()


class Terminal(LinuxDriver):
    """Textual's driver, which leaves the program running when the terminal is closed."""

    def __init__(
        self,
        app: App[Any],
        *,
        debug: bool = False,
        mouse: bool = True,
        size: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        assert self._file is not None
        self._file = cast("Any", Outlet(self._file))

    def run_input_thread(self) -> None:
        """Read keys until the terminal has no more: then leave, as the person would."""
        try:
            super().run_input_thread()
        except OSError:
            self._app.call_later(self._app.action_quit)
