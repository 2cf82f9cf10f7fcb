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
        self._driver.let_out()
        os.write(2, b"LATER")
        self.exit()

Writer(driver_class=Terminal).run()
"""
"""Writes by itself as soon as its picture should be out; no other thread is let on meanwhile."""


def output_of(program: str) -> bytes:
    """All that a program writes to a terminal of its own."""
    ours, its = pty.openpty()
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdin=its, stdout=its, stderr=its) as process:
        os.close(its)
        output = b""
        try:
            while some := os.read(ours, 65_536):
                output += some
        except OSError:  # the last one who had the other end open is gone
            process.wait()
        finally:
            os.close(ours)
    return output


def test_what_is_let_out_is_out_before_anything_else_happens() -> None:
    output = output_of(WRITES)

    assert b"PICTURE" in output
    assert output.index(b"PICTURE") < output.index(b"LATER")
