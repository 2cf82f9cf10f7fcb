"""Keys of the debug pane that only move within it: to a tab, a row, an edge, or out of it."""

from abc import abstractmethod

from chat_tui.debug.list_view import Listing
from chat_tui.debug.tab_table import TABS, Tab
from chat_tui.widgets.messages import DebugClosed
from chat_tui.widgets.panel import Framed


class PaneMoves(Framed):
    """See the module docstring."""

    tab: Tab
    """The tab that is shown."""
    listing: Listing

    @abstractmethod
    def go(self, tab: Tab) -> None:
        """Show a tab, from its top."""

    def action_tab(self, number: int) -> None:
        """Show tab `number`."""
        self.go(TABS[number])

    def action_step(self, step: int) -> None:
        """Show the tab to the left or right."""
        self.go(TABS[(TABS.index(self.tab) + step) % len(TABS)])

    def action_move(self, rows: int) -> None:
        """Select the row below or above."""
        self.listing.move(rows)

    def action_page(self, screens: int) -> None:
        """Scroll by screens."""
        self.listing.page(screens)

    def action_edge(self, last: int) -> None:
        """Go to the first or the last line."""
        self.listing.end(last=bool(last))

    def action_full(self) -> None:
        """Fill the screen, or stand beside the chat."""
        self.toggle_class("-full")

    def action_leave(self) -> None:
        """Give the keys back to who writes; the pane stays open."""
        self.post_message(DebugClosed(stays=True))
