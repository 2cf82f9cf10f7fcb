"""Drawer beside the demo: the protocol state of one participant."""

from textual.app import ComposeResult
from textual.containers import Vertical

from chat_tui.debug import state_sections
from chat_tui.debug.list_view import Listing
from chat_tui.debug.styled_lines import section_lines
from chat_tui.demo.moment import Person
from chat_tui.wording.glyphs import Glyphs


class Drawer(Vertical):
    """Buffers, sessions, filter and holders of one participant, at the moment that is shown."""

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__(id="debug")
        self.display = False
        self._glyphs = glyphs
        self._listing = Listing()
        self._listing.can_focus = False  # the keys of the demo go on

    def compose(self) -> ComposeResult:
        """The lines."""
        yield self._listing

    def show(self, person: Person) -> None:
        """Show this participant."""
        if person.info is not None and self._listing.width:
            sections = state_sections.of_channel(person.snapshot, person.info)
            self._listing.show(section_lines(sections, self._listing.width, self._glyphs))

    def page(self, screens: int) -> None:
        """Scroll by screens, up if negative."""
        self._listing.page(screens)
