"""The bytes of Waku Sync: `RangesData` payloads and the protobuf of the transfer protocol.

Rules:
1. Sizes and counts are checked before anything of that size is built.
2. Only the one encoding the specification gives to a payload is read; everything else a peer
   may send is a `DecodeError`.
"""

from google.protobuf.message import DecodeError as ProtobufError

from proto import waku_pb2
from sync.errors import DecodeError
from sync.structures.codec import Reader, append_uvarint
from sync.waku.message import (
    PAYLOAD_BYTES_MAX,
    SHARDS_OF_CLUSTER,
    TIMESTAMP_MAX,
    RangesData,
    WakuMessage,
)
from sync.waku.reading import read_ranges
from sync.waku.writing import written_ranges


def encode_ranges(payload: RangesData) -> bytes:
    """Encode a payload (Waku Sync, "Payload encoding").

    Layout: cluster, number of shards and each shard as LEB128 varints, then the ranges.
    The ranges must join, from `ORIGIN` on, and their bounds must be `shortened`.
    """
    encoded = bytearray()
    for number in (payload.cluster, len(payload.shards), *payload.shards):
        append_uvarint(encoded, number)
    data = written_ranges(bytes(encoded), payload.ranges)
    assert len(data) <= PAYLOAD_BYTES_MAX, "the sender of ranges keeps them to one payload"
    return data


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
    return RangesData(cluster, shards, read_ranges(data, reader.offset))


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
