"""Who is typing in a channel: how often we say it of ourselves, how long we believe it of others.

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

TYPISTS_MAX: Final = 16
"""Who types while these do is not noted: the screen names two, and counts the others."""


@dataclass(slots=True)
class _Typist:
    nick: str
    until: Nanos


class Typists:
    """Of one channel. Every method that changes who is typing returns what has changed."""

    def __init__(self) -> None:
        self._typists: dict[PeerId, _Typist] = {}
        self._told_at: Nanos | None = None

    def __len__(self) -> int:
        return len(self._typists)

    @property
    def nicks(self) -> dict[PeerId, str]:
        """Who is typing, who began first coming first."""
        return {peer: typist.nick for peer, typist in self._typists.items()}

    # --- Our own notices -----------------------------------------------------------------------

    def may_tell(self, now: Nanos) -> bool:
        """Whether it is time for a notice of ours."""
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
        self._typists[peer] = _Typist(nick, now + LASTS)
        if known is not None and known.nick == nick:
            return []
        return [TypingChanged(peer, nick, typing=True)]

    def stopped(self, peer: PeerId) -> list[TypingChanged]:
        """`peer` has sent what it wrote, or is gone."""
        known = self._typists.pop(peer, None)
        return [] if known is None else [TypingChanged(peer, known.nick, typing=False)]

    def expire(self, now: Nanos) -> list[TypingChanged]:
        """Forget those not heard of for too long."""
        over = [peer for peer, typist in self._typists.items() if typist.until <= now]
        return [change for peer in over for change in self.stopped(peer)]

    def deadline(self) -> Nanos | None:
        """When `expire` next has something to do."""
        return min((typist.until for typist in self._typists.values()), default=None)
