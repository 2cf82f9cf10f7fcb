"""Drawer beside the demo: the protocol state of one participant."""

from typing import Final

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from chat_tui.debug import state_sections
from chat_tui.debug.list_view import Listing
from chat_tui.debug.styled_lines import section_lines
from chat_tui.demo.moment import Person
from chat_tui.keys.table import Chosen, with_keys
from chat_tui.wording.glyphs import Glyphs

HINT: Final = "{demo_protocol} closes  {demo_person} the next  {demo_page_down} further down"


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

    def show(self, person: Person, chosen: Chosen) -> None:
        """Show this participant; `chosen` are the keys that close it and go on."""
        self.border_title = Content(person.name if person.up else f"{person.name} (off)")
        self.border_subtitle = Content(with_keys(HINT, chosen))
        if person.info is not None and self._listing.width:
            sections = state_sections.of_channel(person.snapshot, person.info)
            self._listing.show(section_lines(sections, self._listing.width, self._glyphs))

    def page(self, screens: int) -> None:
        """Scroll by screens, up if negative."""
        self._listing.page(screens)
