"""People who take another name while they are here: the sentence of screen and line mode."""

from collections.abc import Callable

from chat_tui.text.plain_lines import plain_name
from chat_tui.text.safe_text import clean_nick
from sync.machine import PeerId
from sync.view.view import PeerShown, PeerState


class Renames:
    """The names that those go by who are here: as many as have links.

    Of one person `most` are told until they leave, where there is one line for all that happens.
    """

    def __init__(self, most: int | None = None) -> None:
        self._most = most
        self._heard: dict[PeerId, tuple[str, int]] = {}
        """The name of each, and how many they took."""

    def heard(self, event: PeerShown, called: Callable[[PeerId, str], str]) -> str:
        """Return that somebody here took another name; empty if they did not."""
        nick = clean_nick(event.nick)
        before, taken = self._heard.pop(event.peer, (nick, 0))
        if event.state is not PeerState.UP:
            return ""
        taken += before != nick
        self._heard[event.peer] = (nick, taken)
        if before == nick or (self._most is not None and taken > self._most):
            return ""
        return f"{plain_name(before, before)} is called {called(event.peer, nick)} now."
