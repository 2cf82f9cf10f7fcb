"""The screen of the demo and of replays: one canvas, a drawer with the protocol, a line to write.

Whatever is played is a `Player`; what only the demo can do (meddling) is `Stage`'s.
"""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import ClassVar, Final, Unpack

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.events import Click, Resize
from textual.widgets import Input

from chat_tui.demo import acts
from chat_tui.demo.drawer import Drawer
from chat_tui.demo.interventions import MEDDLING
from chat_tui.demo.keys import BINDINGS, KEYS, REPLAY_KEYS, full_help
from chat_tui.demo.moment import Titles
from chat_tui.demo.net_command import acts_of
from chat_tui.demo.pacing.tour import Part
from chat_tui.demo.painting.drawing import clicked_time, draw
from chat_tui.demo.painting.setting import Setting
from chat_tui.demo.playback import AGAIN, Playback, Playing
from chat_tui.demo.player import Player
from chat_tui.demo.recording import Recording
from chat_tui.demo.scenario import SEED
from chat_tui.demo.scenarios import SCENARIOS, scenario
from chat_tui.demo.stage import Stage
from chat_tui.keys.table import BY_ID
from chat_tui.terminal.themed_app import keys_of
from chat_tui.text.safe_text import wrap
from chat_tui.text.slash import is_command
from chat_tui.widgets.canvas import Canvas
from chat_tui.widgets.text_screen import TextScreen
from chat_tui.wording.glyphs import UNICODE, Glyphs
from sync.errors import LocalError

WIDTH_MIN, HEIGHT_MIN = 60, 16

OVER: Final = (
    "It is over: {demo_back} goes back to where something can be done, {demo_again} begins again."
)
SWITCHES_ON: Final = "{demo_power} switches the computer on."
HOW_TO_SEND: Final = "Enter sends, {close} does not"

BESIDE: Final = 116
"""Width from which on the drawer stands beside the rest; below, it covers all."""
DRAWER_CELLS: Final = 56
"""Its own width there; the same in `CSS`. What it has on the screen may be of before a resize."""


class DemoScreen(Playback):
    """The demo as it is looked at, and meddled with; see `Playback` for what is played."""

    AUTO_FOCUS = ""  # the keys are the demo's, until somebody writes
    DEFAULT_CSS = """
    DemoScreen { layers: base over; }
    DemoScreen #canvas { width: 1fr; height: 1fr; }
    DemoScreen #line { dock: bottom; display: none; border: none; height: 1; padding: 0 1; }
    /* Titled with the participant; on a narrow screen it has all of it. */
    DemoScreen #debug {
        dock: right;
        layer: over;
        width: 56;
        height: 100%;
        padding: 0 1;
        border: round $accent;
        border-title-color: $accent;
        border-subtitle-color: $foreground 75%;
        background: $background;
    }
    DemoScreen #debug.-full { width: 100%; }
    .-ascii DemoScreen #debug { border: ascii $accent; }
    .-ascii DemoScreen.-narrow #debug { border: none; }
    """
    SCOPED_CSS = False  # the character set is the application's
    BINDINGS: ClassVar[list[BindingType]] = BINDINGS

    def __init__(
        self, player: Player | None = None, *, glyphs: Glyphs = UNICODE, **playing: Unpack[Playing]
    ) -> None:
        super().__init__(player, **playing)
        self._glyphs = glyphs
        self._formulas = False
        self._canvas = Canvas(id="canvas")
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
        """Begin to play."""
        self._line.can_focus = False
        self.start()

    def on_resize(self, _event: Resize) -> None:
        """Draw for the new size."""
        self.paint()

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

    @on(Click, "#canvas")
    def _click(self, event: Click) -> None:
        """Show the moment on the scrubber that was clicked."""
        self._once_ready(partial(self._seek, event.x, event.y))

    def _seek(self, x: int, y: int) -> None:
        if self.player is not None:
            when = clicked_time(self.player.shot, self._setting(*self.size), x, y)
            if when is not None:
                self.show_time(when)

    def action_protocol(self) -> None:
        """Open or close the drawer with the selected one's protocol."""
        self._drawer.display = not self._drawer.display
        self.call_after_refresh(self.paint)

    def action_page(self, screens: int) -> None:
        """Scroll the drawer."""
        self._drawer.page(screens)

    async def action_key(self, id: str) -> None:  # noqa: A002  # as in the table
        """Do what a key does that was clicked in the last lines."""
        await self.run_action("leave" if id == "close" else BY_ID[id].action)

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
            self.keep()
            self.dismiss()

    # -- meddling -----------------------------------------------------------------------------

    def action_write(self) -> None:
        """Write a line as the selected participant."""
        if self.stage is None:
            return
        self.showing.running = False
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
        """Do it in the present; in the past, play the run again as far as that before.

        The tour waits then: whoever changed something wants to see what comes of it.
        """
        stage = self.stage
        if stage is None:
            return
        self.showing.tour.skip_opening()
        if stage.over:
            self._note = self._named(OVER)
            self.paint()
        elif stage.in_the_past:
            self.busy, self._note = True, AGAIN
            self.run_worker(self._act_in_the_past(stage, wanted), exclusive=True)
            self.paint()
        else:
            self._done([stage.act(act) for act in wanted])
            self._score_again(stage)

    async def _act_in_the_past(self, stage: Stage, wanted: Sequence[acts.Act]) -> None:
        stage.go_on_from(await asyncio.to_thread(stage.rewound))
        self._done([stage.act(act) for act in wanted])
        self._score_again(stage)
        self._be_ready()

    def _done(self, changed: Sequence[bool]) -> None:
        name = "" if self.player is None else self.player.shot.people[self._selected].name
        self._note = "" if all(changed) else f"{name} is off: {self._named(SWITCHES_ON)}"
        self.paint()

    # -- drawing ------------------------------------------------------------------------------

    def paint(self) -> None:
        """Draw what there is."""
        self._unpainted = 0
        width, height = self.size
        if width < WIDTH_MIN or height < HEIGHT_MIN:
            asked = wrap("Please enlarge the window to 60 columns and 16 lines.", width)
            self._canvas.show([Content(line) for line in asked])
            return
        if self.player is None:
            self._canvas.show([Content(f" Making scenario {self._number} ready ...")])
            return
        shot = self.player.shot
        lines = draw(shot, self._setting(width, height), self._titles)
        self._canvas.show(lines)
        if self._drawer.display:
            self._drawer.set_class(width < BESIDE, "-full")
            self._drawer.show(shot.people[self._selected], keys_of(self))

    def _setting(self, width: int, height: int) -> Setting:
        showing, player = self.showing, self.player
        assert player is not None
        beside = self._drawer.display and width >= BESIDE
        return Setting(
            width=width - DRAWER_CELLS if beside else width,
            height=height,
            glyphs=self._glyphs,
            theme=self.app.theme,
            selected=self._selected,
            running=showing.running,
            speed=showing.speed,
            formulas=self._formulas,
            now=player.now,
            note=self._note,
            keys=KEYS if self.stage is not None else REPLAY_KEYS,
            chosen=keys_of(self),
            held_up=not showing.tour.goes_on,
            traffic=player.traffic,
            score=showing.score,
            number=self._number,
            tour=self._opening_tour,
            moves=self.moves,
        )

    @property
    def _opening_tour(self) -> tuple[str, ...]:
        """The titles of the tour while a scenario opens, and nobody has stopped to look."""
        showing, people = self.showing, self._played.people
        if self.stage is None or showing.part is not Part.OPENING or not showing.running:
            return ()
        return tuple(scenario(one.number, people).title for one in SCENARIOS)

    @property
    def _titles(self) -> Titles:
        return Titles() if self.stage is None else self.stage.titles


def scenario_screen(number: int, glyphs: Glyphs) -> DemoScreen:
    """Return the screen of one scenario, as it opens over a chat."""
    return DemoScreen(played=Recording(number, SEED), glyphs=glyphs)
