"""The UI's view of the engine: a snapshot, a stream of events, pages of history.

The live node, the simulator and a replay all show themselves through these types; the UI never
reads an engine. Nothing here does anything: values and one protocol.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypeAlias

from sync.machine import ChannelId, MessageId, Nanos, PeerId
from sync.sds.message import Delivery
from sync.view.clock_infos import (
    ClockAnswer,
    ClockInfo,
    ClockQuestion,
    ClockSettled,
    ClockVoter,
)
from sync.view.finding import Wanted
from sync.view.governance_infos import (
    ActInfo,
    Lateness,
    MembershipShown,
    OpShown,
    PendingEndedShown,
    PendingShown,
    Person,
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
from sync.view.state_infos import StateInfo, StateKind, StateShown

if TYPE_CHECKING:
    from sync.view.departures import DepartureInfo
    from sync.view.message_infos import MessageStory, StoredInfo
    from sync.view.rates import RatesInfo

__all__ = [  # what is only passed on
    "AnswerInfo",
    "BloomInfo",
    "ChannelInfo",
    "ClockAnswer",
    "ClockInfo",
    "ClockQuestion",
    "ClockSettled",
    "ClockVoter",
    "ContradictionInfo",
    "HeardInfo",
    "HoldersInfo",
    "KeyWarning",
    "LogsInfo",
    "MembershipShown",
    "OpShown",
    "OutgoingInfo",
    "PeerInfo",
    "PeerState",
    "PendingEndedShown",
    "PendingShown",
    "RepairInfo",
    "RequestInfo",
    "RoundInfo",
    "SessionInfo",
    "StateInfo",
    "StateKind",
    "StateShown",
    "Trust",
    "TypistInfo",
    "WaitingInfo",
]

NOT_ASKED: Final = "Nothing is asked about this computer's clock now."
"""Why an answer about our clock is refused."""

Position: TypeAlias = tuple[int, MessageId]
"""Where a message stands in the one order of a channel: (lamport, message id)."""


@dataclass(frozen=True, slots=True)
class Reaction:
    """The authors who react to a message with `emoji`, their own bytes: sanitise to render."""

    emoji: str
    count: int
    mine: bool
    """Whether we are among them."""
    who: tuple[PeerId, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A message as it is shown. `text` and `nick` are the author's bytes: sanitise to render."""

    channel: ChannelId
    message_id: MessageId
    author: PeerId
    nick: str
    text: str
    lamport: int
    created_ns: Nanos
    own: bool
    after_gap: bool
    """Whether something it builds on is not here."""
    delivery: Delivery | None
    """Only for own messages; None for those of others."""
    loading: bool = False
    """Whether it is not delivered yet: it waits for older messages, which are on their way."""
    edited: bool = False
    """Whether `text` is not what was written first."""
    deleted: bool = False
    """Whether its author has hidden it: `text` is empty then."""
    reactions: tuple[Reaction, ...] = ()
    """The most frequent first."""
    parked: bool = False
    """Whether it is set aside until its time, which is far ahead by our clock; not delivered."""
    waits: bool = False
    """Whether it is an own one, parked, that nobody was sent: those with standing would park it,
    and the question about our clock is open."""
    replaced: bool = False
    """Whether its author wrote it anew, and so hid it (`deleted`)."""
    hidden_by: Person | None = None
    """The admin who has hidden it (`deleted`); None if it was its author, or nobody."""
    act: ActInfo | None = None
    """The act of governance that it is, which has no text; None for a message."""
    pending: bool = False
    """Whether it waits for ops that say whether its author might write it; not delivered."""
    late: Lateness = Lateness.IN_TIME
    """Its place beside the removals of its author that it claims not to know of."""
    reply_to: MessageId | None = None
    """The message that it answers, which may be none that is here; None for no reply."""

    @property
    def position(self) -> Position:
        """The line's place in the channel's order."""
        return (self.lamport, self.message_id)


@dataclass(frozen=True, slots=True)
class MessageShown:
    """A message was delivered (an own one: committed)."""

    line: Line


@dataclass(frozen=True, slots=True)
class PreviewShown:
    """A message is here that is not delivered yet; `MessageShown` follows once it is.

    It waits for older ones, which are on their way (`line.loading`), or for its time
    (`line.parked`), an own one for the answer about our clock (`line.waits`).
    """

    line: Line


@dataclass(frozen=True, slots=True)
class LineChanged:
    """A message that was shown before looks different now: `line` is all of it."""

    line: Line
    rewritten: bool
    """Whether its author edited or deleted it, or took one of these back."""
    reacted: bool
    """Whether its reactions are others."""


@dataclass(frozen=True, slots=True)
class DeliveryShown:
    """The state of an own message changed."""

    channel: ChannelId
    message_id: MessageId
    delivery: Delivery


@dataclass(frozen=True, slots=True)
class MissingShown:
    """A message we lack was named by `named_by` (a message id, or the peer of a sync message)."""

    channel: ChannelId
    message_id: MessageId
    named_by: str


@dataclass(frozen=True, slots=True)
class FoundShown:
    """A missing message came, or was given up as lost."""

    channel: ChannelId
    message_id: MessageId
    lost: bool


@dataclass(frozen=True, slots=True)
class WithdrawnShown:
    """Messages that were shown are set aside until their time, which is far ahead."""

    channel: ChannelId
    message_ids: tuple[MessageId, ...]


@dataclass(frozen=True, slots=True)
class DiscardedShown:
    """Messages that may have been shown are here no more: the disk had damaged them."""

    channel: ChannelId
    message_ids: tuple[MessageId, ...]


@dataclass(frozen=True, slots=True)
class PushedOutShown:
    """Messages that were shown early are not here any more; they come again."""

    channel: ChannelId
    message_ids: tuple[MessageId, ...]


@dataclass(frozen=True, slots=True)
class LooksShown:
    """Lines of a channel may look different now: somebody is out. They are read again in place."""

    channel: ChannelId


@dataclass(frozen=True, slots=True)
class HistoryShown:
    """A channel that had no history has one now, on the disk.

    The newest lines were told as messages before; `told_from` is the place of the first of them,
    None if there are no others.
    """

    channel: ChannelId
    told_from: Position | None


@dataclass(frozen=True, slots=True)
class AheadShown:
    """The clock of `peer` is so far ahead of ours that what it writes is parked; told once a run.

    `nick` is their bytes: sanitise to render.
    """

    channel: ChannelId
    peer: PeerId
    nick: str
    ahead_ns: Nanos


@dataclass(frozen=True, slots=True)
class ClockShown:
    """The question about our clock was opened, changed, answered, or has settled itself."""

    clock: ClockInfo


@dataclass(frozen=True, slots=True)
class ReplacedShown:
    """An own message that was set aside was written anew; once let in, the old one is hidden."""

    channel: ChannelId
    message_id: MessageId
    """The old one."""
    by: MessageId


@dataclass(frozen=True, slots=True)
class ContradictionShown:
    """An author signed what cannot be true beside another entry; told once, when it is stored."""

    found: ContradictionInfo


@dataclass(frozen=True, slots=True)
class PeerShown:
    """A peer came, went, changed its name, or says that it is away."""

    peer: PeerId
    nick: str
    state: PeerState
    away: str = ""


@dataclass(frozen=True, slots=True)
class TrustShown:
    """The trust in a key changed; with `hidden`, so did whose messages are shown."""

    peer: PeerId
    nick: str
    trust: Trust
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class TypingShown:
    """A peer began or ceased to type."""

    channel: ChannelId
    peer: PeerId
    nick: str
    typing: bool


@dataclass(frozen=True, slots=True)
class SyncShown:
    """A reconciliation session ended. Bytes count both streams; `elapsed_ns` is wall time."""

    channel: ChannelId
    peer: PeerId
    protocol: str
    why: str
    result: str
    rounds: int
    have: int
    need: int
    got: int
    bytes_in: int = 0
    bytes_out: int = 0
    elapsed_ns: Nanos = 0
    logs: int = 0
    """Author logs that `need` was of, by the peer's word; 0 where none were told."""
    of_state: bool = False
    """Whether it compared the channel's state, and not its messages."""
    chosen: str = ""
    """Why it was of this kind, `protocol`; empty where the peer has not said."""
    estimate: int = 0
    """Bytes that it was expected to take; 0 where that was not known."""
    outcome: str = ""
    """`converged`, `moved`, `not converged` or `benign`."""


@dataclass(frozen=True, slots=True)
class LiveShown:
    """A session stays, to pass on what is new, or one that stayed has ended.

    Attributes:
        begun: whether it stays from now on; else it is over.
        why: why it was begun.
        result: how it ended.
        got: messages that it brought, known ones too.
        have: messages that were passed on to the peer.
    """

    channel: ChannelId
    peer: PeerId
    protocol: str
    begun: bool
    why: str
    result: str = ""
    got: int = 0
    have: int = 0


@dataclass(frozen=True, slots=True)
class ChannelShown:
    """A channel was joined."""

    channel: ChannelId
    name: str


@dataclass(frozen=True, slots=True)
class ChannelLeft:
    """A channel was left."""

    channel: ChannelId


class Level(Enum):
    """Severity of a notice."""

    INFO = "info"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Notice:
    """One sentence for the person, with what to do."""

    text: str
    level: Level = Level.INFO


Event: TypeAlias = (
    MessageShown
    | PreviewShown
    | LineChanged
    | DeliveryShown
    | MissingShown
    | FoundShown
    | WithdrawnShown
    | DiscardedShown
    | PushedOutShown
    | LooksShown
    | HistoryShown
    | ContradictionShown
    | AheadShown
    | ClockShown
    | ReplacedShown
    | PeerShown
    | TrustShown
    | TypingShown
    | SyncShown
    | LiveShown
    | ChannelShown
    | ChannelLeft
    | OpShown
    | MembershipShown
    | PendingShown
    | PendingEndedShown
    | StateShown
    | Notice
)


@dataclass(frozen=True, slots=True)
class Snapshot:
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


class Place(Enum):
    """State of a message of the causal graph."""

    HERE = "here"
    WAITING = "waiting"
    """It is here, and waits: for its parents, for history on its way, or for its time."""
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class CausalNode:
    """A message, what it builds on, and where it is; what is unknown of a missing one is None.

    `nick` and `text` are the author's bytes: sanitise to render. `text` is its beginning.
    """

    message_id: MessageId
    place: Place
    author: PeerId | None = None
    lamport: int | None = None
    created_ns: Nanos | None = None
    nick: str = ""
    text: str = ""
    parents: tuple[MessageId, ...] = ()


class FrameKind(Enum):
    """Kinds of frames."""

    SDS = "sds"
    SESSION = "session"
    """A payload of a reconciliation, or a frame of the check after it."""
    TRANSFER = "transfer"
    """A message that is pushed to whoever lacks it."""
    ANNOUNCE = "announce"
    """An announcement of author logs, of all channels shared with a peer."""
    OP = "op"
    """A signed op of a governed channel. The secrets in it are wrapped."""
    HEARTBEAT = "heartbeat"
    """The heads of governance that somebody has."""
    STATE = "state"
    """A signed register that its author tells on its links."""
    ROOT = "root"
    """The root of somebody's state."""
    CATCH_UP = "catch-up"
    """A message of a stream on which ops are asked for."""


@dataclass(frozen=True, slots=True)
class FrameInfo:
    """A frame as it was after decryption. `data` may be its beginning alone; `size` is all of it.

    `peer` is who sent it, or to whom it went; None for a broadcast to everybody.
    """

    number: int
    """From 1 on; a gap means that frames were let go of."""
    at: Nanos
    sent: bool
    peer: PeerId | None
    channel: ChannelId
    kind: FrameKind
    size: int
    data: bytes


@dataclass(frozen=True, slots=True)
class ProbeInfo:
    """An id against the channel's filter: its bits, and whether we really have the message."""

    message_id: str
    bits: tuple[tuple[int, bool], ...]
    """Position, and whether it is set."""
    held: bool

    @property
    def maybe(self) -> bool:
        """The filter's answer: True is maybe, False is certainly not."""
        return all(is_set for _, is_set in self.bits)


class Inspection(Protocol):
    """An engineer's queries beyond the snapshot; asking changes nothing in the engine."""

    def frames(self) -> Sequence[FrameInfo]:
        """Return the last frames, oldest first."""

    def rates(self, now: Nanos) -> "RatesInfo":
        """Return what passed in the last minute; frames are counted only while somebody asks."""

    def departures(self, channel: ChannelId) -> "Sequence[DepartureInfo]":
        """Return what left the buffers of the channel, newest first; 200 at most."""

    def filter_cells(self, channel: ChannelId, count: int) -> tuple[float, ...]:
        """Return the share of set bits in each of `count` equal parts of our filter."""

    def probe(self, channel: ChannelId, message_id: str) -> ProbeInfo | None:
        """Test an id against our filter of the channel; None if we are not in it now."""

    def story(self, channel: ChannelId, message_id: MessageId) -> "MessageStory":
        """Return what is remembered of a message: what happened to it, and who has it."""

    @property
    def recorded(self) -> Path | None:
        """The file that frames are recorded to, if any."""

    def record(self, path: Path) -> None:
        """Append every frame from now on to a file that only its owner can read.

        Raises:
            LocalError: it cannot be written; says what to do.
        """

    def stop_recording(self) -> int:
        """Close that file; returns how many frames it got."""

    @property
    def traced(self) -> Path | None:
        """The file that the engine's steps are written to, if any."""

    def trace(self, path: Path | None) -> None:
        """Write the engine's steps to a file from now on; None ends that.

        Raises:
            LocalError: it cannot be written, or there is no trace here; says what to do.
        """


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
