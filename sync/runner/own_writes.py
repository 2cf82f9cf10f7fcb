"""Own messages on their way to the disk, and whoever waits for what becomes of them."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from sync.errors import ChatError
from sync.machine import MessageId

Outcome: TypeAlias = MessageId | ChatError
"""Id of a message that is committed, or why there is none."""


def _nobody() -> None:
    """Tell nobody."""


class Together:
    """Messages that were given together: one waits for all of them, however many they are."""

    def __init__(self) -> None:
        self.left = 0
        """Messages of which nothing is known yet."""
        self.settled: Callable[[], None] = _nobody
        """Is told once there is none any more."""
        self._outcomes: list[Outcome | None] = []

    def add(self, outcome: Outcome | None = None) -> int:
        """Add a message, whose outcome may be known; returns its place."""
        self._outcomes.append(outcome)
        self.left += outcome is None
        return len(self._outcomes) - 1

    def settle(self, place: int, outcome: Outcome) -> None:
        """Take note of what became of a message."""
        self._outcomes[place] = outcome
        self.left -= 1
        if not self.left:
            self.settled()

    @property
    def outcomes(self) -> Sequence[Outcome]:
        """Those that are known, in order."""
        return [one for one in self._outcomes if one is not None]


class OwnWrites:
    """Those that are neither committed nor refused yet, by token."""

    def __init__(self) -> None:
        self._waiting: dict[int, tuple[Together, int]] = {}

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def expect(self, token: int, together: Together) -> None:
        """A message with this token is queued."""
        self._waiting[token] = together, together.add()

    def settle(self, token: int, outcome: Outcome) -> None:
        """It is committed, or there is none."""
        waiting = self._waiting.pop(token, None)
        if waiting is not None:
            together, place = waiting
            together.settle(place, outcome)
