"""Real terminals: a program in tmux, what its screen shows, and keys for it.

Rules:
1. Nothing here sleeps: tmux tells when something was painted, and then the screen is read.
2. Every terminal has a tmux server of its own, which ends with it, and what ran in it too.
"""

import asyncio
import os
import shlex
import termios
import tty
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Self

from tests.support.patience import PATIENCE_S
from tests.support.processes import ROOT

OF_OURS: Final = ("TMUX", "COLUMNS", "LINES")
"""Variables by which the terminal around the tests names itself; no other may hear of it."""


class Terminal:
    """`command` in a terminal of `columns` x `lines`, from entry to exit.

    The shell around it prints `EXIT` and the status when the program has ended, and stays.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        size: tuple[int, int] = (80, 24),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._directory = TemporaryDirectory(prefix="tmux-")
        self._size = size
        self._environment = {"TZ": "UTC", "LC_ALL": "C.UTF-8", **(environment or {})}
        self._command = f"{shlex.join(command)}; echo EXIT $?; exec cat"
        self._changed = asyncio.Event()
        self._client: Process | None = None
        self._watching: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        columns, lines = self._size
        settings = [f"-e{name}={value}" for name, value in self._environment.items()]
        start = ["new-session", "-d", "-s", "chat", "-x", str(columns), "-y", str(lines)]
        await self._tmux(*start, *settings, "-c", str(ROOT), "sh", "-c", self._command)
        await self._tmux("set-option", "-g", "window-size", "manual")
        self._client = await asyncio.create_subprocess_exec(
            *self._words("-C", "attach-session", "-f", "ignore-size"),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            limit=1 << 24,
        )
        self._watching = asyncio.create_task(self._watch(self._client))
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._tmux_whatever("kill-server")
        assert self._client is not None
        assert self._watching is not None
        await self._client.wait()
        await self._watching
        self._directory.cleanup()

    async def screen(self) -> str:
        """Return the text that is on the screen now."""
        return await self._tmux("capture-pane", "-p", "-t", "chat")

    async def styled_screen(self) -> str:
        """The same with its colours, as escape sequences."""
        return await self._tmux("capture-pane", "-p", "-e", "-t", "chat")

    async def mode(self) -> str:
        """Return flags of the other screen, the cursor and the mouse: 1 if switched on, else 0."""
        flags = "#{alternate_on} #{cursor_flag} #{mouse_any_flag}"
        return (await self._tmux("display-message", "-p", "-t", "chat", flags)).strip()

    async def process(self) -> int:
        """The id of the program, the shell's only child."""
        shell = (await self._tmux("display-message", "-p", "-t", "chat", "#{pane_pid}")).strip()
        return child_of(shell)

    async def until(
        self, wanted: str | Callable[[str], object], *, within_s: float = PATIENCE_S
    ) -> str:
        """Wait until the screen shows `wanted`, or answers it; returns that screen.

        Raises:
            AssertionError: it did not within `within_s` seconds; says what it showed.
        """
        screen = ""
        try:
            async with asyncio.timeout(within_s):
                while True:
                    self._changed.clear()
                    screen = await self.screen()
                    if wanted in screen if isinstance(wanted, str) else wanted(screen):
                        return screen
                    await self._changed.wait()
        except TimeoutError:
            raise AssertionError(f"not within {within_s} s: {wanted!r}\n{screen}") from None

    async def press(self, *keys: str) -> None:
        """Press keys, by tmux's names."""
        await self._tmux("send-keys", "-t", "chat", *keys)

    async def type(self, text: str) -> None:
        """Type a line and press Enter."""
        await self._tmux("send-keys", "-t", "chat", "-l", "--", text)
        await self.press("Enter")

    async def click(self, column: int, line: int) -> None:
        """Click a cell, counted from 0, as a terminal tells a program that asked for the mouse."""
        for end in "Mm":
            code = f"\x1b[<0;{column + 1};{line + 1}{end}".encode()
            await self._tmux("send-keys", "-t", "chat", "-H", *[f"{byte:02x}" for byte in code])

    async def paste(self, text: str) -> None:
        """Paste as a person does; bracketed, if the program asked for that."""
        await self._tmux("set-buffer", "--", text)
        await self._tmux("paste-buffer", "-p", "-t", "chat")

    async def resize(self, columns: int, lines: int) -> None:
        """Give the terminal another size."""
        await self._tmux("resize-window", "-t", "chat", "-x", str(columns), "-y", str(lines))
        self._changed.set()

    async def taken_by_a_shell(self) -> None:
        """Do with the terminal what a shell does when its job was stopped."""
        path = await self._tmux("display-message", "-p", "-t", "chat", "#{pane_tty}")
        take_as_a_shell(Path(path.strip()))

    async def hang_up(self) -> None:
        """Close the terminal under the program."""
        await self._tmux("kill-session", "-t", "chat")

    def _words(self, *arguments: str) -> list[str]:
        return ["tmux", "-u", "-f", "/dev/null", "-S", f"{self._directory.name}/socket", *arguments]

    async def _tmux(self, *arguments: str) -> str:
        code, stdout, stderr = await self._tmux_whatever(*arguments)
        assert code == 0, f"tmux {arguments}: {stderr}"
        return stdout

    async def _tmux_whatever(self, *arguments: str) -> tuple[int | None, str, str]:
        around = {name: value for name, value in os.environ.items() if name not in OF_OURS}
        environment = {**around, **self._environment}
        process = await asyncio.create_subprocess_exec(
            *self._words(*arguments), stdin=DEVNULL, stdout=PIPE, stderr=PIPE, env=environment
        )
        stdout, stderr = await process.communicate()
        return process.returncode, stdout.decode(), stderr.decode()

    async def _watch(self, client: Process) -> None:
        assert client.stdout is not None
        async for _ in client.stdout:
            self._changed.set()


def take_as_a_shell(path: Path) -> None:
    """Leave the other screen of the terminal at `path`, and have it hear whole lines."""
    with path.open("wb", buffering=0) as terminal:
        settings = termios.tcgetattr(terminal)
        settings[tty.LFLAG] |= termios.ICANON | termios.ECHO
        termios.tcsetattr(terminal, termios.TCSANOW, settings)
        terminal.write(b"\x1b[?1049l")


def child_of(process: str) -> int:
    """The one process that `process` started and waits for."""
    [child] = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return int(child)


async def ended(process: int, *, within_s: float = PATIENCE_S) -> None:
    """Wait until a process that is not our child has ended.

    Raises:
        AssertionError: it runs on after `within_s` seconds.
    """
    try:
        descriptor = os.pidfd_open(process)
    except ProcessLookupError:
        return
    gone = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(descriptor, gone.set)
    try:
        async with asyncio.timeout(within_s):
            await gone.wait()
    except TimeoutError:
        raise AssertionError(f"process {process} runs on after {within_s} s") from None
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)
