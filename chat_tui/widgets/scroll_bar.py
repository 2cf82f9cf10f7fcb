"""Moves a scroll bar, which Textual would paint anew for every line that comes: most look alike."""

from textual.geometry import Region
from textual.scrollbar import ScrollBar, ScrollBarRender


def move_bar(bar: ScrollBar, lines: int, top: int) -> None:
    """Let `bar` show that `top` of `lines` is the first in sight; paint what differs."""
    before = _cells(bar)
    bar.set_reactive(ScrollBar.window_virtual_size, lines)
    bar.set_reactive(ScrollBar.position, top)
    after = _cells(bar)
    if len(before) != len(after):
        bar.refresh()
    elif changed := [y for y, cell in enumerate(after) if cell != before[y]]:
        bar.refresh(*[Region(0, y, bar.size.width, 1) for y in changed])


def _cells(bar: ScrollBar) -> list[str]:
    """Return what the cells of a bar say, in its colours or in these turned round."""
    lines = bar.window_virtual_size
    drawn = ScrollBarRender.render_bar(
        size=bar.size.height,
        virtual_size=lines,
        window_size=bar.window_size if bar.window_size < lines else 0,
        position=bar.position,
    )
    return [f"{each.text}{each.style}" for each in drawn.segments]
