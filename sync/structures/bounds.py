"""Bounds of ranges of ids, and how they are cut to what their encoding carries."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from sync.structures.sorted_run import HASH_BYTES, TIMESTAMP_MAX, ZERO_HASH, SyncId

ORIGIN: Final = SyncId(0, ZERO_HASH)
"""The lower bound of the first range of every payload."""


class Bounds(NamedTuple):
    """From `lower`, inclusive, to `upper`, exclusive and above it (Waku Sync, "RangeBounds")."""

    lower: SyncId
    upper: SyncId


EVERYTHING: Final = Bounds(ORIGIN, SyncId(TIMESTAMP_MAX, ZERO_HASH))
"""The whole channel."""


def shortened(bound: SyncId, previous: SyncId) -> SyncId:
    """Return `bound` cut to what delta encoding after the lower `previous` keeps of it.

    With another timestamp the hash is not sent and means zero; with the same one the hash ends
    with the first byte that differs. The result is above `previous` and not above `bound`.
    """
    if bound.timestamp != previous.timestamp:
        return SyncId(bound.timestamp, ZERO_HASH)
    length = 1 + next(at for at in range(HASH_BYTES) if bound.hash[at] != previous.hash[at])
    return SyncId(bound.timestamp, bound.hash[:length].ljust(HASH_BYTES, b"\0"))


def rungs(previous: SyncId, bound: SyncId) -> Iterator[SyncId]:
    """Yield the bounds that lead from `previous` up to `bound`, each encodable after the last.

    One where only the timestamp matters; at most 33, one more for each byte of the hash.
    """
    while previous != bound:
        previous = shortened(bound, previous)
        yield previous
