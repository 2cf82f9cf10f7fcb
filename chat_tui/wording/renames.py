"""People who take another name while they are here: the sentence of screen and line mode."""

from collections.abc import Callable
from typing import Final

from chat_tui.text.plain_lines import plain_name
from chat_tui.text.safe_text import clean_nick
from sync.machine import PeerId
from sync.view.view import PeerShown, PeerState

COUNTED_MAX: Final = 1_024
"""People whose changes of name are counted: some times as many as have links."""


class Renames:
    """The names that those go by who are here: as many as have links.

    Of one person `most` are told, where there is one line for all that happens, also if they leave
    and come again.
    """

    def __init__(self, most: int | None = None) -> None:
        self._most = most
        self._nicks: dict[PeerId, str] = {}
        self._taken: dict[PeerId, int] = {}
        """Number of names that each took, of those who took one last."""

    def heard(self, event: PeerShown, called: Callable[[PeerId, str], str]) -> str:
        """Return that somebody here took another name; empty if they did not."""
        nick = clean_nick(event.nick)
        before = self._nicks.pop(event.peer, nick)
        if event.state is not PeerState.UP:
            return ""
        self._nicks[event.peer] = nick
        if before == nick:
            return ""
        taken = self._taken[event.peer] = self._taken.pop(event.peer, 0) + 1
        if len(self._taken) > COUNTED_MAX:
            del self._taken[next(iter(self._taken))]
        if self._most is not None and taken > self._most:
            return ""
        return f"{plain_name(before, before)} is called {called(event.peer, nick)} now."
