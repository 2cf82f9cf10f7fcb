"""The pages of the debug pane, one a tab: what each remembers, and the lines it gives."""

from collections.abc import Iterable
from typing import Final, Protocol

from msgspec import Struct
from textual.content import Content

from chat_tui.debug.causal_lines import Colour, uncoloured
from chat_tui.debug.section import Section, still
from chat_tui.debug.state_sections import Order
from chat_tui.debug.styled_lines import DIM, PaneLine, section_lines
from chat_tui.wording.glyphs import Glyphs
from sync.view.view import ChannelInfo, Snapshot

NOWHERE: Final = "no channel is open; /join #lobby opens the one everybody shares"
ORDERS: Final = tuple(Order)

TEXT_CELLS: Final = 64
"""Of what was typed, where it is said back."""


class Shown(Struct, frozen=True):
    """The moment of the engine that the pages show."""

    snapshot: Snapshot
    info: ChannelInfo | None
    glyphs: Glyphs
    colour: Colour = uncoloured
    """Returns the colour of an author, as beside their lines in the chat."""
    moves: bool = True
    """True if what moves by itself is drawn; else only what happens."""

    def drawn(self, sections: Iterable[Section], width: int) -> list[PaneLine]:
        """Return sections as lines of `width` cells."""
        shown = sections if self.moves else map(still, sections)
        return section_lines(shown, width, self.glyphs)


class Page(Protocol):
    """Interface of one tab's page."""

    def lines(self, shown: Shown, width: int) -> list[PaneLine]:
        """Return the lines of this page."""

    def press(self, what: str) -> bool:
        """Do what a key of this page alone means; false if it means nothing here."""


class Keyless:
    """A page without keys of its own."""

    def press(self, _what: str) -> bool:
        """See `Page`."""
        return False


def _dim(text: str) -> Content:
    return Content.styled(text, DIM)
