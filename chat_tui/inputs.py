"""What the person submitted, run in order: a line never overtakes the command before it.

Nothing runs before the engine does, and nothing typed is lost where the engine cannot.
"""

import asyncio
from collections.abc import Awaitable, Callable

from chat_tui.commands.command import Result


class Inputs:
    """Lines on their way to `run`; what each did goes to `answer`."""

    def __init__(
        self,
        run: Callable[[str], Awaitable[Result]],
        answer: Callable[[str, Result], None],
    ) -> None:
        self._run, self._answer = run, answer
        self._lines: asyncio.Queue[str] = asyncio.Queue()
        self._begun = asyncio.Event()
        self._obstacle = ""

    def put(self, line: str) -> None:
        """Take a line that was submitted."""
        self._lines.put_nowait(line)

    def begin(self, obstacle: str = "") -> None:
        """The engine runs from now on; or there is an `obstacle`, and only commands can run."""
        self._obstacle = obstacle
        self._begun.set()

    async def work(self) -> None:
        """Run lines until cancelled."""
        await self._begun.wait()
        while True:
            line = await self._lines.get()
            if self._obstacle and not line.lstrip().startswith("/"):
                self._answer(line, Result(ok=False, text=self._obstacle))
            else:
                self._answer(line, await self._run(line))
