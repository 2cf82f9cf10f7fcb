"""Paints of an application under test: what widgets ask for, and the cells that a terminal gets."""

import re
from typing import Final, Self

from rich.console import RenderableType
from rich.segment import Segment
from textual._compositor import Compositor, CompositorUpdate
from textual.app import App
from textual.geometry import Region
from textual.screen import Screen
from textual.widget import Widget

PIECE: Final = re.compile(r"\x1b\[(\d+);(\d+)H|\x1b\[([\d;]*)m|\x1b\][^\\]*\\|(.)", re.DOTALL)
"""Parts of an update: moves of the cursor, styles, links, and text."""

Cells = dict[tuple[int, int], tuple[str, str]]
"""By line and column: what stands there, nothing behind a wide sign; and in which style."""


class PaintsNoted(Widget):
    """The last base of a widget under test: what it asks of `Widget` is noted here first."""

    asked: list[Region | str]
    """Regions, `all`, or `layout` where the size may be another; from the first moment on."""

    def refresh(
        self,
        *regions: Region,
        repaint: bool = True,
        layout: bool = False,
        recompose: bool = False,
    ) -> Self:
        asked: list[Region | str] = self.__dict__.setdefault("asked", [])
        asked += regions
        if layout or not regions:
            asked.append("layout" if layout else "all")
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    @property
    def regions(self) -> list[Region]:
        """The regions among what was asked for."""
        return [one for one in self.asked if isinstance(one, Region)]


def cells(app: App[None], update: object) -> Cells:
    """Return what an update writes."""
    assert isinstance(update, CompositorUpdate)
    written: Cells = {}
    x = y = 0
    style = ""
    for line, column, styled, text in PIECE.findall(update.render_segments(app.console)):
        if line:
            y, x = int(line) - 1, int(column) - 1
        elif text == "\n":
            y, x = y + 1, 0
        elif text:
            width = Segment(text).cell_length
            if width:
                written[y, x] = (text, style)
                written.update({(y, x + more): ("", style) for more in range(1, width)})
            else:
                before, its_style = written.get((y, x - 1), ("", style))
                written[y, x - 1] = (before + text, its_style)
            x += width
        else:
            style = styled
    return written


def taken(app: App[None], renderable: RenderableType | None) -> Cells:
    """Return what a terminal gets of it; nothing while paints are held, for Textual drops it."""
    return {} if renderable is None or app._batch_count else cells(app, renderable)


def as_textual(app: App[None]) -> Compositor:
    """Return Textual's own compositor, which has laid out the same screen."""
    compositor = Compositor()
    compositor.reflow(app.screen, app.screen.outer_size)
    return compositor


def due(app: App[None]) -> Cells:
    """Return what ought to be seen: all rendered anew, by Textual's own compositor."""
    for widget in app.screen.walk_children(Widget, with_self=True):
        widget._styles_cache.clear()
    whole = as_textual(app).render_update(full=True, screen_stack=app._background_screens)
    return cells(app, whole)


class CellsSeen(App[None]):
    """An application that knows what it has painted so far."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: Cells = {}

    def _display(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        self.seen.update(taken(self, renderable))
        super()._display(screen, renderable)

    @property
    def due(self) -> Cells:
        """Cells as they ought to be seen."""
        return due(self)
