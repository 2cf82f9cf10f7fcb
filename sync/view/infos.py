"""Parts of a snapshot (`sync.view.view`): channels with their buffers, peers, sessions."""

from enum import Enum
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import Struct

from sync.machine import ChannelId, MessageId, Nanos, PeerId
from sync.sds.evidence import Evidence
from sync.sds.message import Delivery
from sync.view.governance_infos import GovernanceInfo
from sync.view.state_infos import NO_STATE, StateInfo

if TYPE_CHECKING:
    from sync.sessions.cards import RangeDrawn


class Trust(Enum):
    """Trust in a key: what the person has found out about its owner."""

    FIRST_SEEN = "first seen"
    VERIFIED = "verified"
    BLOCKED = "blocked"
    CHANGED = "changed key"
    """It goes by a name that another key is known by; the person has not answered that yet."""


class PeerState(Enum):
    """State of a peer's link: up or down."""

    UP = "up"
    DOWN = "down"


class OutgoingInfo(Struct, frozen=True):
    """An own message that nobody has surely received: its state and next resend.

    `attempts` counts how often it was sent again; `possibly_by`: whose filters may hold it.
    """

    message_id: MessageId
    delivery: Delivery
    attempts: int
    resend_at: Nanos | None
    """None while nobody is connected, and once it has failed."""
    possibly_by: tuple[PeerId, ...] = ()


class WaitingInfo(Struct, frozen=True):
    """A message held back for the messages it depends on."""

    message_id: MessageId
    author: PeerId
    unmet: tuple[MessageId, ...]
    give_up_at: Nanos


class RequestInfo(Struct, frozen=True):
    """A missing message, and when we ask for it (SDS-R, outgoing repair request buffer).

    `namer` named it in message `named_by`; in a sync message, if both are the same. `asked` counts
    how often we asked or heard somebody ask, `asked_at` when we did so last; `waiters` those held
    back for it.
    """

    message_id: MessageId
    named_by: str
    namer: PeerId
    t_req: Nanos
    asked: int
    waiters: int
    asked_at: Nanos | None = None


class AnswerInfo(Struct, frozen=True):
    """A message somebody asked for, and when we answer (SDS-R, incoming repair request buffer)."""

    message_id: MessageId
    requester: PeerId
    t_resp: Nanos
    sender: PeerId | None = None
    """Its author: the first term of T_resp; None where nobody said so."""


class RepairInfo(Struct, frozen=True):
    """SDS-R in a channel: its buffers, and the times of a group of this size. Cut to 100 rows."""

    participants: int
    groups: int
    t_min: Nanos
    t_max: Nanos
    requests: tuple[RequestInfo, ...] = ()
    requests_count: int = 0
    answers: tuple[AnswerInfo, ...] = ()
    answers_count: int = 0


class HoldersInfo(Struct, frozen=True):
    """Holders of a message, with the evidence for each; `own` if we wrote it."""

    message_id: MessageId
    own: bool
    holders: tuple[tuple[PeerId, Evidence], ...]


class BloomInfo(Struct, frozen=True):
    """The channel's filter; `fill` and `false_positives` are shares of 1."""

    count: int
    capacity: int
    bits: int
    hashes: int
    fill: float
    false_positives: float


class TypistInfo(Struct, frozen=True):
    """Somebody who is typing; `nick` is the author's bytes: sanitise to render."""

    peer: PeerId
    nick: str


class RoundInfo(Struct, frozen=True):
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
    ranges: "tuple[RangeDrawn, ...]" = ()
    """The first ranges of it, those that are not equal before the others."""
    words: str = ""
    """Text of a payload, of a protocol that compares no ranges."""
    waves: tuple[int, ...] = ()
    """Of its first symbols, the wave of decoding in which each became pure; see
    `sync.sessions.cards.Round`."""


class SessionInfo(Struct, frozen=True):
    """A reconciliation session, running or over.

    `need` counts what we lacked, `got` what came of it, `have` what the peer lacked. `naive` is
    what a plain list of ids would have taken, of whoever had more.
    """

    number: int
    channel: ChannelId
    peer: PeerId
    protocol: str
    why: str
    state: str
    """`opening`, `reconciling`, `checking`, `transferring` or `over`."""
    result: str
    """Result; empty while it goes on."""
    proved: bool
    """Whether both sides have proved to hold the same."""
    since: Nanos
    """Time below which nothing was compared; 0 if everything was."""
    began_at: Nanos
    ended_at: Nanos | None
    need: int
    got: int
    have: int
    naive: int
    payloads: int = 0
    """Of the reconciliation, both ways; the next two count their bytes."""
    bytes_in: int = 0
    bytes_out: int = 0
    bytes_brought: int = 0
    """Of messages that were pushed to us beside these payloads."""
    rounds: tuple[RoundInfo, ...] = ()
    """The first of these payloads."""
    logs: int = 0
    """Author logs that `need` is of, by the peer's word; 0 where none are told."""
    chosen: str = ""
    """Why it is of this kind; empty where the peer has not said."""
    estimate: int = 0
    """Bytes that it is expected to take; 0 where that is not known."""
    outcome: str = ""
    """`converged`, `moved`, `not converged` or `benign`; empty while it goes on."""

    def trip(self, at: int) -> int:
        """Return the number of the round trip that payload `at` is of, from 1.

        An answer may have several payloads; of those that are not among the first, each counts.
        """
        known = self.rounds[: at + 1]
        answers = sum([one.sent != other.sent for one, other in pairwise(known)])
        return (answers + at + 1 - len(known)) // 2 + 1

    @property
    def trips(self) -> int:
        """Number of round trips of the reconciliation."""
        return self.trip(self.payloads - 1) if self.payloads else 0


class ChannelInfo(Struct, frozen=True):
    """One channel, as the channel list and the debug pane show it. Buffers are cut to 100 rows."""

    channel: ChannelId
    name: str
    open: bool
    """Whether anybody on this network can join: the id and secret follow from the name."""
    profile: str
    messages: int
    wrote: bool = False
    """Whether we have ever written here."""
    missing: tuple[MessageId, ...] = ()
    missing_count: int = 0
    lost: int = 0
    lost_ids: tuple[MessageId, ...] = ()
    loading: int = 0
    """Messages that are here and wait for older ones, which are on their way."""
    saving: int = 0
    """Messages of a snapshot that the disk is just making history; what we write waits for it."""
    parked: int = 0
    parked_own: tuple[MessageId, ...] = ()
    """Those of them that we wrote, while our clock was wrong; each can be sent anew."""
    unsent: int = 0
    """Number of these that nobody was sent: they wait for an answer about our clock."""
    outgoing: tuple[OutgoingInfo, ...] = ()
    outgoing_count: int = 0
    outgoing_changes: int = 0
    """Those of them that change another message: an edit, a reaction, a deletion."""
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
    """Typists, the first to begin coming first."""
    direct: PeerId | None = None
    """The other one, if it is a channel of two."""
    sign: str = ""
    """Sign that tells it from one joined before whose name looks the same; empty if none does."""
    governance: GovernanceInfo | None = None
    """Members and their history; None in a channel that nobody governs."""
    state: StateInfo = NO_STATE
    """Topic, pins, appearances and read marks."""


class LogsInfo(Struct, frozen=True):
    """Announcements of author logs between us and a peer; numbers are of channels."""

    version: int | None
    """Of the peer's announcement; None if it made none."""
    is_known: bool
    """Whether we request by that version."""
    theirs: int
    ours: int


class PeerInfo(Struct, frozen=True):
    """One peer we have met; `rtt_ns`, `rtts` and `clock_offset_ns` come from pings."""

    peer: PeerId
    nick: str
    state: PeerState
    address: str
    rtt_ns: Nanos | None = None
    clock_offset_ns: Nanos | None = None
    last_seen_ns: Nanos | None = None
    """By our own clock; None if never in this run."""
    syncing: bool = False
    dialled_us: bool = False
    """Whether the link in use was dialled by the peer: it can reach us."""
    trust: Trust = Trust.FIRST_SEEN
    away: str = ""
    """Why it says it is away; empty while it does not. The peer's bytes: sanitise to render."""
    waiting: int = 0
    """Frames of it that wait until others had their turns: it sends more than is read."""
    stored_messages: int = 0
    stored_bytes: int = 0
    """Messages it wrote that are on our disk, as of a minute ago."""
    logs: LogsInfo | None = None
    """None while neither has announced any."""
    rtts: tuple[Nanos, ...] = ()
    """Round-trip times of the last answered pings, oldest first."""


class HeardInfo(Struct, frozen=True):
    """An author without a link to us, last heard through the peer `via`."""

    author: PeerId
    nick: str
    via: PeerId


class AuthorInfo(Struct, frozen=True):
    """Disk usage of an author, here or not."""

    peer: PeerId
    messages: int
    bytes: int


class ContradictionInfo(Struct, frozen=True):
    """`author` signed two entries that cannot both be true: a copied profile, or two faces."""

    channel: ChannelId
    author: PeerId
    what: str
    """`fork`: both have one number of one log; `backlink`, `skiplink`: one names the other as an
    earlier one of its log, which that is not."""
    seq: int
    """The number that is taken twice, or the one of the entry that names."""
    message_ids: tuple[MessageId, MessageId]
    """The later one, or the one that names; and the other."""


class KeyWarning(Struct, frozen=True):
    """`peer` goes by a name that the key `known` is known by; the person has to answer that."""

    peer: PeerId
    known: PeerId
    nick: str
    verified: bool
    """Whether `known` was verified; else it was at the same address."""
    raised_ns: Nanos
