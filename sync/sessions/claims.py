"""The memory that sessions take for what peers claim: one budget for all of a node.

A peer claims for nothing: that it holds what nobody has, or that it holds nothing. Each id claimed
is kept until its session is over. It counts as 100 bytes: in the tables of a session and of its
channel it takes 76.

Rules:
1. A session may take most of what the others leave, so that a few cannot take everything, and a
   little in any case (`CLAIMS_LEAST`), so that nobody can be kept from all progress.
2. A session that reaches its share ends as far as it got, never as converged; what it found so far
   is transferred, and the next one goes on.
3. Where more is taken than there is, sessions give way that have brought nothing for longest.
"""

from collections.abc import Callable, Iterable
from typing import Final, Protocol

FOUND_AT_ONCE: Final = 16_384
"""Ids that one payload of a protocol may show to be missing (`sync.waku.division.ITEMS_MAX`)."""

CLAIM_BYTES: Final = 100
"""Of one id that a session found, as long as it goes on."""

CLAIMS_BYTES_MAX: Final = 48 * 1024 * 1024
"""All sessions of a node together."""

SHARE: Final = (3, 4)
"""Part of what the others leave that a session may take: 377,000 ids for the first one."""

CLAIMS_LEAST: Final = FOUND_AT_ONCE * CLAIM_BYTES
"""Bytes a session may take however much others have, 1.6 MB: with less it would not get beyond its
first payload. So few sessions may go on (`SESSIONS_MAX`, `ANSWERED_MAX`), and others give way."""


class Claimed(Protocol):
    """The sessions of a channel."""

    @property
    def claimed(self) -> list[int]:
        """Bytes that each of them takes."""

    @property
    def live(self) -> int:
        """Number of those that are live."""


class Claims:
    """See the module docstring; `sessions` returns those of every channel."""

    def __init__(self, sessions: Callable[[], Iterable[Claimed]]) -> None:
        self._sessions = sessions

    @property
    def taken(self) -> int:
        """Bytes that all sessions take."""
        return sum(sum(one.claimed) for one in self._sessions())

    def room(self, own: int) -> int:
        """Return how many ids more a session may claim that takes `own` bytes already."""
        part, of = SHARE
        share = (self.free + own) * part // of
        return max(0, max(share, CLAIMS_LEAST) - own) // CLAIM_BYTES

    @property
    def live(self) -> int:
        """Number of live sessions of all channels."""
        return sum(one.live for one in self._sessions())

    @property
    def free(self) -> int:
        """Bytes that nobody takes; below 0 where sessions take what they may in any case."""
        return CLAIMS_BYTES_MAX - self.taken
