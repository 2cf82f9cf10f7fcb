"""Shows a run to a viewer: a player, its score, the place in the tour. It has no clock itself."""

from typing import Final

from chat_tui.demo.pacing.score import Score
from chat_tui.demo.pacing.tour import Part, Tour
from chat_tui.demo.player import Player
from sync.machine import SECOND, Nanos

SPEEDS: Final = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
NORMAL: Final = 1.0

PASSED_MOST: Final[Nanos] = SECOND
"""Of the viewer's time at once: a program that was stopped goes on where it was."""


class Showing:
    """Moves `player` on in the viewer's time, bent as `score` says; without one, as it is."""

    def __init__(self, player: Player | None, speed: float, *, running: bool) -> None:
        self.player = player
        self.score: Score | None = None
        self.tour = Tour()
        self.speed = speed
        self.running = running

    @property
    def now(self) -> Nanos:
        """The simulated time that is shown."""
        return 0 if self.player is None else self.player.now

    @property
    def part(self) -> Part:
        """The part of a scenario that is shown."""
        return self.tour.part

    def begin(self, player: Player, score: Score | None) -> None:
        """Show another run, from its sentence on."""
        self.player, self.score = player, score
        self.tour.begin(with_opening=score is not None)

    def let_pass(self, duration: Nanos) -> None:
        """Let viewer's time pass, if it runs."""
        player = self.player
        if player is None or not self.running:
            return
        left = self.tour.let_pass(min(duration, PASSED_MOST))
        if player.over or not left:
            return
        if self.score is None:
            player.advance(int(left * self.speed))
        else:
            bent = self.score.bent
            viewed = bent.viewed(player.now) + int(left * self.speed)
            player.advance(max(0, bent.simulated(viewed) - player.now))

    def end(self) -> None:
        """Show the promises: the run is over."""
        self.tour.close()

    def turn_speed(self, step: int) -> None:
        """Go slower or faster."""
        nearest = min(SPEEDS, key=lambda speed: abs(speed - self.speed))
        at = SPEEDS.index(nearest) + step
        self.speed = SPEEDS[min(max(at, 0), len(SPEEDS) - 1)]
