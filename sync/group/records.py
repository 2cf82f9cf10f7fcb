"""Journal records of a channel, and the state restored from them after a start."""

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from itertools import islice
from typing import Final, NamedTuple, TypeAlias

from msgspec import Struct, field

from sync.calimero.governance.dag import Judgement
from sync.calimero.governance.pending import Dropped
from sync.calimero.state.entry import RegisterKey
from sync.entries.changes import Look
from sync.entries.columns import Columns
from sync.entries.entry import Entry, Kind, open_content
from sync.group.clock_values import ClockKept
from sync.group.logs import LogPlace, LogState
from sync.group.snapshots.values import DropSnapshot, StagedSnapshot, StageSnapshot
from sync.group.status import Status
from sync.machine import ChannelId, MessageId, Nanos, PeerId
from sync.sds.message import Delivery, HistoryEntry

GAPS_MAX: Final = 100
"""Gaps looked for again after a start; older ones are left to reconciliation."""


class StoredMessage(Struct, frozen=True):
    """One entry as a journal keeps it: the canonical SDS bytes and what is looked up by."""

    channel: ChannelId
    entry: Entry
    waku_hash: bytes
    """32 bytes; with `entry.header.created_ns` the SyncID."""
    payload: bytes
    """The canonical SDS message: the original bytes, relayed as they are."""


class StoreMessage(Struct, frozen=True):
    """Record: a new message, all its columns at once."""

    message: StoredMessage
    status: Status
    after_gap: bool = False
    delivery: Delivery | None = None
    """Only for own messages."""
    attempts: int = 0
    """Number of times it was sent again; see `UNSENT`."""


class StoreChecked(Struct, frozen=True, gc=False):
    """Record of a replay: `StoreMessage`, as columns; nothing of it need be opened again."""

    channel: ChannelId
    columns: Columns
    content: bytes
    """The signed entry, as it was sent."""
    waku_hash: bytes
    payload: bytes
    status: Status
    after_gap: bool
    delivery: Delivery | None

    def opened(self) -> StoreMessage:
        """Return it as a journal that keeps entries wants it."""
        entry = open_content(self.content)
        message = StoredMessage(self.channel, entry, self.waku_hash, self.payload)
        return StoreMessage(message, self.status, self.after_gap, self.delivery)


class SetStatus(Struct, frozen=True):
    """Record: a waiting or parked message is delivered, or a parked one waits."""

    channel: ChannelId
    message_id: MessageId
    status: Status
    after_gap: bool


class SetDelivery(Struct, frozen=True):
    """Record: how sure we are of an own message, and how often it was sent again."""

    channel: ChannelId
    message_id: MessageId
    delivery: Delivery
    attempts: int


class SetLog(Struct, frozen=True):
    """Record: our log in this channel, drawn anew when we find we were restored or cloned."""

    channel: ChannelId
    log: int


class SetClock(Struct, frozen=True):
    """Record: what was answered about our clock in this channel."""

    channel: ChannelId
    kept: ClockKept


class SetCounter(Struct, frozen=True):
    """Record: the counter of our last announcement, which is of the node and of no channel."""

    counter: int


class SetCompared(Struct, frozen=True):
    """Record: everything in this channel was compared with `peer` at `at_ns`, and is equal now.

    Of over 1,024 peers (`sync.manager.histories`) the one of longest ago is forgotten.
    """

    channel: ChannelId
    peer: PeerId
    at_ns: Nanos


class Discard(Struct, frozen=True):
    """Record: a stored message is damaged, and counts from now on as one that is not here.

    Delivered messages that name it follow a gap from now on. Its bytes are kept aside.
    """

    channel: ChannelId
    message_id: MessageId


class StoreOp(Struct, frozen=True):
    """Record: an op of governance was taken in. What it is at its own parents goes with it.

    An op that is there already is stored anew, behind all others: its bytes there had rotted.
    """

    channel: ChannelId
    content: bytes
    """The signed op as it was sent; its id follows from it."""
    judgement: Judgement


class StorePending(Struct, frozen=True):
    """Record: an entry waits for ops that name its author's cut. It counts nowhere meanwhile."""

    message: StoredMessage


class EndPending(Struct, frozen=True):
    """Record: an entry waits no longer: it was let in before this, is dropped, or forgotten."""

    channel: ChannelId
    message_id: MessageId


class SetDropped(Struct, frozen=True):
    """Record: an entry was dropped, for its author might not write it. Its id is remembered.

    Of over `DROPPED_MAX` of a channel, the one dropped first is forgotten.
    """

    channel: ChannelId
    message_id: MessageId
    label: Dropped


class StoreState(Struct, frozen=True):
    """Record: an entry stands in its register, in the place of the one before."""

    channel: ChannelId
    content: bytes
    """The entry as it was sent; its register follows from it."""


class DropState(Struct, frozen=True):
    """Record: a register of an author is no longer among those that stay."""

    channel: ChannelId
    key: RegisterKey


DROPPED_MAX: Final = 10_000

Record: TypeAlias = (
    StoreMessage
    | SetStatus
    | SetDelivery
    | SetLog
    | SetClock
    | SetCounter
    | SetCompared
    | Discard
    | StoreOp
    | StorePending
    | EndPending
    | SetDropped
    | StoreState
    | DropState
    | StageSnapshot
    | DropSnapshot
)

Replayed: TypeAlias = Record | StoreChecked
"""Records that come of the replay of a snapshot."""


def in_parts(records: Iterator[Replayed], most: int) -> Iterator[Sequence[Replayed]]:
    """Yield `records` in parts of at most so many."""
    while part := list(islice(records, most)):
        yield part


def opened(records: Iterable[Replayed]) -> list[Record]:
    """Return what a replay makes as a journal that keeps entries wants it."""
    return [one.opened() if isinstance(one, StoreChecked) else one for one in records]


class Altered(Struct, frozen=True):
    """A message looks different that is shown: it was edited, hidden, or somebody reacted to it.

    No machine says so: the disk does, which alone knows what belongs together (`Journal.commit`).
    """

    channel: ChannelId
    message_id: MessageId
    entry: Entry
    after_gap: bool
    delivery: Delivery | None
    look: Look
    rewritten: bool
    """Whether its text is another one, or hidden."""
    reacted: bool
    """Whether its reactions are others."""
    loading: bool = False
    """Whether it is not delivered, and waits for history on its way (`values.Previewed`)."""


class Contradicts(Enum):
    """Kind of contradiction between two signed entries."""

    FORK = "fork"
    """They have one author, log and number."""
    BACKLINK = "backlink"
    """One names the other as the one before it in its log, which the other is not."""
    SKIPLINK = "skiplink"
    """The same of the one that it skips back to."""


class Contradiction(Struct, frozen=True):
    """`author` signed what cannot be true beside another entry; both are kept (PROTOCOL 3).

    The disk says so, once: when the second of both is stored (`Journal.watch`).
    """

    channel: ChannelId
    author: PeerId
    what: Contradicts
    log: int
    seq: int
    """The number that is taken twice, or the one of the entry that names."""
    message_id: MessageId
    """Of the later one; or of the one that names."""
    other: MessageId


class Outline(Struct, frozen=True):
    """A stored message without its content: all that SDS needs to know of it."""

    message_id: MessageId
    sender_id: PeerId
    lamport: int
    created_ns: Nanos
    causal_history: tuple[HistoryEntry, ...]
    retrieval_hint: bytes
    place: LogPlace | None = None
    """In the author's log; only of those that are parked, which do not count there yet."""


class OwnState(Struct, frozen=True):
    """An own message that is not acknowledged."""

    message_id: MessageId
    delivery: Delivery
    attempts: int
    created_ns: Nanos
    waku_hash: bytes
    kind: int = Kind.TEXT


def stamped_row(stamp: int, digest: bytes) -> bytes:
    """Return a row of `ChannelState.log` or `ChannelState.sync_ids`: a million are 40 MB."""
    return stamp.to_bytes(8, "big") + digest


class StoredOp(NamedTuple):
    """An op of governance as it is kept (`StoreOp`)."""

    content: bytes
    judgement: Judgement


class ChannelState(Struct, frozen=True):
    """Everything a channel's machines need after a start; made from committed rows alone."""

    log_number: int
    log: bytes = b""
    """Every delivered message, ascending, 40 bytes each: lamport, big-endian, and message id."""
    sync_ids: bytes = b""
    """Every stored message but the parked ones, ascending, 40 bytes each: created_ns, big-endian,
    and Waku hash."""
    logs: tuple[LogState, ...] = ()
    """All author logs, of the same messages, ascending."""
    own_log: tuple[MessageId, ...] = ()
    """Ids of our current log by sequence number, from 1 on."""
    own_created_ns: Nanos = 0
    """The newest `created_ns` of any own entry."""
    tips: tuple[Outline, ...] = ()
    """Delivered messages that no message names, and the newest two; newest last, at most 64."""
    outgoing: tuple[OwnState, ...] = ()
    waiting: tuple[Outline, ...] = ()
    parked: tuple[Outline, ...] = ()
    loading: frozenset[MessageId] = frozenset()
    """Messages that wait for history on its way."""
    unsent: frozenset[MessageId] = frozenset()
    """Those of `parked` that nobody was sent yet: they wait for an answer about our clock."""
    gaps: tuple[Outline, ...] = ()
    """The newest messages delivered after a gap; at most `GAPS_MAX`, newest last."""
    replaced: frozenset[MessageId] = frozenset()
    """Those of `parked` that we wrote anew."""
    clock: ClockKept = field(default_factory=ClockKept)
    """Answer about our clock."""
    counter: int = 0
    """Counter of our last announcement in any channel (`SetCounter`)."""
    compared: tuple[tuple[PeerId, Nanos], ...] = ()
    """Peers with whom everything was compared, and when (`SetCompared`)."""
    ops: tuple[StoredOp, ...] = ()
    """Ops of governance, ancestors first, but those whose bytes have rotted."""
    pending: tuple[StoredMessage, ...] = ()
    """Entries that wait for ops, the one that came first first."""
    dropped: tuple[tuple[MessageId, Dropped], ...] = ()
    """Entries that were dropped, the one dropped last last; at most `DROPPED_MAX`."""
    state: tuple[bytes, ...] = ()
    """Entries of the channel's state that stand, but those whose bytes have rotted."""
    snapshot: StagedSnapshot | None = None
    """Pages of a snapshot that are staged; None if none are."""
