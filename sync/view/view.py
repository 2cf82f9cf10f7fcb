"""The UI's view of the engine: a snapshot, a stream of events, pages of history.

The live node, the simulator and a replay all show themselves through these types; the UI never
reads an engine. Nothing here does anything: values and one protocol.
"""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from msgspec import Struct, field

from sync.machine import ChannelId, MessageId, Nanos, PeerId
from sync.view.clock_infos import (
    ClockAnswer,
    ClockInfo,
    ClockQuestion,
    ClockSettled,
    ClockVoter,
)
from sync.view.events import (
    AheadShown,
    ChannelLeft,
    ChannelShown,
    ClockShown,
    ContradictionShown,
    DeliveryShown,
    DiscardedShown,
    Event,
    FoundShown,
    HistoryShown,
    Level,
    Line,
    LineChanged,
    LiveShown,
    LooksShown,
    MessageShown,
    MissingShown,
    Notice,
    PeerShown,
    Position,
    PreviewShown,
    PushedOutShown,
    Reaction,
    ReplacedShown,
    SyncShown,
    TrustShown,
    TypingShown,
    WithdrawnShown,
)
from sync.view.finding import Wanted
from sync.view.governance_infos import (
    MembershipShown,
    OpShown,
    PendingEndedShown,
    PendingShown,
)
from sync.view.infos import (
    AnswerInfo,
    AuthorInfo,
    BloomInfo,
    ChannelInfo,
    ContradictionInfo,
    HeardInfo,
    HoldersInfo,
    KeyWarning,
    LogsInfo,
    OutgoingInfo,
    PeerInfo,
    PeerState,
    RepairInfo,
    RequestInfo,
    RoundInfo,
    SessionInfo,
    Trust,
    TypistInfo,
    WaitingInfo,
)
from sync.view.inspection import (
    CausalNode,
    FrameInfo,
    FrameKind,
    Inspection,
    Place,
    ProbeInfo,
)
from sync.view.state_infos import StateInfo, StateKind, StateShown

if TYPE_CHECKING:
    from sync.view.message_infos import StoredInfo

__all__ = [  # what is only passed on
    "AheadShown",
    "AnswerInfo",
    "BloomInfo",
    "CausalNode",
    "ChannelInfo",
    "ChannelLeft",
    "ChannelShown",
    "ClockAnswer",
    "ClockInfo",
    "ClockQuestion",
    "ClockSettled",
    "ClockShown",
    "ClockVoter",
    "ContradictionInfo",
    "ContradictionShown",
    "DeliveryShown",
    "DiscardedShown",
    "Event",
    "FoundShown",
    "FrameInfo",
    "FrameKind",
    "HeardInfo",
    "HistoryShown",
    "HoldersInfo",
    "Inspection",
    "KeyWarning",
    "Level",
    "Line",
    "LineChanged",
    "LiveShown",
    "LogsInfo",
    "LooksShown",
    "MembershipShown",
    "MessageShown",
    "MissingShown",
    "Notice",
    "OpShown",
    "OutgoingInfo",
    "PeerInfo",
    "PeerShown",
    "PeerState",
    "PendingEndedShown",
    "PendingShown",
    "Place",
    "Position",
    "PreviewShown",
    "ProbeInfo",
    "PushedOutShown",
    "Reaction",
    "RepairInfo",
    "ReplacedShown",
    "RequestInfo",
    "RoundInfo",
    "SessionInfo",
    "StateInfo",
    "StateKind",
    "StateShown",
    "SyncShown",
    "Trust",
    "TrustShown",
    "TypingShown",
    "TypistInfo",
    "WaitingInfo",
    "WithdrawnShown",
]

NOT_ASKED: Final = "Nothing is asked about this computer's clock now."
"""Why an answer about our clock is refused."""


class Snapshot(Struct, frozen=True):
    """Everything the screens show that is not a page of history."""

    me: PeerId
    nick: str
    now: Nanos
    port: int | None
    interface: str
    network: str
    """State of the network and its next step, one sentence."""
    channels: tuple[ChannelInfo, ...]
    peers: tuple[PeerInfo, ...]
    sessions: tuple[SessionInfo, ...] = ()
    """Reconciliations, the newest first; at most 20 of a channel that are over."""
    trace: tuple[str, ...] = ()
    """The last lines of the trace, newest last."""
    longest_block_ns: Nanos = 0
    """Longest time for which keys and the network waited: for machines, paints, or another."""
    refused: dict[str, int] = field(default_factory=dict)
    """Number of bad inputs that each peer or address has sent us."""
    skipped_bytes: dict[str, int] = field(default_factory=dict)
    """Of these, the bytes of frames of kinds that this version does not know."""
    warnings: tuple[KeyWarning, ...] = ()
    """Changed keys that the person has not answered yet, the newest first."""
    away: str = ""
    """Why we said we are away; empty while we have not."""
    disk: str = ""
    """Refusal of the disk and its remedy, as a sentence; empty while it takes all."""
    shared_names: frozenset[str] = frozenset()
    """Names that several keys go by, in a form of their own: look-alikes count as one."""
    contradictions: tuple[ContradictionInfo, ...] = ()
    """Forks and links of author logs that cannot be true, the newest first; a hundred at most."""
    heard: tuple[HeardInfo, ...] = ()
    """Authors heard through others within the last hour, the latest first; a hundred at most."""
    clock: ClockInfo = field(default_factory=ClockInfo)
    """Our clock, and what the person is asked about it."""
    authors: tuple[AuthorInfo, ...] = ()
    """Those who take most on our disk, the most first, as of a minute ago."""


class Unshown(Enum):
    """Reason why a message that somebody answered cannot be shown."""

    ABSENT = "absent"
    """It is not here, and may never come."""
    WAITS = "waits"
    """It is here, and waits: for its time, for older messages, or for ops of governance."""
    BLOCKED = "blocked"
    """The person has blocked its author."""


class Answers(NamedTuple):
    """Replies to a message and to those replies: each after the one that it answers."""

    lines: tuple[tuple[Line, int], ...] = ()
    """With how many steps each is away: 1 answers the message itself."""
    more: bool = False
    """Set if there are others, older ones mostly."""


class Predecessor(NamedTuple):
    """A channel that another one goes on from, and the place where that was founded."""

    channel: ChannelId
    founded: Position


class History(Protocol):
    """Messages on disk, delivered ones only, in the order of (lamport, message id).

    A gap that was filled since is none (`Line.after_gap`). Acts of governance stand among them
    (`Line.act`); `count` leaves them out.

    All look as their edits, redactions and reactions make them, which are no messages themselves.
    """

    async def page(
        self, channel: ChannelId, *, before: Position | None, limit: int
    ) -> Sequence[Line]:
        """Return up to `limit` lines just before `before` (None: the newest), oldest first."""

    async def page_after(
        self, channel: ChannelId, *, after: Position, limit: int
    ) -> Sequence[Line]:
        """Return up to `limit` lines just after `after`, oldest first."""

    async def parked(self, channel: ChannelId, *, limit: int) -> Sequence[Line]:
        """Return up to `limit` lines that are set aside until their time, the first to come first.

        They are in no page; what replaces an own one hides it (`ReplacedShown`).
        """

    async def pending(self, channel: ChannelId, *, limit: int) -> Sequence[Line]:
        """Return up to `limit` lines that wait for ops of governance, by their place.

        They are in no page. Of more, those that came first.
        """

    async def predecessor(self, channel: ChannelId) -> Predecessor | None:
        """Return the channel that a governed one goes on from; None if there is none."""

    async def count(self, channel: ChannelId) -> int:
        """Return how many messages of the channel are delivered."""

    async def named(self, channel: ChannelId, prefix: str, *, limit: int) -> Sequence[Line]:
        """Return up to `limit` lines whose message id begins with `prefix` (hex), by id."""

    async def find(self, wanted: Wanted, *, limit: int) -> Sequence[Line]:
        """Return up to `limit` lines that are wanted, the newest first, by the time of writing.

        Where very many would do these are the newest as far as they came in the order of writing.
        """

    async def fitting(self, wanted: Wanted) -> int | None:
        """Return how many lines are wanted; None where that would take reading them."""

    async def answered(
        self, channel: ChannelId, message_ids: Sequence[MessageId]
    ) -> Mapping[MessageId, Line | Unshown]:
        """Return each of these messages, which others answer, or why it is not shown."""

    async def answers(self, channel: ChannelId, message_id: MessageId, *, limit: int) -> Answers:
        """Return up to `limit` delivered replies to a message, at all depths."""

    async def causal(
        self, channel: ChannelId, message_id: MessageId, *, depth: int, limit: int
    ) -> Sequence[CausalNode]:
        """Return a message with what it builds on and what builds on it, the nearest first.

        Up to `depth` steps either way and `limit` messages, also what is not delivered; what is
        named and not here is `Place.MISSING`. Nothing if nobody here has ever named the message.
        """

    async def stored(self, channel: ChannelId, message_id: MessageId) -> "StoredInfo | None":
        """Return the bytes of a message, delivered or not, and its changes; None if not here."""
