"""What the UI may know: a snapshot, a stream of events, pages of history.

The live node, the simulator and a replay all show themselves through these types; the UI never
reads an engine. Nothing here does anything: values and one protocol.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Protocol, TypeAlias

from sync.group.range_drawn import RangeDrawn
from sync.machine import ChannelId, MessageId, Nanos, PeerId
from sync.sds.evidence import Evidence
from sync.sds.message import Delivery

Position: TypeAlias = tuple[int, MessageId]
"""Where a message stands in the one order of a channel: (lamport, message id)."""


class PeerState(Enum):
    """Whether a peer's link is alive."""

    UP = "up"
    DOWN = "down"


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
    delivery: Delivery | None
    """Only for own messages; None for those of others."""
    loading: bool = False
    """Whether it is not delivered yet: it waits for older messages, which are on their way."""

    @property
    def position(self) -> Position:
        """Where it stands in the channel's order."""
        return (self.lamport, self.message_id)


@dataclass(frozen=True, slots=True)
class MessageShown:
    """A message was delivered (an own one: committed)."""

    line: Line


@dataclass(frozen=True, slots=True)
class PreviewShown:
    """A message is here that waits for older ones, which are on their way (`line.loading`).

    `MessageShown` follows once it is delivered.
    """

    line: Line


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
class PeerShown:
    """A peer came, went, or changed its name."""

    peer: PeerId
    nick: str
    state: PeerState


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


@dataclass(frozen=True, slots=True)
class ChannelShown:
    """A channel was joined."""

    channel: ChannelId
    name: str


class Level(Enum):
    """How loud a notice is."""

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
    | DeliveryShown
    | MissingShown
    | FoundShown
    | WithdrawnShown
    | PeerShown
    | TypingShown
    | SyncShown
    | ChannelShown
    | Notice
)


@dataclass(frozen=True, slots=True)
class OutgoingInfo:
    """An own message that nobody has surely received: its state and next resend.

    `attempts` counts how often it was sent again; `possibly_by`: whose filters may hold it.
    """

    message_id: MessageId
    delivery: Delivery
    attempts: int
    resend_at: Nanos | None
    """None while nobody is connected, and once it has failed."""
    possibly_by: tuple[PeerId, ...] = ()


@dataclass(frozen=True, slots=True)
class WaitingInfo:
    """A message held back for the messages it depends on."""

    message_id: MessageId
    author: PeerId
    unmet: tuple[MessageId, ...]
    give_up_at: Nanos


@dataclass(frozen=True, slots=True)
class RequestInfo:
    """A missing message, and when we ask for it (SDS-R, outgoing repair request buffer).

    `namer` named it in message `named_by`; in a sync message, if both are the same. `asked` counts
    how often we asked or heard somebody ask; `waiters` those held back for it.
    """

    message_id: MessageId
    named_by: str
    namer: PeerId
    t_req: Nanos
    asked: int
    waiters: int


@dataclass(frozen=True, slots=True)
class AnswerInfo:
    """A message somebody asked for, and when we answer (SDS-R, incoming repair request buffer)."""

    message_id: MessageId
    requester: PeerId
    t_resp: Nanos
    sender: PeerId | None = None
    """Who wrote it: the first term of T_resp; None where nobody said so."""


@dataclass(frozen=True, slots=True)
class RepairInfo:
    """SDS-R in a channel: its buffers, and the times of a group of this size. Cut to 100 rows."""

    participants: int
    groups: int
    t_min: Nanos
    t_max: Nanos
    requests: tuple[RequestInfo, ...] = ()
    requests_count: int = 0
    answers: tuple[AnswerInfo, ...] = ()
    answers_count: int = 0


@dataclass(frozen=True, slots=True)
class HoldersInfo:
    """Who has a message, and how we know; `own` if we wrote it."""

    message_id: MessageId
    own: bool
    holders: tuple[tuple[PeerId, Evidence], ...]


@dataclass(frozen=True, slots=True)
class BloomInfo:
    """The channel's filter; `fill` and `false_positives` are shares of 1."""

    count: int
    capacity: int
    bits: int
    hashes: int
    fill: float
    false_positives: float


@dataclass(frozen=True, slots=True)
class TypistInfo:
    """Somebody who is typing; `nick` is the author's bytes: sanitise to render."""

    peer: PeerId
    nick: str


@dataclass(frozen=True, slots=True)
class RoundInfo:
    """One payload of a reconciliation.

    `cells` are 32 signs from the oldest to the newest of what we hold: `.` equal, so skipped, `#` a
    fingerprint that differs, `=` an item set. `items` counts the ids of all item sets.
    """

    sent: bool
    size: int
    skips: int
    fingerprints: int
    item_sets: int
    items: int
    cells: str
    raw: int = 0
    """Bytes that the same ranges take without delta encoding."""
    ranges: tuple[RangeDrawn, ...] = ()
    """The first ranges of it, those that are not equal before the others."""


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A reconciliation session, running or over.

    `need` counts what we lacked, `got` what came of it, `have` what the peer lacked. Payload bytes
    are in `rounds`; `naive` is what a plain list of ids would have taken, of whoever had more.
    """

    number: int
    channel: ChannelId
    peer: PeerId
    protocol: str
    why: str
    state: str
    """`opening`, `reconciling`, `checking`, `transferring` or `over`."""
    result: str
    """How it ended; empty while it goes on."""
    proved: bool
    """Whether both sides have proved to hold the same."""
    since: Nanos
    """What is older was not compared; 0 if everything was."""
    began_at: Nanos
    ended_at: Nanos | None
    need: int
    got: int
    have: int
    naive: int
    rounds: tuple[RoundInfo, ...] = ()


@dataclass(frozen=True, slots=True)
class ChannelInfo:
    """One channel, as the channel list and the debug pane show it. Buffers are cut to 100 rows."""

    channel: ChannelId
    name: str
    open: bool
    """Whether anybody on this network can join: the id and secret follow from the name."""
    profile: str
    messages: int
    missing: tuple[MessageId, ...] = ()
    missing_count: int = 0
    lost: int = 0
    lost_ids: tuple[MessageId, ...] = ()
    loading: int = 0
    """Messages that are here and wait for older ones, which are on their way."""
    parked: int = 0
    parked_own: tuple[MessageId, ...] = ()
    """Those of them that we wrote, while our clock was wrong; each can be sent anew."""
    outgoing: tuple[OutgoingInfo, ...] = ()
    outgoing_count: int = 0
    waiting: tuple[WaitingInfo, ...] = ()
    waiting_count: int = 0
    next_sync_at: Nanos | None = None
    bloom: BloomInfo | None = None
    repair: RepairInfo | None = None
    holders: tuple[HoldersInfo, ...] = ()
    """The newest messages, newest first."""
    peers: tuple[PeerId, ...] = ()
    """Peers whose link proved this channel."""
    typists: tuple[TypistInfo, ...] = ()
    """Who is typing, who began first coming first."""


@dataclass(frozen=True, slots=True)
class PeerInfo:
    """One peer we have met; `rtt_ns` and `clock_offset_ns` come from pings."""

    peer: PeerId
    nick: str
    state: PeerState
    address: str
    rtt_ns: Nanos | None = None
    clock_offset_ns: Nanos | None = None
    last_seen_ns: Nanos | None = None
    """By our own clock; None if never in this run."""
    syncing: bool = False


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything the screens show that is not a page of history."""

    me: PeerId
    nick: str
    now: Nanos
    port: int | None
    interface: str
    network: str
    """What the network is doing and what comes next, one sentence."""
    channels: tuple[ChannelInfo, ...]
    peers: tuple[PeerInfo, ...]
    sessions: tuple[SessionInfo, ...] = ()
    """Reconciliations, the newest first; at most 20 of a channel that are over."""
    trace: tuple[str, ...] = ()
    """The last lines of the trace, newest last."""
    longest_block_ns: Nanos = 0
    """Longest slice of work that kept the event loop from the UI."""
    refused: dict[str, int] = field(default_factory=dict)
    """How many bad inputs each peer or address has sent us."""


class Place(Enum):
    """Where a message of the causal graph is."""

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
    """What a frame was sent as."""

    SDS = "sds"
    SESSION = "session"
    """A payload of a reconciliation, or a frame of the check after it."""
    TRANSFER = "transfer"
    """A message that is pushed to whoever lacks it."""


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
        """What the filter says: True is maybe, False is certainly not."""
        return all(is_set for _, is_set in self.bits)


class Inspection(Protocol):
    """What an engineer may ask beyond the snapshot; asking changes nothing in the engine."""

    def frames(self) -> Sequence[FrameInfo]:
        """Return the last frames, oldest first."""

    def probe(self, channel: ChannelId, message_id: str) -> ProbeInfo | None:
        """Test an id against our filter of the channel; None if we are not in it now."""

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


class History(Protocol):
    """Messages on disk, delivered ones only, in the order of (lamport, message id)."""

    async def page(
        self, channel: ChannelId, *, before: Position | None, limit: int
    ) -> Sequence[Line]:
        """Return up to `limit` lines just before `before` (None: the newest), oldest first."""

    async def page_after(
        self, channel: ChannelId, *, after: Position, limit: int
    ) -> Sequence[Line]:
        """Return up to `limit` lines just after `after`, oldest first."""

    async def count(self, channel: ChannelId) -> int:
        """Return how many messages of the channel are delivered."""

    async def named(self, channel: ChannelId, prefix: str, *, limit: int) -> Sequence[Line]:
        """Return up to `limit` lines whose message id begins with `prefix` (hex), by id."""

    async def search(self, channel: ChannelId, query: str, *, limit: int) -> Sequence[Line]:
        """Return the newest `limit` lines that match `query`, oldest first."""

    async def causal(
        self, channel: ChannelId, message_id: MessageId, *, depth: int, limit: int
    ) -> Sequence[CausalNode]:
        """Return a message with what it builds on and what builds on it, the nearest first.

        Up to `depth` steps either way and `limit` messages, also what is not delivered; what is
        named and not here is `Place.MISSING`. Nothing if nobody here has ever named the message.
        """
