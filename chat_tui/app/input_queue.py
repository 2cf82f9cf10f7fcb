"""Submitted input, run in order: a line never overtakes the command before it.

Rules:
1. Nothing runs before the engine does, and nothing typed is lost if the engine cannot run.
2. Lines the disk refuses wait here, in order, until it takes them; commands go on meanwhile.
3. A line goes to the channel in which it was written, whichever is open when its turn comes; only
   what was typed after a command that opens another goes there.
"""

import asyncio
from collections.abc import Callable
from typing import Final

from chat_tui.app.unsaved_lines import Held, Input, Write
from chat_tui.commands.command import Result
from chat_tui.text.slash import is_command
from sync.machine import ChannelId

NOTHING: Final = Input("", None)


class Inputs:
    """Lines on their way to `run`; what each did goes to `answer`."""

    def __init__(
        self,
        run: Write,
        answer: Callable[[Input, Result], None],
    ) -> None:
        self._run, self._answer = run, answer
        self._lines: asyncio.Queue[Input | None] = asyncio.Queue()
        self._held = Held(run)
        self._begun = asyncio.Event()
        self._obstacle = ""

    @property
    def held(self) -> int:
        """Number of lines that wait for the disk."""
        return len(self._held)

    def put(self, text: str, channel: ChannelId | None) -> None:
        """Take a line that a key or a list stands for, while `channel` is open."""
        self._lines.put_nowait(Input(text, channel))

    def put_typed(self, text: str, channel: ChannelId | None) -> None:
        """Take a line that was written and submitted while `channel` was open."""
        self._lines.put_nowait(Input(text, channel, typed=True))

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
                await self._held.write_again(self._answer)
            elif is_command(line.text):
                result = await self._run(line)
                if result.ok and result.channel is not None:
                    self._take_along(line.channel, result.channel)
                self._answer(line, result)
            else:
                await self._write(line)

    async def _write(self, line: Input) -> None:
        if self._obstacle:
            self._answer(line, Result(ok=False, text=self._obstacle))
            return
        came_to = await self._held.write_line(line)
        if came_to is None:
            self._answer(NOTHING, Result())  # that it waits is said as long as it does
        else:
            self._answer(line, came_to)

    def _take_along(self, before: ChannelId | None, now: ChannelId) -> None:
        """Let what was typed after a command that opens a channel go there too."""
        for _ in range(self._lines.qsize()):
            line = self._lines.get_nowait()
            if line is not None and line.channel == before:
                line = line._replace(channel=now)
            self._lines.put_nowait(line)
