"""SyncConfig: six numbers that say how long, how often and in what parts peers compare.

They are here and nowhere else. Both ends of a session compute the same kind without a word, so all
nodes have the same ones: `CONFIG`.
"""

from typing import Final

from msgspec import Struct

from sync.machine import MINUTE, SECOND, Nanos

PERIOD: Final[Nanos] = 5 * MINUTE
"""Between two sessions that begin by themselves, a tenth more or less."""

SESSIONS_MAX: Final = 4
"""Sessions we begin and that run at once, of one peer each; each holds two connections and up to a
payload."""


class SyncConfig(Struct, frozen=True):
    """See the module docstring.

    Attributes:
        timeout: nanoseconds without progress after which a session has failed; the watchdog ends
            it after twice that, whatever its protocol says.
        interval: nanoseconds between two comparisons of a channel that begin by themselves.
        frequency: peers that a channel is compared with in an interval: whoever has agreed with
            one has agreed with all that this one agreed with.
        max_concurrent: sessions that we began and that run at once.
        snapshot_chunk_size: bytes of records in a page of a snapshot: 140 usual messages, whose
            signatures take 15 ms; a single longer record makes a page of its own.
        delta_sync_threshold: missing messages above which sets are compared instead of delta sync:
            their ids alone would be over 100 kB.
    """

    timeout: Nanos = 30 * SECOND
    interval: Nanos = PERIOD
    frequency: int = 1
    max_concurrent: int = SESSIONS_MAX
    snapshot_chunk_size: int = 64 * 1024
    delta_sync_threshold: int = 4_096


CONFIG: Final = SyncConfig()
