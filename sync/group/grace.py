"""Sessions that are over, and may still get for a little while what they lacked."""

from typing import Final

from sync.group.session import Session
from sync.machine import SECOND, Nanos, PeerId
from sync.waku.transfer import Transfer

GRACE: Final[Nanos] = 10 * SECOND
"""How long after the end of a session what it lacked may still come."""


class Grace:
    """The last session of each peer, while it may still receive."""

    def __init__(self) -> None:
        self._late: dict[PeerId, tuple[Session, Nanos]] = {}

    def begin(self, session: Session, now: Nanos) -> None:
        """A session is over: it stays while it lacks something, instead of the one before it."""
        self.forget(now, session.peer)
        if session.transfer.lacking:
            self._late[session.peer] = (session, now + GRACE)
        else:
            session.transfer = Transfer()

    def of(self, peer: PeerId, now: Nanos) -> Session | None:
        """Return the session of `peer` that may still receive."""
        session, until = self._late.get(peer, (None, 0))
        return session if now <= until else None

    def forget(self, now: Nanos, peer: PeerId | None = None) -> None:
        """Let go of ids, perhaps half a million, that sessions of `peer` or of old still lack."""
        for each, (session, until) in list(self._late.items()):
            if each == peer or until < now:
                del self._late[each]
                session.transfer = Transfer()
