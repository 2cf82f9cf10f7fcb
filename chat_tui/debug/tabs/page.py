"""The pages of the debug pane, one a tab: what each remembers, and the lines it gives."""

from dataclasses import dataclass
from typing import Final, Protocol

from textual.content import Content

from chat_tui.debug.state_sections import Order
from chat_tui.debug.styled_lines import DIM, PaneLine
from chat_tui.wording.glyphs import Glyphs
from sync.view.view import ChannelInfo, Snapshot

NOWHERE: Final = "no channel is open; /join #lobby opens the one everybody shares"
ORDERS: Final = tuple(Order)

TEXT_CELLS: Final = 64
"""Of what was typed, where it is said back."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The moment of the engine that the pages show."""

    snapshot: Snapshot
    info: ChannelInfo | None
    glyphs: Glyphs
    theme: str = ""
    """The theme that colours authors; empty where nobody sees colours."""


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


def _said(text: str) -> list[PaneLine]:
    return [PaneLine(_dim(f" {text}"))]


def _dim(text: str) -> Content:
    return Content.styled(text, DIM)
