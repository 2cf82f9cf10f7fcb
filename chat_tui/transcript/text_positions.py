"""Positions of a message's characters in the lines it was laid out in."""

from collections.abc import Sequence

from rich.cells import cell_len

from chat_tui.text.links import link_spans
from chat_tui.text.word_match import Span
from chat_tui.transcript.highlights import index_at
from chat_tui.transcript.row_layout import Laid, Shape
from chat_tui.transcript.text_layout import Piece, is_written


def piece_at(laid: Laid, line: int) -> Piece | None:
    """Return what of the text stands in a row's line; None if that is another line."""
    number = line - laid.first
    return laid.pieces[number] if 0 <= number < len(laid.pieces) else None


def cells_in(piece: Piece, found: Sequence[Span], laid: Laid, shape: Shape) -> list[Span]:
    """Return the cells of a line in which some of the characters found stand."""
    text = laid.row.text
    left = shape.gutter + piece.hang
    here = [
        (max(piece.start, start), min(piece.end, end))
        for start, end in found
        if start < piece.end and end > piece.start
    ]
    return [
        (left + cell_len(text[piece.start : start]), left + cell_len(text[piece.start : end]))
        for start, end in here
    ]


def character_at(piece: Piece, cell: int, laid: Laid, shape: Shape) -> int:
    """Return the character at a cell of a line, the one after its last beyond its end."""
    within = index_at(laid.row.text[piece.start : piece.end], cell - shape.gutter - piece.hang)
    return piece.start + within


def link_at(laid: Laid, line: int, cell: int, shape: Shape) -> str | None:
    """Return the whole link of which a part stands at a cell of a row's line; None if none does."""
    piece = piece_at(laid, line)
    if piece is None or cell < shape.gutter + piece.hang or not is_written(laid.row):
        return None
    at = character_at(piece, cell, laid, shape)
    text = laid.row.text
    here = (text[start:end] for start, end in link_spans(text) if start <= at < end)
    return next(here, None) if at < piece.end else None
