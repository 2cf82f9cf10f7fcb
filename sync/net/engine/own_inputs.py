"""Own lines, ops and registers on their way to the disk, and whoever waits for their outcome.

Rule: nobody waits for ever. When the engine ends, all who still wait are told.
"""

import asyncio
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from sync.errors import ChatError, LocalError
from sync.group.values import Act, SetState, Write
from sync.machine import MessageId

Outcome: TypeAlias = MessageId | ChatError
"""Id of a message that is committed, or why there is none."""

ENDED: Final = "The chat has ended. Look when it is open again whether the last lines are saved."


class Together:
    """Messages that were given together: one waits for all of them, however many they are."""

    def __init__(self) -> None:
        self._left = 0
        """Messages of which nothing is known yet."""
        self._settled = asyncio.Event()
        self._outcomes: list[Outcome | None] = []

    def add(self, outcome: Outcome | None = None) -> int:
        """Add a message, whose outcome may be known; returns its place."""
        self._outcomes.append(outcome)
        self._left += outcome is None
        return len(self._outcomes) - 1

    def settle(self, place: int, outcome: Outcome) -> None:
        """Take note of what became of a message."""
        self._outcomes[place] = outcome
        self._left -= 1
        if not self._left:
            self._settled.set()

    async def outcomes(self) -> Sequence[Outcome]:
        """Return what became of all, in order, once that is known."""
        if self._left:
            await self._settled.wait()
        return [one for one in self._outcomes if one is not None]


class OwnInputs:
    """Those that are neither committed nor refused yet, by token."""

    def __init__(self) -> None:
        self._writes: dict[int, tuple[Together, int]] = {}
        self._others: dict[int, asyncio.Future[Any]] = {}
        """Ops and registers."""
        self._tokens = 0
        self.is_over = False
        """True once the engine has ended."""

    def __bool__(self) -> bool:
        return bool(self._writes or self._others)

    def new_token(self) -> int:
        """Return a number for another one.

        Raises:
            LocalError: the engine has ended.
        """
        if self.is_over:
            raise LocalError(ENDED)
        self._tokens += 1
        return self._tokens

    def expect_write(self, token: int, together: Together) -> None:
        """Wait for a line, with others."""
        self._writes[token] = together, together.add()

    def expect(self, token: int) -> asyncio.Future[Any]:
        """Wait for an op or a register; what is returned is done once it is committed."""
        future = self._others[token] = asyncio.get_running_loop().create_future()
        return future

    def settle_write(self, token: int, outcome: Outcome) -> None:
        """Note that a line is committed, or that there is none."""
        waiting = self._writes.pop(token, None)
        if waiting is not None:
            together, place = waiting
            together.settle(place, outcome)

    def settle(self, token: int, outcome: object) -> None:
        """Note that an op or a register is committed, or, with an error, that there is none."""
        future = self._others.pop(token, None)
        if future is None or future.done():  # whoever waits may be gone
            return
        if isinstance(outcome, ChatError):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)

    def fail(self, event: Write | Act | SetState, error: ChatError) -> None:
        """Note that there is none."""
        if isinstance(event, Write):
            self.settle_write(event.token, error)
        else:
            self.settle(event.token, error)

    def end(self) -> None:
        """Tell all who still wait that the engine has ended, and take no more."""
        self.is_over = True
        error = LocalError(ENDED)
        for token in list(self._writes):
            self.settle_write(token, error)
        for token in list(self._others):
            self.settle(token, error)
