"""`/doctor deep` in line mode: it goes on beside the chat, one at a time, and can be stopped."""

import asyncio
from collections.abc import Callable
from typing import Final

from chat_tui.client.chat import Chat
from chat_tui.client.doctor.examining import STOPPED, Examination
from chat_tui.client.doctor.findings import Finding
from chat_tui.commands.command import Result
from chat_tui.line_mode.output import Face
from sync.errors import LocalError

GOES_ON: Final = "Every message is being read already; /doctor stop ends that."
BEGUN: Final = "Every stored message is read now; /doctor stop ends that."
NOT_ON: Final = "Nothing is being read; /doctor deep begins."


class DeepLook:
    """Tells `face` what is found; `flush` hands out what it was told."""

    def __init__(self, chat: Chat, face: Face, flush: Callable[[], None]) -> None:
        self._chat, self._face, self._flush = chat, face, flush
        self._examination: Examination | None = None
        self._ended = asyncio.Event()
        self._ended.set()

    def begin(self, tasks: asyncio.TaskGroup) -> Result:
        """Begin, unless one goes on."""
        if self._examination is not None:
            return Result(ok=False, text=GOES_ON)
        self._examination = Examination(self._chat, self._found, self._read, deep=True)
        self._ended.clear()
        tasks.create_task(self._look(self._examination))
        return Result(text=BEGUN)

    def stop(self) -> Result:
        """End it; what was found until now is seen to."""
        if self._examination is None:
            return Result(ok=False, text=NOT_ON)
        self._examination.stop()
        return Result(text=STOPPED)

    async def ended(self) -> None:
        """Wait until none goes on."""
        await self._ended.wait()

    async def _look(self, examination: Examination) -> None:
        try:
            result = Result(text=await examination.run())
        except LocalError as error:
            result = Result(ok=False, text=str(error))
        finally:
            self._examination = None
            self._ended.set()
        self._face.result("/doctor", result)
        self._flush()

    def _found(self, finding: Finding) -> None:
        self._face.finding(finding)
        self._flush()

    def _read(self, done: int, of: int) -> None:
        self._face.read(done, of)
        self._flush()
