"""The rows of a conversation as lines, without a screen: only what is looked at is ever wrapped.

Rules:
1. The height of a row nobody looked at is an estimate; laid out, it is exact.
2. A place is a message and a line in it, not a line number: it stays the same whatever comes.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from textual.cache import LRUCache

from chat_tui.model.row import Change, Changed, Inserted, Removed, Row
from chat_tui.transcript.height_index import Heights
from chat_tui.transcript.opened import Opened
from chat_tui.transcript.row_layout import Laid, Shape, estimate, lay_out
from chat_tui.transcript.text_layout import Look, StyleOf
from sync.machine import MessageId

LAID_KEPT: Final = 1024
"""Wrapped rows kept: a few screens at two widths, so that scrolling back wraps nothing."""


class Place(NamedTuple):
    """Scroll position of the reader: the message and its line at the top of the screen."""

    message_id: MessageId
    line: int
    """Within the text of the message; negative in the separators above it."""
    of: int
    """Lines of that text then; with another width it has another number."""


class LaidRows:
    """Lays out `rows`, a list that others change and then tell how, with the colours of `style`."""

    def __init__(self, rows: Sequence[Row], style: StyleOf) -> None:
        self.shape: Shape | None = None
        """Width and options of the layout; None before the first size is known."""
        self.heights = Heights()
        self.laid_out = 0
        """Number of rows wrapped so far: the measure of the work done."""
        self.opened = Opened()
        self._rows, self._style = rows, style
        self._cache: LRUCache[tuple[MessageId, int], Laid] = LRUCache(LAID_KEPT)

    def take_rows(self, rows: Sequence[Row]) -> None:
        """Lay out other rows from now on."""
        self._rows = rows
        self.forget()
        self.measure()

    def forget(self) -> None:
        """Wrap everything anew: it has other colours, or another shape."""
        self._cache.clear()

    def look(self, index: int, look: Look) -> None:
        """Lay a row out anew, as somebody wants to see it."""
        self.opened[self._rows[index].line.message_id] = look
        self.forget()

    def fit(self, shape: Shape) -> None:
        """Lay out for another shape."""
        self.shape = shape
        self.measure()

    def measure(self) -> None:
        """Estimate all heights."""
        if self.shape is not None:
            shape = self.shape
            self.heights = Heights([self._estimate(row, shape) for row in self._rows])

    def resize(self, changes: Iterable[Change]) -> None:
        """Follow what happened to the rows."""
        if self.shape is None:
            return
        for change in changes:
            match change:
                case Inserted(index, count):
                    # A later change may have moved the rows; an estimate of another row will do.
                    new = self._rows[index : index + count]
                    heights = [self._estimate(row, self.shape) for row in new]
                    self.heights.insert(index, heights + [1] * (count - len(heights)))
                case Removed(index, count):
                    self.heights.remove(index, count)
                case Changed(index):
                    self._fold(index)

    def _estimate(self, row: Row, shape: Shape) -> int:
        return estimate(row, shape, whole=self.opened[row.line.message_id].whole)

    def _fold(self, index: int) -> None:
        """Give a row its line, or take it, if it was opened or folded away."""
        assert self.shape is not None
        if index < len(self._rows) and self._rows[index].tucked == bool(self.heights[index]):
            self.heights[index] = self._estimate(self._rows[index], self.shape)

    def laid(self, index: int) -> Laid:
        """Return a row laid out."""
        assert self.shape is not None
        row = self._rows[index]
        key = (row.line.message_id, self.shape.width)
        laid = self._cache.get(key)
        if laid is None or laid.row is not row:
            laid = lay_out(row, self.shape, self._style, self.opened[row.line.message_id])
            self._cache.discard(key)  # what is there already would stay
            self._cache[key] = laid
            self.laid_out += 1
        if self.heights[index] != len(laid.strips):
            self.heights[index] = len(laid.strips)
        return laid

    def lay_out(self, indexes: Iterable[int], lines: int) -> None:
        """Lay out some rows, until they have so many lines."""
        for index in indexes:
            if lines <= 0:
                return
            lines -= len(self.laid(index).strips)

    def lay_out_last(self, lines: int) -> None:
        """Lay out the last rows."""
        self.lay_out(range(len(self._rows) - 1, -1, -1), lines)

    def top_of(self, place: Place, index: int, height: int) -> int:
        """Return the line of a place, in the row `index`, with a screen around it laid out."""
        laid = self.laid(index)
        line = place.line
        if line > 0:
            line = line * laid.text_lines // place.of
        within = max(0, line + laid.text_at)
        self.lay_out(range(index - 1, -1, -1), height)
        self.lay_out(range(index, len(self._rows)), 2 * height + within)
        return self.heights.top(index) + within

    def place_at(self, top: int) -> Place:
        """Return the place at a line; of what is below the last row, its last line."""
        index, line = self.heights.at(min(top, self.heights.total - 1))
        laid = self.laid(index)
        line = min(line, len(laid.strips) - 1) - laid.text_at
        return Place(laid.row.line.message_id, line, laid.text_lines)
