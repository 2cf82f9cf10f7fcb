"""Presence of people in line mode: who comes, goes, is away, or takes another name."""

from collections.abc import Callable

from chat_tui.text.plain_lines import plain_name
from chat_tui.text.safe_text import clean_nick, clean_text
from chat_tui.wording import presence
from sync.machine import PeerId
from sync.view.view import PeerShown, PeerState, Snapshot


class PresenceLines:
    """The names that those go by who are here: as many as have links."""

    def __init__(self) -> None:
        self._nicks: dict[PeerId, str] = {}

    def said(
        self, snapshot: Snapshot, event: PeerShown, called: Callable[[PeerId, str], str]
    ) -> str:
        """Return a sentence about somebody: another name, or else whether they are here."""
        nick = clean_nick(event.nick)
        before = self._nicks.pop(event.peer, nick)
        if event.state is PeerState.UP:
            self._nicks[event.peer] = nick
            if before != nick:
                return f"{plain_name(before, before)} is called {called(event.peer, nick)} now."
        return f"{called(event.peer, event.nick)} {_here(snapshot, event)}."


def _here(snapshot: Snapshot, event: PeerShown) -> str:
    """Return whether somebody is here, in words."""
    if event.away:
        return f"is away: {' '.join(clean_text(event.away).split())}"
    if event.state is PeerState.UP:
        return "is here"
    peer = next((one for one in snapshot.peers if one.peer == event.peer), None)
    return "is gone" if peer is None else f"is {presence.gone_since(snapshot, peer)}"
