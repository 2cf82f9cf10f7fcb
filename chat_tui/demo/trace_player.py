"""A live trace played again, on the screen of the demo: step by step and back."""

from collections import deque
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from chat_tui.demo.moment import Shot
from chat_tui.demo.pacing.traffic import Traffic
from chat_tui.demo.scenario import Verdict
from chat_tui.demo.trace_story import Story
from sync.machine import SECOND, Nanos
from sync.net.replay import Recorded

PICTURES_KEPT: Final = 300
"""Steps that can be gone back without playing again."""

SILENCE: Final[Nanos] = 5 * SECOND
"""A trace in which nothing happens for longer than this is not waited for."""


class TracePlayer:
    """Plays `steps` of the trace called `name`; see `chat_tui.demo.screen.Player`."""

    def __init__(self, name: str, steps: Sequence[Recorded]) -> None:
        self._name, self._steps = name, steps
        self._story = Story()
        self._pictures: deque[tuple[int, Shot]] = deque(maxlen=PICTURES_KEPT)
        """Told steps, and how far the story was played then."""
        self._at: int | None = None
        self._clock: Nanos = 0
        self._remember()

    @property
    def shot(self) -> Shot:
        """The moment that is shown."""
        if self._at is None:
            return self._pictures[-1][1]
        return replace(self._pictures[self._at][1], earlier=True)

    @property
    def now(self) -> Nanos:
        """The time that is shown."""
        return max(self._clock, self.shot.now) if self._clock else self.shot.now

    @property
    def traffic(self) -> Traffic | None:
        """None: a trace tells what came and went at one participant."""
        return None

    @property
    def over(self) -> bool:
        """True if the end is shown."""
        return self._at is None and self._done

    @property
    def far(self) -> bool:
        """True if the step before can only be shown by playing again from the beginning."""
        at = len(self._pictures) - 1 if self._at is None else self._at
        return at == 0 and self._pictures[0][0] > 0

    def forward(self) -> bool:
        """Show the next step that tells something."""
        if self._at is not None:
            self._at += 1
            if self._at == len(self._pictures) - 1:
                self._at = None
            return True
        if self._done:
            return False
        told = False
        while not told and not self._done:
            told = self._story.play(self._steps[self._story.played])
        self._remember()
        return True

    def back(self) -> bool:
        """Show the step before."""
        if self.far:
            self._play_again(self._pictures[0][0])
        at = len(self._pictures) - 1 if self._at is None else self._at
        if at == 0:
            return False
        self._at = at - 1
        self._clock = self.shot.now
        return True

    def advance(self, duration: Nanos) -> None:
        """Let time pass; a long silence is passed over at once."""
        self._clock = max(self._clock, self.shot.now) + duration
        while not self.over:
            due = self._next_time()
            if due > self._clock + SILENCE:
                self._clock = due
            if due > self._clock:
                return
            self.forward()

    def verdict(self) -> Verdict:
        """Play to the end; returns how it compares with what was recorded."""
        while not self._done:
            self._story.play(self._steps[self._story.played])
        return self._story.verdict()

    @property
    def _done(self) -> bool:
        return self._story.played == len(self._steps)

    def _next_time(self) -> Nanos:
        if self._at is not None:
            return self._pictures[self._at + 1][1].now
        return self._steps[self._story.played].now

    def _remember(self) -> None:
        shot = self._story.shot(self._name, len(self._steps), over=self._done)
        self._pictures.append((self._story.played, shot))

    def _play_again(self, until: int) -> None:
        """Play from the beginning, so that the pictures before step `until` are there again."""
        self._story = Story()
        self._pictures.clear()
        self._remember()
        while self._story.played < until:
            if self._story.play(self._steps[self._story.played]) or self._story.played == until:
                self._remember()
        self._at = None
