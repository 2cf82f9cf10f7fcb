"""What SDS peers say to each other (SDS, "Wire protocol"), and a channel's parameters."""

from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple

from sync import bloom
from sync.machine import HOUR, MILLISECOND, MINUTE, SECOND, ChannelId, MessageId, Nanos, PeerId

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


@dataclass(frozen=True, slots=True)
class Limits:
    """What is read of others; anything above is refused before it is looked at.

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
    """How sure we are that somebody holds our message (SDS, "Participant state")."""

    UNACKNOWLEDGED = "unacknowledged"
    POSSIBLY_ACKNOWLEDGED = "possibly acknowledged"
    ACKNOWLEDGED = "acknowledged"
    FAILED = "failed"
    """Given up resending; still turns acknowledged on later evidence."""


class HistoryEntry(NamedTuple):
    """Names one message: its id, how to fetch it, and who wrote it.

    A tuple, like `Message`: they are made by the hundred thousand, and a frozen dataclass takes
    nearly three times as long to make.
    """

    message_id: MessageId
    retrieval_hint: bytes | None = None
    sender_id: PeerId | None = None


class Message(NamedTuple):
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
    """What all members of a channel agree on: filter size, and when to speak unasked.

    Attributes:
        acknowledge_within: delay of the sync message that names what nobody has named yet.
        idle_within: delay of the next sync message when nothing is owed; it then doubles.
        idle_max: what the doubling leads to.
        possibly_factor: how much slower possibly acknowledged messages are sent again.
        gap_after: how long a message waits for its dependencies before it is shown after a gap.
        lost_after: how long a missing message is asked for; longer than others wait for it.
        t_min: SDS-R, the least delay of a request.
        t_max: SDS-R, within which requests and answers are spread, in a small group.
        t_max_per_responder: what a large group adds to that for each who may answer.
        repair_size: entries in a repair request that we send (SDS-R: up to 3).
    """

    name: str
    bloom: bloom.BloomParameters
    limits: Limits
    acknowledge_within: tuple[Nanos, Nanos]
    idle_within: tuple[Nanos, Nanos]
    t_min: Nanos
    t_max: Nanos
    gap_after: Nanos
    lost_after: Nanos
    t_max_per_responder: Nanos = 0
    idle_max: Nanos = 60 * SECOND
    resend_after: Nanos = 5 * SECOND
    resend_max: int = 5
    possibly_factor: int = 4
    history_size: int = 2
    repair_size: int = 3

    def __post_init__(self) -> None:
        assert 0 < self.t_min <= self.t_max
        assert 0 < self.gap_after <= self.lost_after
        assert 0 < self.repair_size <= REPAIR_MAX
        assert 0 < self.history_size <= HISTORY_MAX <= self.limits.history


LAN: Final = Parameters(
    name="lan",
    bloom=bloom.LAN,
    limits=LAN_LIMITS,
    acknowledge_within=(SECOND // 2, 3 * SECOND),
    idle_within=(1 * SECOND, 5 * SECOND),
    t_min=1 * SECOND,
    t_max=6 * SECOND,
    t_max_per_responder=300 * MILLISECOND,
    gap_after=2 * MINUTE,
    lost_after=10 * MINUTE,
)
WAKU: Final = Parameters(
    name="waku",
    bloom=bloom.WAKU,
    limits=WAKU_LIMITS,
    acknowledge_within=(0, 30 * SECOND),
    idle_within=(0, 30 * SECOND),
    t_min=30 * SECOND,
    t_max=120 * SECOND,
    gap_after=10 * MINUTE,
    lost_after=1 * HOUR,
)
PROFILES: Final = {parameters.name: parameters for parameters in (LAN, WAKU)}
