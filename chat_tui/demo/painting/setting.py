"""Everything but the moment that the demo's drawing depends on: size, signs, colours, place."""

from msgspec import Struct, field

from chat_tui.demo.moment import Shot
from chat_tui.demo.pacing.score import Score
from chat_tui.demo.pacing.traffic import Traffic
from chat_tui.keys.table import USUAL, Chosen
from chat_tui.terminal.themes import author_style, author_styles, text_style
from chat_tui.wording.glyphs import ASCII, Glyphs
from sync.machine import Nanos, PeerId

FEW_LINES = 19
"""Lines below which the keys have one and nothing says what comes next."""

WIDE = 110
"""Width from which on the network has a column of its own."""


class Setting(Struct, frozen=True):
    """See the module docstring. `now` is the simulated time that is shown."""

    width: int
    height: int
    glyphs: Glyphs
    theme: str
    selected: int
    running: bool
    speed: float
    formulas: bool
    now: Nanos = 0
    note: str = ""
    """Effect of the last key, or the reason why it did nothing."""
    keys: tuple[tuple[str, str], ...] = ()
    """Those that the last line names, and what each does."""
    chosen: Chosen = field(default_factory=lambda: USUAL)
    held_up: bool = False
    """True if the tour goes on by itself no more."""
    traffic: Traffic | None = None
    score: Score | None = None
    number: int = 0
    """Place of the scenario in the tour, from 1 on."""
    tour: tuple[str, ...] = ()
    """The titles of all scenarios, while one opens; else nothing."""
    moves: bool = True
    """True if frames are drawn on their way; else each is drawn at once where it goes."""

    @property
    def is_ascii(self) -> bool:
        """True if only ASCII may be drawn."""
        return self.glyphs is ASCII

    @property
    def is_low(self) -> bool:
        """True if there are few lines."""
        return self.height < FEW_LINES


def person_style(number: int, theme: str) -> str:
    """Return the colour of a participant, which nobody else of the demo has."""
    styles = author_styles(theme)
    return f"bold {text_style(styles[number % len(styles)])}"


def style_of(author: PeerId, shot: Shot, theme: str) -> str:
    """Return the colour of whoever wrote a line: a participant's, or of one in the crowd."""
    for number, person in enumerate(shot.people):
        if person.snapshot.me == author:
            return person_style(number, theme)
    return f"bold {text_style(author_style(author, theme))}"
