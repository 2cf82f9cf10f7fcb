"""One row of the conversation as the lines of the screen it fills, for a given width."""

from typing import Final

from msgspec import Struct, field
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from chat_tui.model.row import Row
from chat_tui.text.safe_text import LINES_MAX, clip_cells
from chat_tui.text.shortening import fitting
from chat_tui.transcript.layout_options import Taste
from chat_tui.transcript.text_layout import (
    AS_USUAL,
    PLAIN,
    LaidText,
    Look,
    Piece,
    StyleOf,
    lay_text,
)
from chat_tui.wording.gap_lines import GAP
from chat_tui.wording.glyphs import EDITED, KNOWING, LATE, Glyphs
from chat_tui.wording.invitations import Offer, offered
from chat_tui.wording.reactions import item_at, reacted_in, rows, unjoined
from chat_tui.wording.replies import QUOTE_CELLS, SIGN_CELLS
from sync.entries.identity import short_fingerprint
from sync.machine import PeerId
from sync.sds.message import Delivery
from sync.view.governance_infos import Lateness
from sync.view.view import Line

STACKED_BELOW: Final = 64
"""Cells; a narrower conversation has its names on lines of their own, or texts would be ribbons."""

GUTTER_STACKED: Final = 2

PIN_CELLS: Final = 2
"""Cells before a text in which the sign of a pin stands; that of the cursor has the last one."""

TAIL: Final = len(" ○ ")
"""The column of the marks, at the right edge: its place never depends on the text."""

TEXT_CELLS_MIN: Final = 8
"""Texts are not wrapped narrower; a screen that narrow shows only the wish to be enlarged."""

MORE: Final = ("lines", "line")
JOIN: Final = "join"
"""Before the channel that a message invites to; a click joins it."""


class Shape(Struct, frozen=True):
    """Layout parameters of rows: the cells of a line, the character set and the taste."""

    width: int
    glyphs: Glyphs
    taste: Taste = field(default_factory=Taste)

    @property
    def stacked(self) -> bool:
        """True if names stand on lines of their own."""
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


class Laid(Struct, frozen=True, eq=False):
    """A row laid out: separators, then the message. Two layouts are never equal."""

    row: Row
    strips: tuple[Strip, ...]
    text_at: int
    """Number of the lines that are separators."""
    below: int = 0
    """Number of lines below the text: what it invites to, its reactions, and who has read it."""
    pieces: tuple[Piece, ...] = ()
    """Characters of the text in each of its lines."""
    first: int = 0
    """The line of the first of them."""
    folded: int = 0
    """Number of lines that are folded away, for which one stands below those in sight."""

    @property
    def text_lines(self) -> int:
        """Lines of the message itself, at least 1; 0 if another row stands for it."""
        return len(self.strips) - self.text_at

    @property
    def fold_at(self) -> int | None:
        """The line that says how much is folded away; None if nothing is."""
        return self.first + len(self.pieces) if self.folded else None

    @property
    def mark_at(self) -> int:
        """The line that has the mark: the last one of the text."""
        return len(self.strips) - self.below - 1


AUTHOR: Final = "author-"


def author_name(author: PeerId) -> str:
    """Return what a `StyleOf` knows an author by."""
    return AUTHOR + author


def estimate(row: Row, shape: Shape, *, whole: bool = False) -> int:
    """Return about how many lines the row fills, without wrapping it."""
    if row.tucked:
        return 0
    text = -(-len(row.text) // shape.text_width) or 1
    most = LINES_MAX if whole or not shape.taste.fold else shape.taste.fold + 1
    header = int(shape.stacked or row.full_name)
    taste = shape.taste
    return (
        _day(row, taste)
        + _space(row, taste)
        + bool(row.aside)
        + bool(row.new)
        + row.gap
        + header
        + min(text, most)
        + bool(row.quote)
        + (offer_of(row) is not None)
        + row.line.reacted_to
        + bool(row.read_by)
    )


def lay_out(row: Row, shape: Shape, style: StyleOf, look: Look = AS_USUAL) -> Laid:
    """Return the lines of a row; the mark of an own message is added when it is painted."""
    if row.tucked:
        return Laid(row, (), 0)
    separators = _separators(row, shape, style)
    laid = _text(row, shape, style, look)
    texts = _with_words(laid, row, shape, style)
    gutter = Segment(" " * shape.gutter)
    lines = [Strip([gutter, *text]) for text in texts]
    pin = [Segment(shape.glyphs.pin, style("new")), Segment(" ")] if row.pinned else []
    if pin:
        lines[0] = Strip([Segment(" " * (shape.gutter - PIN_CELLS)), *pin, *texts[0]])
    when = Segment(f"{shape.taste.time(row.line.created_ns)} ", style("time"))
    quote = _quote(row, shape, style)
    if quote:
        lines.insert(0, Strip([Segment(" " * (shape.gutter - 1)), *quote]))
    if shape.stacked or row.full_name:
        lines.insert(0, _header(row, shape, when, style))
    else:
        nick = clip_cells(row.nick, shape.taste.nick_cells)
        pad = " " * (shape.taste.nick_cells - cell_len(nick))
        room = 1 if quote else 0 if pin else PIN_CELLS
        name = Segment(f"{pad}{nick}{' ' * room}", _name_style(row, style))
        lines[0] = Strip([when, name, *quote] if quote else [when, name, *pin, *texts[0]])
    below = [*_offer(row, shape, style), *_reactions(row, shape, style)]
    below += _read_by(row, shape, style)
    return Laid(
        row,
        (*separators, *lines, *below),
        len(separators),
        len(below),
        tuple(laid.pieces),
        len(separators) + len(lines) - len(texts),
        0 if look.whole else laid.more,
    )


def _quote(row: Row, shape: Shape, style: StyleOf) -> list[Segment]:
    """Return the sign of a reply, in the last cell of the gutter, and what it answers.

    A text begins behind that cell, and a name ends before the one to its left.
    """
    if not row.quote or row.folds:
        return []
    words = clip_cells(row.quote, min(QUOTE_CELLS - SIGN_CELLS, shape.text_width - 1))
    return [Segment(f"{shape.glyphs.reply} ", style("rule")), Segment(words, style("time"))]


def _text(row: Row, shape: Shape, style: StyleOf, look: Look) -> LaidText:
    """Return the lines of the text."""
    line = row.line
    quiet = line.deleted or line.act is not None or line.late is Lateness.FOLDED
    ink = style("loading") if row.dim else style("time") if quiet else PLAIN
    return lay_text(row, shape.text_width, shape.taste, look, ink, style)


def _with_words(laid: LaidText, row: Row, shape: Shape, style: StyleOf) -> list[list[Segment]]:
    """Return the lines of the text, what of it is folded away, and that it was edited, if so."""
    line = row.line
    texts = list(laid.lines)
    if laid.more:
        note = clip_cells(f"… {laid.more:,} more {MORE[laid.more == 1]}", shape.text_width)
        texts.append([Segment(note, style("time"))])
    if line.deleted or row.folds:
        return texts
    words = [EDITED] if line.edited else []
    words += [LATE] if line.late is Lateness.BEYOND else []
    words += [KNOWING] if row.unfolded else []
    for said in words:
        if sum(cell_len(one.text) for one in texts[-1]) + 1 + len(said) <= shape.text_width:
            texts[-1] = [*texts[-1], Segment(f" {said}", style("time"))]
        else:
            texts.append([Segment(said, style("time"))])
    return texts


def _reactions(row: Row, shape: Shape, style: StyleOf) -> list[Strip]:
    if not row.line.reacted_to or row.folds:
        return []
    lines = rows(row.line, shape.glyphs, shape.text_width)
    return [Strip([Segment(" " * shape.gutter + unjoined(line), style("time"))]) for line in lines]


def reaction_at(laid: Laid, line: int, cell: int, shape: Shape) -> str | None:
    """Return the emoji of the reaction at a cell of a row's line; None if none is there."""
    row, number = laid.row, line - laid.mark_at - 1 - (offer_of(laid.row) is not None)
    if number < 0 or cell < shape.gutter or not row.line.reacted_to or row.folds:
        return None
    lines = rows(row.line, shape.glyphs, shape.text_width)
    item = item_at(lines[number], cell - shape.gutter) if number < len(lines) else None
    return None if item is None else reacted_in(item, row.line.reactions, shape.glyphs)


def offer_of(row: Row) -> Offer | None:
    """Return what a line of somebody else invites to; None of most."""
    line = row.line
    if line.own or line.deleted or line.act is not None or row.folds:
        return None
    return offered(line.text)


def _offer(row: Row, shape: Shape, style: StyleOf) -> list[Strip]:
    offer = offer_of(row)
    if offer is None:
        return []
    words = clip_cells(f"{shape.glyphs.cursor} {JOIN} {offer.title}", shape.text_width)
    return [Strip([Segment(" " * shape.gutter), Segment(words, style("new"))])]


def offer_at(laid: Laid, line: int, cell: int, shape: Shape) -> bool:
    """Return whether what a row invites to stands at a cell of one of its lines."""
    offer = offer_of(laid.row)
    if offer is None or line != laid.mark_at + 1:
        return False
    return (
        shape.gutter
        <= cell
        < shape.gutter + cell_len(f"{shape.glyphs.cursor} {JOIN} {offer.title}")
    )


def _read_by(row: Row, shape: Shape, style: StyleOf) -> list[Strip]:
    if not row.read_by:
        return []
    words = clip_cells(row.read_by, shape.text_width)
    return [Strip([Segment(" " * shape.gutter + words, style("time"))])]


def _name_style(row: Row, style: StyleOf) -> Style:
    if row.line.act is not None or row.folds:
        return style("time")
    return style("loading") if row.dim else style(author_name(row.line.author))


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
    if row.aside:
        strips.append(_rule(row.aside, shape, style("gap")))
    if row.new:
        strips.append(_rule(f"{row.new:,} new", shape, style("new")))
    if row.gap:
        strips.append(gap_line(GAP, shape, style))
    return strips


def _day(row: Row, taste: Taste) -> bool:
    """Return whether the date stands above a row."""
    return bool(row.day) and taste.days


def _space(row: Row, taste: Taste) -> bool:
    """Return whether an empty line precedes a row: another author begins, nothing else is there."""
    return taste.cosy and row.begins and not (_day(row, taste) or row.aside or row.new)


def gap_line(sentence: str, shape: Shape, style: StyleOf) -> Strip:
    """Return the line of a gap: what is missing there, and what happens next."""
    sign = f"{shape.glyphs.gap:>{max(1, shape.gutter - 2)}}".ljust(shape.gutter)
    said = sign + fitting(sentence, shape.width - shape.gutter)
    return Strip([Segment(clip_cells(said, shape.width), style("gap"))])


def _rule(title: str, shape: Shape, style: Style) -> Strip:
    rule = clip_cells(f" {title} ", shape.width).center(shape.width, shape.glyphs.rule)
    return Strip([Segment(rule, style)])


def with_mark(strip: Strip, line: Line, word: str, shape: Shape, style: StyleOf) -> Strip:
    """Return `strip` with the line's mark, if it has one, in the column at the right edge.

    The word stands before the mark where the text leaves it room; the mark never moves.
    """
    if line.loading or line.parked or line.pending:
        mark = shape.glyphs.loading if line.loading else shape.glyphs.parked
        marks = style("unsettled" if line.waits else "loading")
    elif line.delivery is not None:
        mark, marks = shape.glyphs.marks[line.delivery], style(MARK_STYLES[line.delivery])
    else:
        return strip
    room = shape.width - TAIL
    if word and strip.cell_length + 2 + len(word) <= room:
        strip = strip.adjust_cell_length(room - len(word) - 1)
        strip = Strip([*strip, Segment(f"{word} ", marks)])
    strip = strip.adjust_cell_length(room, PLAIN).simplify()  # one colour is told once
    return Strip([*strip, Segment(f" {mark} ", marks)])


MARK_STYLES: Final = {
    Delivery.UNACKNOWLEDGED: "unsettled",
    Delivery.POSSIBLY_ACKNOWLEDGED: "unsettled",
    Delivery.ACKNOWLEDGED: "settled",
    Delivery.FAILED: "failed",
}
