"""The table of a channel's sessions: what runs where, what is over, and what gives way."""

from collections import deque
from collections.abc import Iterator
from typing import Final

from sync.machine import SECOND, Nanos, PeerId
from sync.sessions.grace import Grace
from sync.sessions.session import Session
from sync.sessions.values import Mode, SessionId, SessionKey

SHOWN_MAX: Final = 20
"""Sessions that are over and still shown: some 5 kB each."""

COMPARED_MAX: Final = 64
"""Sessions that wait for a check, or for what they found missing. Their first streams are closed,
so nothing else bounds them; more people than that do not bring something at once."""

LIVE_MAX: Final = 8
"""Live sessions of a channel: each holds a stream for as long as it goes on."""

LIVE_FOR_OTHERS_MAX: Final = 6
"""Of these, those that only the peers need: the ones through whom we hear others have a place
left, or two bridges full of neighbours would pass nothing on to each other."""

LIVE_OF_NODE_MAX: Final = 32
"""Live sessions of all channels together."""

IDLE_AFTER: Nanos = SECOND
"""Time in which a session that still compares may find out nothing, where room is needed: an answer
takes less."""


class Table:
    """See the module docstring."""

    def __init__(self) -> None:
        self.running: dict[SessionKey, Session] = {}
        self.shown: deque[Session] = deque(maxlen=SHOWN_MAX)
        """Those that are over, newest last."""
        self.late = Grace()
        """Those that are over and may still receive what they lacked."""

    def numbered(self, number: SessionId) -> Session | None:
        """Return the running session that a stream is of."""
        return next(
            (one for one in self.running.values() if number in (one.stream, one.check_stream)), None
        )

    @property
    def by_peer(self) -> dict[PeerId, Session]:
        """The sessions that find and bring the messages that we lack, by peer."""
        return {one.peer: one for one in self.running.values() if one.fetches}

    def of(self, peer: PeerId) -> list[Session]:
        """Return all running sessions with `peer`."""
        return [one for one in self.running.values() if one.peer == peer]

    @property
    def live(self) -> list[Session]:
        """The live sessions."""
        return [one for one in self.running.values() if one.live]

    def has_place_live(self, session: Session) -> bool:
        """Return whether a session may go live: there is a place, and none with that peer."""
        if session.key._replace(mode=Mode.LIVE) in self.running:
            return False
        live = self.live
        for_others = sum(not one.needed for one in live)
        return len(live) < LIVE_MAX and (session.needed or for_others < LIVE_FOR_OTHERS_MAX)

    @property
    def claimed(self) -> list[int]:
        """Bytes that each session takes for what its peer claims, those just over too."""
        return [*(one.claimed for one in self.running.values()), *self.late.claimed]

    def crowd(self) -> int:
        """Return how many sessions too many wait for a check, or for what they found missing."""
        return sum(_waits(one) for one in self.running.values()) - COMPARED_MAX

    def giving_way(self, now: Nanos) -> Iterator[Session]:
        """Yield sessions that may give way, first who found or brought nothing for longest."""
        idle = [
            one
            for one in self.running.values()
            if _waits(one) or (not one.live and now - one.moved_at >= IDLE_AFTER)
        ]
        yield from sorted(idle, key=lambda one: one.moved_at)


def _waits(session: Session) -> bool:
    return session.exchanged is not None and not session.live
