"""Inputs and effects of a group, and with them the records a journal keeps."""

from typing import TypeAlias

from msgspec import Struct

from sync.calimero.governance.cross_check import Answer, Divergence
from sync.calimero.governance.ops import OpId
from sync.entries.changes import UNCHANGED, Look
from sync.entries.entry import Entry
from sync.group.clock_values import ClockAnswered, ClockKept, MemberClock, OwnClock, Question
from sync.group.op_values import (
    Act,
    Acted,
    AnswerOps,
    AnswersChecked,
    Diverged,
    GovernanceLinked,
    Governed,
    HeartbeatArrived,
    LackingOps,
    LoadOps,
    Observed,
    OpsAnswered,
    OpsArrived,
    OpsLoaded,
    OpsOffered,
    OpsRequested,
    OpsUnanswered,
    PendingEnded,
    Pends,
    RequestOps,
    SendHeartbeat,
    SendOp,
)
from sync.group.records import (
    Altered,
    ChannelState,
    Discard,
    DropState,
    EndPending,
    Outline,
    OwnState,
    Record,
    Replayed,
    SetClock,
    SetCompared,
    SetCounter,
    SetDelivery,
    SetDropped,
    SetLog,
    SetStatus,
    StoreChecked,
    StoredMessage,
    StoreMessage,
    StoreOp,
    StorePending,
    StoreState,
)
from sync.group.snapshots.values import (
    DropSnapshot,
    PushedOut,
    SnapshotCame,
    SnapshotSwapped,
    StagedSnapshot,
    StageSnapshot,
    SwapSnapshot,
)
from sync.group.state_values import (
    Content,
    HeldLoaded,
    LoadHeld,
    RootTold,
    SetState,
    StateArrived,
    StateChanged,
    StateDiffers,
    StateKind,
    StateSet,
    TellRoot,
    TellState,
)
from sync.group.status import UNSENT, Status
from sync.machine import MessageId, Nanos, PeerId, Tick
from sync.sds.message import Delivery, HistoryEntry
from sync.sessions.page_values import (
    CheckedPage,
    CheckPage,
    LoadNewestEntries,
    LogPlace,
    PageChecked,
)
from sync.sessions.values import (
    PAGE,
    CloseSession,
    CloseTransfer,
    Continue,
    EntriesLoaded,
    LinksTimed,
    LiveBegan,
    LoadedEntry,
    LoadEntries,
    LogsAnnounced,
    Mode,
    OpenSession,
    Outcome,
    PeerAnnounced,
    PeerGone,
    PeerJoined,
    Plane,
    Push,
    Refused,
    SendPayload,
    SessionClosed,
    SessionEnded,
    SessionId,
    SessionOffered,
    SessionOpened,
    SessionPayload,
    Sought,
    StartSession,
    TransferEnded,
    Transferred,
)

__all__ = [  # what is only passed on
    "PAGE",
    "UNSENT",
    "Act",
    "Acted",
    "Altered",
    "Answer",
    "AnswerOps",
    "AnswersChecked",
    "ChannelState",
    "CheckPage",
    "CheckedPage",
    "ClockAnswered",
    "ClockKept",
    "CloseSession",
    "CloseTransfer",
    "Content",
    "Continue",
    "Discard",
    "Diverged",
    "Divergence",
    "DropSnapshot",
    "DropState",
    "EndPending",
    "EntriesLoaded",
    "GovernanceLinked",
    "Governed",
    "HeartbeatArrived",
    "HeldLoaded",
    "LackingOps",
    "LinksTimed",
    "LiveBegan",
    "LoadEntries",
    "LoadHeld",
    "LoadNewestEntries",
    "LoadOps",
    "LoadedEntry",
    "LogPlace",
    "LogsAnnounced",
    "MemberClock",
    "Mode",
    "Observed",
    "OpId",
    "OpenSession",
    "OpsAnswered",
    "OpsArrived",
    "OpsLoaded",
    "OpsOffered",
    "OpsRequested",
    "OpsUnanswered",
    "Outcome",
    "Outline",
    "OwnClock",
    "OwnState",
    "PageChecked",
    "PeerAnnounced",
    "PeerGone",
    "PeerJoined",
    "PendingEnded",
    "Pends",
    "Plane",
    "Push",
    "PushedOut",
    "Question",
    "Record",
    "Refused",
    "Replayed",
    "RequestOps",
    "RootTold",
    "SendHeartbeat",
    "SendOp",
    "SendPayload",
    "SessionClosed",
    "SessionEnded",
    "SessionId",
    "SessionOffered",
    "SessionOpened",
    "SessionPayload",
    "SetClock",
    "SetCompared",
    "SetCounter",
    "SetDelivery",
    "SetDropped",
    "SetLog",
    "SetState",
    "SetStatus",
    "SnapshotCame",
    "SnapshotSwapped",
    "Sought",
    "StageSnapshot",
    "StagedSnapshot",
    "StartSession",
    "StateArrived",
    "StateChanged",
    "StateDiffers",
    "StateKind",
    "StateSet",
    "Status",
    "StoreChecked",
    "StoreMessage",
    "StoreOp",
    "StorePending",
    "StoreState",
    "StoredMessage",
    "SwapSnapshot",
    "TellRoot",
    "TellState",
    "TransferEnded",
    "Transferred",
]


# --- Inputs ------------------------------------------------------------------------------------


class Restored(Struct, frozen=True):
    """First input: what the disk holds."""

    state: ChannelState


class Write(Struct, frozen=True):
    """The person wrote something. `token` comes back in `Written`, or in a failure.

    It is about the delivered messages `about`: they are named in its causal history.
    """

    token: int
    kind: int
    body: bytes
    about: tuple[HistoryEntry, ...] = ()
    replaces: MessageId | None = None
    """An own one, set aside, that it stands for or takes back."""


class Typing(Struct, frozen=True):
    """The person, who goes by `nick`, is typing; the others are told if it is time to."""

    nick: str


class SendAgain(Struct, frozen=True):
    """The person asks to send an own, unacknowledged message again."""

    message_id: MessageId


class AskAgain(Struct, frozen=True):
    """The person wants what is missing asked for now; all of it, if both are empty.

    `gaps` are messages of the log that follow a gap: what they lack is looked for again.
    """

    message_ids: tuple[MessageId, ...]
    gaps: tuple[Outline, ...] = ()


class Arrived(Struct, frozen=True):
    """An SDS frame came over the link of `peer`, which has proved this channel."""

    peer: PeerId
    payload: bytes


class Audience(Struct, frozen=True):
    """A broadcast reaches `peers` others; told where the transport has no links of its own."""

    peers: int


class ReferenceClock(Struct, frozen=True):
    """A clock that is known to be right is `offset_ns` ahead of the machine's clock.

    Told where time comes from elsewhere than from members, as from time servers.
    """

    offset_ns: Nanos


class HeldBackLoaded(Struct, frozen=True):
    """Answer to `LoadHeldBack`, ascending; fewer than its limit if there is no more."""

    outlines: tuple[Outline, ...]


class HistoryExpected(Struct, frozen=True):
    """The history is about to come from `peer`, or is not expected any more."""

    peer: PeerId
    comes: bool


class AuthorsLoaded(Struct, frozen=True):
    """Answer to `LoadAuthors`: the entries `requester` asks for, each with its author."""

    requester: PeerId
    entries: tuple[HistoryEntry, ...]


class Retrieved(Struct, frozen=True):
    """Answer to `Retrieve`: an SDS message as it was stored elsewhere."""

    payload: bytes


class Damaged(Struct, frozen=True):
    """The disk no longer has what was stored there of these messages."""

    message_ids: tuple[MessageId, ...]


Input: TypeAlias = (
    Restored
    | Write
    | Typing
    | SendAgain
    | AskAgain
    | Arrived
    | PeerJoined
    | PeerAnnounced
    | LinksTimed
    | LogsAnnounced
    | PeerGone
    | Audience
    | ReferenceClock
    | OwnClock
    | MemberClock
    | ClockAnswered
    | StartSession
    | SessionOffered
    | SessionOpened
    | SessionPayload
    | EntriesLoaded
    | Continue
    | SessionClosed
    | Transferred
    | TransferEnded
    | Retrieved
    | HeldBackLoaded
    | HistoryExpected
    | AuthorsLoaded
    | Damaged
    | OpsArrived
    | HeartbeatArrived
    | OpsRequested
    | OpsLoaded
    | OpsAnswered
    | OpsUnanswered
    | OpsOffered
    | GovernanceLinked
    | Act
    | AnswersChecked
    | SetState
    | StateArrived
    | RootTold
    | HeldLoaded
    | SnapshotSwapped
    | PageChecked
    | Tick
)


# --- Effects (beside the records) --------------------------------------------------------------


class Broadcast(Struct, frozen=True):
    """Send an SDS payload to every peer of the channel."""

    payload: bytes


class BroadcastStored(Struct, frozen=True):
    """Load a message and send it to every peer.

    An own one goes out again with the filter of now; an answer to a repair request as it is.
    """

    message_id: MessageId
    bloom_filter: bytes | None


class Written(Struct, frozen=True):
    """An own message exists now: it is committed when this is released."""

    token: int
    message_id: MessageId


class Deliver(Struct, frozen=True):
    """Show a message. `entry` is None when it must be loaded.

    `look` is what changes have made of it that were here before; the disk knows, once it is there.
    """

    message_id: MessageId
    entry: Entry | None
    after_gap: bool
    delivery: Delivery | None
    look: Look = UNCHANGED


class Previewed(Struct, frozen=True):
    """Show a message that waits for older ones which are on their way, as one that does."""

    message_id: MessageId
    entry: Entry
    delivery: Delivery | None
    look: Look = UNCHANGED
    """Effect of changes that are here already; the driver learns it from the disk."""


class SetAside(Struct, frozen=True):
    """Show a message that is set aside until its time.

    `waits`: it is ours, and nobody is sent it before the question about our clock is settled.
    """

    message_id: MessageId
    entry: Entry
    delivery: Delivery | None
    waits: bool = False


class AuthorAhead(Struct, frozen=True):
    """The first message of somebody was set aside whose clock is `ahead_ns` ahead; once a run."""

    peer: PeerId
    nick: str
    ahead_ns: Nanos


class ClockJudged(Struct, frozen=True):
    """The question about our clock to put to the person; None once it is settled."""

    question: Question | None


class WriteAnew(Struct, frozen=True):
    """Write these of ours anew, in this order: they waited, with the times of a wrong clock."""

    message_ids: tuple[MessageId, ...]


class LoadHeldBack(Struct, frozen=True):
    """Load what waits for history on its way (status loading), by (lamport, message id).

    At most `limit` of them, after the place `after`, or from the first one on.
    """

    after: tuple[int, MessageId] | None
    limit: int


class LoadAuthors(Struct, frozen=True):
    """Load who wrote these messages (`AuthorsLoaded`): `requester` asks for them."""

    requester: PeerId
    message_ids: tuple[MessageId, ...]


class DeliveryChanged(Struct, frozen=True):
    """The state of an own message changed."""

    message_id: MessageId
    delivery: Delivery


class Missing(Struct, frozen=True):
    """A message we lack was named, by a message or by a peer's sync message."""

    message_id: MessageId
    named_by: str


class Found(Struct, frozen=True):
    """A missing message came, or was given up as lost."""

    message_id: MessageId
    lost: bool


class Withdrawn(Struct, frozen=True):
    """Messages that were shown are set aside until their time: our clock was wrong."""

    message_ids: tuple[MessageId, ...]


class Discarded(Struct, frozen=True):
    """Messages that were shown are here no more: what the disk had of them was damaged."""

    message_ids: tuple[MessageId, ...]


class BeginAnew(Struct, frozen=True):
    """Once this is committed, make the channel's machines anew from the disk."""


class TypingChanged(Struct, frozen=True):
    """`peer`, who goes by `nick`, began or ceased to type."""

    peer: PeerId
    nick: str
    typing: bool


class Retrieve(Struct, frozen=True):
    """Fetch what is missing elsewhere, by its hints, which are Waku hashes.

    See `sync.runner.journal.Retriever`. Fetched messages come in as `Retrieved`.
    """

    wanted: tuple[HistoryEntry, ...]


class Relayed(Struct, frozen=True):
    """`peer` brought a new message of somebody who has no link to us: it is a relay.

    `for_it`: we are one for `peer`, which asked us for a message of somebody who has a link to us.
    """

    peer: PeerId
    for_it: bool = False


class Lacking(Struct, frozen=True):
    """Asking in the channel has not brought `count` messages; `peers` may have them.

    0: nothing is missing any more.
    """

    count: int
    peers: tuple[PeerId, ...]


class Warned(Struct, frozen=True):
    """Something the person should know."""

    text: str


Effect: TypeAlias = (
    Record
    | Broadcast
    | BroadcastStored
    | OpenSession
    | Continue
    | SendPayload
    | LoadEntries
    | CloseSession
    | Push
    | CloseTransfer
    | Sought
    | Written
    | Deliver
    | Altered
    | Previewed
    | SetAside
    | AuthorAhead
    | ClockJudged
    | WriteAnew
    | LoadHeldBack
    | LoadAuthors
    | DeliveryChanged
    | Missing
    | Found
    | Withdrawn
    | Discarded
    | BeginAnew
    | TypingChanged
    | Retrieve
    | Lacking
    | Relayed
    | LiveBegan
    | SessionEnded
    | Refused
    | Warned
    | Acted
    | SendOp
    | SendHeartbeat
    | RequestOps
    | LoadOps
    | AnswerOps
    | Governed
    | LackingOps
    | Pends
    | PendingEnded
    | Observed
    | Diverged
    | StateSet
    | TellState
    | StateChanged
    | TellRoot
    | LoadHeld
    | StateDiffers
    | LoadNewestEntries
    | CheckPage
    | PushedOut
    | SnapshotCame
    | SwapSnapshot
)
