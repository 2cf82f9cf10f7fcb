"""The terminal's driver: the order in which output leaves the program."""

import os
import pty
import subprocess
import sys

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


def output_of(program: str, typed: bytes = b"") -> bytes:
    """All that a program writes to a terminal of its own, where keys are typed once it is ready."""
    ours, its = pty.openpty()
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdin=its, stdout=its, stderr=its) as process:
        os.close(its)
        output = b""
        try:
            while some := os.read(ours, 65_536):
                output += some
                if typed and b"READY" in output:
                    os.write(ours, typed)
                    typed = b""
        except OSError:  # the last one who had the other end open is gone
            process.wait()
        finally:
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
