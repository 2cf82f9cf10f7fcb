"""The screen of the demo and of replays: one canvas, a drawer with the protocol, a line to write.

Whatever is played is a `Player`; what only the demo can do (meddling) is `Stage`'s.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.events import Resize
from textual.screen import Screen
from textual.widgets import Input, Static

from chat_tui.demo import acts
from chat_tui.demo.drawer import Drawer
from chat_tui.demo.drawing import Setting, draw
from chat_tui.demo.interventions import MEDDLING
from chat_tui.demo.keys import BINDINGS, KEYS, REPLAY_KEYS, full_help
from chat_tui.demo.net_command import acts_of
from chat_tui.demo.player import Player
from chat_tui.demo.recording import DIFFERS, SAME, Recording, save
from chat_tui.demo.scenario import SEED
from chat_tui.demo.scenarios import SCENARIOS, scenario
from chat_tui.demo.stage import Stage
from chat_tui.keys.table import with_keys
from chat_tui.terminal.themed_app import keys_of
from chat_tui.text.slash import is_command
from chat_tui.widgets.text_screen import TextScreen
from chat_tui.wording.glyphs import UNICODE, Glyphs
from sync.errors import LocalError
from sync.machine import SECOND

PAINT_S: Final = 0.1
"""Between two paints while it runs."""

SPEEDS: Final = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
NORMAL: Final = 1.0

WANTED_MAX: Final = 100
"""Keys remembered while something is made ready; more are pressed by something that fell."""

FIRST: Final = Recording(1, SEED)

WIDTH_MIN, HEIGHT_MIN = 60, 16

AT_END: Final = "This is the end; {demo_back} goes back."
OVER: Final = (
    "It is over: {demo_back} goes back to where something can be done, {demo_again} begins again."
)
SWITCHES_ON: Final = "{demo_power} switches the computer on."
HOW_TO_SEND: Final = "Enter sends, {close} does not"
AGAIN: Final = "Playing it again up to here ..."

BESIDE: Final = 100
"""Width from which on the drawer stands beside the rest; below, it covers all."""


class DemoScreen(Screen[None]):
    """Plays `player`; without one, what `played` says: a scenario, its seed, and acts of before.

    `record` is the file that gets what was played, once it is over or left.
    """

    AUTO_FOCUS = ""  # the keys are the demo's, until somebody writes
    DEFAULT_CSS = """
    DemoScreen { layers: base over; }
    DemoScreen #canvas { width: 1fr; height: 1fr; }
    DemoScreen #line { dock: bottom; display: none; border: none; height: 1; padding: 0 1; }
    DemoScreen DebugPane { dock: right; layer: over; height: 1fr; background: $background; }
    """
    BINDINGS: ClassVar[list[BindingType]] = BINDINGS

    def __init__(
        self,
        player: Player | None = None,
        *,
        played: Recording = FIRST,
        speed: float = NORMAL,
        glyphs: Glyphs = UNICODE,
        record: Path | None = None,
    ) -> None:
        super().__init__()
        self._record, self._played = record, played
        self.player: Player | None = player
        """The run that is played; None while it is made ready."""
        self.seed = played.seed
        self.running = False
        self._number, self._glyphs = played.number, glyphs
        self._speed, self._formulas = speed, False
        self._selected, self._note = 0, ""
        self.busy = False
        """Whether something is made ready, or played again, beside the screen."""
        self._wanted: deque[Callable[[], None]] = deque()
        """Requests of keys meanwhile."""
        self._canvas = Static("", id="canvas", markup=False)
        self._drawer = Drawer(glyphs)
        self._line = Input(id="line", max_length=acts.TEXT_CHARACTERS_MAX)

    @property
    def glyphs(self) -> Glyphs:
        """The character set."""
        return self._glyphs

    def compose(self) -> ComposeResult:
        """The canvas, the drawer over it, and the line to write."""
        yield self._canvas
        yield self._drawer
        yield self._line

    def on_mount(self) -> None:
        """Begin: paused at the first moment of the first scenario."""
        self._line.can_focus = False
        self.set_interval(PAINT_S, self._tick)
        if self.player is None:
            self._begin(self._number)
        else:
            self.paint()

    def on_resize(self, _event: Resize) -> None:
        """Draw for the new size."""
        self.paint()

    # -- playing ------------------------------------------------------------------------------

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
        self._number, self.running, self._selected = number, False, 0
        self.player, self._note = None, ""
        self.busy = True
        self._wanted.clear()
        self.run_worker(self._make_ready(number), exclusive=True)
        self.paint()

    async def _make_ready(self, number: int) -> None:
        self.player = await asyncio.to_thread(Stage, scenario(number), self.seed, self._played.acts)
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
        if not self.running or self.player is None or self.busy:
            return
        self.player.advance(int(PAINT_S * SECOND * self._speed))
        if self.player.over:
            self.running = False
            self._ended()
        self.paint()

    def _ended(self) -> None:
        """It is over: say whether it is what was recorded, or record it."""
        stage, played = self.stage, self._played
        if stage is None:
            return
        if played.digest:
            same = played.digest == stage.run.digest()
            self._note = SAME if same else DIFFERS
        self._save()

    def _save(self) -> None:
        """Write what was played so far to the file of `--record`."""
        stage = self.stage
        if self._record is None or stage is None:
            return
        digest = stage.run.digest() if stage.run.over else ""
        recorded = Recording(self._number, self.seed, tuple(stage.acts), digest)
        try:
            save(self._record, recorded)
        except LocalError as error:
            self._note = str(error)

    def action_forward(self) -> None:
        """Go on to the next thing that happens."""
        self._once_ready(self._forward)

    def _forward(self) -> None:
        if self.player is not None:
            self.running = False
            self._note = "" if self.player.forward() else self._named(AT_END)
            if self.player.over:
                self._ended()
            self.paint()

    def action_back(self) -> None:
        """Show the step before."""
        self._once_ready(self._back)

    def _back(self) -> None:
        player = self.player
        if player is None:
            return
        self.running = False
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

    def action_run(self) -> None:
        """Let time run, or stop it; before it is ready, let it run then."""
        self.running = not self.running and (self.player is None or not self.player.over)
        self._note = ""
        self.paint()

    def action_speed(self, step: int) -> None:
        """Go slower or faster."""
        nearest = min(SPEEDS, key=lambda speed: abs(speed - self._speed))
        at = SPEEDS.index(nearest) + step
        self._speed = SPEEDS[min(max(at, 0), len(SPEEDS) - 1)]
        self.paint()

    def action_scenario(self, step: int) -> None:
        """Play the scenario that is `step` further; after the last comes the first."""
        if self._can_change:
            self.action_play((self._number - 1 + step) % len(SCENARIOS) + 1)

    def action_play(self, number: int) -> None:
        """Play a scenario."""
        if self._can_change:
            self._played = Recording(number, self.seed)
            self._begin(number)

    # -- looking ------------------------------------------------------------------------------

    def action_register(self) -> None:
        """Show the formulas too, or only plain sentences."""
        self._formulas = not self._formulas
        self.paint()

    def action_select(self, step: int) -> None:
        """Select a participant."""
        self._once_ready(partial(self._select, step))

    def _select(self, step: int) -> None:
        if self.player is not None:
            self._selected = (self._selected + step) % len(self.player.shot.people)
            self.paint()

    def action_protocol(self) -> None:
        """Open or close the drawer with the selected one's protocol."""
        self._drawer.display = not self._drawer.display
        self.call_after_refresh(self.paint)

    def action_page(self, screens: int) -> None:
        """Scroll the drawer."""
        self._drawer.page(screens)

    def action_keys(self) -> None:
        """Show all keys."""
        self.app.push_screen(TextScreen("Keys of the demo", lambda: full_help(keys_of(self))))

    def action_leave(self) -> None:
        """Close what is open; then the demo."""
        if self._line.display:
            self._end_writing()
        elif self._drawer.display:
            self._drawer.display = False
            self.paint()
        else:
            self._save()
            self.dismiss()

    # -- meddling -----------------------------------------------------------------------------

    def action_write(self) -> None:
        """Write a line as the selected participant."""
        if self.stage is None:
            return
        self.running = False
        name = self.stage.shot.people[self._selected].name
        self._line.placeholder = f"what {name} writes; {self._named(HOW_TO_SEND)}"
        self._line.display = self._line.can_focus = True
        self._line.value = ""
        self._line.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Let the selected one write it."""
        self._end_writing()
        text = event.value.strip()
        if not is_command(text):
            said = text.removeprefix("/") if text.startswith("//") else event.value
            wanted: Sequence[acts.Act] = [acts.Write(self._selected, said)] if text else []
        else:
            try:
                wanted = acts_of(text)
            except LocalError as error:
                self._note = str(error)
                self.paint()
                return
        self._once_ready(partial(self._act, *wanted))

    def _end_writing(self) -> None:
        self._line.display = self._line.can_focus = False
        self.set_focus(None)

    def action_meddle(self, how: str) -> None:
        """Do something to the network, or to the selected one."""
        self._once_ready(partial(self._meddle, how))

    def _meddle(self, how: str) -> None:
        if self.stage is not None:
            self._act(MEDDLING[how](self.stage.shot, self._selected))

    def _act(self, *wanted: acts.Act) -> None:
        """Do it in the present; in the past, play the run again as far as that before."""
        stage = self.stage
        if stage is None:
            return
        if stage.over:
            self._note = self._named(OVER)
            self.paint()
        elif stage.in_the_past:
            self.busy, self._note = True, AGAIN
            self.run_worker(self._act_in_the_past(stage, wanted), exclusive=True)
            self.paint()
        else:
            self._done([stage.act(act) for act in wanted])

    async def _act_in_the_past(self, stage: Stage, wanted: Sequence[acts.Act]) -> None:
        stage.go_on_from(await asyncio.to_thread(stage.rewound))
        self._done([stage.act(act) for act in wanted])
        self._be_ready()

    def _done(self, changed: Sequence[bool]) -> None:
        name = "" if self.player is None else self.player.shot.people[self._selected].name
        self._note = "" if all(changed) else f"{name} is off: {self._named(SWITCHES_ON)}"
        self.paint()

    def _named(self, words: str) -> str:
        return with_keys(words, keys_of(self))

    # -- drawing ------------------------------------------------------------------------------

    def paint(self) -> None:
        """Draw what there is."""
        width, height = self.size
        if width < WIDTH_MIN or height < HEIGHT_MIN:
            self._canvas.update("Please enlarge the window to 60 columns and 16 lines.")
            return
        if self.player is None:
            self._canvas.update(f" Making scenario {self._number} ready ...")
            return
        shot = self.player.shot
        beside = self._drawer.display and width >= BESIDE
        at = Setting(
            width=width - self._drawer.outer_size.width if beside else width,
            height=height,
            glyphs=self._glyphs,
            theme=self.app.theme,
            selected=self._selected,
            running=self.running,
            speed=self._speed,
            formulas=self._formulas,
            note=self._note,
            keys=KEYS if self.stage is not None else REPLAY_KEYS,
            chosen=keys_of(self),
        )
        self._canvas.update(Content("\n").join(draw(shot, at)), layout=False)
        if self._drawer.display:
            self._drawer.show(shot.people[self._selected])


def scenario_screen(number: int, glyphs: Glyphs) -> DemoScreen:
    """Return the screen of one scenario, as it opens over a chat."""
    return DemoScreen(played=Recording(number, SEED), glyphs=glyphs)
