"""Lines that the disk refused to keep: they wait in memory, in order, until it takes them."""

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from chat_tui.commands.command import Result
from sync.machine import ChannelId

HELD_MAX: Final = 100
"""Lines that wait for the disk; further ones go back to whoever wrote them."""

Write: TypeAlias = Callable[[str, ChannelId | None], Awaitable[Result]]
"""(line, the channel that was open) to what became of it."""


class Held:
    """Lines on their way through `write`; each stays with the channel it was written in."""

    def __init__(self, write: Write) -> None:
        self._write = write
        self._lines: deque[tuple[str, ChannelId | None]] = deque()
        self._refusal = Result()

    def __len__(self) -> int:
        return len(self._lines)

    async def write(self, line: str, channel: ChannelId | None) -> Result | None:
        """Write a line, which overtakes none that waits; returns None if it waits too now."""
        if not self._lines:
            result = await self._write(line, channel)
            if not result.refused_by_disk:
                return result
            self._refusal = result
        if len(self._lines) >= HELD_MAX:
            return self._refusal
        self._lines.append((line, channel))
        return None

    async def write_again(self, answer: Callable[[str, Result], None]) -> None:
        """Write what waits, until the disk refuses; `answer` is given each line and its result."""
        while self._lines:
            result = await self._write(*self._lines[0])
            if result.refused_by_disk:
                return
            line, _ = self._lines.popleft()
            answer(line, result)

    def give_up(self) -> list[str]:
        """Return the lines that wait, which are never written now."""
        lines = [line for line, _ in self._lines]
        self._lines.clear()
        return lines
