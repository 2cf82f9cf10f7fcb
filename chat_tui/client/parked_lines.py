"""Lines that are set aside until their time, and which few of them have a row.

Rule: whoever writes how many, a few rows is all they take: what is written now has to stay in sight
above those, at the end of the conversation.
"""

from collections.abc import Iterable
from itertools import islice, zip_longest
from typing import Final

from sync.machine import MessageId, PeerId
from sync.view.view import Line, Position

ROWS: Final = 8
"""Of those set aside, in a conversation: half of what a small window shows. `/clock` has all."""

READ_MAX: Final = 1_000
"""Lines read from the disk: more than the engine keeps of any few people."""


class ParkedLines:
    """The lines of one conversation that wait for their time, whether or not they have a row."""

    def __init__(self) -> None:
        self._lines: dict[MessageId, Line] = {}
        self._unseen: dict[MessageId, Position] = {}

    def __len__(self) -> int:
        return len(self._lines)

    def __contains__(self, message_id: MessageId) -> bool:
        return message_id in self._lines

    @property
    def unseen(self) -> int:
        """Lines of others that came while nobody looked."""
        return len(self._unseen)

    @property
    def first_unseen(self) -> Position | None:
        """Position of the first line of others that came while nobody looked; None without one."""
        return min(self._unseen.values(), default=None)

    def take_replaced(self, anew: Line) -> bool:
        """Forget the line that `anew` was written for, as the disk does; whether it was here."""
        old = None if anew.replaces is None else self._lines.get(anew.replaces)
        if old is None or old.author != anew.author or old.lamport <= anew.lamport:
            return False
        self.take_line(old.message_id)
        return True

    def put(self, lines: Iterable[Line], *, seen: bool) -> None:
        """Take in lines that are set aside, or more that is known of them."""
        for line in lines:
            if not (seen or line.own or line.message_id in self._lines):
                self._unseen[line.message_id] = line.position
            self._lines[line.message_id] = line

    def take_line(self, message_id: MessageId) -> bool:
        """Let go of a line; returns whether somebody has seen it here."""
        is_here = self._lines.pop(message_id, None) is not None
        return self._unseen.pop(message_id, None) is None and is_here

    def look(self) -> None:
        """Note that somebody sees the newest messages."""
        self._unseen.clear()

    def forget(self) -> None:
        """Let go of all of them: the disk has them."""
        self._lines.clear()
        self._unseen.clear()

    def chosen(self) -> list[Line]:
        """Return those that have a row: the last of each author by turns, own ones first."""
        of_author: dict[PeerId, list[Line]] = {}
        for line in sorted(self._lines.values(), key=lambda line: line.position, reverse=True):
            of_author.setdefault(line.author, []).append(line)
        authors = sorted(of_author.values(), key=lambda lines: not lines[0].own)
        turns = (line for turn in zip_longest(*authors) for line in turn if line is not None)
        return list(islice(turns, ROWS))
