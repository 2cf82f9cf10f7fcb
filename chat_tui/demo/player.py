"""What the screen of the demo plays: the demo's own stage, or a recorded trace."""

from typing import Protocol

from chat_tui.demo.shot import Shot
from sync.machine import Nanos


class Player(Protocol):
    """Something that is played: the demo's stage, or a recorded trace."""

    @property
    def shot(self) -> Shot:
        """What it looks like."""

    @property
    def over(self) -> bool:
        """Whether its end is shown."""

    def forward(self) -> bool:
        """Show the next step."""

    def back(self) -> bool:
        """Show the step before."""

    @property
    def far(self) -> bool:
        """Whether the step before has to be played again from the beginning."""

    def advance(self, duration: Nanos) -> None:
        """Let time pass."""
