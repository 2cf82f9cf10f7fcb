"""Presence of people in line mode: who comes, goes, is away, or takes another name."""

from collections.abc import Callable

from chat_tui.text.safe_text import clean_text
from chat_tui.wording import presence
from chat_tui.wording.renames import Renames
from sync.machine import PeerId
from sync.view.view import PeerShown, PeerState, Snapshot


class PresenceLines:
    """Sentences about somebody, of what was heard of them before."""

    def __init__(self) -> None:
        self._renames = Renames()

    def said(
        self, snapshot: Snapshot, event: PeerShown, called: Callable[[PeerId, str], str]
    ) -> str:
        """Return a sentence about somebody: another name, or else whether they are here."""
        renamed = self._renames.heard(event, called)
        return renamed or f"{called(event.peer, event.nick)} {_here(snapshot, event)}."


def _here(snapshot: Snapshot, event: PeerShown) -> str:
    """Return whether somebody is here, in words."""
    if event.away:
        return f"is away: {' '.join(clean_text(event.away).split())}"
    if event.state is PeerState.UP:
        return "is here"
    peer = next((one for one in snapshot.peers if one.peer == event.peer), None)
    return "is gone" if peer is None else f"is {presence.gone_since(snapshot, peer)}"
