"""Interface of what the demo's screen plays: the demo's own stage, or a recorded trace."""

from typing import Protocol

from chat_tui.demo.moment import Shot
from chat_tui.demo.pacing.traffic import Traffic
from sync.machine import Nanos


class Player(Protocol):
    """Something that is played: the demo's stage, or a recorded trace."""

    @property
    def shot(self) -> Shot:
        """The moment that is shown."""

    @property
    def now(self) -> Nanos:
        """The time that is shown: that of the moment, or later if nothing has happened since."""

    @property
    def traffic(self) -> Traffic | None:
        """Frames and waits until now; None where nobody saw them."""

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
