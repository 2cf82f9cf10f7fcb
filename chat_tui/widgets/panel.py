"""A widget that shows one text and repaints only what changed."""

from collections.abc import Callable

from rich.cells import cell_len
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Region, Size
from textual.widget import Widget
from textual.widgets import Static


class Entitled(Widget):
    """Something with a frame, whose title is painted again only when it differs."""

    _title = ""

    def entitle(self, title: str) -> None:
        """Set the title in the frame, which is no markup: any title makes Textual paint it all."""
        if title != self._title:
            self._title = title
            self.border_title = Content(title)


class Framed(Vertical, Entitled):
    """A column in a frame with a title."""


class Panel(Static, Entitled):
    """Shows one `Content`; `markup` stays off, because names in it are peers' text."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 Textual calls it so
        super().__init__("", id=id, markup=False)
        self.auto_links = False  # what can be clicked looks as its text does
        self._shown = Content("")

    def show(self, content: Content) -> None:
        """Show `content`; lay the screen out again only if the panel's size follows from it."""
        if content.is_same(self._shown):
            return
        before, self._shown = self._shown, content
        size, size_before = _extent(content.plain), _extent(before.plain)
        room = self.content_size.width
        wraps = max(size.width, size_before.width) > room
        if size != size_before and self._follows(size, size_before, wraps=wraps):
            self.refresh(layout=True)
        elif wraps or size.height != size_before.height:
            self.refresh()  # some lines are wrapped: where each of them stands is not known here
        else:
            self.refresh(*_differences(before, content, room))

    def _follows(self, size: Size, before: Size, *, wraps: bool) -> bool:
        """Return whether the panel is as large as its text, in a way in which that differs."""
        if self.styles.is_auto_width and size.width != before.width:
            return True
        return self.styles.is_auto_height and (wraps or size.height != before.height)

    def render(self) -> Content:
        """Return what is shown."""
        return self._shown


class Fitted(Panel):
    """A panel that shows as much as it has lines for; the first line is the title in its frame."""

    _content_in: Callable[[int], Content] | None = None

    def fill(self, content_in: Callable[[int], Content]) -> None:
        """Show what `content_in` returns for the lines there are, one in the frame among them."""
        self._content_in = content_in
        self._fit()

    def on_resize(self) -> None:
        """Fill as many lines as there are now."""
        self._fit()

    def _fit(self) -> None:
        if self._content_in is None or not self.display:
            return
        lines = self.content_size.height or self.app.size.height  # it is not laid out at first
        title, *rest = self._content_in(1 + lines).split("\n")
        self.entitle(title.plain)
        self.show(Content("\n").join(rest))


def _extent(text: str) -> Size:
    """Return lines, and cells of the longest of them."""
    lines = text.split("\n")
    return Size(max(cell_len(line) for line in lines), len(lines))


def _differences(before: Content, now: Content, width: int) -> list[Region]:
    """Return the lines that differ, as parts of a panel of `width` cells where none is wrapped."""
    pairs = zip(before.split(allow_blank=True), now.split(allow_blank=True), strict=True)
    return [Region(0, y, width, 1) for y, (old, new) in enumerate(pairs) if not old.is_same(new)]
