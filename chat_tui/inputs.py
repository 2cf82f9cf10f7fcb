"""What the person submitted, run in order: a line never overtakes the command before it.

Rules:
1. Nothing runs before the engine does, and nothing typed is lost where the engine cannot.
2. What the disk refuses to keep waits here, in order, until it takes it; commands go on meanwhile.
3. A line goes to the channel it was written in, wherever the person is when its turn comes; behind
   a command that opens another channel, it was written for that one.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from chat_tui.commands.command import Result, is_command
from sync.machine import ChannelId

HELD_MAX: Final = 100
"""Lines that wait for the disk; further ones go back to whoever wrote them."""


@dataclass(slots=True)
class _Line:
    text: str
    channel: ChannelId | None
    """Where it was written; None before there was a channel."""


class Inputs:
    """Lines on their way to `run` with their channels; what each did goes to `answer`."""

    def __init__(
        self,
        run: Callable[[str, ChannelId | None], Awaitable[Result]],
        answer: Callable[[str, Result], None],
    ) -> None:
        self._run, self._answer = run, answer
        self._lines: deque[_Line] = deque()
        self._held: deque[_Line] = deque()
        self._wanted = asyncio.Event()
        """Whether there is something to do."""
        self._begun = asyncio.Event()
        self._obstacle = ""

    @property
    def held(self) -> int:
        """How many lines wait for the disk."""
        return len(self._held)

    def put(self, line: str, channel: ChannelId | None) -> None:
        """Take a line that was submitted in a channel."""
        self._lines.append(_Line(line, channel))
        self._wanted.set()

    def try_again(self) -> None:
        """Write what waits for the disk; call it once the disk may take it."""
        if self._held:
            self._wanted.set()

    def begin(self, obstacle: str = "") -> None:
        """The engine runs from now on; or there is an `obstacle`, and only commands can run."""
        self._obstacle = obstacle
        self._begun.set()

    async def work(self) -> None:
        """Run lines until cancelled."""
        await self._begun.wait()
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            if not self._lines:
                await self._write_held()
            while self._lines:
                await self._take(self._lines.popleft())

    async def _take(self, line: _Line) -> None:
        if is_command(line.text):
            result = await self._run(line.text, line.channel)
            if result.channel is not None:
                self._lead(line.channel, result.channel)
            self._answer(line.text, result)
        elif self._obstacle:
            self._answer(line.text, Result(ok=False, text=self._obstacle))
        elif 0 < len(self._held) < HELD_MAX:
            self._held.append(line)  # it must not overtake the others
            self._answer("", Result())
        else:
            await self._write(line)

    def _lead(self, before: ChannelId | None, after: ChannelId) -> None:
        """A command opened a channel: what was written behind it, not having moved, goes there."""
        for line in self._lines:
            if line.channel == before:
                line.channel = after

    async def _write(self, line: _Line) -> None:
        result = await self._run(line.text, line.channel)
        if result.refused_by_disk and len(self._held) < HELD_MAX:
            self._held.append(line)
            result = Result()  # that it waits is said as long as it does
        self._answer(line.text, result)

    async def _write_held(self) -> None:
        while self._held:
            result = await self._run(self._held[0].text, self._held[0].channel)
            if result.refused_by_disk:
                return
            self._answer(self._held.popleft().text, result)
