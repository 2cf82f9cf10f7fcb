"""What the person submitted, run in order: a line never overtakes the command before it.

Rules:
1. Nothing runs before the engine does, and nothing typed is lost where the engine cannot.
2. What the disk refuses to keep waits here, in order, until it takes it; commands go on meanwhile.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final

from chat_tui.commands.command import Result, is_command

HELD_MAX: Final = 100
"""Lines that wait for the disk; further ones go back to whoever wrote them."""


class Inputs:
    """Lines on their way to `run`; what each did goes to `answer`."""

    def __init__(
        self,
        run: Callable[[str], Awaitable[Result]],
        answer: Callable[[str, Result], None],
    ) -> None:
        self._run, self._answer = run, answer
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._held: deque[str] = deque()
        self._begun = asyncio.Event()
        self._obstacle = ""

    @property
    def held(self) -> int:
        """How many lines wait for the disk."""
        return len(self._held)

    def put(self, line: str) -> None:
        """Take a line that was submitted."""
        self._lines.put_nowait(line)

    def try_again(self) -> None:
        """Write what waits for the disk; call it once the disk may take it."""
        if self._held and self._lines.empty():
            self._lines.put_nowait(None)

    def begin(self, obstacle: str = "") -> None:
        """The engine runs from now on; or there is an `obstacle`, and only commands can run."""
        self._obstacle = obstacle
        self._begun.set()

    async def work(self) -> None:
        """Run lines until cancelled."""
        await self._begun.wait()
        while True:
            line = await self._lines.get()
            if line is None:
                await self._write_held()
            elif is_command(line):
                self._answer(line, await self._run(line))
            elif self._obstacle:
                self._answer(line, Result(ok=False, text=self._obstacle))
            elif 0 < len(self._held) < HELD_MAX:
                self._held.append(line)  # it must not overtake the others
                self._answer("", Result())
            else:
                await self._write(line)

    async def _write(self, line: str) -> None:
        result = await self._run(line)
        if result.refused_by_disk and len(self._held) < HELD_MAX:
            self._held.append(line)
            result = Result()  # that it waits is said as long as it does
        self._answer(line, result)

    async def _write_held(self) -> None:
        while self._held:
            result = await self._run(self._held[0])
            if result.refused_by_disk:
                return
            self._answer(self._held.popleft(), result)
