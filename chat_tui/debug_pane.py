"""The drawer with what the protocol is doing; only lines that differ are painted again."""

from typing import Final

from textual.content import Content
from textual.events import Resize
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual
from textual.widget import Widget

from chat_tui.marks import UNICODE, Glyphs
from chat_tui.panels import debug_lines
from chat_tui.sections import Section

NOTHING: Final = Content("")


class DebugPane(ScrollView, can_focus=False):
    """Shows `Section`s, wrapped for the width there is."""

    ALLOW_SELECT = False

    def __init__(self, glyphs: Glyphs = UNICODE) -> None:
        super().__init__(id="debug")
        self._glyphs = glyphs
        self._sections: list[Section] = []
        self._lines: list[Content] = []

    def show(self, sections: list[Section]) -> None:
        """Show what is buffered, who is here and the last steps."""
        self._sections = sections
        self._draw()

    def change_glyphs(self, glyphs: Glyphs) -> None:
        """Draw with other signs from now on."""
        self._glyphs = glyphs
        self._draw()

    def page(self, screens: int) -> None:
        """Scroll by screens, up if negative; one line of each stays in sight."""
        self.scroll_relative(y=screens * (self.size.height - 1), animate=False)

    def on_resize(self, _event: Resize) -> None:
        """Wrap for the width there is, which is known only once the drawer is open."""
        self._draw()

    def render_line(self, y: int) -> Strip:
        """Render line `y` of the screen."""
        at, width = y + self.scroll_offset.y, self.size.width
        line = self._lines[at] if at < len(self._lines) else NOTHING
        strips = Visual.to_strips(self, line, width, 1, self.visual_style, pad=True)
        return strips[0] if strips else Strip.blank(width, self.rich_style)

    def _draw(self) -> None:
        width = self.scrollable_content_region.width
        if not width:
            return
        before, self._lines = self._lines, debug_lines(self._sections, width, self._glyphs)
        self._set_extent(Size(width, len(self._lines)))
        top = self.scroll_offset.y
        for y in range(self.size.height):
            if not _line(before, top + y).is_same(_line(self._lines, top + y)):
                self.refresh(Region(0, y, self.size.width, 1))

    def _set_extent(self, size: Size) -> None:
        """Set the size without the layout of the whole screen that it would cause each second."""
        if size != self.virtual_size:
            self.set_reactive(Widget.virtual_size, size)
            self.vertical_scrollbar.window_virtual_size = size.height
            if self.scroll_y > self.max_scroll_y:
                self.scroll_to(y=self.max_scroll_y, animate=False)


def _line(lines: list[Content], at: int) -> Content:
    return lines[at] if at < len(lines) else NOTHING
