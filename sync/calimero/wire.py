"""Bytes of the messages of a Calimero stream: a version, and strict Borsh; what `Init` signs.

StreamMessage of the page. There is no sequence number: the streams are Noise transports, which
refuse what is repeated or out of order.
"""

from typing import Final, TypeVar

from sync.calimero.governance.ops import GroupId, Key
from sync.calimero.governance.wire import GROUP_SIZE, KEY_SIZE, SIGNATURE_SIZE
from sync.calimero.message import (
    Init,
    Message,
    NotMaterialized,
    OpaqueError,
    Payload,
    StreamMessage,
    SyncProtocol,
)
from sync.errors import DecodeError
from sync.structures.borsh import BorshReader, BorshWriter

VERSION: Final = 1
DOMAIN: Final = b"chat-tui.stream.v1\0"
KINDS: Final[tuple[type[StreamMessage], ...]] = (Init, Message, OpaqueError, NotMaterialized)
"""Messages by their discriminants."""

HEAD_SIZE: Final = 3
"""Bytes before the body of a `Message`: version, kind, kind of the payload."""

Named = TypeVar("Named", SyncProtocol, Payload)


def signed_by_init(
    handshake_hash: bytes,
    context_id: GroupId,
    party_id: Key,
    *,
    opener: bool,
) -> bytes:
    """Return what an `Init` signs; `opener`: its sender opened the stream."""
    role = b"\x00" if opener else b"\x01"
    return DOMAIN + handshake_hash + context_id + party_id + role


def encode(message: StreamMessage) -> bytes:
    """Return the bytes of a message."""
    out = BorshWriter()
    out.u8(VERSION)
    out.u8(KINDS.index(type(message)))
    match message:
        case Init(context_id, party_id, protocol, signature):
            out.fixed(context_id, GROUP_SIZE)
            out.fixed(party_id, KEY_SIZE)
            out.u8(protocol)
            out.option(None, out.text)  # no handshake: governance compares heads by itself
            out.fixed(signature, SIGNATURE_SIZE)
        case Message(kind, body):
            out.u8(kind)
            out.fixed(body, len(body))
        case OpaqueError() | NotMaterialized():
            pass
    return bytes(out.data)


def decode(data: bytes) -> StreamMessage:
    """Parse a message.

    Raises:
        DecodeError: not one, not canonical, or of a later version.
    """
    reader = BorshReader(data)
    version, kind = reader.u8(), reader.u8()
    if version != VERSION:
        raise DecodeError(f"a stream message of version {version}; {VERSION} is known")
    if kind >= len(KINDS):
        raise DecodeError(f"a stream message of kind {kind}")
    if KINDS[kind] is Message:
        return Message(_named(reader, Payload), data[HEAD_SIZE:])
    message: StreamMessage
    if KINDS[kind] is Init:
        message = _init(reader)
    else:
        message = OpaqueError() if KINDS[kind] is OpaqueError else NotMaterialized()
    reader.end()
    return message


def _init(reader: BorshReader) -> Init:
    context_id = GroupId(reader.fixed(GROUP_SIZE))
    party_id = Key(reader.fixed(KEY_SIZE))
    protocol = _named(reader, SyncProtocol)
    if reader.u8():
        raise DecodeError("governance begins without a handshake")
    return Init(context_id, party_id, protocol, reader.fixed(SIGNATURE_SIZE))


def _named(reader: BorshReader, names: type[Named]) -> Named:
    number = reader.u8()
    try:
        return names(number)
    except ValueError as error:
        raise DecodeError(f"{number} is no {names.__name__} that is known") from error
