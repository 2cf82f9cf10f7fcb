"""The last lines that line mode knows of, so that most replies need no look at the disk."""

from collections.abc import Mapping, Sequence
from typing import Final

from sync.machine import ChannelId, MessageId
from sync.view.view import Line, Unshown

KEPT: Final = 1_000
"""Lines remembered; most replies answer one of the last hundred."""


AWAITED_MAX: Final = 100
"""Messages not shown yet of which we remember the first answer that was printed."""


class AnsweredLines:
    """See the module docstring."""

    def __init__(self) -> None:
        self._lines: dict[MessageId, Line | Unshown | None] = {}
        self._awaited: dict[MessageId, Line] = {}

    def note(self, line: Line) -> None:
        """Remember a line as it is now."""
        self.learn({line.message_id: line})

    def learn(self, answered: Mapping[MessageId, Line | Unshown | None]) -> None:
        """Remember messages that were read; None of one that could not be."""
        for message_id, line in answered.items():
            self._lines.pop(message_id, None)
            self._lines[message_id] = line
        while len(self._lines) > KEPT:
            del self._lines[next(iter(self._lines))]

    def told(self, reply: Line) -> Line | Unshown | None:
        """Return what is known of what a reply answers, which is told now.

        What is not shown is awaited: `came` says of it which reply it was.
        """
        assert reply.reply_to is not None
        answered = self._lines.get(reply.reply_to)
        if not isinstance(answered, Line):
            self._awaited.setdefault(reply.reply_to, reply)
            if len(self._awaited) > AWAITED_MAX:
                del self._awaited[next(iter(self._awaited))]
        return answered

    def came(self, line: Line) -> Line | None:
        """Return the first reply that was told before the line that it answers, once."""
        return self._awaited.pop(line.message_id, None)

    def unread(self, lines: Sequence[Line]) -> dict[ChannelId, list[MessageId]]:
        """Return by channel what these lines answer and nothing is known of."""
        coming = {line.message_id for line in lines}
        wanted: dict[ChannelId, list[MessageId]] = {}
        for line in lines:
            answered = line.reply_to
            if answered is not None and answered not in self._lines and answered not in coming:
                wanted.setdefault(line.channel, []).append(answered)
        return wanted
