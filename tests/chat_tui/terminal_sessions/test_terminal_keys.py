"""Key input before the terminal is ours and after a stop, and bytes that are no text."""

import asyncio
import os
import re
import shlex
import shutil
import signal
import sys
from pathlib import Path

import pytest

from tests.support.chat_tui.chats import opened
from tests.support.chat_tui.terminal_chats import LEFT_CLEAN, READY, chat, chatting, leave
from tests.support.chat_tui.terminals import Terminal
from tests.support.patience import PATIENCE_S

pytestmark = [
    pytest.mark.net,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux makes the terminals"),
]
OTHER_SCREEN = "1 "
"""Beginning of `Terminal.mode` while a program has the whole screen."""

WRITES = """
import os, signal, sys
from textual.app import App
from textual.widgets import Label
from chat_tui.terminal.driver import Terminal

class Writer(App):
    BINDINGS = [("t", "be_told")]

    def compose(self):
        yield Label("writes")

    def action_be_told(self):
        outlet = self._driver._outlet
        send = outlet._send

        def told(own):
            outlet._send = send
            os.kill(os.getpid(), signal.SIGTSTP)
            sys.stdout.isatty()
            send(own)

        outlet._send = told
        self._driver.write("\x1b[m")

Writer(driver_class=Terminal).run()
"""
"""A program that is told to stop in the middle of what it writes, when t is pressed."""


def state_of(process: int) -> str:
    """The letter that Linux has for what a process does: T while it is stopped."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]


async def stopped(process: int, terminal: Terminal) -> None:
    """Wait until a process has been stopped: to go on before that would be no going on."""
    async with asyncio.timeout(PATIENCE_S):
        while state_of(process) != "T":
            await terminal.screen()


async def test_a_line_that_is_typed_while_the_chat_starts_is_sent(tmp_path: Path) -> None:
    async with opened(tmp_path / "data", "alice"):
        pass
    waits = ["sh", "-c", 'echo READ; read go; exec "$@"', "sh", *chat(tmp_path / "data", "alice")]
    async with Terminal(waits) as terminal:
        await terminal.until("READ")
        await terminal.type("go")
        await terminal.type("typed early")
        await terminal.until("alice  typed early")
        await terminal.until(READY)
        left = await leave(terminal)

    assert "EXIT 0" in left


@pytest.mark.parametrize("how", [signal.SIGTSTP, signal.SIGSTOP])
async def test_a_chat_that_was_stopped_reads_keys_again(
    tmp_path: Path, how: signal.Signals
) -> None:
    async with chatting(tmp_path, "alice") as alice:
        process = await alice.process()
        for line in ("back again", "and once more"):
            os.kill(process, how)
            await stopped(process, alice)
            await alice.taken_by_a_shell()
            os.kill(process, signal.SIGCONT)
            async with asyncio.timeout(PATIENCE_S):
                while not (await alice.mode()).startswith(OTHER_SCREEN):
                    pass  # what it was just painting comes before it has the terminal again
            await alice.until(READY)
            await alice.type(line)
            await alice.until(f"alice  {line}")
        left = await leave(alice)
        mode = await alice.mode()

    assert "EXIT 0" in left
    assert mode == LEFT_CLEAN


async def test_a_program_is_stopped_whatever_it_writes() -> None:
    async with Terminal([sys.executable, "-c", WRITES]) as terminal:
        await terminal.until("writes")
        process = await terminal.process()
        await terminal.press("t")
        await stopped(process, terminal)
        os.kill(process, signal.SIGCONT)
        await terminal.until("writes")
        assert "EXIT 0" in await leave(terminal)


async def test_a_chat_that_starts_in_the_background_waits_for_the_terminal(tmp_path: Path) -> None:
    async with opened(tmp_path / "data", "alice"):
        pass
    async with Terminal(["bash", "--norc", "-i"]) as terminal:
        await terminal.type(f"{shlex.join(chat(tmp_path / 'data', 'alice'))} & echo JOB $!")
        shown = await terminal.until(lambda screen: re.search(r"^JOB \d+", screen, re.MULTILINE))
        [process] = re.findall(r"^JOB (\d+)", shown, re.MULTILINE)
        await stopped(int(process), terminal)
        await terminal.type("fg")
        await terminal.until(READY)
        await terminal.type("in front")
        await terminal.until("alice  in front")
        await terminal.press("C-q")
        await terminal.until(lambda screen: READY not in screen and "fg" in screen)
        await terminal.type("exit")
        await terminal.until("EXIT 0")


async def test_bytes_that_are_no_text_are_shown_as_such(tmp_path: Path) -> None:
    async with chatting(tmp_path, "alice") as alice:
        await alice._tmux("send-keys", "-t", "chat", "-H", "61", "ff", "62")
        await alice.press("Enter")
        await alice.until("alice  a\N{REPLACEMENT CHARACTER}b")
        left = await leave(alice)

    assert "EXIT 0" in left
