"""Messages of a Calimero stream, between two who sync one channel."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Final, TypeAlias

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


@dataclass(frozen=True, slots=True)
class Init:
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


@dataclass(frozen=True, slots=True)
class Message:
    """A message of the protocol: its kind and its bytes."""

    kind: Payload
    body: bytes


@dataclass(frozen=True, slots=True)
class OpaqueError:
    """The sender does not go on, and does not say why."""


@dataclass(frozen=True, slots=True)
class NotMaterialized:
    """The sender has nothing of the channel yet."""


StreamMessage: TypeAlias = Init | Message | OpaqueError | NotMaterialized
