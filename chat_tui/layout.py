"""One row of the conversation as the lines of the screen it fills, for a given width."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from chat_tui.marks import Glyphs
from chat_tui.model import Row
from chat_tui.taste import Taste
from chat_tui.text import LINES_MAX, clip_cells, wrap
from sync.identity import short_fingerprint
from sync.machine import PeerId
from sync.sds.message import Delivery
from sync.view import Line

STACKED_BELOW: Final = 64
"""Cells; a narrower conversation has its names on lines of their own, or texts would be ribbons."""

GUTTER_STACKED: Final = 2
TAIL: Final = len(" ○ ")
"""The column of the marks, at the right edge: its place never depends on the text."""

TEXT_CELLS_MIN: Final = 8
"""Texts are not wrapped narrower; a screen that narrow shows only the wish to be enlarged."""

StyleOf: TypeAlias = Callable[[str], Style]
"""From what a piece of the screen is (`time`, `rule`, ...) to its style in the current theme.

An author's is called as `author_name` says.
"""

PLAIN: Final = Style.null()


@dataclass(frozen=True, slots=True)
class Shape:
    """What rows are laid out for: the cells of a line, and the character set."""

    width: int
    glyphs: Glyphs
    taste: Taste = field(default_factory=Taste)

    @property
    def stacked(self) -> bool:
        """Whether names stand on lines of their own."""
        return self.width < STACKED_BELOW

    @property
    def gutter(self) -> int:
        """Cells to the left of texts."""
        if self.stacked:
            return GUTTER_STACKED
        return self.taste.time_cells + self.taste.nick_cells + 2

    @property
    def text_width(self) -> int:
        """Cells for texts."""
        return max(TEXT_CELLS_MIN, self.width - self.gutter - TAIL)


@dataclass(frozen=True, slots=True, eq=False)
class Laid:
    """A row laid out: separators, then the message. Two layouts are never equal."""

    row: Row
    strips: tuple[Strip, ...]
    text_at: int
    """How many of the lines are separators."""

    @property
    def text_lines(self) -> int:
        """Lines of the message itself, at least 1."""
        return len(self.strips) - self.text_at


AUTHOR: Final = "author-"


def author_name(author: PeerId) -> str:
    """Return what `StyleOf` knows an author by."""
    return AUTHOR + author


def estimate(row: Row, shape: Shape) -> int:
    """Return about how many lines the row fills, without wrapping it."""
    text = -(-len(row.text) // shape.text_width) or 1
    header = int(shape.stacked or row.full_name)
    taste = shape.taste
    return (
        _day(row, taste)
        + _space(row, taste)
        + bool(row.new)
        + row.gap
        + header
        + min(text, LINES_MAX)
    )


def lay_out(row: Row, shape: Shape, style: StyleOf) -> Laid:
    """Return the lines of a row; the mark of an own message is added when it is painted."""
    separators = _separators(row, shape, style)
    texts = wrap(row.text, shape.text_width)
    gutter = Segment(" " * shape.gutter)
    ink = style("loading") if row.line.loading else PLAIN
    lines = [Strip([gutter, Segment(text, ink)]) for text in texts]
    when = Segment(f"{shape.taste.time(row.line.created_ns)} ", style("time"))
    if shape.stacked or row.full_name:
        lines.insert(0, _header(row, shape, when, style))
    else:
        nick = clip_cells(row.nick, shape.taste.nick_cells)
        pad = " " * (shape.taste.nick_cells - cell_len(nick))
        name = Segment(f"{pad}{nick}  ", _name_style(row, style))
        lines[0] = Strip([when, name, Segment(texts[0], ink)])
    return Laid(row, (*separators, *lines), len(separators))


def _name_style(row: Row, style: StyleOf) -> Style:
    return style("loading") if row.line.loading else style(author_name(row.line.author))


def _header(row: Row, shape: Shape, when: Segment, style: StyleOf) -> Strip:
    name = Segment(clip_cells(row.nick, shape.text_width), _name_style(row, style))
    if not row.full_name:
        return Strip([when, name])
    return Strip([when, name, Segment(f" {short_fingerprint(row.line.author)}", style("time"))])


def _separators(row: Row, shape: Shape, style: StyleOf) -> list[Strip]:
    strips: list[Strip] = []
    if _space(row, shape.taste):
        strips.append(Strip.blank(shape.width))
    if _day(row, shape.taste):
        strips.append(_rule(row.day, shape, style("rule")))
    if row.new:
        strips.append(_rule(f"{row.new:,} new", shape, style("new")))
    if row.gap:
        sign = f"{shape.glyphs.gap:>{max(1, shape.gutter - 2)}}".ljust(shape.gutter)
        sentence = "an earlier message could not be found"
        strips.append(Strip([Segment(clip_cells(sign + sentence, shape.width), style("gap"))]))
    return strips


def _day(row: Row, taste: Taste) -> bool:
    """Whether the date stands above a row."""
    return bool(row.day) and taste.days


def _space(row: Row, taste: Taste) -> bool:
    """Whether an empty line stands above a row: nothing else does, and another author begins."""
    return taste.cosy and row.begins and not (_day(row, taste) or row.new)


def _rule(title: str, shape: Shape, style: Style) -> Strip:
    rule = clip_cells(f" {title} ", shape.width).center(shape.width, shape.glyphs.rule)
    return Strip([Segment(rule, style)])


def with_mark(strip: Strip, line: Line, word: str, shape: Shape, style: StyleOf) -> Strip:
    """Return `strip` with the line's mark, if it has one, in the column at the right edge.

    The word stands before the mark where the text leaves it room; the mark never moves.
    """
    if line.loading:
        mark, marks = shape.glyphs.loading, style("loading")
    elif line.delivery is not None:
        mark, marks = shape.glyphs.marks[line.delivery], style(MARK_STYLES[line.delivery])
    else:
        return strip
    room = shape.width - TAIL
    if word and strip.cell_length + 2 + len(word) <= room:
        strip = strip.adjust_cell_length(room - len(word) - 1)
        strip = Strip([*strip, Segment(f"{word} ", marks)])
    strip = strip.adjust_cell_length(room)
    return Strip([*strip, Segment(f" {mark} ", marks)])


MARK_STYLES: Final = {
    Delivery.UNACKNOWLEDGED: "unsettled",
    Delivery.POSSIBLY_ACKNOWLEDGED: "unsettled",
    Delivery.ACKNOWLEDGED: "settled",
    Delivery.FAILED: "failed",
}
