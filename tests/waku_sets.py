"""Builders for the tests of Waku Sync: ids, sets and sessions."""

import hashlib

from sync.machine import SECOND, Nanos
from sync.ranges import OrderedSet, SyncId
from sync.waku.division import STRICT, Parameters
from sync.waku.message import CLUSTER, Range, Ranges, RangesData
from sync.waku.reconcile import Reconciliation, Role

NOW: Nanos = 1_700_000_000 * SECOND
SHARDS = (5,)
PLAIN = STRICT
"""The specification to the letter."""


def numbered(number: int, timestamp: Nanos | None = None) -> SyncId:
    """An id with a hash like those of real messages, one a second unless told otherwise."""
    digest = hashlib.sha256(number.to_bytes(8, "big")).digest()
    return SyncId(NOW + number * SECOND if timestamp is None else timestamp, digest)


def filled(items: set[SyncId]) -> OrderedSet:
    ordered = OrderedSet()
    ordered.extend(items)
    return ordered.frozen()


def session(role: Role, items: set[SyncId], parameters: Parameters) -> Reconciliation:
    return Reconciliation(role, filled(items), SHARDS, NOW, parameters)


def payload(*ranges: Range, cluster: int = CLUSTER, shards: tuple[int, ...] = SHARDS) -> RangesData:
    """A payload of these ranges, which join."""
    return RangesData(cluster, shards, Ranges.of(ranges))
