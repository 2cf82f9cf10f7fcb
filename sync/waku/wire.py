"""The bytes of Waku Sync: `RangesData` payloads and the protobuf of the transfer protocol.

Rules:
1. Sizes and counts are checked before anything of that size is built.
2. Only the one encoding the specification gives to a payload is read; everything else a peer
   may send is a `DecodeError`.
"""

from collections.abc import Sequence
from typing import Final

from google.protobuf.message import DecodeError as ProtobufError

from proto import waku_pb2
from sync.errors import DecodeError
from sync.structures.codec import Reader, append_uvarint, uvarint_at
from sync.structures.ordered_set import HASH_BYTES, ORIGIN, ZERO_HASH, SyncId, shortened, sync_ids
from sync.waku.message import (
    PAYLOAD_BYTES_MAX,
    RANGES_MAX,
    SHARDS_OF_CLUSTER,
    TIMESTAMP_MAX,
    Items,
    Ranges,
    RangesData,
    WakuMessage,
)

SKIP: Final = 0
FINGERPRINT: Final = 1
ITEM_SET: Final = 2
"""The byte that says what a range holds (Waku Sync, "RangeType")."""

ELEMENT_BYTES_MIN = 1 + HASH_BYTES
"""An element of an item set: a one-byte varint and the hash; bounds what a count may claim."""


UINT64_MAX = 2**64 - 1
TOO_LATE: Final = "a timestamp does not fit into 64 bits"


def encode_ranges(payload: RangesData) -> bytes:
    """Encode a payload (Waku Sync, "Payload encoding").

    Layout: cluster, number of shards and each shard as LEB128 varints, then the ranges.
    The ranges must join, from `ORIGIN` on, and their bounds must be `shortened`.
    """
    encoded = bytearray()
    for number in (payload.cluster, len(payload.shards), *payload.shards):
        append_uvarint(encoded, number)
    ranges = payload.ranges
    before, hash_before = ORIGIN
    for at, (timestamp, content) in enumerate(zip(ranges.timestamps, ranges.contents, strict=True)):
        if timestamp > before:
            append_uvarint(encoded, timestamp - before)
            hash_before = ZERO_HASH
        else:
            upper = ranges.upper(at)
            _append_bound(encoded, upper, SyncId(before, hash_before))
            hash_before = upper.hash
        before = timestamp
        if content is None:
            encoded.append(SKIP)
        elif isinstance(content, bytes):
            encoded.append(FINGERPRINT)
            encoded += content
        else:
            encoded.append(ITEM_SET)
            append_uvarint(encoded, len(content.elements))
            _append_elements(encoded, content.elements)
            encoded.append(content.reconciled)
    assert len(encoded) <= PAYLOAD_BYTES_MAX, "the sender of ranges keeps them to one payload"
    return bytes(encoded)


def encode_bound(bound: SyncId, previous: SyncId) -> bytes:
    """Encode an upper bound (Waku Sync, "Delta encoding for sequential SyncIDs").

    Layout: timestamp less that of `previous`; only if that is 0, one length byte (1..32) and the
    hash up to the first byte that differs from the hash of `previous`.
    """
    encoded = bytearray()
    _append_bound(encoded, bound, previous)
    return bytes(encoded)


def _append_bound(encoded: bytearray, bound: SyncId, previous: SyncId) -> None:
    (timestamp, head), (timestamp_before, head_before) = bound, previous
    if timestamp != timestamp_before:
        assert head == ZERO_HASH, "the bound would not arrive whole"
        append_uvarint(encoded, timestamp - timestamp_before)
        return
    assert previous < bound == shortened(bound, previous), "the bound would not arrive whole"
    length = 1 + next(at for at in range(HASH_BYTES) if head[at] != head_before[at])
    encoded += bytes([0, length]) + head[:length]


def _append_elements(encoded: bytearray, elements: Sequence[SyncId]) -> None:
    """Append ids (Waku Sync, "Delta encoding for ItemSets"): timestamp deltas, whole hashes."""
    before = 0
    for timestamp, digest in elements:
        append_uvarint(encoded, timestamp - before)
        encoded += digest
        before = timestamp


def decode_ranges(data: bytes) -> RangesData:
    """Decode a payload; zero bytes are an empty one, of cluster 0 and no shards.

    Raises:
        DecodeError: over 1 MiB or `RANGES_MAX`, short, not the minimal encoding, bounds or
            elements that do not rise strictly, or elements outside their range.
    """
    _check_size(data)
    if not data:
        return RangesData(cluster=0, shards=())
    reader = Reader(data)
    cluster, shard_count = reader.uvarint(), reader.uvarint()
    if shard_count > min(SHARDS_OF_CLUSTER, reader.remaining):
        raise DecodeError(f"{shard_count} shards claimed, {reader.remaining} bytes left")
    shards = tuple([reader.uvarint() for _ in range(shard_count)])
    return RangesData(cluster, shards, _read_ranges(data, reader.offset))


def _read_ranges(data: bytes, offset: int) -> Ranges:
    ranges = Ranges()
    timestamps, contents = ranges.timestamps, ranges.contents
    (timestamp, hash_), size = ORIGIN, len(data)
    while offset < size:
        if len(contents) == RANGES_MAX:
            raise DecodeError(f"a payload has over {RANGES_MAX} ranges")
        before, hash_before = timestamp, hash_
        delta, after = uvarint_at(data, offset)
        if delta:
            timestamp, hash_, offset = before + delta, ZERO_HASH, after
            if timestamp > UINT64_MAX:
                raise DecodeError(TOO_LATE)
        else:
            (_, hash_), offset = read_bound(data, offset, SyncId(before, hash_before))
            ranges.hashes[len(timestamps)] = hash_
        if offset == size:
            raise DecodeError("a payload ends before the type of a range")
        kind = data[offset]
        offset += 1
        if kind == FINGERPRINT:
            start = offset
            offset += HASH_BYTES
            contents.append(data[start:offset])
        elif kind == SKIP:
            contents.append(None)
        elif kind == ITEM_SET:
            lower, upper = SyncId(before, hash_before), SyncId(timestamp, hash_)
            items, offset = _read_items(data, offset, lower, upper)
            contents.append(items)
        else:
            raise DecodeError(f"range type {kind} is not 0, 1 or 2")
        timestamps.append(timestamp)
    if offset > size:
        raise DecodeError("a payload ends within a fingerprint")
    return ranges


def read_bound(data: bytes, offset: int, previous: SyncId) -> tuple[SyncId, int]:
    """Read what `encode_bound` writes; hash bytes that were not sent are zero.

    Returns:
        The bound, and the offset after it.

    Raises:
        DecodeError: short input, a timestamp beyond 64 bits, or a hash that is not above that of
            `previous` in exactly its last byte.
    """
    delta, offset = uvarint_at(data, offset)
    if delta:
        timestamp = previous.timestamp + delta
        if timestamp > UINT64_MAX:
            raise DecodeError(TOO_LATE)
        return SyncId(timestamp, ZERO_HASH), offset
    length = data[offset] if offset < len(data) else 0
    if not 1 <= length <= HASH_BYTES:
        raise DecodeError(f"a bound has {length} bytes of hash, not 1 to {HASH_BYTES}")
    end = offset + 1 + length
    head = data[offset + 1 : end]
    if len(head) != length:
        raise DecodeError("a payload ends within the hash of a bound")
    if head[:-1] != previous.hash[: length - 1] or head[-1] <= previous.hash[length - 1]:
        raise DecodeError("a bound does not first exceed the one before it in its last hash byte")
    return SyncId(previous.timestamp, head.ljust(HASH_BYTES, b"\0")), end


def _read_items(data: bytes, offset: int, lower: SyncId, upper: SyncId) -> tuple[Items, int]:
    """Read count, elements and flag (Waku Sync, "Delta encoding for ItemSets")."""
    count, offset = uvarint_at(data, offset)
    if count * ELEMENT_BYTES_MIN >= len(data) - offset:
        raise DecodeError(f"{count} elements and a flag claimed, {len(data) - offset} bytes left")
    timestamps: list[int] = []
    hashes: list[bytes] = []
    timestamp, digest = 0, b""
    for at in range(count):
        delta, start = uvarint_at(data, offset)
        offset = start + HASH_BYTES
        previous, digest = digest, data[start:offset]
        if at and not delta and digest <= previous:
            raise DecodeError("the elements of an item set do not rise")
        timestamp += delta
        timestamps.append(timestamp)
        hashes.append(digest)
    elements = sync_ids(timestamps, hashes)
    if offset >= len(data) or data[offset] > 1:
        raise DecodeError("an item set does not end with a reconciled flag of 0 or 1")
    if elements and not lower <= elements[0] <= elements[-1] < upper:
        raise DecodeError("an item set has elements outside its range")
    return Items(tuple(elements), data[offset] == 1), offset + 1


def encode_transfer(message: WakuMessage, pubsub_topic: str) -> bytes:
    """Encode a `WakuMessageAndTopic` (Waku Sync, "Transfer Protocol", "Wire specification")."""
    encoded = waku_pb2.WakuMessageAndTopic(
        message=waku_pb2.WakuMessage(
            payload=message.payload,
            content_topic=message.content_topic,
            timestamp=message.timestamp,
            meta=message.meta or None,
        ),
        pubsub_topic=pubsub_topic,
    )
    return encoded.SerializeToString(deterministic=True)


def decode_transfer(data: bytes) -> tuple[WakuMessage, str]:
    """Decode a `WakuMessageAndTopic` into the message and its pubsub topic.

    `version` and `ephemeral` are read over: neither is part of the message's identity.

    Raises:
        DecodeError: over 1 MiB, not protobuf, no message, no topic, or no usable timestamp.
    """
    _check_size(data)
    decoded = waku_pb2.WakuMessageAndTopic()
    try:
        decoded.ParseFromString(data)
    except ProtobufError as error:
        raise DecodeError("a transferred message is not the protobuf it should be") from error
    if not (decoded.HasField("message") and decoded.HasField("pubsub_topic")):
        raise DecodeError("a transferred message lacks its message or its topic")
    has_timestamp = decoded.message.HasField("timestamp")
    if not (has_timestamp and 0 <= decoded.message.timestamp < TIMESTAMP_MAX):
        raise DecodeError("a transferred message has no timestamp that can be ordered")
    message = WakuMessage(
        payload=decoded.message.payload,
        content_topic=decoded.message.content_topic,
        timestamp=decoded.message.timestamp,
        meta=decoded.message.meta,
    )
    return message, decoded.pubsub_topic


def _check_size(data: bytes) -> None:
    if len(data) > PAYLOAD_BYTES_MAX:
        raise DecodeError(f"{len(data)} bytes are over the limit of {PAYLOAD_BYTES_MAX}")
