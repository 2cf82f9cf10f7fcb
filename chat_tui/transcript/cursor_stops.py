"""Cursor stops in a conversation: every message that has a line, and every line of a gap."""

from collections.abc import Sequence
from typing import TypeAlias

from chat_tui.model.row import Row
from chat_tui.transcript.painted_line import Part

Stop: TypeAlias = tuple[int, Part]
"""A row, and what of it."""


def above(rows: Sequence[Row], at: Stop) -> Stop:
    """Return the stop above; the first one has none."""
    index, part = at
    if part is Part.TAIL:
        return _head(rows, len(rows) - 1), Part.TEXT
    if part is Part.TEXT and rows[index].gap:
        return index, Part.GAP
    return (_head(rows, index - 1), Part.TEXT) if index else at


def below(rows: Sequence[Row], at: Stop, *, has_tail: bool) -> Stop:
    """Return the stop below; the last one has none, which is the tail if there is one."""
    index, part = at
    if part is Part.GAP:
        return index, Part.TEXT
    under = next((at for at in range(index + 1, len(rows)) if not rows[at].tucked), None)
    if part is Part.TAIL or under is None:
        return _head(rows, len(rows) - 1), Part.TAIL if has_tail else Part.TEXT
    return under, Part.GAP if rows[under].gap else Part.TEXT


def _head(rows: Sequence[Row], index: int) -> int:
    """Return a row, or the one above that stands for it; the first row stands for itself."""
    while rows[index].tucked:
        index -= 1
    return index


def is_there(rows: Sequence[Row], index: int | None, part: Part, *, has_tail: bool) -> bool:
    """Return whether a stop still exists; `index` is None where the message is out of memory."""
    if part is Part.TAIL:
        return has_tail
    return part is Part.TEXT or (index is not None and rows[index].gap)
