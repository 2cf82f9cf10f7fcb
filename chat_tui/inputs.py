"""What the person submitted, run in order: a line never overtakes the command before it.

Rules:
1. Nothing runs before the engine does, and nothing typed is lost where the engine cannot.
2. What the disk refuses to keep waits here, in order, until it takes it; commands go on meanwhile.
"""

import asyncio
from collections.abc import Callable

from chat_tui.commands.command import Result, is_command
from chat_tui.held import Held, Write
from sync.machine import ChannelId


class Inputs:
    """Lines on their way to `run`; what each did goes to `answer`.

    `where` says which channel is open when the turn of a line has come.
    """

    def __init__(
        self,
        run: Write,
        answer: Callable[[str, Result], None],
        where: Callable[[], ChannelId | None],
    ) -> None:
        self._run, self._answer, self._where = run, answer, where
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._held = Held(run)
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
                await self._held.write_again(self._answer)
            elif is_command(line):
                self._answer(line, await self._run(line, self._where()))
            elif self._obstacle:
                self._answer(line, Result(ok=False, text=self._obstacle))
            else:
                result = await self._held.write(line, self._where())
                # that a line waits is said as long as it does
                self._answer(line, Result() if result is None else result)
