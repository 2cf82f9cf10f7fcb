"""The terminal's driver: the order in which output leaves the program."""

import os
import pty
import select
import subprocess
import sys

import pytest

SILENCE_S = 15
"""Seconds without a word from a program that nothing more is waited for."""

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


@pytest.mark.parametrize("pasted", ["see \x1b\r/me pasted this", "\x1b[31;1mred\x1b[0m", "a\x1b"])
def test_an_escape_in_a_paste_is_no_key(pasted: str) -> None:
    output = output_of(WRITES_DOWN, f"ab\x1b[200~{pasted}\x1b[201~cq".encode())

    assert f"HEARD ab<{pasted!a}>cq.".encode() in output
