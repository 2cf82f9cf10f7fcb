"""The terminal as Textual drives it, which may be gone from one moment to the next, or stand still.

Neither may hold up the program, engine and all, with the profile locked: the outlet waits for
nothing, and while it is behind no pictures are made for it.
"""

import asyncio
import os
import select
import signal
from codecs import getincrementaldecoder
from collections.abc import Iterable
from typing import Any, Final, Protocol, runtime_checkable

from textual._xterm_parser import XTermParser
from textual.app import App
from textual.constants import ESCAPE_DELAY
from textual.drivers.linux_driver import LinuxDriver
from textual.events import CursorPosition, Paste
from textual.message import Message

from chat_tui.terminal.alert_rules import POP_TITLE, PUSH_TITLE
from chat_tui.terminal.outlet import Outlet
from chat_tui.terminal.pastes import Pastes
from chat_tui.terminal.signals import leave
from chat_tui.text.emoji_sequences import CELLS, Joined
from chat_tui.text.safe_text import without_controls

LOOK_S: Final = 0.1
"""Seconds between looks at whether what was typed last is a whole key: Escape begins many."""
LOOKS: Final = 10 + round(ESCAPE_DELAY / LOOK_S)
"""Interval at which that is looked at; by then it is one."""

READ_SIZE: Final = 4_096
"""Bytes of keys that are read at once."""

OF_JOBS: Final = (signal.SIGTSTP, signal.SIGCONT)
"""The signals of a shell's jobs: stop, and go on."""


@runtime_checkable
class HearsWidths(Protocol):
    """An application that shows emoji of several characters where the terminal agrees on them."""

    asks_widths: bool
    """True where the terminal is to be asked."""

    def hear_widths(self, agreed: frozenset[Joined]) -> None:
        """Take the kinds of emoji that have as many cells as are counted for them."""


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
        self._outlet = Outlet(self._file, self._caught_up)
        self._left_out = False
        """True if a picture was not painted, since the terminal was behind."""
        self._looking: asyncio.TimerHandle | None = None
        """The next look at whether what was typed last is a whole key."""
        self._widths: list[int] | None = None
        """Answers to what was asked of the widths of emoji; None before it is."""
        for number in OF_JOBS:  # has Textual's own handlers: see `_stop`
            signal.signal(number, signal.SIG_DFL)

    def start_application_mode(self) -> None:
        """Begin, or begin again after the program was stopped; keep the title there was."""
        while self._in_background():
            os.kill(os.getpid(), signal.SIGSTOP)
        self._outlet.open()
        super().start_application_mode()  # type: ignore[no-untyped-call]  # Textual leaves it untyped
        if self._writer_thread is not None:
            self._writer_thread.stop()  # is given nothing, see `write`
            self._writer_thread = None
        self._hear_keys()
        self.write(PUSH_TITLE)
        self._ask_widths()
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTSTP, self._stop)
        loop.add_signal_handler(signal.SIGCONT, self._go_on)

    def resume_application_mode(self) -> None:
        """Begin again, and paint everything: the terminal has forgotten what stood there."""
        super().resume_application_mode()
        self._app.call_later(self._app.refresh, layout=True)

    def stop_application_mode(self) -> None:
        """End, and give the terminal back the title it had."""
        loop = asyncio.get_running_loop()
        for number in OF_JOBS:
            loop.remove_signal_handler(number)
        self.write(POP_TITLE)
        super().stop_application_mode()

    def write(self, data: str) -> None:
        """Write what the terminal takes now, and the rest when it takes more."""
        self._outlet.write(data)

    def close(self) -> None:
        """Write what is left, and give back what was taken with `start_application_mode`."""
        self._outlet.close()

    def leaves_out(self) -> bool:
        """Return whether a picture is not to be painted now: the newest is, once there is room."""
        self._left_out |= self._outlet.behind
        return self._outlet.behind

    def _caught_up(self) -> None:
        """Paint what was left out, as it is by now."""
        if self._left_out:
            self._left_out = False
            self._app.call_later(self._app.refresh, layout=True)

    def hear_mouse(self, *, on: bool) -> None:
        """Ask the terminal for what the mouse does, or leave the mouse to it."""
        if on != self._mouse:
            if on:
                self._mouse = True
                self._enable_mouse_support()
            else:
                self._disable_mouse_support()
                self._mouse = False

    def disable_input(self) -> None:
        """Read no more keys."""
        self._deaf()
        super().disable_input()

    def _stop(self) -> None:
        """Give the terminal back, stop, and begin again when somebody says so.

        A callback of the event loop: a signal's handler may find the main thread within a write,
        with the lock of the queue, and would wait for that lock for ever.
        """
        self.suspend_application_mode()
        self._must_signal_resume = True
        os.kill(os.getpid(), signal.SIGSTOP)
        self.resume_application_mode()

    def _go_on(self) -> None:
        """Begin again after a stop that no program is told of (SIGSTOP)."""
        self.suspend_application_mode()
        self.resume_application_mode()

    def _in_background(self) -> bool:
        """Return whether another process group has the terminal: setting it would stop us."""
        try:
            owner = os.tcgetpgrp(self.fileno)
        except OSError:  # no terminal, or not ours to be asked
            return False
        return owner not in (0, os.getpgrp())  # 0: of another namespace, so nobody can tell

    def run_input_thread(self) -> None:
        """Read nothing: the event loop does.

        Textual's own thread looks ten times a second whether anybody types, which was a sixth of
        the work of doing nothing, and reads a closed terminal for ever. While the loop is busy any
        thread waits for Python's lock, 5 ms at a time, with what was typed.
        """

    def send_message(self, message: Message) -> None:
        """Give a message to the application, at once: nothing here is another thread's."""
        self._app.post_message(message)

    def _hear_keys(self) -> None:
        """Read keys whenever there are some."""
        self._parser, self._pastes = XTermParser(self._debug), Pastes()
        self._decoder = getincrementaldecoder("utf-8")(errors="replace")
        # Typed before the terminal was ours, which says Enter in another way.
        self._early = bool(select.select([self.fileno], [], [], 0)[0])
        try:
            asyncio.get_running_loop().add_reader(self.fileno, self._read_keys)
        except PermissionError:  # a file has no keys to wait for
            self._app.call_later(self._app.action_quit)

    def _read_keys(self) -> None:
        """Read the keys that are there; if the terminal is gone leave, as the person would."""
        try:
            typed = os.read(self.fileno, READ_SIZE)
        except OSError:
            typed = b""
        if not typed:
            self._deaf()
            leave(self._app)
            return
        if self._early:
            self._early, typed = False, typed.replace(b"\n", b"\r")
        for character in self._decoder.decode(typed):  # one by one: each may end the parser
            self._hear(character)
        self._look_no_more()
        self._look(LOOKS)

    def _hear(self, character: str) -> None:
        """Take a character, which is part of a key or of a paste."""
        within = self._pastes.begun
        pasted = self._pastes.take(character)
        if pasted is not None:
            self._pass_on([Paste(without_controls(pasted))])  # fields of one line take it as it is
        elif not within and self._pastes.begun:
            self._parser = _after(self._parser)  # without the mark, which it has half read
        elif not within:
            self._pass_on(self._parser.feed(character))

    def _look(self, times: int) -> None:
        """Look whether what was typed last is a whole key, and again in a while."""
        self._looking = None
        self._pass_on(self._parser.tick())
        if times > 1:
            self._looking = asyncio.get_running_loop().call_later(LOOK_S, self._look, times - 1)

    def _look_no_more(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
            self._looking = None

    def _deaf(self) -> None:
        """Read no more keys."""
        asyncio.get_running_loop().remove_reader(self.fileno)
        self._look_no_more()

    def _pass_on(self, messages: Iterable[Message]) -> None:
        """Give out what the parser understood; begin with a new one if it failed for good."""
        try:
            understood = list(messages)
        except (ValueError, ArithmeticError) as error:  # no number, no code point, no pixels
            self._parser = _after(self._parser, sized=not isinstance(error, ZeroDivisionError))
            return
        for message in understood:
            if isinstance(message, CursorPosition):
                self._hear_width(message.x)
            else:
                self.process_message(message)

    def _ask_widths(self) -> None:
        """Ask once where the cursor is after each sample of emoji; nothing waits for the answers.

        The first paint covers the line in which they were drawn, on the terminal's other screen.
        """
        if self._widths is not None or not isinstance(self._app, HearsWidths):
            return
        self._widths = []
        if self._app.asks_widths:
            asked = "".join(f"\x1b[H{kind.value}\x1b[6n" for kind in Joined)
            self.write(f"{asked}\x1b[H\x1b[2K")

    def _hear_width(self, column: int) -> None:
        """Take an answer, which are as many as questions and come in their order."""
        if self._widths is None or len(self._widths) == len(Joined):
            return
        self._widths.append(column)
        if len(self._widths) == len(Joined) and isinstance(self._app, HearsWidths):
            pairs = zip(Joined, self._widths, strict=True)
            agreed = frozenset(kind for kind, width in pairs if width == CELLS)
            self._app.call_later(self._app.hear_widths, agreed)


def _after(before: XTermParser, *, sized: bool = True) -> XTermParser:
    """Return a parser to go on with, which drops what was half read.

    It knows the window as the other did, unless that has no size: no mouse can be placed there.
    """
    parser = XTermParser()
    if sized:
        parser.mouse_pixels = before.mouse_pixels
        parser.terminal_size = before.terminal_size
        parser.terminal_pixel_size = before.terminal_pixel_size
        parser.last_x, parser.last_y = before.last_x, before.last_y
    return parser
