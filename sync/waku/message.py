"""The values of Waku Sync: ranges, payloads, the message that is transferred, and its names.

Rules:
1. A `SyncId` is the creation time of a message and its deterministic hash, nothing else.
2. The ranges of a payload join without a gap and begin at `ORIGIN`.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Self, TypeAlias, assert_never

from sync.machine import Nanos
from sync.structures.ordered_set import (
    EVERYTHING,
    HASH_BYTES,
    ORIGIN,
    TIMESTAMP_MAX,
    ZERO_HASH,
    Bounds,
    SyncId,
)
from sync.waku.topics import CLUSTER, SHARDS_OF_CLUSTER, content_topic, pubsub_topic, shard

__all__ = [  # passed on
    "CLUSTER",
    "EVERYTHING",
    "SHARDS_OF_CLUSTER",
    "TIMESTAMP_MAX",
    "Bounds",
    "content_topic",
    "pubsub_topic",
    "shard",
]

RECONCILIATION = "/vac/waku/reconciliation/1.0.0"
"""Protocol id a connection opens with to reconcile."""

TRANSFER = "/vac/waku/transfer/1.0.0"
"""Protocol id a connection opens with to push messages."""

PAYLOAD_BYTES_MAX = 1 << 20
"""Of one payload or transferred message; the frame limit of the stream that carries them."""

VARINT_BYTES_MAX = 10
"""A 64-bit number in groups of seven bits."""

ITEM_BYTES_MAX = VARINT_BYTES_MAX + HASH_BYTES
"""One element of an item set on the wire."""

RANGE_BYTES_MAX = VARINT_BYTES_MAX + 1 + HASH_BYTES
"""One range on the wire without its elements: upper bound, type, and a fingerprint at most."""

BOUND_HASH_BYTES_MAX = 1 + HASH_BYTES
"""Bytes that a range takes more if its upper bound has a hash."""

RANGES_MAX = 12_288
"""Ranges of one payload: 500 kB of fingerprints. Half a million two-byte `Skip` would take a
second to read."""


class Skip(NamedTuple):
    """Nothing is left to be done here (RangeType 0)."""

    bounds: Bounds


class Fingerprint(NamedTuple):
    """The XOR of the sender's hashes, 32 bytes (RangeType 1)."""

    bounds: Bounds
    fingerprint: bytes


class ItemSet(NamedTuple):
    """All ids the sender has here, rising; `reconciled` means it knows ours (RangeType 2)."""

    bounds: Bounds
    elements: tuple[SyncId, ...]
    reconciled: bool


Range: TypeAlias = Skip | Fingerprint | ItemSet


class Items(NamedTuple):
    """Content of an `ItemSet`, without its bounds."""

    elements: tuple[SyncId, ...]
    reconciled: bool


Content: TypeAlias = bytes | Items | None
"""Content of a range: a fingerprint, items, or nothing if it is a `Skip`."""


@dataclass(slots=True)
class Ranges:
    """Ranges that join, from `ORIGIN` on, in columns: a payload has thousands of them.

    Range n reaches up to (`timestamps[n]`, `hashes[n]`), a hash that is not in the table being
    zero, and holds `contents[n]`.
    """

    timestamps: list[Nanos] = field(default_factory=list)
    hashes: dict[int, bytes] = field(default_factory=dict)
    contents: list[Content] = field(default_factory=list)

    @classmethod
    def of(cls, ranges: Iterable[Range]) -> Self:
        """Return these ranges, which join."""
        columns = cls()
        for entry in ranges:
            assert entry.bounds.lower == columns.upper(-1), "ranges must join"
            match entry:
                case Skip():
                    columns.append(entry.bounds.upper, None)
                case Fingerprint(fingerprint=fingerprint):
                    columns.append(entry.bounds.upper, fingerprint)
                case ItemSet(elements=elements, reconciled=reconciled):
                    columns.append(entry.bounds.upper, Items(elements, reconciled))
                case _:
                    assert_never(entry)
        return columns

    def __len__(self) -> int:
        return len(self.contents)

    def __iter__(self) -> Iterator[Range]:
        lower = ORIGIN
        for at, content in enumerate(self.contents):
            bounds = Bounds(lower, self.upper(at))
            lower = bounds.upper
            if content is None:
                yield Skip(bounds)
            elif isinstance(content, bytes):
                yield Fingerprint(bounds, content)
            else:
                yield ItemSet(bounds, *content)

    def upper(self, at: int) -> SyncId:
        """Return the upper bound of range `at`; of -1, the lower bound of the first."""
        if not self.contents:
            return ORIGIN
        return SyncId(self.timestamps[at], self.hashes.get(at % len(self.contents), ZERO_HASH))

    def bounds(self, at: int) -> Bounds:
        """Return the bounds of range `at`."""
        return Bounds(self.upper(at - 1) if at else ORIGIN, self.upper(at))

    def extend(self, timestamps: list[Nanos], contents: list[Content]) -> None:
        """Add ranges that reach on to these bounds, which have no hashes."""
        self.timestamps += timestamps
        self.contents += contents

    def append(self, upper: SyncId, content: Content) -> None:
        """Add a range that reaches from the last one up to `upper`."""
        if upper.hash != ZERO_HASH:
            self.hashes[len(self.contents)] = upper.hash
        self.timestamps.append(upper.timestamp)
        self.contents.append(content)

    @property
    def settled(self) -> bool:
        """True if all ranges are `Skip`."""
        return not any(content is not None for content in self.contents)


@dataclass(frozen=True, slots=True)
class RangesData:
    """One payload of the reconciliation protocol; without ranges it is an empty payload."""

    cluster: int
    shards: tuple[int, ...]
    ranges: Ranges = field(default_factory=Ranges)


@dataclass(frozen=True, slots=True)
class WakuMessage:
    """The fields of 14/WAKU2-MESSAGE that its hash covers; ours leave `meta` empty."""

    payload: bytes
    content_topic: str
    timestamp: Nanos
    meta: bytes = b""


def deterministic_hash(pubsub_topic: str, message: WakuMessage) -> bytes:
    """SHA-256 of topic and message (14/WAKU2-MESSAGE, "Deterministic message hashing")."""
    return hash_of(
        pubsub_topic, message.content_topic, message.payload, message.timestamp, message.meta
    )


def hash_of(
    pubsub_topic: str, content_topic: str, payload: bytes, timestamp: Nanos, meta: bytes = b""
) -> bytes:
    """Return `deterministic_hash` of a message by its fields."""
    return hashlib.sha256(
        pubsub_topic.encode()
        + payload
        + content_topic.encode()
        + meta
        + timestamp.to_bytes(8, "big", signed=True)
    ).digest()


def sync_id(pubsub_topic: str, message: WakuMessage) -> SyncId:
    """Return the id under which reconciliation knows `message`."""
    return SyncId(message.timestamp, deterministic_hash(pubsub_topic, message))
