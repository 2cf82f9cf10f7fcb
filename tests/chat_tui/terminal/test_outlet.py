"""Output to a terminal: at once as far as it takes it, in order, and the rest by a thread."""

import os
import pty
import threading
import tty
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, TextIO

import pytest

from chat_tui.terminal.outlet import Outlet

MUCH: Final = 1_000_000


@dataclass
class Screen:
    """A terminal, which shows what comes only where somebody reads it."""

    ours: int
    file: TextIO
    outlet: Outlet

    def read(self, size: int) -> str:
        """Return so many bytes of what it got."""
        data = b""
        while len(data) < size:
            data += os.read(self.ours, size - len(data))
        return data.decode()

    def write(self, *rest: bytes) -> threading.Thread:
        """Write what was not taken at once, as Textual's thread does."""

        def run() -> None:
            for text in rest:
                self.outlet.write(text)
            self.outlet.flush()

        thread = threading.Thread(target=run)
        thread.start()
        return thread


@pytest.fixture
def screen() -> Iterator[Screen]:
    ours, its = pty.openpty()
    tty.setraw(its)
    # Where the terminal is closed, so is the file, with an error.
    with suppress(OSError), open(its, "w", encoding="utf-8") as file:  # noqa: PTH123  it is open
        outlet = Outlet(file)
        outlet.open()
        yield Screen(ours, file, outlet)
        outlet.close()
        with suppress(OSError):
            os.close(ours)


def test_what_is_written_is_there_at_once(screen: Screen) -> None:
    assert not screen.outlet.write_at_once("picture")
    assert screen.read(7) == "picture"


def test_what_a_slow_terminal_does_not_take_comes_later_and_nothing_goes_before_it(
    screen: Screen,
) -> None:
    much = "ä" * MUCH
    rest = screen.outlet.write_at_once(much)
    after = screen.outlet.write_at_once("after")
    assert rest
    assert after == b"after"

    writing = screen.write(rest, after)
    shown = screen.read(2 * MUCH + 5)
    writing.join()
    assert shown == f"{much}after"
    assert not screen.outlet.write_at_once("at once again")
    assert screen.read(13) == "at once again"


def test_a_closed_terminal_loses_what_is_written(screen: Screen) -> None:
    os.close(screen.ours)
    rest = screen.outlet.write_at_once("picture")
    assert rest == b"picture"
    screen.write(rest).join()


def test_what_is_no_terminal_is_written_to_by_the_thread() -> None:
    ours, its = os.pipe()
    with open(its, "w", encoding="utf-8") as file:  # noqa: PTH123  it is open
        outlet = Outlet(file)
        outlet.open()
        rest = outlet.write_at_once("picture")
        assert rest == b"picture"
        outlet.write(rest)
        outlet.flush()
    assert os.read(ours, 9) == b"picture"
    os.close(ours)
