"""Messages of a Calimero stream, between two who sync one channel."""

from enum import IntEnum
from typing import Final, TypeAlias

from msgspec import Struct

from sync.calimero.governance.ops import GroupId, Key

STREAM: Final = "/chat-tui/calimero/1"
"""Protocol id of the streams."""


class SyncProtocol(IntEnum):
    """Protocols that a stream is opened for."""

    GOVERNANCE = 8
    """Catch-up of ops, both ways."""


class Payload(IntEnum):
    """Kinds of what a message carries."""

    GROUP_DELTA_REQUEST = 19
    GROUP_DELTA_RESPONSE = 20


class Init(Struct, frozen=True):
    """First message of either end: who it is, which channel it is about, and what for.

    Attributes:
        context_id: the channel.
        party_id: the sender's key.
        protocol: what the stream is for.
        signature: over the stream's handshake hash, so that it opens no other one; 64 bytes.
    """

    context_id: GroupId
    party_id: Key
    protocol: SyncProtocol
    signature: bytes


class Message(Struct, frozen=True):
    """A message of the protocol: its kind and its bytes."""

    kind: Payload
    body: bytes


class OpaqueError(Struct, frozen=True):
    """The sender does not go on, and does not say why."""


class NotMaterialized(Struct, frozen=True):
    """The sender has nothing of the channel yet."""


StreamMessage: TypeAlias = Init | Message | OpaqueError | NotMaterialized
