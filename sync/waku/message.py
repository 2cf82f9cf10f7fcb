"""The values of Waku Sync: ranges, payloads, the message that is transferred, and its names.

Rules:
1. A `SyncId` is the creation time of a message and its deterministic hash, nothing else.
2. The ranges of a payload join without a gap and begin at `ORIGIN`.
"""

import hashlib
from dataclasses import dataclass
from typing import TypeAlias

from sync.machine import ChannelId, Nanos
from sync.ranges import HASH_BYTES, ORIGIN, ZERO_HASH, SyncId

RECONCILIATION = "/vac/waku/reconciliation/1.0.0"
"""Protocol id a connection opens with to reconcile."""

TRANSFER = "/vac/waku/transfer/1.0.0"
"""Protocol id a connection opens with to push messages."""

CLUSTER = 46_021
"""Cluster id of this application: its port, one number less to remember; 0..15 are Waku's own."""

SHARDS_OF_CLUSTER = 1024
"""RELAY-SHARDING: a cluster has the shards 0..1023."""

TIMESTAMP_MAX: Nanos = 2**63 - 1
"""14/WAKU2-MESSAGE timestamps are signed; this one, in the year 2262, bounds them from above."""

PAYLOAD_BYTES_MAX = 1 << 20
"""Of one payload or transferred message; the frame limit of the stream that carries them."""

VARINT_BYTES_MAX = 10
"""A 64-bit number in groups of seven bits."""

ITEM_BYTES_MAX = VARINT_BYTES_MAX + HASH_BYTES
"""One element of an item set on the wire."""

RANGE_BYTES_MAX = VARINT_BYTES_MAX + (1 + HASH_BYTES) + 1 + HASH_BYTES
"""One range on the wire without its elements: upper bound, type, and a fingerprint at most."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """From `lower`, inclusive, to `upper`, exclusive and above it (Waku Sync, "RangeBounds")."""

    lower: SyncId
    upper: SyncId


EVERYTHING = Bounds(ORIGIN, SyncId(TIMESTAMP_MAX, ZERO_HASH))
"""The whole channel."""


@dataclass(frozen=True, slots=True)
class Skip:
    """Nothing is left to be done here (RangeType 0)."""

    bounds: Bounds


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The XOR of the sender's hashes, 32 bytes (RangeType 1)."""

    bounds: Bounds
    fingerprint: bytes


@dataclass(frozen=True, slots=True)
class ItemSet:
    """All ids the sender has here, rising; `reconciled` means it knows ours (RangeType 2)."""

    bounds: Bounds
    elements: tuple[SyncId, ...]
    reconciled: bool


Range: TypeAlias = Skip | Fingerprint | ItemSet


@dataclass(frozen=True, slots=True)
class RangesData:
    """One payload of the reconciliation protocol; without ranges it is an empty payload."""

    cluster: int
    shards: tuple[int, ...]
    ranges: tuple[Range, ...] = ()


@dataclass(frozen=True, slots=True)
class WakuMessage:
    """The fields of 14/WAKU2-MESSAGE that its hash covers; ours leave `meta` empty."""

    payload: bytes
    content_topic: str
    timestamp: Nanos
    meta: bytes = b""


def deterministic_hash(pubsub_topic: str, message: WakuMessage) -> bytes:
    """SHA-256 of topic and message (14/WAKU2-MESSAGE, "Deterministic message hashing")."""
    return hashlib.sha256(
        pubsub_topic.encode()
        + message.payload
        + message.content_topic.encode()
        + message.meta
        + message.timestamp.to_bytes(8, "big", signed=True)
    ).digest()


def sync_id(pubsub_topic: str, message: WakuMessage) -> SyncId:
    """Return the id under which reconciliation knows `message`."""
    return SyncId(message.timestamp, deterministic_hash(pubsub_topic, message))


def shard(channel_id: ChannelId) -> int:
    """Return the shard of a channel: two bytes of the SHA-256 of its id's text, modulo 1024."""
    digest = hashlib.sha256(channel_id.encode()).digest()
    return int.from_bytes(digest[:2], "big") % SHARDS_OF_CLUSTER


def pubsub_topic(channel_id: ChannelId) -> str:
    """Return the topic of the channel's shard (RELAY-SHARDING, "Static sharding")."""
    return f"/waku/2/rs/{CLUSTER}/{shard(channel_id)}"


def content_topic(channel_id: ChannelId) -> str:
    """Return the content topic of the channel (23/WAKU2-TOPICS)."""
    return f"/chat-tui/1/{channel_id}/proto"
