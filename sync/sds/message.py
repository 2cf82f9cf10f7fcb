"""SDS messages, with their limits and delivery states (SDS, "Wire protocol")."""

from enum import Enum
from typing import Final, NamedTuple

from msgspec import Struct

from sync.machine import ChannelId, MessageId, PeerId

CONTENT_MAX: Final = 64 * 1024
"""Bytes of content in one message; 60 pages of text, and 16 of them still fit one 1 MiB frame."""

REPAIR_MAX: Final = 8
"""Entries in a repair request that we read; we send `Parameters.repair_size`."""

ID_MAX: Final = 64
"""Characters of an id: hex SHA-256 and hex Ed25519 keys are exactly this long."""

HINT_MAX: Final = 64
"""Bytes of a retrieval hint; ours is a 32-byte Waku hash."""

HISTORY_MAX: Final = 16
"""Entries in a causal history that we send in a sync message; content messages have 2."""

FOREIGN_HISTORY_MAX: Final = 200
"""Entries in a causal history of `@waku/sds`, unless it is told otherwise."""


class Limits(Struct, frozen=True):
    """Limits of messages from others; anything above is refused before it is looked at.

    Attributes:
        history: entries in a causal history.
        envelope: bytes of a message beside its content.
    """

    history: int
    envelope: int


LAN_LIMITS: Final = Limits(history=HISTORY_MAX, envelope=32 * 1024)
"""A 1,880-byte filter, 16 names of 166 bytes, 8 requests: 6 kB; a larger filter fits too."""

WAKU_LIMITS: Final = Limits(history=FOREIGN_HISTORY_MAX, envelope=64 * 1024)
"""An 18,752-byte filter, 200 names of 200 bytes with the longest hints, 8 requests: 60 kB."""


class Kind(Enum):
    """The three kinds of SDS message, told apart by which fields are set."""

    CONTENT = "content"
    SYNC = "sync"
    EPHEMERAL = "ephemeral"


class Delivery(Enum):
    """Delivery state of our message: how sure we are of it (SDS, "Participant state")."""

    UNACKNOWLEDGED = "unacknowledged"
    POSSIBLY_ACKNOWLEDGED = "possibly acknowledged"
    ACKNOWLEDGED = "acknowledged"
    FAILED = "failed"
    """Given up resending; still turns acknowledged on later evidence."""


class HistoryEntry(NamedTuple):
    """Names one message: its id, how to fetch it, and who wrote it.

    A tuple, since of messages with one Lamport timestamp the entries are compared.
    """

    message_id: MessageId
    retrieval_hint: bytes | None = None
    sender_id: PeerId | None = None


class Message(Struct, frozen=True):
    """One SDS message; its kind follows from `lamport` and `content`."""

    sender_id: PeerId
    message_id: MessageId
    channel_id: ChannelId
    lamport: int | None
    causal_history: tuple[HistoryEntry, ...] = ()
    bloom_filter: bytes | None = None
    repair_request: tuple[HistoryEntry, ...] = ()
    content: bytes = b""

    @property
    def kind(self) -> Kind:
        """Content has a time and content, sync only a time, ephemeral only content."""
        if self.lamport is None:
            return Kind.EPHEMERAL
        return Kind.CONTENT if self.content else Kind.SYNC
