"""Base of screens over the chat: the keys shared by texts and lists, and texts that scroll."""

from typing import ClassVar, Final

from textual.binding import BindingType
from textual.screen import Screen
from textual.widget import Widget

from chat_tui.keys.places import Place
from chat_tui.terminal.key_bindings import bindings_of, heard_as

OVER_KEYS: Final[list[BindingType]] = [*bindings_of(Place.OVER), *heard_as("leave", "close")]


class Scrolling(Screen[None]):
    """A screen of words that are only read: keys scroll it, and close it.

    Of bases, the first is the one whose styles Textual takes: `FrontModal` goes before this one.
    """

    BINDINGS: ClassVar[list[BindingType]] = OVER_KEYS
    SCROLLED: ClassVar[str]
    """Which widget has the words, as a query; each such screen says it."""

    @property
    def scrolled(self) -> Widget:
        """The widget that has the words."""
        return self.query_one(self.SCROLLED)

    def action_step(self, lines: int) -> None:
        """Scroll by lines, up if negative."""
        self.scrolled.scroll_relative(y=lines, animate=False)

    def action_page(self, screens: int) -> None:
        """Scroll by screens, up if negative; one line of each stays in sight."""
        lines = max(1, self.scrolled.scrollable_content_region.height - 1)
        self.action_step(screens * lines)

    def action_edge(self, which: int) -> None:
        """Go to the last line, or to the first if negative."""
        end = self.scrolled.max_scroll_y if which > 0 else 0
        self.scrolled.scroll_to(y=end, animate=False)

    def action_enter(self) -> None:
        """Close it: there is nothing to choose."""
        self.action_leave()

    def action_leave(self) -> None:
        """Go back to what is below."""
        self.dismiss()
