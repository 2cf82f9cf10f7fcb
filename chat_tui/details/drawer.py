"""A drawer over the conversation: words that scroll; on a narrow screen it fills the screen."""

from typing import Final

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.events import Click

from chat_tui.debug.list_view import Listing
from chat_tui.debug.single_line import OneLine
from chat_tui.debug.styled_lines import DIM, TITLE, PaneLine
from chat_tui.details.parts import Part
from chat_tui.terminal.front_to_back import FrontModal
from chat_tui.text.safe_text import wrap
from chat_tui.widgets.scrolling import Scrolling

LABEL_CELLS: Final = 11
"""Of the column of labels, with the space behind it."""

ROOM_MIN: Final = 20


class Words(Listing):
    """The lines; nothing in them is selected, they only scroll."""

    def on_click(self, event: Click) -> None:
        """Clicks mean nothing here."""
        event.stop()


class Drawer(FrontModal[None], Scrolling):
    """A frame with `title`, in it `words`, and below them `below`: what can be done."""

    SCROLLED = "Words"
    DEFAULT_CSS = """
    Drawer { align: right top; background: $background 40%; }
    Drawer > Vertical {
        width: 100%; max-width: 92; height: 100%; padding: 0 1;
        background: $surface; border: round $accent; border-title-style: bold;
    }
    Drawer Words { scrollbar-background: $surface; }
    Drawer OneLine { height: 1; width: 1fr; }
    """

    def __init__(self, title: str) -> None:
        super().__init__()
        self._in_frame = title
        self.words, self.below = Words(), OneLine(id="drawer-keys")

    def compose(self) -> ComposeResult:
        """The lines in a frame, and the keys below them."""
        with Vertical() as frame:
            frame.border_title = f" {self._in_frame} "
            yield self.words
            yield self.below


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
