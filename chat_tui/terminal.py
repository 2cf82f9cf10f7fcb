"""The terminal as Textual drives it, which may be gone from one moment to the next.

A failed write would end Textual's writer thread; the queue before it would fill, and then the
whole program, engine and all, would wait for room for ever, with the profile locked.
"""

import select
from contextlib import suppress
from typing import IO, Any, Final, cast

from textual.app import App
from textual.drivers.linux_driver import LinuxDriver

from chat_tui.notify import POP_TITLE, PUSH_TITLE

LOOK_S: Final = 1.0
"""Seconds between looks at whether the terminal is there."""


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

    def start_application_mode(self) -> None:
        """Begin, and look once a second whether the terminal is still there.

        A terminal that is closed without a signal reads as empty for ever, which keeps Textual's
        input thread busy.
        """
        super().start_application_mode()  # type: ignore[no-untyped-call]  # Textual leaves it untyped
        self.write(PUSH_TITLE)
        self._app.set_interval(LOOK_S, self._leave_if_gone)

    def stop_application_mode(self) -> None:
        """End, and give the terminal back the title it had."""
        self.write(POP_TITLE)
        super().stop_application_mode()

    def hear_mouse(self, *, on: bool) -> None:
        """Ask the terminal for what the mouse does, or leave the mouse to it."""
        if on != self._mouse:
            if on:
                self._mouse = True
                self._enable_mouse_support()
            else:
                self._disable_mouse_support()
                self._mouse = False

    async def _leave_if_gone(self) -> None:
        poller = select.poll()
        poller.register(self.fileno, 0)
        if poller.poll(0):  # only a hang-up or an error is reported unasked
            await self._app.action_quit()

    def run_input_thread(self) -> None:
        """Read keys until the terminal has no more: then leave, as the person would."""
        try:
            super().run_input_thread()
        except OSError:
            self._app.call_later(self._app.action_quit)
