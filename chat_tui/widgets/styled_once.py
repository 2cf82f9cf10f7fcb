"""A text area that works its styles out once for each look, where Textual does at every key.

It also may have no room at all, which Textual's may not: it wraps its placeholder in the room there
is, and no room ends the program. And a long paste may be undone (Textual's issue 6686).
"""

from textual.geometry import Offset, Region
from textual.strip import Strip
from textual.widgets import TextArea


class StyledOnce(TextArea):
    """See the module docstring; its inner theme is one of Textual's private parts."""

    _styled: object = None
    """The theme of which the styles are worked out; another theme is another object."""

    def notify_style_update(self) -> None:
        """Work the styles out anew: colours or focus changed."""
        self._styled = None
        super().notify_style_update()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Render some lines, in styles that are worked out already if they can be."""
        if self._styled is self._theme:
            return super(TextArea, self).render_lines(crop)
        self._styled = self._theme
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """Render a line; a blank one if nothing but the frame has room."""
        return super().render_line(y) if self.content_size.width > 0 else Strip.blank(0)

    def scroll_cursor_visible(
        self,
        center: bool = False,  # noqa: FBT001, FBT002  # as Textual has it
        animate: bool = False,  # noqa: FBT001, FBT002
    ) -> Offset:
        """Scroll to the cursor, unless its line is gone: an undo sets it after the scroll bar."""
        if self.cursor_location[0] >= self.document.line_count:
            return Offset(0, 0)
        return super().scroll_cursor_visible(center, animate)
