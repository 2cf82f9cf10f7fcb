"""Highlighting of spans in a painted line; its text and width stay as they are."""

from collections.abc import Sequence
from itertools import pairwise

from rich.cells import split_graphemes
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from chat_tui.text.word_match import Span


def painted_over(strip: Strip, cells: Sequence[Span], style: Style) -> Strip:
    """Return `strip` with some spans of its cells in another style; its width stays."""
    cuts = sorted({0, strip.cell_length, *(at for span in cells for at in span)})
    inside = {at for start, end in cells for at in cuts if start <= at < end}
    parts = [
        over(strip.crop(start, end), style) if start in inside else strip.crop(start, end)
        for start, end in pairwise(cuts)
        if end <= strip.cell_length
    ]
    return Strip.join(parts)


def over(strip: Strip, style: Style) -> Strip:
    """Return `strip` in another style, whatever its own is."""
    return Strip(Segment.apply_style(strip, post_style=style), strip.cell_length)


def index_at(text: str, cell: int) -> int:
    """Return the character of a line that stands at `cell`, its length if it ends before."""
    if text.isascii():
        return min(max(cell, 0), len(text))
    used = 0
    for start, _, cells in split_graphemes(text)[0]:
        used += cells
        if cell < used:
            return start
    return len(text)
