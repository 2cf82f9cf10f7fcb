"""Entries one below the other, of which one is chosen: only those in sight are drawn."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeAlias, TypeVar

from textual.content import Content
from textual.events import Click
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual

T = TypeVar("T")
Look: TypeAlias = Callable[[T, bool], Content]
"""(entry, whether it is the one chosen) to its line, as it is drawn."""


class Entries(ScrollView, Generic[T], can_focus=False, inherit_bindings=False):
    """A list as high as its entries, as far as there is room; `look` makes the line of each."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    Entries {
        width: 1fr; height: auto; max-height: 100%; scrollbar-size-vertical: 1;
        overflow-x: hidden; text-wrap: nowrap; text-overflow: ellipsis;
    }
    """

    class Clicked(Message):
        """An entry was clicked."""

        def __init__(self, number: int) -> None:
            super().__init__()
            self.number = number

    def __init__(self, look: Look[T], *, id: str) -> None:  # noqa: A002  # as Textual has it
        super().__init__(id=id)
        self.auto_links = False  # what can be clicked looks as its text does
        self._look, self._chosen, self._high = look, 0, 1
        self._entries: Sequence[T] = ()
        self.drawn = 0
        """Lines drawn so far: the measure of the work done."""

    def show(self, entries: Sequence[T], chosen: int) -> None:
        """Show other entries, of which one is chosen, which comes into sight."""
        self.renew(entries, chosen)
        self.call_after_refresh(self.bring_into_sight)

    def renew(self, entries: Sequence[T], chosen: int, high: int = 1) -> None:
        """Show entries as they are now, wherever somebody has scrolled to.

        The chosen one may be the first of some that are `high` lines together.
        """
        self._entries, self._chosen, self._high = entries, chosen, high
        self.virtual_size = Size(self.size.width, len(entries))
        self.refresh()

    def choose(self, number: int) -> None:
        """Have another entry be the chosen one."""
        self._chosen = number
        self.refresh()
        self.bring_into_sight()

    def render_line(self, y: int) -> Strip:
        """Render line `y` of the screen."""
        number, width = y + self.scroll_offset.y, self.size.width
        self.drawn += 1
        if number >= len(self._entries):
            return Strip.blank(width, self.rich_style)
        line = self._look(self._entries[number], number == self._chosen)
        strips = Visual.to_strips(self, line, width, 1, self.visual_style, pad=True)
        return strips[0] if strips else Strip.blank(width, self.rich_style)

    def on_resize(self) -> None:
        """Keep the chosen one in sight."""
        self.bring_into_sight()

    def on_click(self, event: Click) -> None:
        """Say which entry was clicked."""
        number = event.y + self.scroll_offset.y
        if 0 <= number < len(self._entries):
            self.post_message(self.Clicked(number))

    def bring_into_sight(self) -> None:
        """Scroll to the chosen one, if it is not in sight."""
        height, top = self.size.height, self.scroll_offset.y
        if height and not top <= self._chosen <= top + height - self._high:
            self.scroll_to(y=max(0, self._chosen - height // 2), animate=False, force=True)
