"""Facts that a session with a snapshot tells its channel, and what it needs to know of it."""

from typing import Protocol

from msgspec import Struct

from sync.machine import Nanos
from sync.sessions.page_values import LogPlace


class SnapshotBegan(Struct, frozen=True):
    """A peer begins to bring its messages.

    Attributes:
        count: how many there are, by its word.
        floor: nothing older comes, in nanoseconds; 0 where everything does.
        anew: whether what was staged before is of no use: the peer lacks a part of the rest.
    """

    count: int
    floor: Nanos
    anew: bool = False


class PageKept(Struct, frozen=True):
    """A page was checked: keep it.

    Attributes:
        chunk: as it came.
        cursor: the place of the last message so far; None while there is none.
        entries: messages in it.
        count: messages of the whole snapshot, by the peer's word.
        own_logs: numbers of logs of ours of which it has entries.
    """

    chunk: bytes
    cursor: LogPlace | None
    entries: int
    count: int
    own_logs: tuple[int, ...]


class SnapshotComplete(Struct, frozen=True):
    """All pages are kept."""


class SnapshotView(Protocol):
    """The snapshot of a channel, as the session that goes on with it sees it."""

    @property
    def cursor(self) -> LogPlace | None:
        """The place below which the next page begins; None if no message is staged."""

    @property
    def floor(self) -> Nanos | None:
        """The floor of what is staged; None if nothing is."""

    @property
    def may_begin(self) -> bool:
        """True if nothing is stored here, and no other session brings a snapshot."""
