"""Plays scenarios on the demo's screen: makes them ready, lets time pass, steps, goes on."""

import asyncio
import time
from abc import abstractmethod
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, TypedDict

from chat_tui.client import gc_policy
from chat_tui.demo.pacing.score import Score, score_of
from chat_tui.demo.pacing.showing import NORMAL, Showing
from chat_tui.demo.pacing.tour import Part
from chat_tui.demo.player import Player
from chat_tui.demo.recording import DIFFERS, SAME, Recording, save
from chat_tui.demo.scenario import SEED
from chat_tui.demo.scenarios import SCENARIOS, scenario
from chat_tui.demo.stage import Stage
from chat_tui.keys.table import with_keys
from chat_tui.terminal.front_to_back import FrontScreen
from chat_tui.terminal.themed_app import Dressed, keys_of
from sync.errors import LocalError
from sync.machine import SECOND, Nanos

PAINT_S: Final = 0.1
"""Between two paints while it runs."""

STILL: Final[Nanos] = SECOND // 2
"""The same where nothing is to move."""

CLEARED_AFTER_S: Final = 0.5
"""Between the end of the screen and freeing what it played: Textual lets go of it by then."""

WANTED_MAX: Final = 100
"""Keys remembered while something is made ready; more are pressed by something that fell."""

WHENEVER: Final[Nanos] = 2**62
"""Stands for the end: that of a crowd, which is not played before, may be later than planned."""

FIRST: Final = Recording(1, SEED)

AT_END: Final = "This is the end; {demo_back} goes back."
AGAIN: Final = "Playing it again up to here ..."


class Course(NamedTuple):
    """Course of the tour: whether it waits for a key at first, ends after the last, plays one."""

    paused: bool = False
    once: bool = False
    alone: bool = False


class Playing(TypedDict, total=False):
    """Options of `Playback`."""

    played: Recording
    speed: float
    record: Path | None
    course: Course


class Playback(FrontScreen[None]):
    """Plays `player`; without one, what `played` says, and then all scenarios, one after the other.

    Args:
        player: what is played; None for the scenario that `played` names, with acts of before.
        played: see above.
        speed: of time, 1 for the usual one.
        record: the file that gets what was played, once it is over or left.
        course: whether it plays at once, and where it ends.
    """

    def __init__(
        self,
        player: Player | None = None,
        *,
        played: Recording = FIRST,
        speed: float = NORMAL,
        record: Path | None = None,
        course: Course = Course(),  # noqa: B008  # it cannot change
    ) -> None:
        super().__init__()
        self._record, self._played = record, played
        self.unkept = ""
        """Reason for which what was played is not in its file; empty if it is."""
        self._course = course
        self.showing = Showing(player, speed, running=not course.paused)
        """The run that is shown, and how far it is."""
        self.seed = played.seed
        self._number = played.number
        self._selected, self._note = 0, ""
        self._digit = 0
        """The digit that chose what is played; 0 for none."""
        self._ticked = 0.0
        self._unpainted: Nanos = 0
        """Viewer's time since it was painted."""
        self.busy = False
        """True if something is made ready, or played again, beside the screen."""
        self._made = False
        """True once a scenario was made ready: the next one frees what it left."""
        self._wanted: deque[Callable[[], None]] = deque()
        """Requests of keys meanwhile."""

    def start(self) -> None:
        """Begin with the first scenario, or with what is played again."""
        self._ticked = time.perf_counter()
        self.set_interval(PAINT_S, self._tick)
        if self.player is None:
            self._begin(self._number)
        else:
            self.showing.begin(self.player, None)
            self.paint()

    def on_unmount(self) -> None:
        """Free the run that was shown, once nothing of the screen is left.

        As a message: until the next one comes, Textual holds the last one, and with it this screen.
        """
        clear = partial(self.app.call_later, gc_policy.clear_away)
        self.app.set_timer(CLEARED_AFTER_S, clear)

    @abstractmethod
    def paint(self) -> None:
        """Draw what there is."""

    # -- playing ------------------------------------------------------------------------------

    @property
    def player(self) -> Player | None:
        """The run that is played; None while it is made ready."""
        return self.showing.player

    @property
    def running(self) -> bool:
        """True while time runs."""
        return self.showing.running

    @property
    def stage(self) -> Stage | None:
        """The stage that is played; None for a replay, on which no act is possible."""
        return self.player if isinstance(self.player, Stage) else None

    @property
    def _can_change(self) -> bool:
        """True if another scenario can be played: over a replay there is none."""
        return self.player is None or self.stage is not None

    def _begin(self, number: int) -> None:
        """Make a scenario ready, beside the screen: some write hundreds of lines before."""
        self._number, self._selected = number, 0
        self.showing.player, self._note = None, ""
        self.busy = True
        self._wanted.clear()
        self.run_worker(self._make_ready(number), exclusive=True)
        self.paint()

    async def _make_ready(self, number: int) -> None:
        def make() -> tuple[Stage, Score]:
            if self._made:
                gc_policy.clear_away()  # the run before this one
            self._made = True
            one = scenario(number, self._played.people)
            stage = Stage(one, self.seed, self._played.acts)
            return stage, score_of(one, self.seed, self._played.acts)

        stage, score = await asyncio.to_thread(make)
        self.showing.begin(stage, score)
        self._be_ready()

    def _once_ready(self, act: Callable[[], None]) -> None:
        """Do it now, or as soon as what is made ready or played again is there."""
        if not self.busy:
            act()
        elif len(self._wanted) < WANTED_MAX:
            self._wanted.append(act)

    def _be_ready(self) -> None:
        """Do what was wanted meanwhile; one of that may need time again."""
        self.busy = False
        while self._wanted and not self.busy:
            self._wanted.popleft()()
        self.paint()

    def _tick(self) -> None:
        now = time.perf_counter()
        passed, self._ticked = now - self._ticked, now
        self.let_pass(int(passed * SECOND))

    @property
    def moves(self) -> bool:
        """True if what happens is drawn on its way; else only where it goes, and less often."""
        app = self.app
        return not isinstance(app, Dressed) or app.in_motion

    def let_pass(self, duration: Nanos) -> None:
        """Let viewer's time pass, and show what came of it; the tour goes on by it too."""
        showing, player = self.showing, self.player
        self._unpainted += duration
        if not self.running or player is None or self.busy:
            return
        was_over = player.over
        showing.let_pass(duration)
        if player.over and not was_over:
            self._ended()
        elif player.over:
            showing.end()
        if showing.tour.is_next_due:
            self._go_on()
        if self.moves or self._unpainted >= STILL:
            self.paint()

    def _go_on(self) -> None:
        """Play what comes next of the tour; where nothing does, stop."""
        if not self._can_change or (self._course.once and self._is_last):
            showing = self.showing
            showing.running = False
            if self._course.once:
                self.keep()
                self.dismiss()
        else:
            self.action_scenario(1)

    @property
    def _is_last(self) -> bool:
        return self._course.alone or self._number == len(SCENARIOS)

    def _ended(self) -> None:
        """It is over: say whether it is what was recorded, or record it."""
        self.showing.end()
        stage, played = self.stage, self._played
        if stage is None:
            return
        if played.digest:
            same = played.digest == stage.run.digest()
            self._note = SAME if same else DIFFERS
        self.keep()

    def keep(self) -> None:
        """Write what was played so far to the file of `--record`; `unkept` says why not."""
        stage = self.stage
        if self._record is None or stage is None:
            return
        digest = stage.run.digest() if stage.run.over else ""
        recorded = Recording(
            self._number, self.seed, tuple(stage.acts), digest, self._played.people
        )
        self.unkept = ""
        try:
            save(self._record, recorded)
        except LocalError as error:
            self._note = self.unkept = str(error)

    def action_forward(self) -> None:
        """Go on to the next thing that happens."""
        self._once_ready(self._forward)

    def _forward(self) -> None:
        if self.player is not None:
            self._stop()
            self._note = "" if self.player.forward() else self._named(AT_END)
            if self.player.over:
                self._ended()
            self.paint()

    def _stop(self) -> None:
        """Stop time, to look at a step."""
        self.showing.running = False
        self.showing.tour.go_back()

    def action_back(self) -> None:
        """Show the step before."""
        self._once_ready(self._back)

    def _back(self) -> None:
        player = self.player
        if player is None:
            return
        self._stop()
        if player.far:
            self.busy, self._note = True, AGAIN
            self.run_worker(self._back_far(player), exclusive=True)
        else:
            self._note = "" if player.back() else "This is the beginning."
        self.paint()

    async def _back_far(self, player: Player) -> None:
        await asyncio.to_thread(player.back)
        self._note = ""
        self._be_ready()

    def show_time(self, when: Nanos) -> None:
        """Show another moment, beside the screen if it was not played yet; time goes on or not."""
        score = self.showing.score
        if self.stage is not None and score is not None:
            self.showing.tour.go_back()
            self.busy, self._note = True, AGAIN
            wanted = when if when < score.ends else WHENEVER
            self.run_worker(self._show_time(self.stage, wanted), exclusive=True)

    async def _show_time(self, stage: Stage, when: Nanos) -> None:
        await asyncio.to_thread(stage.seek, when)
        self._note = ""
        if stage.over:
            self._ended()
        self._be_ready()

    def action_run(self) -> None:
        """Let time run, or stop it; before it is ready, let it run then."""
        self.showing.running = not self.running
        self._note = ""
        self.paint()

    def action_speed(self, step: int) -> None:
        """Go slower or faster."""
        self.showing.turn_speed(step)
        self.paint()

    def action_scenario(self, step: int) -> None:
        """Play the scenario that is `step` further; after the last comes the first."""
        self._play((self._number - 1 + step) % len(SCENARIOS) + 1)

    def action_play(self, digit: int) -> None:
        """Play the scenario of a digit, 0 the tenth; with the 1 before it, while 1 opens, of both.

        Until it has opened nothing of the first is missed.
        """
        both = 10 + digit % 10
        opens = self.busy or self.showing.part is Part.OPENING
        follows = self._digit == 1 and self._number == 1 and opens and both <= len(SCENARIOS)
        self._play(both if follows else digit)
        self._digit = 0 if follows else digit

    def _play(self, number: int) -> None:
        """Play a scenario, and those after it."""
        self._digit = 0
        if self._can_change:
            self._played = Recording(number, self.seed, people=self._played.people)
            self.showing.tour.goes_on = self.showing.running = True
            self._begin(number)

    def _score_again(self, stage: Stage) -> None:
        """Find out what will happen now that somebody has meddled."""
        self.showing.tour.goes_on = False
        self.run_worker(self._take_up_score(stage), group="score", exclusive=True)

    async def _take_up_score(self, stage: Stage) -> None:
        score = await asyncio.to_thread(score_of, stage.scenario, self.seed, list(stage.acts))
        if stage is self.stage:
            self.showing.score = score

    def _named(self, words: str) -> str:
        return with_keys(words, keys_of(self))
