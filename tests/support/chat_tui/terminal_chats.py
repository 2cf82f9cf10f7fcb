"""Chats in a real terminal (tmux), from the start to a clean end."""

import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from tests.support.chat_tui.terminals import Terminal
from tests.support.processes import free_port

READY = "/ begins a command"


LEFT_CLEAN = "0 1 0"
"""The usual screen, a visible cursor, no mouse reporting."""


def chat(data: Path, name: str, *options: str) -> list[str]:
    """The command line of somebody who meets nobody but the addresses in `options`.

    The port is one that no other chat takes: at a usual one the chats of other tests, who have
    heard of whoever had it before, look for that.
    """
    where = ["--profile", name, "--data-dir", str(data), "--interface", "127.0.0.1"]
    network = ["--no-discovery", "--port", str(free_port()), *options]
    return [sys.executable, "-m", "chat_tui", "chat", *where, *network]


def lacks(text: str, screen: str) -> bool:
    return text not in screen


@asynccontextmanager
async def chatting(
    directory: Path,
    name: str,
    *options: str,
    size: tuple[int, int] = (80, 24),
    environment: dict[str, str] | None = None,
) -> AsyncIterator[Terminal]:
    """Somebody who has answered the questions of the first run, if there were any."""
    command = chat(directory / "data", name, *options)
    async with Terminal(command, size=size, environment=environment) as terminal:
        screen = await terminal.until(lambda text: READY in text or "Your name" in text)
        if "Your name" in screen:
            await terminal.press("Enter")
            await terminal.until(READY)
        yield terminal


async def leave(terminal: Terminal, keys: Sequence[str] = ("C-q",)) -> str:
    """Quit; returns what is on the terminal then."""
    await terminal.press(*keys)
    return await terminal.until("EXIT")
