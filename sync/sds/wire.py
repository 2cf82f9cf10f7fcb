"""SDS message <-> protobuf bytes. The only SDS file that knows protobuf exists."""

from dataclasses import replace

from google.protobuf.message import DecodeError as ProtobufDecodeError

from proto import sds_pb2
from sync.errors import DecodeError
from sync.machine import ChannelId, MessageId, PeerId
from sync.sds.message import (
    CONTENT_MAX,
    HINT_MAX,
    HISTORY_MAX,
    ID_MAX,
    REPAIR_MAX,
    HistoryEntry,
    Message,
)

ENVELOPE_MAX = 32 * 1024
"""Bytes of a message beside its content: a 18,752-byte filter and full history and requests."""


def encode(message: Message) -> bytes:
    """Return the protobuf bytes of `message`: ascending fields, minimal varints."""
    encoded = sds_pb2.Message(
        sender_id=message.sender_id,
        message_id=message.message_id,
        channel_id=message.channel_id,
        lamport_timestamp=message.lamport,
        causal_history=[_entry_to_wire(entry) for entry in message.causal_history],
        bloom_filter=message.bloom_filter,
        repair_request=[_entry_to_wire(entry) for entry in message.repair_request],
        content=message.content or None,
    )
    return encoded.SerializeToString(deterministic=True)


def encode_canonical(message: Message) -> bytes:
    """Return the bytes every peer derives alike: no filter, no repair request (DESIGN 3)."""
    if message.bloom_filter is None and not message.repair_request:
        return encode(message)
    return encode(replace(message, bloom_filter=None, repair_request=()))


def decode(payload: bytes) -> Message:
    """Parse `payload`; limits are checked before anything is built from it.

    Raises:
        DecodeError: not an SDS message of any kind, or over a limit.
    """
    if len(payload) > CONTENT_MAX + ENVELOPE_MAX:
        raise DecodeError(f"SDS message of {len(payload)} bytes is over the limit")
    try:
        parsed = sds_pb2.Message.FromString(payload)
    except ProtobufDecodeError as error:
        raise DecodeError(f"not an SDS message: {error}") from error
    if not 0 < len(parsed.message_id) <= ID_MAX:
        raise DecodeError(f"message_id of {len(parsed.message_id)} characters")
    if len(parsed.sender_id) > ID_MAX or len(parsed.channel_id) > ID_MAX:
        raise DecodeError("sender_id or channel_id is too long")
    if len(parsed.causal_history) > HISTORY_MAX or len(parsed.repair_request) > REPAIR_MAX:
        raise DecodeError(
            f"{len(parsed.causal_history)} history and {len(parsed.repair_request)} repair entries"
        )
    if len(parsed.content) > CONTENT_MAX:
        raise DecodeError(f"content of {len(parsed.content)} bytes is over {CONTENT_MAX}")
    lamport = parsed.lamport_timestamp if parsed.HasField("lamport_timestamp") else None
    if lamport is None and not parsed.content:
        raise DecodeError("neither a Lamport timestamp nor content")
    return Message(
        sender_id=PeerId(parsed.sender_id),
        message_id=MessageId(parsed.message_id),
        channel_id=ChannelId(parsed.channel_id),
        lamport=lamport,
        causal_history=tuple([_entry_from_wire(entry) for entry in parsed.causal_history]),
        bloom_filter=parsed.bloom_filter if parsed.HasField("bloom_filter") else None,
        repair_request=tuple([_entry_from_wire(entry) for entry in parsed.repair_request]),
        content=parsed.content,
    )


def _entry_to_wire(entry: HistoryEntry) -> sds_pb2.HistoryEntry:
    return sds_pb2.HistoryEntry(
        message_id=entry.message_id,
        retrieval_hint=entry.retrieval_hint,
        sender_id=entry.sender_id,
    )


def _entry_from_wire(entry: sds_pb2.HistoryEntry) -> HistoryEntry:
    if not 0 < len(entry.message_id) <= ID_MAX or len(entry.sender_id) > ID_MAX:
        raise DecodeError("an id in a history entry is empty or too long")
    if len(entry.retrieval_hint) > HINT_MAX:
        raise DecodeError(f"retrieval hint of {len(entry.retrieval_hint)} bytes")
    return HistoryEntry(
        message_id=MessageId(entry.message_id),
        retrieval_hint=entry.retrieval_hint if entry.HasField("retrieval_hint") else None,
        sender_id=PeerId(entry.sender_id) if entry.HasField("sender_id") else None,
    )
