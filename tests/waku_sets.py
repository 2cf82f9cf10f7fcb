"""Builders for the tests of Waku Sync: ids, sets and sessions."""

import hashlib

from sync.machine import SECOND, Nanos
from sync.structures.ordered_set import OrderedSet, SyncId
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


def subset_with_zero_xor(candidates: list[SyncId]) -> list[SyncId]:
    """Some of the ids whose hashes XOR to zero: among 257 there always are (Gauss over GF(2))."""
    basis: dict[int, tuple[int, int]] = {}
    for at, candidate in enumerate(candidates):
        value, members = int.from_bytes(candidate.hash, "big"), 1 << at
        while value and value.bit_length() in basis:
            reduced, used = basis[value.bit_length()]
            value, members = value ^ reduced, members ^ used
        if not value:
            return [item for index, item in enumerate(candidates) if members >> index & 1]
        basis[value.bit_length()] = (value, members)
    raise AssertionError("257 vectors of 256 bits are never independent")
