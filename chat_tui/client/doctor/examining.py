"""Examinations beside the open chat: tests are told as they end, and reading can be stopped."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Final

from chat_tui.client.chat import Chat, Progress
from chat_tui.client.doctor.findings import Finding
from chat_tui.client.exception_groups import plain_errors

DONE: Final = "All tests are done."
STOPPED: Final = "Not all messages were read."


class Examination:
    """The tests of `/doctor`, and if it is `deep` those that read every stored message.

    Args:
        chat: the open one.
        found: is told each finding.
        read: is told how many messages are read, of how many.
        deep: whether every stored message is read.
    """

    def __init__(
        self, chat: Chat, found: Callable[[Finding], None], read: Progress, *, deep: bool
    ) -> None:
        self._chat, self._found, self._read = chat, found, read
        self._deep = deep
        self._stopped = False
        self._reading: asyncio.Task[None] | None = None

    async def run(self) -> str:
        """Test until all is done, or no more is wanted; returns how it ended.

        Raises:
            LocalError: there is nothing to test.
        """
        await self._tell(self._chat.examine())
        if not self._deep:
            return DONE
        if self._stopped:
            return STOPPED
        deep = self._chat.examine(deep=True, tell=self._read)
        with plain_errors():
            async with asyncio.TaskGroup() as tasks:
                self._reading = tasks.create_task(self._tell(deep))
        return STOPPED if self._reading.cancelled() else DONE

    def stop(self) -> None:
        """Read no further message; the other tests take seconds, and end by themselves."""
        self._stopped = True
        if self._reading is not None:
            self._reading.cancel()

    async def _tell(self, findings: AsyncIterator[Finding]) -> None:
        async for finding in findings:
            self._found(finding)
