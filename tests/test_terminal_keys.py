"""How keys come in: before the terminal is ours, after it was away, and bytes that are no text."""

import asyncio
import os
import shutil
import signal
from pathlib import Path

import pytest

from tests.chats import opened
from tests.patience import PATIENCE_S
from tests.terminals import Terminal
from tests.test_terminal import READY, chat, chatting, leave

pytestmark = [
    pytest.mark.net,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux makes the terminals"),
]


def state_of(process: int) -> str:
    """The letter that Linux has for what a process does: T while it is stopped."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]


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


async def test_a_chat_that_was_stopped_reads_keys_again(tmp_path: Path) -> None:
    async with chatting(tmp_path, "alice") as alice:
        process = await alice.process()
        os.kill(process, signal.SIGTSTP)
        async with asyncio.timeout(PATIENCE_S):
            while state_of(process) != "T":  # to go on before it has stopped would be no going on
                await alice.screen()
        os.kill(process, signal.SIGCONT)
        await alice.until(READY)
        await alice.type("back again")
        await alice.until("alice  back again")
        left = await leave(alice)

    assert "EXIT 0" in left


async def test_bytes_that_are_no_text_are_shown_as_such(tmp_path: Path) -> None:
    async with chatting(tmp_path, "alice") as alice:
        await alice._tmux("send-keys", "-t", "chat", "-H", "61", "ff", "62")
        await alice.press("Enter")
        await alice.until("alice  a\N{REPLACEMENT CHARACTER}b")
        left = await leave(alice)

    assert "EXIT 0" in left
