"""What SDS peers say to each other (SDS, "Wire protocol"), and a channel's parameters."""

from dataclasses import dataclass
from enum import Enum
from typing import Final

from sync import bloom
from sync.machine import MINUTE, SECOND, ChannelId, MessageId, Nanos, PeerId

CONTENT_MAX: Final = 64 * 1024
"""Bytes of content in one message; 60 pages of text, and 16 of them still fit one 1 MiB frame."""

HISTORY_MAX: Final = 16
"""Entries in a causal history: we send 2, and up to 16 in a sync message."""

REPAIR_MAX: Final = 8
"""Entries in a repair request; SDS-R recommends 3."""

ID_MAX: Final = 64
"""Characters of an id: hex SHA-256 and hex Ed25519 keys are exactly this long."""

HINT_MAX: Final = 64
"""Bytes of a retrieval hint; ours is a 32-byte Waku hash."""


class Kind(Enum):
    """The three kinds of SDS message, told apart by which fields are set."""

    CONTENT = "content"
    SYNC = "sync"
    EPHEMERAL = "ephemeral"


class Delivery(Enum):
    """How sure we are that somebody holds our message (SDS, "Participant state")."""

    UNACKNOWLEDGED = "unacknowledged"
    POSSIBLY_ACKNOWLEDGED = "possibly acknowledged"
    ACKNOWLEDGED = "acknowledged"
    FAILED = "failed"
    """Given up resending; still turns acknowledged on later evidence."""


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """Names one message: its id, how to fetch it, and who wrote it."""

    message_id: MessageId
    retrieval_hint: bytes | None = None
    sender_id: PeerId | None = None


@dataclass(frozen=True, slots=True)
class Message:
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


@dataclass(frozen=True, slots=True)
class Parameters:
    """What all members of a channel agree on: filter size, and when to speak unasked."""

    name: str
    bloom: bloom.BloomParameters
    acknowledge_within: tuple[Nanos, Nanos]
    """Delay of the sync message that names what nobody has named yet: uniform in here."""
    idle_within: tuple[Nanos, Nanos]
    """Delay of the next sync message when nothing is owed: uniform in here, then doubling."""
    idle_max: Nanos = 60 * SECOND
    resend_after: Nanos = 5 * SECOND
    resend_max: int = 5
    possibly_factor: int = 4
    """How much slower possibly acknowledged messages are sent again."""
    history_size: int = 2
    lost_after: Nanos = 2 * MINUTE
    """How long a message waits for its dependencies before it is shown after a gap."""


LAN: Final = Parameters(
    name="lan",
    bloom=bloom.LAN,
    acknowledge_within=(SECOND // 2, 3 * SECOND),
    idle_within=(1 * SECOND, 5 * SECOND),
)
WAKU: Final = Parameters(
    name="waku",
    bloom=bloom.WAKU,
    acknowledge_within=(0, 30 * SECOND),
    idle_within=(0, 30 * SECOND),
)
PROFILES: Final = {parameters.name: parameters for parameters in (LAN, WAKU)}
