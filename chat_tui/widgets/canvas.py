"""A canvas: lines that are drawn elsewhere, of which only cells that changed go to the terminal."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Final

from rich.segment import Segment
from textual.content import Content
from textual.geometry import Region
from textual.strip import Strip
from textual.visual import Visual
from textual.widget import Widget

NOTHING: Final = Content("")


class Canvas(Widget):
    """Shows lines as they are; a line of another moment is sent as far as it differs."""

    ALLOW_SELECT = False

    def __init__(self, id: str) -> None:  # noqa: A002  # as Textual has it
        super().__init__(id=id)
        self.auto_links = False  # what can be clicked looks as its text does
        self.lines: Sequence[Content] = ()
        """The lines that are shown."""
        self._strips: dict[int, Strip] = {}

    def show(self, lines: Sequence[Content]) -> None:
        """Show these lines in place of the others."""
        before, self.lines = self.lines, lines
        pairs = zip_longest(before, lines, fillvalue=NOTHING)
        for y, (was, is_now) in enumerate(pairs):
            if not was.is_same(is_now):
                old = self._strips.pop(y, None)
                first, ends = 0, self.size.width
                if old is not None:
                    first, ends = differing(old, self._strip(y), ends)
                if first < ends:
                    self.refresh(Region(first, y, ends - first, 1))

    def render_line(self, y: int) -> Strip:
        """Render line `y`."""
        return self._strip(y)

    def notify_style_update(self) -> None:
        """Draw anew in other colours."""
        self._strips.clear()
        super().notify_style_update()

    def on_resize(self) -> None:
        """Draw anew for another width."""
        self._strips.clear()

    def _strip(self, y: int) -> Strip:
        strip = self._strips.get(y)
        if strip is None:
            line = self.lines[y] if y < len(self.lines) else NOTHING
            width = self.size.width
            strips = Visual.to_strips(self, line, width, 1, self.visual_style, pad=True)
            strip = strips[0].simplify() if strips else Strip.blank(width, self.rich_style)
            self._strips[y] = strip
        return strip


def differing(one: Strip, other: Strip, width: int) -> tuple[int, int]:
    """Return the first cell in which two strips differ, and the cell behind the last.

    It is one span, for Textual writes a line anew for each. Where signs are wider than a cell, it
    is all of the line.
    """
    ours, theirs = _cells(one), _cells(other)
    if len(ours) != one.cell_length or len(theirs) != other.cell_length or len(ours) != len(theirs):
        return 0, width
    places = [at for at, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b]
    return (places[0], places[-1] + 1) if places else (0, 0)


def _cells(strip: Strip) -> list[tuple[str, object]]:
    segments: list[Segment] = list(strip)
    return [(sign, segment.style) for segment in segments for sign in segment.text]
