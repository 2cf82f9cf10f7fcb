"""The bytes of Waku Sync: `RangesData` payloads and the protobuf of the transfer protocol.

Rules:
1. Sizes and counts are checked before anything of that size is built.
2. Only the one encoding the specification gives to a payload is read; everything else a peer
   may send is a `DecodeError`.
"""

from enum import IntEnum
from typing import assert_never

from google.protobuf.message import DecodeError as ProtobufError

from proto import waku_pb2
from sync.codec import Reader, encode_uvarint
from sync.errors import DecodeError
from sync.ranges import HASH_BYTES, ORIGIN, ZERO_HASH, SyncId, shortened
from sync.waku.message import (
    PAYLOAD_BYTES_MAX,
    RANGE_BYTES_MAX,
    SHARDS_OF_CLUSTER,
    TIMESTAMP_MAX,
    Bounds,
    Fingerprint,
    ItemSet,
    Range,
    RangesData,
    Skip,
    WakuMessage,
)


class RangeType(IntEnum):
    """The byte that says what a range holds (Waku Sync, "RangeType")."""

    SKIP = 0
    FINGERPRINT = 1
    ITEM_SET = 2


ELEMENT_BYTES_MIN = 1 + HASH_BYTES
"""An element of an item set: a one-byte varint and the hash; bounds what a count may claim."""

RANGES_MAX = PAYLOAD_BYTES_MAX // RANGE_BYTES_MAX
"""In one payload. Ours cannot hold more; half a million two-byte `Skip` would take a second."""

UINT64_MAX = 2**64 - 1


def encode_ranges(payload: RangesData) -> bytes:
    """Encode a payload (Waku Sync, "Payload encoding").

    Layout: cluster, number of shards and each shard as LEB128 varints, then the ranges.
    The ranges must join, from `ORIGIN` on, and their bounds must be `shortened`.
    """
    parts = [encode_uvarint(payload.cluster), encode_uvarint(len(payload.shards))]
    parts += map(encode_uvarint, payload.shards)
    previous = ORIGIN
    for entry in payload.ranges:
        assert entry.bounds.lower == previous, "ranges must join"
        parts += (encode_bound(entry.bounds.upper, previous), _encode_content(entry))
        previous = entry.bounds.upper
    encoded = b"".join(parts)
    assert len(encoded) <= PAYLOAD_BYTES_MAX, "the sender of ranges keeps them to one payload"
    return encoded


def encode_bound(bound: SyncId, previous: SyncId) -> bytes:
    """Encode an upper bound (Waku Sync, "Delta encoding for sequential SyncIDs").

    Layout: timestamp less that of `previous`; only if that is 0, one length byte (1..32) and the
    hash up to the first byte that differs from the hash of `previous`.
    """
    assert previous < bound == shortened(bound, previous), "the bound would not arrive whole"
    if bound.timestamp != previous.timestamp:
        return encode_uvarint(bound.timestamp - previous.timestamp)
    length = 1 + next(at for at in range(HASH_BYTES) if bound.hash[at] != previous.hash[at])
    return b"\0" + bytes([length]) + bound.hash[:length]


def _encode_content(entry: Range) -> bytes:
    match entry:
        case Skip():
            return bytes([RangeType.SKIP])
        case Fingerprint(fingerprint=fingerprint):
            return bytes([RangeType.FINGERPRINT]) + fingerprint
        case ItemSet(elements=elements, reconciled=reconciled):
            return b"".join(
                (
                    bytes([RangeType.ITEM_SET]),
                    encode_uvarint(len(elements)),
                    _encode_elements(elements),
                    bytes([reconciled]),
                )
            )
        case _:
            assert_never(entry)


def _encode_elements(elements: tuple[SyncId, ...]) -> bytes:
    """Encode ids (Waku Sync, "Delta encoding for ItemSets"): timestamp deltas, whole hashes."""
    parts: list[bytes] = []
    timestamp = 0
    for element in elements:
        parts += (encode_uvarint(element.timestamp - timestamp), element.hash)
        timestamp = element.timestamp
    return b"".join(parts)


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
    shards = tuple(reader.uvarint() for _ in range(shard_count))
    ranges: list[Range] = []
    lower = ORIGIN
    while reader.remaining:
        if len(ranges) == RANGES_MAX:
            raise DecodeError(f"a payload has over {RANGES_MAX} ranges")
        upper = read_bound(reader, lower)
        ranges.append(_read_content(reader, Bounds(lower, upper)))
        lower = upper
    return RangesData(cluster, shards, tuple(ranges))


def read_bound(reader: Reader, previous: SyncId) -> SyncId:
    """Read what `encode_bound` writes; hash bytes that were not sent are zero.

    Raises:
        DecodeError: short input, a timestamp beyond 64 bits, or a hash that is not above that of
            `previous` in exactly its last byte.
    """
    timestamp = _read_timestamp(reader, previous.timestamp)
    if timestamp != previous.timestamp:
        return SyncId(timestamp, ZERO_HASH)
    length = reader.byte()
    if not 1 <= length <= HASH_BYTES:
        raise DecodeError(f"a bound has {length} bytes of hash, not 1 to {HASH_BYTES}")
    head = reader.read(length)
    if head[:-1] != previous.hash[: length - 1] or head[-1] <= previous.hash[length - 1]:
        raise DecodeError("a bound does not first exceed the one before it in its last hash byte")
    return SyncId(timestamp, head.ljust(HASH_BYTES, b"\0"))


def _read_content(reader: Reader, bounds: Bounds) -> Range:
    match reader.byte():
        case RangeType.SKIP:
            return Skip(bounds)
        case RangeType.FINGERPRINT:
            return Fingerprint(bounds, reader.read(HASH_BYTES))
        case RangeType.ITEM_SET:
            elements = _read_elements(reader, bounds)
            reconciled = reader.byte()
            if reconciled > 1:
                raise DecodeError(f"the reconciled flag is {reconciled}, not 0 or 1")
            return ItemSet(bounds, elements, reconciled=bool(reconciled))
        case unknown:
            raise DecodeError(f"range type {unknown} is not 0, 1 or 2")


def _read_elements(reader: Reader, bounds: Bounds) -> tuple[SyncId, ...]:
    count = reader.uvarint()
    if count * ELEMENT_BYTES_MIN > reader.remaining:
        raise DecodeError(f"{count} elements claimed, {reader.remaining} bytes left")
    elements: list[SyncId] = []
    timestamp = 0
    for _ in range(count):
        timestamp = _read_timestamp(reader, timestamp)
        element = SyncId(timestamp, reader.read(HASH_BYTES))
        if elements and element <= elements[-1]:
            raise DecodeError("the elements of an item set do not rise")
        elements.append(element)
    if elements and not bounds.lower <= elements[0] <= elements[-1] < bounds.upper:
        raise DecodeError("an item set has elements outside its range")
    return tuple(elements)


def _read_timestamp(reader: Reader, previous: int) -> int:
    timestamp = previous + reader.uvarint()
    if timestamp > UINT64_MAX:
        raise DecodeError("a timestamp does not fit into 64 bits")
    return timestamp


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
