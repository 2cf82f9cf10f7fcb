"""The terminal's driver: the order in which output leaves the program."""

import os
import pty
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pytest

SILENCE_S: Final = 15
"""Seconds without a word from a program that nothing more is waited for."""

MANY: Final = 60
"""Pictures, twice as many as Textual's queue holds."""

WRITES = """
import os, sys
sys.setswitchinterval(30)
from textual.app import App
from chat_tui.terminal.driver import Terminal

class Writer(App):
    def on_mount(self):
        self._driver.write("PICTURE")
        os.write(2, b"LATER")
        self.exit()

Writer(driver_class=Terminal).run()
"""
"""Writes by itself as soon as its picture should be out; no other thread is let on meanwhile."""


HEARS = """
import sys, threading
from textual.app import App
from chat_tui.terminal.driver import Terminal

class Hearer(App):
    def on_mount(self):
        self._driver.write("READY")

    def on_key(self, event):
        alive = sorted(one.name for one in threading.enumerate())
        self._driver.write(f"HEARD {event.key} {alive}")
        self.exit()

Hearer(driver_class=Terminal).run()
"""
"""Says which key it has heard, and which threads it has."""


WRITES_DOWN = """
from textual.app import App
from textual.events import MouseMove
from chat_tui.terminal.driver import Terminal

class Hearer(App):
    heard = ""

    def on_mount(self):
        self._driver.write("READY")

    def on_key(self, event):
        self.heard += event.key
        if event.key == "q":
            self.say()

    def on_paste(self, event):
        self.heard += f"<{ascii(event.text)}>"

    async def on_event(self, event):
        if isinstance(event, MouseMove):  # whatever lies there
            self.heard += f"({event.x:.0f},{event.y:.0f})"
            self.say()
        await super().on_event(event)

    def say(self):
        self._driver.write(f"HEARD {self.heard}.")
        self.exit()

Hearer(driver_class=Terminal).run()
"""
"""Says which keys, pastes and movements it has heard once there is a q or a movement among them."""


PAINTS = """
import asyncio, os, sys
from rich.text import Text
from textual.widgets import Static
from chat_tui.settings.preferences import Preferences
from chat_tui.terminal.driver import Terminal
from chat_tui.terminal.signals import leaving_on_signals
from chat_tui.terminal.themed_app import Dressed

class Painter(Dressed[None]):
    turns = 0

    def compose(self):
        yield Static()

    def on_mount(self):
        self.turning = self.set_interval(0.001, self.turn)

    def turn(self):
        if self.turns == int(sys.argv[2]):
            return  # one that was on its way when the timer stopped
        self.turns += 1
        line = f"{self.turns:>79}"
        self.query_one(Static).update(line)
        self._display(self.screen, Text("\\n".join(100 * [line])))  # at once, and much
        os.write(int(sys.argv[1]), b".")
        if self.turns == int(sys.argv[2]):
            self.turning.stop()

    async def run_here(self):
        with leaving_on_signals(self):
            await self.run_async()

app = Painter(Preferences())
app.driver_class = Terminal
asyncio.run(app.run_here())
"""
"""Paints the number of each turn a hundred times, and writes a dot to a pipe; so many turns."""

PICTURE: Final = 100 * 79
"""Bytes of such a picture at least."""


@contextmanager
def painting() -> Iterator[tuple[subprocess.Popen[bytes], int, int]]:
    """Yield a program that paints, the terminal's side of what it paints, and its dots."""
    (ours, its), (dots, dot) = pty.openpty(), os.pipe()
    command = [sys.executable, "-c", PAINTS, str(dot), str(MANY)]
    with subprocess.Popen(command, stdin=its, stdout=its, stderr=its, pass_fds=[dot]) as process:
        os.close(its)
        os.close(dot)
        try:
            yield process, ours, dots
        finally:
            process.kill()
            os.close(ours)
            os.close(dots)


def turned(dots: int, times: int) -> None:
    """Wait for so many more turns of the program."""
    while times > 0:
        assert select.select([dots], [], [], SILENCE_S)[0], "it turns no more"
        some = os.read(dots, times)
        assert some, "it has ended"
        times -= len(some)


def output_of(program: str, typed: bytes = b"") -> bytes:
    """All that a program writes to a terminal of its own, where keys are typed once it is ready."""
    ours, its = pty.openpty()
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdin=its, stdout=its, stderr=its) as process:
        os.close(its)
        output = b""
        try:
            while select.select([ours], [], [], SILENCE_S)[0] and (some := os.read(ours, 65_536)):
                output += some
                if typed and b"READY" in output:
                    os.write(ours, typed)
                    typed = b""
        except OSError:  # the last one who had the other end open is gone
            process.wait()
        finally:
            process.kill()  # one that is silent, and may be deaf
            os.close(ours)
    return output


def test_what_is_written_is_out_before_anything_else_happens() -> None:
    output = output_of(WRITES)

    assert b"PICTURE" in output
    assert output.index(b"PICTURE") < output.index(b"LATER")


def test_keys_are_read_by_the_event_loop() -> None:
    output = output_of(HEARS, "ä".encode())

    assert "HEARD ä".encode() in output
    assert b"MainThread" in output
    assert b"textual-input" not in output


@pytest.mark.parametrize(
    "sequence", ["\x1b[97:65;2u", "\x1b[1;1:1A", "\x1b[9999999u", "\x1b[99999999999999999999u"]
)
def test_a_sequence_that_nobody_understands_is_dropped_alone(sequence: str) -> None:
    output = output_of(WRITES_DOWN, f"ab{sequence}cq".encode())

    assert b"HEARD abcq." in output


def test_after_a_window_without_pixels_the_mouse_is_heard_in_cells() -> None:
    moved = "\x1b[<35;5;6M"
    output = output_of(WRITES_DOWN, f"\x1b[48;24;80;0;0t{moved}{moved}".encode())

    assert b"HEARD (4,5)." in output


@pytest.mark.parametrize(
    ("pasted", "heard"),
    [
        ("see \x1b\r/me pasted this", "see \n/me pasted this"),
        ("\x1b[31;1mred\x1b[0m", "red"),
        ("a\x1b", "a"),
        ("b\x9b2Jc\x07d", "b2Jcd"),
    ],
)
def test_an_escape_in_a_paste_is_no_key_and_reaches_no_field(pasted: str, heard: str) -> None:
    output = output_of(WRITES_DOWN, f"ab\x1b[200~{pasted}\x1b[201~cq".encode())

    assert f"HEARD ab<{heard!a}>cq.".encode() in output


def test_a_terminal_that_takes_nothing_holds_nobody_up_and_then_shows_the_newest() -> None:
    with painting() as (_process, ours, dots):
        turned(dots, MANY)  # nobody reads what it paints

        shown = b""
        while b" %d" % MANY not in shown:
            assert select.select([ours], [], [], SILENCE_S)[0], "it shows no more"
            shown += os.read(ours, 65_536)

    assert len(shown) < MANY * PICTURE // 2, "pictures were left out"


def test_a_program_whose_terminal_takes_nothing_ends_when_it_is_told_to() -> None:
    with painting() as (process, _ours, dots):
        turned(dots, MANY)
        process.terminate()
        assert process.wait(SILENCE_S) == 0
