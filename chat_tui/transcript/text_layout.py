"""The text of a message as lines of a given width: marked up, folded if it is long."""

import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeAlias

from rich.segment import Segment
from rich.style import Style

from chat_tui.model.row import Row
from chat_tui.text.links import is_itself, link_spans
from chat_tui.text.markup import (
    BULLET,
    CODE,
    EMPHASIS,
    LINK,
    QUOTE,
    SIGN,
    STRANGE,
    STRONG,
    Block,
    blocks,
    is_marked,
    kinds_of,
)
from chat_tui.text.safe_text import LINES_MAX, chopped_spans, clean_nick, line_spans
from chat_tui.text.word_kinds import Word
from chat_tui.text.word_match import Span
from chat_tui.transcript.layout_options import Taste

StyleOf: TypeAlias = Callable[[str], Style]
"""From what a piece of the screen is (`time`, `rule`, ...) to its style in the current theme."""

PLAIN: Final = Style.null()

CELLS_MAX: Final = 2
"""Cells of the widest character."""

RUNS: Final = re.compile(rb"(.)\1*", re.DOTALL)
"""Characters of one kind, one after the other."""

WORDS: Final = {
    Word.KEYWORD: "keyword",
    Word.STRING: "string",
    Word.NUMBER: "number",
    Word.COMMENT: "comment",
    Word.ADDED: "string",
    Word.REMOVED: "removed",
}
"""Names of the styles of words in code."""

PROSE: Final = (
    (QUOTE, "quote"),
    (BULLET, "bullet"),
    (STRONG, "strong"),
    (EMPHASIS, "emphasis"),
    (SIGN, "sign"),
)
"""Names of the styles of what is no code, the last one over the others."""

ATTRIBUTES: Final = frozenset({"strong", "emphasis", "link", "strange"})
"""Styles that leave what they are put over the rest of its look."""

MARKUP_STYLES: Final = frozenset(
    {"code", *WORDS.values(), *(name for _, name in PROSE), *ATTRIBUTES}
)


class Look(NamedTuple):
    """Look of one message, as the reader chose it."""

    whole: bool = False
    """Unfolded, however long it is."""
    raw: bool = False
    """Without markup."""


AS_USUAL: Final = Look()


class Piece(NamedTuple):
    """Characters of a text that stand in one line."""

    start: int
    end: int
    hang: int = 0
    """Cells by which the line is indented."""


class LaidText(NamedTuple):
    """The lines of a text in sight."""

    lines: list[list[Segment]]
    pieces: list[Piece]
    """The characters in each of them."""
    more: int
    """Number of the lines that are folded away below."""


def is_written(row: Row) -> bool:
    """Return whether the text of a row is what its author wrote, not what the program says."""
    line = row.line
    said = line.act is not None or line.deleted or line.hidden_by is not None
    return not (said or row.folds or row.tucked)


def lay_text(
    row: Row, width: int, taste: Taste, look: Look, ink: Style, style: StyleOf
) -> LaidText:
    """Return a text as lines of at most `width` cells; `ink` is what it is written with."""
    text = row.text.rstrip()
    written = is_written(row)
    has_signs = written and is_marked(text)
    marked = has_signs and taste.markup and not look.raw
    lines = list(blocks(text, first=_begin(row))) if marked else _plain_blocks(text)
    folds = bool(written and taste.fold and not look.whole)
    pieces, more, shown = _pieces(lines, width, taste.fold if folds else LINES_MAX, folds=folds)
    if not has_signs:
        return LaidText([[Segment(text[one.start : one.end], ink)] for one in pieces], pieces, more)
    end = lines[shown - 1].start + len(lines[shown - 1].text)
    links = link_spans(text[:end])
    kinds = kinds_of(text, lines[:shown] if marked else (), links)
    inks = _Inks(text, links, ink, style, hyperlinks=taste.hyperlinks)
    last = pieces[-1].end
    drawn = [_segments(one, text, kinds, inks, last) for one in pieces]
    return LaidText(drawn, pieces, more)


def _begin(row: Row) -> int:
    """Return the first character of a text that may mark up its line: `* alice` is no item."""
    return int(row.text.startswith(f"* {clean_nick(row.line.nick)} "))


def _plain_blocks(text: str) -> list[Block]:
    found: list[Block] = []
    at = 0
    for line in text.split("\n"):
        found.append(Block(at, line, 0, is_code=False, language="", is_fence=False))
        at += len(line) + 1
    return found


def _pieces(
    written: Sequence[Block], width: int, most: int, *, folds: bool
) -> tuple[list[Piece], int, int]:
    """Break lines as they were written to those of the screen.

    Returns:
        The first ones, how many more there are, and how many of those written they show. If the
        text `folds`, `most` stay in sight; else all lines, that of the note included, are `most`.
    """
    pieces: list[Piece] = []
    shown, below = 0, 0
    for block in written:
        if len(pieces) > most:
            below += _height(block, width)
            continue
        shown += len(pieces) < most
        pieces += _broken(block, width)
    if len(pieces) <= most:
        return pieces, 0, shown
    kept = most if folds else most - 1
    return pieces[:kept], len(pieces) - kept + below, shown


def _height(block: Block, width: int) -> int:
    """Return how many lines one has that is folded away: a short one is not looked at for that."""
    narrow = len(block.text) * CELLS_MAX <= width
    return 1 if narrow else len(_broken(block, width))


def _broken(block: Block, width: int) -> list[Piece]:
    line = block.text.rstrip(" ")
    start = block.start
    if block.is_code:
        return [Piece(start + a, start + b) for a, b in chopped_spans(line, width)]
    first, *others = line_spans(line, width)
    hang = block.hang if block.hang <= width // 2 else 0
    if others and hang:
        at = others[0][0]
        others = [(at + a, at + b) for a, b in line_spans(line[at:], width - hang)]
    return [
        Piece(start + first[0], start + first[1]),
        *(Piece(start + a, start + b, hang) for a, b in others),
    ]


def _segments(piece: Piece, text: str, kinds: bytearray, inks: "_Inks", last: int) -> list[Segment]:
    found = [Segment(" " * piece.hang)] if piece.hang else []
    for match in RUNS.finditer(kinds, piece.start, piece.end):
        start, end = match.span()
        found.append(Segment(text[start:end], inks.of(kinds[start], start, last)))
    return found or [Segment("")]


class _Inks:
    """Styles of the characters of one text, by their kind."""

    def __init__(
        self, text: str, links: Sequence[Span], ink: Style, style: StyleOf, *, hyperlinks: bool
    ) -> None:
        self._text, self._ink, self._style = text, ink, style
        self._links = links if hyperlinks else ()
        self._styles: dict[int, Style] = {0: ink}
        self._targets: dict[int, Style] = {}

    def of(self, kind: int, at: int, last: int) -> Style:
        """Return the style of a kind; of a link whose whole address is in sight, with that."""
        style = self._styles.get(kind)
        if style is None:
            style = self._styles[kind] = self._made(kind)
        if not kind & LINK or not self._links:
            return style
        start, end = next(span for span in self._links if span[0] <= at < span[1])
        if end > last:
            return style
        if start not in self._targets:
            link = self._text[start:end]
            self._targets[start] = Style(link=link) if is_itself(link) else PLAIN
        return style + self._targets[start]

    def _made(self, kind: int) -> Style:
        style = self._ink
        if not self._ink:
            if kind & CODE:
                word = kind & 31
                style = self._style(WORDS[Word(word)] if word else "code")
            else:
                for bit, name in PROSE:
                    if kind & bit:
                        style += self._style(name)
        if kind & LINK:
            style += self._style("strange" if kind & STRANGE else "link")
        return style
