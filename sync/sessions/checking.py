"""The check after an exchange, as sessions run it: its stream, its frames and what it comes to."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import assert_never

from sync.check import check
from sync.check.wire import encode_frame
from sync.machine import Nanos, PeerId, Tick
from sync.sessions.fetching import Fetching
from sync.sessions.session import Session
from sync.sessions.table import Table
from sync.sessions.values import CloseSession, Continue, Effect, SendPayload, SessionId
from sync.structures.differences import Differences


class Checking:
    """The checks of a channel's sessions.

    `draw_salt` returns 16 fresh random bytes, `room` how many ids more a session may find.
    """

    def __init__(
        self,
        table: Table,
        fetching: Fetching,
        draw_salt: Callable[[], bytes],
        room: Callable[[Session], int],
    ) -> None:
        self._table = table
        self._fetching = fetching
        self._draw_salt = draw_salt
        self._room = room

    def on_offered(self, number: SessionId, peer: PeerId, now: Nanos) -> list[Effect]:
        """Take part in the check of the session this peer began; it may be a payload early."""
        session = self._table.by_peer.get(peer)
        if session is None or session.initiated or session.settled or session.check_stream:
            return [CloseSession(number)]
        session.check_stream = number
        return self.begin(session, now) if session.exchanged is not None else []

    def begin(self, session: Session, now: Nanos) -> list[Effect]:
        """Begin to prove what both should hold, over a stream that is there.

        After as many slices as it takes until that can be hashed.
        """
        if not session.settle_check():
            return [Continue(session.number)]
        room = partial(self._room, session)
        return self._carry_out(session, session.begin_check(self._draw_salt(), now, room), now)

    def on_frame(self, session: Session, payload: bytes, now: Nanos) -> list[Effect]:
        """Take a frame of a session's check.

        Raises:
            RemoteError: malformed, or not what an honest peer sends now.
        """
        return self._carry_out(session, session.take_frame(payload, now), now)

    def tick(self, session: Session, now: Nanos) -> list[Effect]:
        """The clock reached the deadline of a session's check."""
        assert session.checking is not None
        return self._carry_out(session, session.checking.handle(Tick(), now), now)

    def refused(self, session: Session, reason: str, now: Nanos) -> list[Effect]:
        """The check did not take place."""
        result = check.Result.REFUSED
        session.checked = check.CheckFinished(result, session.since, 0, 0, 0, 0, reason)
        return self._fetching.settle(session, now)

    def _carry_out(
        self, session: Session, results: Sequence[check.Effect], now: Nanos
    ) -> list[Effect]:
        """Carry out what a step of the check came to."""
        assert session.check_stream is not None
        session.moved_at = now
        effects: list[Effect] = []
        for result in results:
            match result:
                case check.SendFrame(frame):
                    effects.append(SendPayload(session.check_stream, encode_frame(frame)))
                case Differences(need, have):
                    effects += self._fetching.differ(session, need, have, now)
                case check.CheckFinished():
                    session.checked = result
                    effects += self._on_checked(session, now)
                case _:
                    assert_never(result)
        return effects

    def _on_checked(self, session: Session, now: Nanos) -> list[Effect]:
        assert session.checked is not None
        assert session.check_stream is not None
        effects = [CloseSession(session.check_stream), *self._fetching.push(session)]
        if session.checked.result is check.Result.EQUAL:
            effects.append(session.proved())
        return effects + self._fetching.settle(session, now)
