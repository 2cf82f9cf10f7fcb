"""The tour of all scenarios, on the viewer's time: opening, play, promises, the next one. Pure."""

from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from sync.machine import SECOND, Nanos

OPENING_FOR: Final[Nanos] = 3 * SECOND
"""Time for the sentence that says what will be seen."""

CLOSING_FOR: Final[Nanos] = 6 * SECOND
"""Time for the promises: there are five at most, of a line or two."""


class Part(Enum):
    """Parts of what is shown of a scenario."""

    OPENING = auto()
    PLAYING = auto()
    CLOSING = auto()


@dataclass(slots=True)
class Tour:
    """Place of the viewer; `goes_on` until somebody changes the network."""

    part: Part = Part.OPENING
    goes_on: bool = True
    left: Nanos = OPENING_FOR
    """Viewer's time until the part is over; meaningless while a scenario plays."""

    def begin(self, *, with_opening: bool = True) -> None:
        """Begin a scenario."""
        self.part = Part.OPENING if with_opening else Part.PLAYING
        self.left = OPENING_FOR

    def skip_opening(self) -> None:
        """Begin to play at once: somebody wants to see more than the sentence."""
        if self.part is Part.OPENING:
            self.part = Part.PLAYING

    def close(self) -> None:
        """The scenario is over: show its promises, for a while or until somebody goes on."""
        if self.part is not Part.CLOSING:
            self.part, self.left = Part.CLOSING, CLOSING_FOR

    def go_back(self) -> None:
        """Somebody went back from the promises, or on from the sentence."""
        self.part = Part.PLAYING

    def let_pass(self, duration: Nanos) -> Nanos:
        """Let viewer's time pass; returns how much of it is left for the scenario itself."""
        if self.part is Part.PLAYING:
            return duration
        self.left -= duration
        if self.part is Part.OPENING and self.left <= 0:
            self.part = Part.PLAYING
            return -self.left
        return 0

    @property
    def is_next_due(self) -> bool:
        """True once the promises were shown long enough, and the tour was not held up."""
        return self.part is Part.CLOSING and self.left <= 0 and self.goes_on
