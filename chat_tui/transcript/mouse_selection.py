"""Text that is picked with the mouse, over one message or several."""

from collections.abc import Sequence
from typing import TypeAlias

from chat_tui.model.row import Row
from chat_tui.text.times import time_of_day
from chat_tui.text.word_match import Span
from sync.view.view import Position

Spot: TypeAlias = tuple[Position, int]
"""A place in the conversation: a message, and a character of its text."""


class Picked:
    """From where the button went down to where the mouse is."""

    def __init__(self) -> None:
        self._pressed: Spot | None = None
        self._ends: tuple[Spot, Spot] | None = None

    def __bool__(self) -> bool:
        return self._ends is not None

    @property
    def begun(self) -> bool:
        """True from when the button goes down on text until it is up."""
        return self._pressed is not None

    def press(self, spot: Spot | None) -> None:
        """Begin where the button went down; None if that is no text, or it is up."""
        self._pressed = spot

    def drag(self, spot: Spot | None) -> bool:
        """Go on to where the mouse is; returns whether anything is picked by that."""
        if self._pressed is None or spot is None or (spot == self._pressed and not self):
            return False
        self._ends = (min(self._pressed, spot), max(self._pressed, spot))
        return True

    def forget(self) -> bool:
        """Pick nothing; returns whether anything was."""
        was, self._ends = self._ends, None
        return was is not None

    def of(self, row: Row) -> Sequence[Span]:
        """Return what of a row is picked."""
        if self._ends is None or row.tucked:
            return []
        (start, first), (end, last) = self._ends
        if not start <= row.line.position <= end:
            return []
        since = first if row.line.position == start else 0
        until = last if row.line.position == end else len(row.text)
        return [(since, until)]

    def text(self, rows: Sequence[Row]) -> str:
        """Return what is picked of some rows; of several, with who said each, and when."""
        spans = [(row, span) for row in rows for span in self.of(row)]
        if len(spans) == 1:
            row, (since, until) = spans[0]
            return row.text[since:until]
        said: list[str] = []
        for row, (since, until) in spans:
            who = "" if since else f"{time_of_day(row.line.created_ns)} {row.nick}: "
            said.append(who + row.text[since:until])
        return "\n".join(said)
