"""Typing notices of a channel: how often we send ours, and how long those of others hold.

Typing notices are what we use ephemeral messages for (SDS, "Ephemeral Messages"): one that is lost
is made good by the next, and all that is kept of them is forgotten within seconds.
"""

from dataclasses import dataclass
from typing import Final

from sync.group.values import TypingChanged
from sync.machine import SECOND, Nanos, PeerId

TELL_EVERY: Final[Nanos] = 4 * SECOND
"""Between two notices of ours: often enough that one in time follows on the last."""

LASTS: Final[Nanos] = 6 * SECOND
"""Half as long again as `TELL_EVERY`, so that a notice may be late without a flicker."""

TOLD_EVERY: Final[Nanos] = SECOND
"""Between two events that say that a peer is typing, or by which name: who changes it all the time
is shown with the last of it."""

RESTING_MAX: Final = 256
"""Peers remembered who were told of within that time; more than there are links."""

TYPISTS_MAX: Final = 16
"""Typists beyond these are not noted: the screen names two, and counts the others."""


@dataclass(slots=True)
class _Typist:
    nick: str
    until: Nanos
    told: str | None = None
    """By which name we told of it; None if not yet."""


class Typists:
    """Of one channel. Every method that changes who is typing returns what has changed."""

    def __init__(self) -> None:
        self._typists: dict[PeerId, _Typist] = {}
        self._resting: dict[PeerId, Nanos] = {}
        """Typists told of just now, and until when nothing more is."""
        self._told_at: Nanos | None = None

    def __len__(self) -> int:
        return len(self._typists)

    @property
    def nicks(self) -> dict[PeerId, str]:
        """Nicks of the peers that are typing, in the order in which they began."""
        return {
            peer: typist.told for peer, typist in self._typists.items() if typist.told is not None
        }

    # --- Our own notices -----------------------------------------------------------------------

    def may_tell(self, now: Nanos) -> bool:
        """Return whether it is time for a notice of ours."""
        return self._told_at is None or now - self._told_at >= TELL_EVERY

    def told(self, now: Nanos) -> None:
        """A notice of ours goes out now."""
        self._told_at = now

    # --- Those of others -----------------------------------------------------------------------

    def heard(self, peer: PeerId, nick: str, now: Nanos) -> list[TypingChanged]:
        """`peer`, who goes by `nick`, says that it is typing."""
        known = self._typists.get(peer)
        if known is None and len(self._typists) >= TYPISTS_MAX:
            return []
        told = None if known is None else known.told
        self._typists[peer] = _Typist(nick, now + LASTS, told)
        return self._tell(peer, now)

    def _tell(self, peer: PeerId, now: Nanos) -> list[TypingChanged]:
        """Tell what is new of a typist, unless something was told just now."""
        typist = self._typists[peer]
        if typist.told == typist.nick or now < self._resting.get(peer, now):
            return []
        typist.told = typist.nick
        self._resting.pop(peer, None)
        self._resting[peer] = now + TOLD_EVERY
        if len(self._resting) > RESTING_MAX:
            del self._resting[next(iter(self._resting))]
        return [TypingChanged(peer, typist.nick, typing=True)]

    def stopped(self, peer: PeerId) -> list[TypingChanged]:
        """`peer` has sent what it wrote, or is gone."""
        known = self._typists.pop(peer, None)
        if known is None or known.told is None:
            return []
        return [TypingChanged(peer, known.told, typing=False)]

    def expire(self, now: Nanos) -> list[TypingChanged]:
        """Forget those not heard of for too long, and tell what could not be told before."""
        self._resting = {peer: until for peer, until in self._resting.items() if until > now}
        over = [peer for peer, typist in self._typists.items() if typist.until <= now]
        changes = [change for peer in over for change in self.stopped(peer)]
        return changes + [change for peer in self._typists for change in self._tell(peer, now)]

    def deadline(self) -> Nanos | None:
        """Return when `expire` next has something to do."""
        if not self._typists:
            return None  # nearly always
        times = [typist.until for typist in self._typists.values()]
        times += [
            self._resting[peer]
            for peer, typist in self._typists.items()
            if typist.told != typist.nick and peer in self._resting
        ]
        return min(times, default=None)
