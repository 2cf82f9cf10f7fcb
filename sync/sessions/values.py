"""Inputs and effects of the sessions of a channel.

Most are between them and whoever has streams; the last four effects are for the group alone.
"""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Final, NamedTuple, TypeAlias

from msgspec import Struct

from sync.entries.entry import Entry
from sync.machine import ChannelId, MessageId, Nanos, PeerId, Tick
from sync.sessions.handshake import SyncKind
from sync.sessions.page_values import CheckPage, LoadNewestEntries, PageChecked
from sync.structures.ids import Ids
from sync.structures.log_spans import LogSpan
from sync.structures.ordered_set import SyncId

PAGE: Final = 256
"""Messages of a page: some 200 kB, 17 MB if all are of the largest size."""

RELAY: Final = "somebody is heard through this peer alone"
"""Why a session stays that is ended when nobody is heard so any more."""

RELAYS: Final = "it hears somebody through us alone"
"""Reason for one that we begin because the peer cannot dial us; it is ended likewise."""

SHARE: Final = "a share of what is missing"
PUT_OFF: Final = "put off while another session brought what is missing"
"""Why sessions are begun that a channel asks for itself (`Sought`)."""

GOVERNANCE: Final = "governance"
"""In place of a protocol that goes on: who is in has to be known alike first."""

SessionId: TypeAlias = int
"""Number of one session, unique within a run of a node."""


class Plane(Enum):
    """Kind of what a session compares."""

    LOG = "log"
    """The messages of the channel."""
    STATE = "state"
    """State beside them, set by members: topic, pins, profiles, marks."""


class Mode(Enum):
    """Duration of a session: until both are equal, or on, to pass on what is new."""

    CATCHING_UP = "catching up"
    LIVE = "live"


class SessionKey(NamedTuple):
    """The place of a session: one runs there at a time."""

    channel: ChannelId
    peer: PeerId
    plane: Plane = Plane.LOG
    mode: Mode = Mode.CATCHING_UP


class Outcome(Enum):
    """Outcome of a session, for whoever decides what follows."""

    CONVERGED = "converged"
    """Both sides hold the same, once each has what it lacked."""
    MOVED = "moved"
    """The compared sets changed meanwhile: it is worth another try at once."""
    NOT_CONVERGED = "not converged"
    """Something failed, or is missing."""
    BENIGN = "benign"
    """Nothing is wrong, and nothing was learnt: it gave way to another session."""


class PeerJoined(Struct, frozen=True):
    """A link to `peer` is up and has proved this channel.

    Where it does not say at which port it `accepts` connections, sessions are its to begin. `host`
    is the address it speaks from; empty where that says nothing. `dialled` says that we dialled it,
    so it may be that it cannot dial us.
    """

    peer: PeerId
    accepts: bool = True
    host: str = ""
    dialled: bool = False


class PeerGone(Struct, frozen=True):
    """The last link to `peer` is down."""

    peer: PeerId


class LinksTimed(Struct, frozen=True):
    """Slow links of the channel; see `sync.structures.link_trips`.

    Attributes:
        slow: their peers, each with the time of a trip there and back.
        pace: that of the fastest link of the channel; 0 where that one is not slow.
    """

    slow: tuple[tuple[PeerId, Nanos], ...]
    pace: Nanos = 0


class PeerAnnounced(Struct, frozen=True):
    """`peer` says which protocols it speaks beyond those that everybody does."""

    peer: PeerId
    protocols: frozenset[str]


class LogsAnnounced(Struct, frozen=True):
    """`peer` announces, encoded, of which channels its author logs can be had.

    It is of all channels that it has proved; it comes by way of one of them.
    """

    peer: PeerId
    payload: bytes


class StartSession(Struct, frozen=True):
    """Begin a session with `peer`, because of `why`: on everything, or what is at most `span` old.

    `protocol` is the name of one; empty for the usual one.
    """

    session: SessionId
    peer: PeerId
    why: str
    span: Nanos | None = None
    protocol: str = ""
    count: int = 0
    """Sessions that we began with this peer before, since it has a link."""
    to_now: bool = False
    """Whether a window of `span` ends now: else a little before, as the rest is just broadcast."""
    live: bool = False
    """Whether we want it to stay, to pass on what is new."""
    offered: bool = False
    """True if the peer has told us that we may ask for the channel's author logs."""
    failed: frozenset[SyncKind] = frozenset()
    """Kinds that came to nothing with the peer since both last agreed."""
    chosen: str = ""
    """Why by this protocol."""
    estimate: int = 0
    """Bytes that it is expected to take."""


class SessionOffered(Struct, frozen=True):
    """`peer` opened a stream to us with a protocol's id, for a session or for the check of one."""

    session: SessionId
    peer: PeerId
    protocol: str
    payloads_max: int = 1
    """Payloads that one answer to the peer may have (`sync.waku.turn`)."""
    shared: int = 0
    """Number that both ends derive from the stream, for their logs; 0 for none."""
    announced: bool = True
    """Whether the peer was told that it may ask for whole logs of the channel."""


class SessionOpened(Struct, frozen=True):
    """The stream that `OpenSession` asked for is there; see `SessionOffered`."""

    session: SessionId
    payloads_max: int = 1
    shared: int = 0


class SessionPayload(Struct, frozen=True):
    """A payload came on a session's stream, or on that of its check."""

    session: SessionId
    payload: bytes


class SessionClosed(Struct, frozen=True):
    """A session's stream ended, or could not be opened; `reason` is empty at a plain end."""

    session: SessionId
    reason: str = ""


class Transferred(Struct, frozen=True):
    """A message came on the transfer stream of `peer`."""

    peer: PeerId
    payload: bytes


class TransferEnded(Struct, frozen=True):
    """The transfer stream of `peer` ended."""

    peer: PeerId


class Here(Struct, frozen=True):
    """A message is here now, whichever way it came."""

    sync_id: SyncId
    message_id: MessageId


class Stored(Struct, frozen=True):
    """A message is stored that was not here: its place in its log, and what it is reconciled by.

    It came from `via`; None where we wrote it, so that whoever has a link is sent it anyway.
    """

    author: PeerId
    log: int
    seq: int
    sync_id: SyncId
    via: PeerId | None


class Leave(Struct, frozen=True):
    """The live session with `peer` is not needed any more."""

    peer: PeerId


class Brought(Struct, frozen=True):
    """An entry that a session brought on its own stream was checked, and is known here.

    `aside`: it is kept apart (parked), or was dropped for lack of room: nobody else is told of it.
    """

    session: SessionId
    sync_id: SyncId
    aside: bool = False


class EntryRefused(Struct, frozen=True):
    """An entry that a session brought on its own stream is not what it claims to be."""

    session: SessionId
    reason: str


class OpenSession(Struct, frozen=True):
    """Open a stream to `peer` with a protocol's id; answer with `SessionOpened`, `SessionClosed`.

    The stream of a check has the number of its session, negative.
    """

    session: SessionId
    peer: PeerId
    protocol: str


class Continue(Struct, frozen=True):
    """Effect, and the input that it asks for: a session has more to answer, after what waits now.

    Until then its stream need not be read.
    """

    session: SessionId


class SendPayload(Struct, frozen=True):
    """Send a payload on a session's stream, behind those before."""

    session: SessionId
    payload: bytes
    carries: bool = False
    """Whether it carries entries, of which each has a row of its own in the protocol log."""


class LoadEntries(Struct, frozen=True):
    """Load entries to send, once what was sent on the session's stream has left; `EntriesLoaded`.

    In the order (lamport, message id) over all `spans`, a page of at most `PAGE` entries, of what
    comes after the place `after`; without one from the lowest on. What is gone is left out.
    """

    session: SessionId
    spans: tuple[LogSpan, ...] = ()
    after: tuple[int, MessageId] | None = None
    ids: tuple[SyncId, ...] = ()
    """Instead of spans: these alone, as far as they are here."""
    messages: tuple[MessageId, ...] = ()
    """The same, by their message ids."""


class LoadedEntry(Struct, frozen=True):
    """A stored entry, and what it is reconciled by."""

    entry: Entry
    sync_id: SyncId


class EntriesLoaded(Struct, frozen=True):
    """The page that `LoadEntries` asked for; `more`: there may be entries behind it."""

    session: SessionId
    page: tuple[LoadedEntry, ...]
    more: bool = False


class CloseSession(Struct, frozen=True):
    """Close a session's stream, after what was sent on it."""

    session: SessionId


class Push(Struct, frozen=True):
    """Load messages by their ids and send them to `peer` on a stream of a protocol's pushes.

    In pages of `PAGE` ids: the newest page, then all that is older, the oldest first, so that
    each message finds there what it builds on.
    """

    peer: PeerId
    ids: Ids
    protocol: str
    """Its id, as the stream is opened with it."""


class CloseTransfer(Struct, frozen=True):
    """Close what `peer` pushes: others have brought the rest, or are about to."""

    peer: PeerId


class Sought(Struct, frozen=True):
    """Sessions with these peers are to begin now, because of `why`."""

    peers: tuple[PeerId, ...]
    why: str
    once: bool = False
    """Whether they are of a part only, and it will be said what follows."""


class LiveBegan(Struct, frozen=True):
    """The stream of a session that has caught up stays, to pass on what is new (`Mode.LIVE`)."""

    session: SessionId
    peer: PeerId
    protocol: str
    plane: Plane = Plane.LOG
    why: str = ""


class SessionEnded(Struct, frozen=True):
    """A session is over, with what it did; `result` says how it ended.

    Converged: both sides have proved to hold the same once each has what it lacked. We have ours;
    what we push may be on its way. Where it does not arrive, the peer sees that, and begins anew.
    Benign: it is to begin anew once another one is over, which will be told.
    """

    session: SessionId
    peer: PeerId
    protocol: str
    why: str
    result: str
    outcome: Outcome
    rounds: int
    have: int
    need: int
    got: int
    plane: Plane = Plane.LOG
    mode: Mode = Mode.CATCHING_UP
    whole: bool = False
    """Whether everything was compared that we take from others."""
    logs: int = 0
    """Author logs that `need` is of, by the peer's word; 0 where none are told."""
    chosen: str = ""
    """Why it was of this kind; empty where the peer has not said."""
    estimate: int = 0
    """Bytes that it was expected to take; 0 where that was not known."""
    cost: int = 0
    """Bytes that its payloads took, both ways."""
    then: str = ""
    """Protocol by which it goes on, for whoever began it to begin at once; empty for none."""
    then_why: str = ""
    then_estimate: int = 0
    """Why by that one, and bytes that it is expected to take."""
    other_state: bool | None = None
    """True where its handshakes told different roots of state; None where that is not known."""
    copies: int = 0
    """Of what we `got`, entries that were here before, perhaps under another signature."""

    @property
    def converged(self) -> bool:
        """True if both sides hold the same."""
        return self.outcome is Outcome.CONVERGED


class Refused(Struct, frozen=True):
    """Something of a peer's was declined without blame worth closing the link for."""

    peer: PeerId
    reason: str


class Accepted(Struct, frozen=True):
    """A message that a session wants, as its protocol read it; the group checks it.

    One that came on the session's own stream is not known by its id: `Brought` tells it.
    """

    peer: PeerId
    sync_id: SyncId | None
    item: object
    session: SessionId = 0


class AcceptedState(Struct, frozen=True):
    """State entries that a session brought; the group checks them at once."""

    peer: PeerId
    contents: tuple[bytes, ...]
    session: SessionId


class SnapshotTold(Struct, frozen=True):
    """News of the snapshot that a session brings; its protocol and the group know their form."""

    peer: PeerId
    news: object
    session: SessionId


class Wanted(Struct, frozen=True):
    """Ids a session has found missing: they are on their way."""

    ids: Sequence[SyncId]


class Unwanted(Struct, frozen=True):
    """Of the ids found missing, those that do not come: the session is over, or its peer stalls."""

    ids: Sequence[SyncId]
    stalled: bool = False


class WantedLogs(Struct, frozen=True):
    """A session has begun to bring entries of these authors, on its own stream."""

    authors: frozenset[PeerId]


class UnwantedLogs(Struct, frozen=True):
    """A session brings nothing more of these authors."""

    authors: frozenset[PeerId]


class WantedMessages(Struct, frozen=True):
    """A session has asked its peer for these, by their ids: nobody else is asked for them."""

    messages: frozenset[MessageId]


class UnwantedMessages(Struct, frozen=True):
    """A session brings nothing more of these."""

    messages: frozenset[MessageId]


class WantedHashes(Struct, frozen=True):
    """The same, by their Waku hashes."""

    hashes: frozenset[bytes]


class UnwantedHashes(Struct, frozen=True):
    """A session brings nothing more of these: it is over, or its peer stalls."""

    hashes: frozenset[bytes]
    stalled: bool = False


class Proved(Struct, frozen=True):
    """The peer has proved what it holds of what we held: from `floor` on, what `holds` says."""

    peer: PeerId
    floor: Nanos
    whole: bool
    """Whether everything was compared that we take from others."""
    holds: Callable[[SyncId], bool]


Input: TypeAlias = (
    StartSession
    | LinksTimed
    | PeerAnnounced
    | LogsAnnounced
    | SessionOffered
    | SessionOpened
    | SessionPayload
    | EntriesLoaded
    | PageChecked
    | Continue
    | SessionClosed
    | Transferred
    | TransferEnded
    | Here
    | Stored
    | Leave
    | Brought
    | EntryRefused
    | PeerJoined
    | PeerGone
    | Tick
)
Effect: TypeAlias = (
    OpenSession
    | Continue
    | SendPayload
    | LoadEntries
    | LoadNewestEntries
    | CheckPage
    | CloseSession
    | Push
    | CloseTransfer
    | Sought
    | LiveBegan
    | SessionEnded
    | Refused
    | Accepted
    | AcceptedState
    | SnapshotTold
    | Wanted
    | Unwanted
    | WantedLogs
    | UnwantedLogs
    | WantedMessages
    | UnwantedMessages
    | WantedHashes
    | UnwantedHashes
    | Proved
)
