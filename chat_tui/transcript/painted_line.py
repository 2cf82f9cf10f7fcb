"""One line of the screen, as it was painted: what is compared to paint only what differs."""

from enum import Enum

from msgspec import Struct

from chat_tui.transcript.row_layout import Laid


class Part(Enum):
    """Part of a row that a reader can stand on."""

    TEXT = "text"
    GAP = "gap"
    """The line above it that stands for messages that are missing."""
    TAIL = "tail"
    """The line after the last row, where messages wait for such."""


class Painted(Struct, frozen=True):
    """One line of the screen: a line of a row, and the word at its mark.

    `word` is the sentence where the line is a gap's; a line after the row's last is the tail.
    """

    laid: Laid
    line: int
    word: str
    selected: bool = False
    ticked: bool = True
    """Whether a mark stands there, if the message has one."""

    @property
    def part(self) -> Part:
        """Part of the row this line belongs to; a gap's line stands right above the message."""
        if self.line >= len(self.laid.strips):
            return Part.TAIL
        is_gap = self.laid.row.gap and self.line == self.laid.text_at - 1
        return Part.GAP if is_gap else Part.TEXT
