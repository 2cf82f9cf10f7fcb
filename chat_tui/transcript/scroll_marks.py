"""Marks in the scroll bar of the conversation: places of what is new, mentions, gaps and hits.

Rules:
1. Each has a sign and a colour; the help says the words.
2. They are of what is out of sight: the part that stands for the screen stays whole.
3. Where several fall on one cell, the one somebody looks for goes first: hits, mentions, new, gaps.
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, Final

from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment, Segments
from rich.style import Style
from textual.cache import LRUCache
from textual.scrollbar import ScrollBarRender

from chat_tui.model.conversation import Conversation
from chat_tui.model.row import Row
from chat_tui.text.word_match import NOTHING, spans
from chat_tui.transcript.reader import Reader
from chat_tui.wording.glyphs import Glyphs
from sync.machine import Nanos

TEXTS_KEPT: Final = 4096
"""Texts of which is remembered whether they name the reader, or are hits: more than are ever in
memory."""


PRESSED: Final = "@mouse.down"
THUMB: Final = "grab"
"""As Textual says what the mouse does on each part of a scroll bar."""


class Mark(Enum):
    """Kinds of marks, the most important first; the value is the style they have."""

    HIT = "hit-mark"
    MENTION = "mention-mark"
    NEW = "new"
    GAP = "gap"


class MarkedReader(Reader):
    """A reader whose scroll bar shows where in the conversation something is."""

    COMPONENT_CLASSES = {"transcript--hit-mark", "transcript--mention-mark"}  # noqa: RUF012
    DEFAULT_CSS = """
    MarkedReader > .transcript--hit-mark { color: $secondary; }
    MarkedReader > .transcript--mention-mark { color: $accent; }
    """

    def __init__(
        self, conversation: Conversation, *, nick: str, now: Nanos, glyphs: Glyphs
    ) -> None:
        super().__init__(conversation, nick=nick, now=now, glyphs=glyphs)
        self.marks: Mapping[int, Mark] = {}
        """Marks by the line of the scroll bar."""
        self._named: LRUCache[str, bool] = LRUCache(TEXTS_KEPT)
        self._hit: LRUCache[str, bool] = LRUCache(TEXTS_KEPT)

    def on_mount(self) -> None:
        """Draw the scroll bar with the marks from now on."""
        bar = self.vertical_scrollbar
        bar.renderer = self._drawn  # type: ignore[misc, assignment]  # made like a class

    def _drawn(self, **bar: Any) -> "MarkedBar":  # noqa: ANN401 Textual's own fields
        return MarkedBar(self, ScrollBarRender(**bar))

    def tick(self, now: Nanos, *, alone: bool) -> None:
        """Bring the marks up to date, too."""
        super().tick(now, alone=alone)
        self.show_marks()

    def _fit(self) -> None:
        """Put the marks where they belong in a bar of another height, too, once that is painted."""
        super()._fit()
        self.call_after_refresh(self.show_marks)

    def highlight(self, query: str) -> None:
        """Mark the hits at once."""
        super().highlight(query)
        self._hit.clear()
        self.show_marks()

    def rename(self, nick: str) -> None:
        """Mark the mentions of another name at once."""
        super().rename(nick)
        self._named.clear()
        self.show_marks()

    def show_marks(self) -> None:
        """Paint the scroll bar again if its marks are others."""
        heights, cells = self._laid.heights, self.size.height
        marked = list(self._marked(self.conversation.rows)) if heights.total > cells else []
        tops = [(heights.top(index), mark) for index, mark in marked if index < len(heights)]
        marks = in_cells(tops, self._extent, cells)
        if marks != self.marks:
            self.marks = marks
            self.vertical_scrollbar.refresh()

    def _marked(self, rows: Sequence[Row]) -> Iterator[tuple[int, Mark]]:
        for index, row in enumerate(rows):
            if row.tucked:
                continue
            if self._words is not NOTHING and self._is_hit(row.text):
                yield index, Mark.HIT
            if not row.line.own and self._names_reader(row.text):
                yield index, Mark.MENTION
            if row.new:
                yield index, Mark.NEW
            if row.gap or row.line.message_id in self._gaps:
                yield index, Mark.GAP

    def _is_hit(self, text: str) -> bool:
        hit = self._hit.get(text)
        if hit is None:
            hit = self._hit[text] = bool(spans(self._words, text))
        return hit

    def _names_reader(self, text: str) -> bool:
        named = self._named.get(text)
        if named is None:
            named = self._named[text] = bool(spans(self._own_name, text))
        return named

    def style_of_mark(self, mark: Mark) -> Style:
        """Return the colour of a mark."""
        return self._style(mark.value)

    @property
    def signs(self) -> Mapping[Mark, str]:
        """The signs of the marks, in the character set that is shown."""
        return signs_of(self._glyphs)


def signs_of(glyphs: Glyphs) -> dict[Mark, str]:
    """Return the sign of each kind of mark."""
    return {
        Mark.HIT: glyphs.hit,
        Mark.MENTION: glyphs.probed,
        Mark.NEW: glyphs.rule,
        Mark.GAP: glyphs.gap,
    }


def in_cells(tops: Sequence[tuple[int, Mark]], lines: int, cells: int) -> dict[int, Mark]:
    """Return the marks by the cell of a bar of so many that stands for their line."""
    order = list(Mark)
    marks: dict[int, Mark] = {}
    for top, mark in tops:
        cell = min(cells - 1, top * cells // max(1, lines))
        held = marks.get(cell)
        if held is None or order.index(mark) < order.index(held):
            marks[cell] = mark
    return marks


class MarkedBar:
    """A scroll bar as Textual draws it, with marks over it; they stand on its ground."""

    def __init__(self, reader: MarkedReader, bar: ScrollBarRender) -> None:
        self._reader, self._bar = reader, bar

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the bar, then the marks."""
        for drawn in self._bar.__rich_console__(console, options):
            assert isinstance(drawn, Segments)
            segments, signs = list(drawn.segments), self._reader.signs
            ground = console.get_style(self._bar.style).bgcolor
            for cell, mark in self._reader.marks.items():
                below = segments[cell].style if cell < len(segments) else None
                if below is None or below.meta.get(PRESSED) == THUMB:
                    continue
                colour = self._reader.style_of_mark(mark).color
                style = Style(color=colour, bgcolor=ground, bold=True, meta=below.meta)
                segments[cell] = Segment(signs[mark], style)
            yield Segments(segments, new_lines=drawn.new_lines)
