"""Positions of a message's characters in the lines it was laid out in."""

from dataclasses import dataclass

from chat_tui.transcript.highlights import starts_of
from chat_tui.transcript.row_layout import Laid, Shape


@dataclass(frozen=True, slots=True)
class Texts:
    """The lines a row's text fills, and where they begin in it."""

    starts: tuple[int, ...]
    lines: tuple[str, ...]
    first: int
    """The first of them among the row's strips."""


def texts_of(laid: Laid, shape: Shape) -> Texts:
    """Return the lines of a row's text, without what stands at their left."""
    first = first_line(laid, shape)
    lines = [strip.crop(shape.gutter).text for strip in laid.strips[first:]]
    return Texts(tuple(starts_of(lines, laid.row.text)), tuple(lines), first)


def first_line(laid: Laid, shape: Shape) -> int:
    """Return which of a row's lines is the first of its text."""
    quoted = bool(laid.row.quote and not laid.row.folds)
    return laid.text_at + (shape.stacked or laid.row.full_name) + quoted
