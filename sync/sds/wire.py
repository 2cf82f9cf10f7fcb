"""SDS message <-> protobuf bytes. The only SDS file that knows protobuf exists."""

from binascii import hexlify
from collections.abc import Sequence
from typing import Final

from google.protobuf.message import DecodeError as ProtobufDecodeError
from msgspec import Struct
from msgspec.structs import replace

from proto import sds_pb2
from sync.errors import DecodeError
from sync.machine import ChannelId, MessageId, PeerId
from sync.sds.message import (
    CONTENT_MAX,
    HINT_MAX,
    ID_MAX,
    LAN_LIMITS,
    REPAIR_MAX,
    HistoryEntry,
    Limits,
    Message,
)
from sync.structures.codec import encode_uvarint


def encode(message: Message) -> bytes:
    """Return the protobuf bytes of `message`: ascending fields, minimal varints."""
    encoded = sds_pb2.Message(
        sender_id=message.sender_id,
        message_id=message.message_id,
        channel_id=message.channel_id,
        lamport_timestamp=message.lamport,
        bloom_filter=message.bloom_filter,
        content=message.content or None,
    )
    # Made in place: an entry that was made before would be copied.
    if message.causal_history:
        name = encoded.causal_history.add
        for message_id, hint, sender_id in message.causal_history:
            name(message_id=message_id, retrieval_hint=hint, sender_id=sender_id)
    if message.repair_request:
        ask = encoded.repair_request.add
        for message_id, hint, sender_id in message.repair_request:
            ask(message_id=message_id, retrieval_hint=hint, sender_id=sender_id)
    # To be "deterministic" orders maps, of which there are none, and costs 0.2 us.
    return encoded.SerializeToString()


def encode_canonical(message: Message) -> bytes:
    """Return the bytes every peer derives alike: no filter, no repair request (PROTOCOL 2)."""
    sender, message_id, channel = message.sender_id, message.message_id, message.channel_id
    lamport = message.lamport
    if (len(sender), len(message_id), len(channel)) == SIZES and lamport is not None:
        # Nearly always. Put together here, which takes half of the time.
        parts = [SENDER, sender.encode(), MESSAGE, message_id.encode(), CHANNEL, channel.encode()]
        parts += (LAMPORT, encode_uvarint(lamport))
        for named, hint, author in message.causal_history:
            if (
                hint is None
                or author is None
                or (len(named), len(hint), len(author)) != NAMED_SIZES
            ):
                break
            parts += (NAMED, named.encode(), HINT, hint, WRITTEN_BY, author.encode())
        else:
            if message.content:
                parts += (CONTENT, encode_uvarint(len(message.content)), message.content)
            return b"".join(parts)
    return encode(replace(message, bloom_filter=None, repair_request=()))


def encode_around(canonical: bytes, message: Message) -> bytes:
    """Return `encode(message)`, whose `encode_canonical` is known."""
    if message.bloom_filter is None or message.repair_request or not message.content:
        return encode(message)
    size = len(message.content)
    end = len(canonical) - len(CONTENT) - len(encode_uvarint(size)) - size
    filter_size = encode_uvarint(len(message.bloom_filter))
    return b"".join((canonical[:end], FILTER, filter_size, message.bloom_filter, canonical[end:]))


SENDER, MESSAGE, CHANNEL = b"\x0a\x40", b"\x12\x40", b"\x1a\x20"
"""Tags and lengths of ids in hexadecimal characters."""
LAMPORT: Final = b"\x50"
NAMED: Final = b"\x5a\xa6\x01\x0a\x40"
HINT: Final = b"\x12\x20"
WRITTEN_BY: Final = b"\x1a\x40"
"""Tags and lengths of an entry of the causal history, and of its parts."""
FILTER: Final = b"\x62"
CONTENT: Final = b"\xa2\x01"
SIZES: Final = (64, 64, 32)
NAMED_SIZES: Final = (64, 32, 64)
"""Sizes that these lengths tell of."""


def encode_wrapped(
    sender: bytes,
    message_id: bytes,
    channel: bytes,
    lamport: int,
    history: Sequence[tuple[bytes, bytes, bytes]],
    content: bytes,
) -> bytes:
    """Return the canonical bytes of a message with content, put together from ids in bytes.

    They are those of `encode`, in a fifth of its time. All sizes are those of our own messages: ids
    and hints of 32 bytes, and a channel of 16.

    Args:
        sender: whose it is.
        message_id: its id.
        channel: of which channel.
        lamport: when.
        history: id, sender and hint of each message that it names.
        content: what is in it; not empty.
    """
    parts = [SENDER, hexlify(sender), MESSAGE, hexlify(message_id), CHANNEL, hexlify(channel)]
    parts += [LAMPORT, encode_uvarint(lamport)]
    for named, author, hint in history:
        parts += [NAMED, hexlify(named), HINT, hint, WRITTEN_BY, hexlify(author)]
    parts += [CONTENT, encode_uvarint(len(content)), content]
    return b"".join(parts)


class ClaimedIds(Struct, frozen=True):
    """Sender and id that stand at the beginning of a frame."""

    sender_id: PeerId
    message_id: MessageId


def claimed_ids(payload: bytes) -> ClaimedIds | None:
    """Return the ids with which a frame of ours begins, without parsing it; None of others.

    It may be malformed all the same, or say something else further on.
    """
    if payload[:2] != SENDER or payload[66:68] != MESSAGE:
        return None
    sender_id, message_id = payload[2:66], payload[68:132]
    if not (sender_id.isascii() and message_id.isascii()):
        return None
    return ClaimedIds(PeerId(sender_id.decode()), MessageId(message_id.decode()))


def content_in(payload: bytes) -> bytes:
    """Return the content of a message, of which nothing else is looked at.

    Raises:
        DecodeError: not an SDS message.
    """
    try:
        return sds_pb2.Message.FromString(payload).content
    except ProtobufDecodeError as error:
        raise DecodeError(f"not an SDS message: {error}") from error


def decode(payload: bytes, limits: Limits = LAN_LIMITS) -> Message:
    """Parse `payload`; limits are checked before anything is built from it.

    Raises:
        DecodeError: not an SDS message of any kind, or over a limit.
    """
    if len(payload) > CONTENT_MAX + limits.envelope:
        raise DecodeError(f"SDS message of {len(payload)} bytes is over the limit")
    try:
        parsed = sds_pb2.Message.FromString(payload)
    except ProtobufDecodeError as error:
        raise DecodeError(f"not an SDS message: {error}") from error
    message_id, sender_id, channel_id = parsed.message_id, parsed.sender_id, parsed.channel_id
    history, requests, content = parsed.causal_history, parsed.repair_request, parsed.content
    if not 0 < len(message_id) <= ID_MAX:
        raise DecodeError(f"message_id of {len(message_id)} characters")
    if len(sender_id) > ID_MAX or len(channel_id) > ID_MAX:
        raise DecodeError("sender_id or channel_id is too long")
    if len(history) > limits.history or len(requests) > REPAIR_MAX:
        raise DecodeError(f"{len(history)} history and {len(requests)} repair entries")
    if len(content) > CONTENT_MAX:
        raise DecodeError(f"content of {len(content)} bytes is over {CONTENT_MAX}")
    lamport = parsed.lamport_timestamp if parsed.HasField("lamport_timestamp") else None
    if lamport is None and not content:
        raise DecodeError("neither a Lamport timestamp nor content")
    return Message(
        PeerId(sender_id),
        MessageId(message_id),
        ChannelId(channel_id),
        lamport,
        tuple([_entry_from_wire(entry) for entry in history]),
        parsed.bloom_filter if parsed.HasField("bloom_filter") else None,
        tuple([_entry_from_wire(entry) for entry in requests]) if requests else (),
        content,
    )


def _entry_from_wire(entry: sds_pb2.HistoryEntry) -> HistoryEntry:
    message_id, hint, sender_id = entry.message_id, entry.retrieval_hint, entry.sender_id
    if not 0 < len(message_id) <= ID_MAX or len(sender_id) > ID_MAX:
        raise DecodeError("an id in a history entry is empty or too long")
    if len(hint) > HINT_MAX:
        raise DecodeError(f"retrieval hint of {len(hint)} bytes")
    return HistoryEntry(
        MessageId(message_id),
        hint if hint or entry.HasField("retrieval_hint") else None,
        PeerId(sender_id) if sender_id or entry.HasField("sender_id") else None,
    )
