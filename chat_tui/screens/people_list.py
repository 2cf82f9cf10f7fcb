"""Base of lists of people over the chat: a title, a table with a cursor, an answer, keys."""

from abc import abstractmethod
from collections.abc import Sequence
from itertools import chain
from typing import ClassVar, Final, Generic

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ScreenResultType

from chat_tui.terminal.front_to_back import FrontModal
from chat_tui.widgets.entries import Entries
from chat_tui.widgets.panel import Panel
from chat_tui.widgets.scrolling import OVER_KEYS
from chat_tui.widgets.text_screen import REFRESH_S
from chat_tui.wording.panels import GOOD
from sync.machine import PeerId

BAR_CELLS: Final = 1
"""Of the scroll bar: its place is kept, so that no row is wrapped anew when it appears."""


class PeopleList(FrontModal[ScreenResultType], Generic[ScreenResultType]):
    """A list whose cursor stays on a person, whoever comes or goes; kept up to date."""

    BINDINGS: ClassVar[list[BindingType]] = OVER_KEYS
    DEFAULT_CSS = """
    PeopleList { align: center middle; }
    #people { width: 100%; height: 100%; padding: 0 1; background: $background; }
    #people-title { height: auto; padding-bottom: 1; }
    #people-table {
        height: 1fr;
        max-height: 1fr;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        scrollbar-background: $background;
        scrollbar-color: $foreground 20%;
    }
    #people-said { height: auto; }
    #people-keys { height: auto; padding-top: 1; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._chosen: PeerId | None = None
        self._table = Entries[Content](lambda line, _: line, id="people-table")

    @abstractmethod
    def people(self) -> Sequence[PeerId]:
        """Return everybody in the list, from the top."""

    @abstractmethod
    def lines(self, width: int, cursor: int) -> list[Content]:
        """Return a heading, and below it a row for each of `people`, of a line or several."""

    @abstractmethod
    def heading(self) -> Content:
        """Return the title."""

    @abstractmethod
    def key_hints(self, width: int) -> Content:
        """Return the keys and what they do."""

    @abstractmethod
    def action_enter(self) -> None:
        """Do what Enter does with the person under the cursor."""

    def compose(self) -> ComposeResult:
        """Title, table, what came of the last key, keys."""
        with Vertical(id="people"):
            yield Panel(id="people-title")
            yield self._table
            yield Panel(id="people-said")
            yield Panel(id="people-keys")

    def on_mount(self) -> None:
        """Show it now, and whenever it differs."""
        self._tick()
        self.set_interval(REFRESH_S, self._tick)

    def on_resize(self) -> None:
        """Fill the new width."""
        self._tick()

    def _tick(self) -> None:
        people, width = self.people(), self.size.width - 2
        if self._chosen is None and people:
            self._chosen = people[0]
        cursor = self._cursor(people)
        rows = self.lines(width - BAR_CELLS, cursor)
        parts = [row.split("\n") if "\n" in row.plain else [row] for row in rows]
        self.query_one("#people-title", Panel).show(self.heading())
        self.query_one("#people-keys", Panel).show(self.key_hints(width))
        first = sum(map(len, parts[: cursor + 1]))  # below the heading
        high = sum(map(len, parts[cursor + 1 : cursor + 2]))
        self._table.renew([*chain(*parts)], first, high)

    def _cursor(self, people: Sequence[PeerId]) -> int:
        return next((at for at, one in enumerate(people) if one == self._chosen), 0)

    @property
    def at_cursor(self) -> PeerId | None:
        """The person under the cursor."""
        people = self.people()
        return people[self._cursor(people)] if people else None

    def _say(self, text: str, style: str = GOOD) -> None:
        self.query_one("#people-said", Panel).show(Content.styled(text, style))

    def action_leave(self) -> None:
        """Go back to the conversation."""
        self.dismiss(None)

    def action_page(self, screens: int) -> None:
        """Go to the person a screen further."""
        self.action_step(screens * max(1, self._table.size.height - 1))

    def action_edge(self, which: int) -> None:
        """Go to the last person, or to the first if negative."""
        self.action_step(which * len(self.people()))

    def action_step(self, step: int) -> None:
        """Go to the person below, or above if negative."""
        people = self.people()
        if people:
            at = min(max(self._cursor(people) + step, 0), len(people) - 1)
            self._chosen = people[at]
            self._tick()
            self._table.bring_into_sight()
