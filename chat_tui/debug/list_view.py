"""A list of lines of which rows can be selected; only lines that differ are painted again."""

from collections.abc import Sequence
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual.content import Content
from textual.events import Click, Resize
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual
from textual.widget import Widget

from chat_tui.debug.styled_lines import PaneLine

NOTHING: Final = PaneLine(Content(""))
SELECTED: Final = ">"
"""Stands before the selected row: a colour alone would not be seen everywhere."""


class Listing(ScrollView, can_focus=True, inherit_bindings=False):
    """Shows lines; what is selected stays selected and in place when lines come above it."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"listing--selected"}
    DEFAULT_CSS = """
    Listing {
        height: 1fr;
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
        scrollbar-background: $background;
        scrollbar-color: $foreground 20%;
    }
    Listing > .listing--selected {
        background: $primary;
        color: $background;
        text-style: bold;
    }
    Listing:ansi > .listing--selected {
        background: $block-cursor-background;
        color: $block-cursor-foreground;
    }
    """

    class Resized(Message):
        """The list has another width: its lines must be wrapped anew."""

    class Opened(Message):
        """The selected row was clicked."""

    def __init__(self) -> None:
        super().__init__(id="debug-lines")
        self.selected = ""
        """The key of the selected row; empty if none is."""
        self._lines: Sequence[PaneLine] = ()
        self._drawn_selected = ""

    @property
    def width(self) -> int:
        """Return the cells that a line may have; 0 before there is room."""
        return self.scrollable_content_region.width

    def show(self, lines: Sequence[PaneLine]) -> None:
        """Show these lines in place of the others; what is read stays where it is."""
        before, self._lines = self._lines, lines
        self._set_extent(Size(self.width, len(lines)))
        moved = self._hold(before)
        marked, self._drawn_selected = self._drawn_selected, self.selected
        top = self.scroll_offset.y
        for y in range(self.size.height):
            old, new = _line(before, top - moved + y), _line(lines, top + y)
            was, is_now = _is(old, marked), _is(new, self.selected)
            if was != is_now or not old.content.is_same(new.content):
                self.refresh(Region(0, y, self.size.width, 1))

    def begin_anew(self, selected: str = "") -> None:
        """Go to the top: other lines come."""
        self.selected = selected
        self.scroll_to(y=0, animate=False)

    def move(self, rows: int) -> None:
        """Select the row so many further down, up if negative; the first time, one in sight."""
        keys = list(dict.fromkeys(line.key for line in self._lines if line.key))
        if not keys:
            self.scroll_relative(y=rows, animate=False)
            return
        if self.selected in keys:
            at = min(max(keys.index(self.selected) + rows, 0), len(keys) - 1)
        else:
            at = self._first_in_sight(keys)
        self.select(keys[at])

    def select(self, key: str) -> None:
        """Select a row, and bring it into sight."""
        self.selected = key
        places = [at for at, line in enumerate(self._lines) if line.key == key]
        if not places:
            return
        top, height = self.scroll_offset.y, self.size.height
        first = 0 if places[0] == self._first_row() else places[0]  # with the heading above it
        if first < top:
            self.scroll_to(y=first, animate=False)
        elif places[-1] >= top + height:
            self.scroll_to(y=places[-1] - height + 1, animate=False)
        self.show(self._lines)

    def row(self) -> PaneLine | None:
        """Return the first line of the selected row, if it is there still."""
        return next((line for line in self._lines if line.key and line.key == self.selected), None)

    def page(self, screens: int) -> None:
        """Scroll by screens, up if negative; one line of each stays in sight."""
        self.scroll_relative(y=screens * (self.size.height - 1), animate=False)

    def end(self, *, last: bool) -> None:
        """Go to the last line, or to the first."""
        self.scroll_to(y=self.max_scroll_y if last else 0, animate=False)

    def on_click(self, event: Click) -> None:
        """Select what is clicked; open it if it was selected already."""
        key = _line(self._lines, event.y + self.scroll_offset.y).key
        if not key:
            return
        if key == self.selected:
            self.post_message(self.Opened())
        self.select(key)

    def on_resize(self, _event: Resize) -> None:
        """Ask for lines of the width there is, which is known only once the pane is open."""
        self.post_message(self.Resized())

    def render_line(self, y: int) -> Strip:
        """Render line `y` of the screen."""
        at, width = y + self.scroll_offset.y, self.size.width
        line = _line(self._lines, at)
        strips = Visual.to_strips(self, line.content, width, 1, self.visual_style, pad=True)
        strip = strips[0] if strips else Strip.blank(width, self.rich_style)
        if not _is(line, self.selected):
            return strip
        style = self.get_component_rich_style("listing--selected")
        first = at == 0 or _line(self._lines, at - 1).key != line.key
        return self._marked(strip, style, first=first)

    def _marked(self, strip: Strip, style: Style, *, first: bool) -> Strip:
        """Return a line of the selected row: in its colours, its first line with the sign."""
        if first and strip.text.startswith(" "):
            rest = strip.crop(1)
            strip = Strip([Segment(SELECTED, style), *rest], strip.cell_length)
        return Strip(Segment.apply_style(strip, post_style=style), strip.cell_length)

    def _hold(self, before: Sequence[PaneLine]) -> int:
        """Scroll with what is read, if lines came above it; returns by how much."""
        top = self.scroll_offset.y
        if not top:
            return 0
        key = self.selected or _line(before, top).key
        was, now = _find(before, key), _find(self._lines, key)
        if not key or was is None or now is None or was == now:
            return 0
        self.scroll_to(y=top + now - was, animate=False)
        return self.scroll_offset.y - top

    def _first_in_sight(self, keys: list[str]) -> int:
        top = self.scroll_offset.y
        seen = (line.key for line in self._lines[top : top + self.size.height] if line.key)
        return keys.index(next(seen, keys[0]))

    def _first_row(self) -> int:
        return next((at for at, line in enumerate(self._lines) if line.key), 0)

    def _set_extent(self, size: Size) -> None:
        """Set the size without the layout of the whole screen that it would cause each second."""
        if size != self.virtual_size:
            self.set_reactive(Widget.virtual_size, size)
            self.vertical_scrollbar.window_virtual_size = size.height
            if self.scroll_y > self.max_scroll_y:
                self.scroll_to(y=self.max_scroll_y, animate=False)


def _line(lines: Sequence[PaneLine], at: int) -> PaneLine:
    return lines[at] if 0 <= at < len(lines) else NOTHING


def _is(line: PaneLine, selected: str) -> bool:
    return bool(selected) and line.key == selected


def _find(lines: Sequence[PaneLine], key: str) -> int | None:
    return next((at for at, line in enumerate(lines) if key and line.key == key), None)
