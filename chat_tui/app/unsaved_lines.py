"""Lines that the disk refused to keep: they wait in memory, in order, until it takes them."""

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple, TypeAlias

from chat_tui.commands.command import Result
from sync.machine import ChannelId, MessageId

HELD_MAX: Final = 100
"""Lines that wait for the disk; further ones go back to whoever wrote them."""


class Input(NamedTuple):
    """A line, and the channel that was open when it was written."""

    text: str
    channel: ChannelId | None
    typed: bool = False
    """Whether it stood in the input, so that what stands there now was typed after it."""
    answers: MessageId | None = None
    """The message that it answers, where a script names one."""


Write: TypeAlias = Callable[[Input], Awaitable[Result]]
"""A line to what became of it."""


class Held:
    """Lines on their way through `write`; each keeps the channel it was written in."""

    def __init__(self, write: Write) -> None:
        self._write = write
        self._lines: deque[Input] = deque()
        self._refusal = Result()

    def __len__(self) -> int:
        return len(self._lines)

    async def write_line(self, line: Input) -> Result | None:
        """Write a line, which overtakes none that waits; returns None if it waits too now."""
        if not self._lines:
            result = await self._write(line)
            if not result.refused_by_disk:
                return result
            return self.hold(line, result)
        return self.hold(line, self._refusal)

    def hold(self, line: Input, refusal: Result) -> Result | None:
        """Have a line wait that the disk refused; returns the refusal if too many wait."""
        self._refusal = refusal
        if len(self._lines) >= HELD_MAX:
            return refusal
        self._lines.append(line)
        return None

    async def write_again(self, answer: Callable[[Input, Result], None]) -> None:
        """Write what waits, until the disk refuses; `answer` is given each line and its result."""
        while self._lines:
            result = await self._write(self._lines[0])
            if result.refused_by_disk:
                return
            answer(self._lines.popleft(), result)

    def give_up(self) -> list[str]:
        """Return the lines that wait, which are never written now."""
        lines = [line.text for line in self._lines]
        self._lines.clear()
        return lines
