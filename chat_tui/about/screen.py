"""The drawer with all about one message; on a narrow screen it fills the screen."""

from collections.abc import Callable
from typing import ClassVar, Final

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Click
from textual.screen import ModalScreen

from chat_tui.about.known import FromDisk, Known, know, read, stamp_of
from chat_tui.about.parts import Part
from chat_tui.about.raw import raw_lines
from chat_tui.about.sections import parts
from chat_tui.chat import Chat
from chat_tui.marks import Glyphs
from chat_tui.pane.lines import DIM, TITLE, PaneLine, in_signs
from chat_tui.pane.listing import Listing
from chat_tui.pane.one_line import OneLine
from chat_tui.reports import short_id
from chat_tui.screens import REFRESH_S
from chat_tui.text import wrap
from sync.errors import LocalError
from sync.view import Line

LABEL_CELLS: Final = 11
"""Of the column of labels, with the space behind it."""

ROOM_MIN: Final = 20

KEYS: Final = (
    "y copy  i copy id  g graph  w frames on the wire  d raw protobuf  o link  Esc close",
    "y copy  i id  g graph  w wire  d raw  o link  Esc close",
)
"""What can be done, the longest that fits."""

RAW_KEYS: Final = "d back to the words  w frames on the wire  Esc close"


class Words(Listing):
    """The lines; nothing in them is selected, they only scroll."""

    def on_click(self, event: Click) -> None:
        """Clicks mean nothing here."""
        event.stop()


class DetailsScreen(ModalScreen[None]):
    """See the module docstring. `act` does what a key asks for with the message."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "close", show=False),
        Binding("up,k", "scroll(-1)", show=False),
        Binding("down,j", "scroll(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown,space", "page(1)", show=False),
        Binding("home", "edge(0)", show=False),
        Binding("end", "edge(1)", show=False),
        Binding("y", "act('copy')", show=False),
        Binding("i", "act('copy_id')", show=False),
        Binding("o", "act('open_link')", show=False),
        Binding("g", "act('graph')", show=False),
        Binding("w", "act('wire')", show=False),
        Binding("d", "raw", show=False),
    ]
    DEFAULT_CSS = """
    DetailsScreen { align: right top; background: $background 40%; }
    DetailsScreen > Vertical {
        width: 100%; max-width: 92; height: 100%; padding: 0 1;
        background: $surface; border: round $accent; border-title-style: bold;
    }
    DetailsScreen Words { scrollbar-background: $surface; }
    DetailsScreen OneLine { height: 1; width: 1fr; }
    """

    def __init__(
        self,
        chat: Chat,
        line: Callable[[], Line],
        act: Callable[[str, Line], None],
        glyphs: Glyphs,
        *,
        raw: bool = False,
    ) -> None:
        super().__init__()
        self._chat, self._line, self._act, self._glyphs = chat, line, act, glyphs
        self._words, self._keys = Words(), OneLine(id="details-keys")
        self._raw = raw
        self._disk: FromDisk | None = None
        self._read_for: object = None
        self._refused = ""

    def compose(self) -> ComposeResult:
        """The lines in a frame, and the keys below them."""
        with Vertical() as frame:
            frame.border_title = f" Message {short_id(self._line().message_id)} "
            yield self._words
            yield self._keys

    def on_mount(self) -> None:
        """Read the disk, and look anew each second."""
        self._words.focus()
        self.set_interval(REFRESH_S, self.tick)
        self.tick()

    def tick(self) -> None:
        """Bring what is shown up to date; lines that are as before are not painted again."""
        wanted = stamp_of(self._chat.snapshot(), self._line())
        if wanted != self._read_for:
            self._read_for = wanted
            self.run_worker(self._read(), group="details", exclusive=True)
        self.draw()

    @on(Listing.Resized)
    def draw(self) -> None:
        """Show what is known; before the disk has answered, nothing."""
        width = self._words.width
        if not width:
            return
        if self._refused:
            self._words.show([PaneLine(Content(one)) for one in wrap(self._refused, width)])
            return
        if self._disk is None:
            return
        known = know(self._chat, self._line(), self._disk)
        if self._raw:
            self._words.show(self._raw_lines(known, width))
        else:
            self._words.show(lines_of(parts(known, self._glyphs), width))
        fits = [one for one in KEYS if len(one) <= width] or [KEYS[-1]]
        self._keys.show(Content.styled(RAW_KEYS if self._raw else fits[0], DIM))

    async def _read(self) -> None:
        try:
            self._disk = await read(self._chat.history, self._line())
        except LocalError as error:
            self._refused = str(error)
        else:
            self._refused = ""
        self.draw()

    def _raw_lines(self, known: Known, width: int) -> list[PaneLine]:
        lines: list[PaneLine] = []
        for number, text in enumerate(raw_lines(known)):
            signs = in_signs(text, self._glyphs)
            first, *others = _fitted(signs, max(ROOM_MIN, width))
            lines.append(PaneLine(Content(first), f"raw/{number}"))
            lines += [PaneLine(Content(f"    {one}"), f"raw/{number}") for one in others]
        return lines

    # -- keys ---------------------------------------------------------------------------------

    def action_close(self) -> None:
        """Go back to the conversation."""
        self.dismiss()

    def action_raw(self) -> None:
        """Show the bytes, or the words again."""
        self._raw = not self._raw
        self._words.begin_anew()
        self.draw()

    def action_act(self, what: str) -> None:
        """Close, and do what was asked for with the message."""
        line = self._line()
        self.dismiss()
        self._act(what, line)

    def action_scroll(self, lines: int) -> None:
        """Scroll by lines, up if negative."""
        self._words.scroll_relative(y=lines, animate=False)

    def action_page(self, screens: int) -> None:
        """Scroll by screens, up if negative."""
        self._words.page(screens)

    def action_edge(self, last: int) -> None:
        """Go to the first or the last line."""
        self._words.end(last=bool(last))


def _fitted(text: str, width: int) -> list[str]:
    """Return a line of the tree or the dump as it is, or broken where it does not fit."""
    return [text] if cell_len(text) <= width else wrap(text, width - 4)


def lines_of(told: list[Part], width: int) -> list[PaneLine]:
    """Return the parts as lines of a width: labels in a column of their own."""
    lines: list[PaneLine] = []
    for part in told:
        cells = LABEL_CELLS if part.label else 0
        room = max(ROOM_MIN, width - cells)
        label = part.label
        for number, said in enumerate(part.lines):
            indent = len(said.text) - len(said.text.lstrip(" "))
            wrapped = wrap(said.text.strip(" "), room - indent, most=None)
            for text in wrapped:
                shown = Content(" " * indent + text)
                if said.quiet:
                    shown = shown.stylize(DIM)
                elif not part.label:
                    shown = shown.stylize("bold")
                head = Content.styled(f"{label:<{cells}}", TITLE)
                lines.append(PaneLine(head + shown, f"{part.label}/{number}"))
                label = ""
    return lines
