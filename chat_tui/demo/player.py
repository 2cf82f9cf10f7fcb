"""Interface of what the demo's screen plays: the demo's own stage, or a recorded trace."""

from typing import Protocol

from chat_tui.demo.moment import Shot
from sync.machine import Nanos


class Player(Protocol):
    """Something that is played: the demo's stage, or a recorded trace."""

    @property
    def shot(self) -> Shot:
        """The moment that is shown."""

    @property
    def over(self) -> bool:
        """True if the end is shown."""

    def forward(self) -> bool:
        """Show the next step."""

    def back(self) -> bool:
        """Show the step before."""

    @property
    def far(self) -> bool:
        """True if the step before can only be shown by playing again from the beginning."""

    def advance(self, duration: Nanos) -> None:
        """Let time pass."""
