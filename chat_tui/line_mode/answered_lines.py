"""The last lines that line mode knows of, so that most replies need no look at the disk."""

from collections.abc import Mapping, Sequence
from typing import Final

from sync.machine import ChannelId, MessageId
from sync.view.view import Line, Unshown

KEPT: Final = 1_000
"""Lines remembered; most replies answer one of the last hundred."""


class AnsweredLines:
    """See the module docstring."""

    def __init__(self) -> None:
        self._lines: dict[MessageId, Line | Unshown | None] = {}

    def note(self, line: Line) -> None:
        """Remember a line as it is now."""
        if not line.loading:
            self.learn({line.message_id: line})

    def learn(self, answered: Mapping[MessageId, Line | Unshown | None]) -> None:
        """Remember messages that were read; None of one that could not be."""
        for message_id, line in answered.items():
            self._lines.pop(message_id, None)
            self._lines[message_id] = line
        while len(self._lines) > KEPT:
            del self._lines[next(iter(self._lines))]

    def get(self, message_id: MessageId) -> Line | Unshown | None:
        """Return what is known of a message; None if nothing is."""
        return self._lines.get(message_id)

    def unread(self, lines: Sequence[Line]) -> dict[ChannelId, list[MessageId]]:
        """Return by channel what these lines answer and nothing is known of."""
        coming = {line.message_id for line in lines}
        wanted: dict[ChannelId, list[MessageId]] = {}
        for line in lines:
            answered = line.reply_to
            if answered is not None and answered not in self._lines and answered not in coming:
                wanted.setdefault(line.channel, []).append(answered)
        return wanted
