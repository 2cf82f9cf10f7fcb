"""Messages on their way without being asked for, as sessions tell that bring a history."""

from typing import Final, Protocol

from sync.sds.message import HistoryEntry


class Coming(Protocol):
    """Tells which of the messages that others name nobody needs to be asked for."""

    def __bool__(self) -> bool:
        """Return whether anything is on its way."""

    def brings(self, entry: HistoryEntry) -> bool:
        """Return whether the message that `entry` names is on its way with a history."""

    def is_asked_for(self, entry: HistoryEntry) -> bool:
        """Return whether it is on its way at all: with a history, or asked for by itself."""


class Nothing:
    """Nothing is on its way."""

    def __bool__(self) -> bool:
        return False

    def brings(self, entry: HistoryEntry) -> bool:
        """See `Coming`."""
        del entry
        return False

    def is_asked_for(self, entry: HistoryEntry) -> bool:
        """See `Coming`."""
        del entry
        return False


NOTHING: Final[Coming] = Nothing()
