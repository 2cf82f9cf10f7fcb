"""Finished sessions that may still receive missing messages for 10 s."""

from typing import Final

from sync.machine import SECOND, Nanos, PeerId
from sync.sessions.receiving import Transfer
from sync.sessions.session import Session

GRACE: Final[Nanos] = 10 * SECOND
"""Time after the end of a session in which what it lacked may still come."""

LATE_MAX: Final = 64
"""Sessions that are over and may still receive; beyond it the oldest gets nothing more."""


class Grace:
    """The last session of each peer, while it may still receive."""

    def __init__(self) -> None:
        self.sessions: dict[PeerId, tuple[Session, Nanos]] = {}

    def begin(self, session: Session, now: Nanos) -> None:
        """A session is over: it stays while it lacks something, instead of the one before it."""
        if session.transfer.lacking:
            self.forget(now, session.peer)
            self.sessions[session.peer] = (session, now + session.patience.grown(GRACE))
            if len(self.sessions) > LATE_MAX:
                self.forget(now, next(iter(self.sessions)))
        else:
            self.let_go(session, now)

    def let_go(self, session: Session, now: Nanos) -> None:
        """A session is over, and gets nothing more."""
        self.forget(now, session.peer)
        session.transfer = Transfer()

    def of(self, peer: PeerId, now: Nanos) -> Session | None:
        """Return the session of `peer` that may still receive."""
        session, until = self.sessions.get(peer, (None, 0))
        return session if now <= until else None

    @property
    def claimed(self) -> list[int]:
        """Bytes that each of them takes."""
        return [session.claimed for session, _ in self.sessions.values()]

    def deadline(self) -> Nanos | None:
        """Return when `forget` next has a session to let go of."""
        return min((until + 1 for _, until in self.sessions.values()), default=None)

    def forget(self, now: Nanos, peer: PeerId | None = None) -> None:
        """Let go of ids, perhaps half a million, that sessions of `peer` or of old still lack."""
        for each, (session, until) in list(self.sessions.items()):
            if each == peer or until < now:
                del self.sessions[each]
                session.transfer = Transfer()
