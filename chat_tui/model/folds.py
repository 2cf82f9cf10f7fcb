"""Runs of lines that are folded away: one row stands for the run, the others fill no line.

A run is of one author, one line below the other, with nothing between: no day, no gap.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from chat_tui.model.row import Row
from sync.machine import MessageId
from sync.view.governance_infos import Lateness
from sync.view.view import Line

Breaks: TypeAlias = Callable[[int], bool]
"""Whether something stands above the row of an index, which is not the first."""


def is_folded(line: Line) -> bool:
    """Return whether a line is folded away, unless somebody opens it."""
    return line.late is Lateness.FOLDED and not line.deleted


class Folds:
    """Runs in `rows`, a list that others change."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.opened: set[MessageId] = set()
        """Lines that somebody wanted to see; none but of rows that are there."""
        self._rows = rows

    def of(self, index: int, breaks: Breaks) -> tuple[int, bool]:
        """Return how many lines a row stands for, and whether another one stands for it."""
        if not self._is_closed(index):
            return 0, False
        if self._goes_on(index, breaks):
            return 0, True
        return len(list(self._run(index, breaks))), False

    def head(self, index: int, breaks: Breaks) -> int | None:
        """Return the row that stands for the run of one; None if that is in no run."""
        if not self._is_closed(index):
            return None
        while self._goes_on(index, breaks):
            index -= 1
        return index

    def open(self, index: int, breaks: Breaks) -> list[int]:
        """Open the run of a row; returns its rows."""
        head = self.head(index, breaks)
        run = [] if head is None else list(self._run(head, breaks))
        self.opened.update(self._rows[at].line.message_id for at in run)
        return run

    def _run(self, head: int, breaks: Breaks) -> Iterator[int]:
        yield head
        index = head + 1
        while index < len(self._rows) and self._goes_on(index, breaks):
            yield index
            index += 1

    def _goes_on(self, index: int, breaks: Breaks) -> bool:
        if not (self._is_closed(index) and self._is_closed(index - 1)):
            return False
        same = self._rows[index].line.author == self._rows[index - 1].line.author
        return same and not breaks(index)

    def _is_closed(self, index: int) -> bool:
        if not 0 <= index < len(self._rows):
            return False
        line = self._rows[index].line
        return is_folded(line) and line.message_id not in self.opened
