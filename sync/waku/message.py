"""The values of Waku Sync: payloads, the message that is transferred, and its names.

Rules:
1. A `SyncId` is the creation time of a message and its deterministic hash, nothing else.
2. The ranges of a payload join without a gap and begin at `ORIGIN`.
"""

import hashlib

from msgspec import Struct, field

from sync.machine import Nanos
from sync.structures.ordered_set import (
    EVERYTHING,
    HASH_BYTES,
    TIMESTAMP_MAX,
    Bounds,
    SyncId,
)
from sync.waku.ranges import Content, Fingerprint, Items, ItemSet, Range, Ranges, Skip
from sync.waku.topics import CLUSTER, SHARDS_OF_CLUSTER, content_topic, pubsub_topic, shard

__all__ = [  # passed on
    "CLUSTER",
    "EVERYTHING",
    "SHARDS_OF_CLUSTER",
    "TIMESTAMP_MAX",
    "Bounds",
    "Content",
    "Fingerprint",
    "ItemSet",
    "Items",
    "Range",
    "Ranges",
    "Skip",
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


class RangesData(Struct, frozen=True):
    """One payload of the reconciliation protocol; without ranges it is an empty payload."""

    cluster: int
    shards: tuple[int, ...]
    ranges: Ranges = field(default_factory=Ranges)


class WakuMessage(Struct, frozen=True):
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
    time = timestamp.to_bytes(8, "big", signed=True)
    parts = (pubsub_topic.encode(), payload, content_topic.encode(), meta, time)
    return hashlib.sha256(b"".join(parts)).digest()


def sync_id(pubsub_topic: str, message: WakuMessage) -> SyncId:
    """Return the id under which reconciliation knows `message`."""
    return SyncId(message.timestamp, deterministic_hash(pubsub_topic, message))
