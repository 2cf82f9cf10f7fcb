"""The messages that rows answer: which there are, what is known of them, what is to be read.

Rule: only what a row in memory answers is remembered, so there are no more of them than rows.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from chat_tui.wording.acts import Called
from chat_tui.wording.replies import quote
from sync.machine import MessageId
from sync.view.view import Line, Unshown

NO_ROWS: Final[frozenset[MessageId]] = frozenset()


class Quotes:
    """See the module docstring."""

    def __init__(self) -> None:
        self._replies: dict[MessageId, set[MessageId]] = {}
        self._known: dict[MessageId, Line | Unshown] = {}
        self._wanted: dict[MessageId, None] = {}

    @property
    def wanted(self) -> list[MessageId]:
        """Messages that are answered and were not read yet."""
        return list(self._wanted)

    def add(self, line: Line, answered: Line | None) -> None:
        """Take note of a row; `answered` is what it answers, if that has a row."""
        if line.reply_to is None:
            return
        self._replies.setdefault(line.reply_to, set()).add(line.message_id)
        if answered is not None:
            self._know(line.reply_to, answered)
        elif line.reply_to not in self._known:
            self._wanted[line.reply_to] = None

    def remove(self, line: Line) -> None:
        """Take note that a row is gone."""
        rows = self._replies.get(line.reply_to) if line.reply_to is not None else None
        if rows is None or line.reply_to is None:
            return
        rows.discard(line.message_id)
        if not rows:
            del self._replies[line.reply_to]
            self._known.pop(line.reply_to, None)
            self._wanted.pop(line.reply_to, None)

    def learn(self, message_id: MessageId, answered: Line | Unshown) -> Iterable[MessageId]:
        """Take note of a message as it is now; returns the rows that answer it."""
        if message_id not in self._replies or self._known.get(message_id) == answered:
            return NO_ROWS
        self._know(message_id, answered)
        return sorted(self._replies[message_id])

    def learn_all(
        self, found: Mapping[MessageId, Line | Unshown], wanted: Iterable[MessageId]
    ) -> Iterable[MessageId]:
        """Take note of messages that were read, but of what came meanwhile; returns the rows.

        Nothing of those `wanted` is wanted any more.
        """
        read = [(one, answered) for one, answered in found.items() if one in self._wanted]
        rows = [row for one, answered in read for row in self.learn(one, answered)]
        for one in wanted:
            self._wanted.pop(one, None)
        return rows

    def doubt(self, message_id: MessageId) -> None:
        """Have a message read again: it is no longer as it was."""
        if message_id in self._replies:
            self._wanted[message_id] = None

    def doubt_all(self) -> None:
        """Have all of them read again."""
        self._wanted |= dict.fromkeys(self._replies)

    def said_of(self, line: Line, called: Called) -> str:
        """Return what stands above a row; nothing above what answers nothing, or is deleted."""
        if line.reply_to is None or line.deleted:
            return ""
        return quote(self._known.get(line.reply_to), called)

    def _know(self, message_id: MessageId, answered: Line | Unshown) -> None:
        self._known[message_id] = answered
        self._wanted.pop(message_id, None)
