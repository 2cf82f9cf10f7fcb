"""A session that never is live: it ends with what it compares, and passes on nothing new."""

from collections.abc import Sequence

from sync.machine import Nanos
from sync.sessions.protocol import Effect
from sync.sessions.values import Stored


class NeverLive:
    """The inputs of live mode, for an exchange (`sync.sessions.protocol`) without one."""

    def stored(self, one: Stored, now: Nanos, *, known: bool) -> Sequence[Effect]:
        """Pass on nothing: the next session compares what came meanwhile."""
        del one, now, known
        return []

    def leave(self, now: Nanos) -> Sequence[Effect]:
        """End no live mode: there is none."""
        del now
        return []
