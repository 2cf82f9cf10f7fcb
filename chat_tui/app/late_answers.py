"""Answers of commands that take their time: that one is at work, and what opens only when wanted.

Rules:
1. Nothing opens over what somebody writes meanwhile, nor over a screen they opened: the next Enter
   would choose from a list that nobody has seen. It opens once Enter is pressed in an empty input.
2. A key that opens something is no line that was written, and what it opens is waited for.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from chat_tui.app.unsaved_lines import Input
from chat_tui.text.slash import is_command
from chat_tui.widgets.status_line import StatusLine
from sync.view.view import Notice

SAID_AFTER_S: Final = 0.5
"""Of a command at work: most are done before anybody looks up."""

AT_WORK: Final = "{} is at work; what you write meanwhile is sent after it."
HERE: Final = "{} is done. Enter in an empty input opens its answer."


class LateAnswers:
    """See the module docstring; `is_busy` says whether somebody does something else by now."""

    def __init__(self, status: StatusLine, is_busy: Callable[[], bool]) -> None:
        self._status, self._is_busy = status, is_busy
        self._waiting: tuple[Notice, Callable[[], object]] | None = None

    @contextmanager
    def at_work(self, line: Input) -> Iterator[None]:
        """Say that the command in `line` is at work, if it is so for long."""
        if not is_command(line.text):
            yield
            return
        notice = Notice(AT_WORK.format(_name(line)))
        timer = self._status.set_timer(SAID_AFTER_S, lambda: self._status.say(notice))
        try:
            yield
        finally:
            timer.stop()
            self._status.forget(notice)

    def show(self, line: Input, open_it: Callable[[], object]) -> None:
        """Open what answers `line`, now or when it is wanted."""
        if line.typed and self._is_busy():
            self._waiting = Notice(HERE.format(_name(line))), open_it
            self.remind()
        else:
            open_it()

    def remind(self) -> None:
        """Say again that an answer waits, after something else was said."""
        if self._waiting is not None:
            self._status.say(self._waiting[0])

    def open(self) -> None:
        """Open what waits, if anything does."""
        if self._waiting is not None:
            (notice, open_it), self._waiting = self._waiting, None
            self._status.forget(notice)
            open_it()

    def forget(self) -> None:
        """Let go of what waits: another command was entered."""
        self._waiting = None


def _name(line: Input) -> str:
    return line.text.split(maxsplit=1)[0]
