"""SyncConfig: six numbers that say how long, how often and in what parts peers compare."""

from dataclasses import dataclass
from typing import Final

from sync.machine import MINUTE, Nanos
from sync.sessions.page_values import SNAPSHOT_CHUNK_SIZE
from sync.sessions.selection import DELTA_SYNC_THRESHOLD
from sync.sessions.session import TIMEOUT

PERIOD: Final[Nanos] = 5 * MINUTE
"""Between two sessions that begin by themselves, a tenth more or less."""

SESSIONS_MAX: Final = 4
"""Sessions we begin and that run at once, of one peer each; each holds two connections and up to a
payload."""


@dataclass(frozen=True, slots=True)
class SyncConfig:
    """See the module docstring.

    Attributes:
        timeout: nanoseconds without progress after which a session has failed; the watchdog ends
            it after twice that, whatever its protocol says.
        interval: nanoseconds between two comparisons of a channel that begin by themselves.
        frequency: peers that a channel is compared with in an interval: whoever has agreed with
            one has agreed with all that this one agreed with.
        max_concurrent: sessions that we began and that run at once.
        snapshot_chunk_size: bytes of a page of a snapshot.
        delta_sync_threshold: missing messages above which sets are compared instead of delta sync:
            their ids alone would be over 100 kB.
    """

    timeout: Nanos = TIMEOUT
    interval: Nanos = PERIOD
    frequency: int = 1
    max_concurrent: int = SESSIONS_MAX
    snapshot_chunk_size: int = SNAPSHOT_CHUNK_SIZE
    delta_sync_threshold: int = DELTA_SYNC_THRESHOLD
