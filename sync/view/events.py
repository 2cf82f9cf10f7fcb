"""Events of the view: what is told of a line, a person, a session or a channel as it happens."""

from enum import Enum
from typing import TypeAlias

from msgspec import Struct

from sync.machine import ChannelId, MessageId, Nanos, PeerId
from sync.sds.message import Delivery
from sync.view.clock_infos import (
    ClockInfo,
)
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
    ContradictionInfo,
    PeerState,
    Trust,
)
from sync.view.state_infos import StateShown

Position: TypeAlias = tuple[int, MessageId]
"""Where a message stands in the one order of a channel: (lamport, message id)."""


class Reaction(Struct, frozen=True):
    """The authors who react to a message with `emoji`, their own bytes: sanitise to render."""

    emoji: str
    count: int
    mine: bool
    """Whether we are among them."""
    who: tuple[PeerId, ...]


class Line(Struct, frozen=True):
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
    """The most frequent first, and ours; of those that are left out, the next two tell how many."""
    more_kinds: int = 0
    """Kinds of reactions that are not among `reactions`."""
    more_reactors: int = 0
    """People whose reactions are in none of these numbers; so many or more, if it is
    `MORE_REACTORS_MAX`."""
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
    replaces: MessageId | None = None
    """The message of its author that it says it was written for anew; None for nearly all."""

    @property
    def reacted_to(self) -> bool:
        """True if anybody reacts to it."""
        return bool(self.reactions or self.more_reactors)

    @property
    def position(self) -> Position:
        """The line's place in the channel's order."""
        return (self.lamport, self.message_id)


class MessageShown(Struct, frozen=True):
    """A message was delivered (an own one: committed)."""

    line: Line


class PreviewShown(Struct, frozen=True):
    """A message is here that is not delivered yet; `MessageShown` follows once it is.

    It waits for older ones, which are on their way (`line.loading`), or for its time
    (`line.parked`), an own one for the answer about our clock (`line.waits`).
    """

    line: Line


class LineChanged(Struct, frozen=True):
    """A message that was shown before looks different now: `line` is all of it."""

    line: Line
    rewritten: bool
    """Whether its author edited or deleted it, or took one of these back."""
    reacted: bool
    """Whether its reactions are others."""


class DeliveryShown(Struct, frozen=True):
    """The state of an own message changed."""

    channel: ChannelId
    message_id: MessageId
    delivery: Delivery


class MissingShown(Struct, frozen=True):
    """A message we lack was named by `named_by` (a message id, or the peer of a sync message)."""

    channel: ChannelId
    message_id: MessageId
    named_by: str


class FoundShown(Struct, frozen=True):
    """A missing message came, or was given up as lost."""

    channel: ChannelId
    message_id: MessageId
    lost: bool


class WithdrawnShown(Struct, frozen=True):
    """Messages that were shown are set aside until their time, which is far ahead."""

    channel: ChannelId
    message_ids: tuple[MessageId, ...]


class DiscardedShown(Struct, frozen=True):
    """Messages that may have been shown are here no more: the disk had damaged them."""

    channel: ChannelId
    message_ids: tuple[MessageId, ...]


class PushedOutShown(Struct, frozen=True):
    """Messages that were shown early are not here any more; they come again."""

    channel: ChannelId
    message_ids: tuple[MessageId, ...]


class LooksShown(Struct, frozen=True):
    """Lines of a channel may look different now: somebody is out. They are read again in place."""

    channel: ChannelId


class HistoryShown(Struct, frozen=True):
    """A channel that had no history has one now, on the disk.

    The newest lines were told as messages before; `told_from` is the place of the first of them,
    None if there are no others.
    """

    channel: ChannelId
    told_from: Position | None


class AheadShown(Struct, frozen=True):
    """The clock of `peer` is so far ahead of ours that what it writes is parked; told once a run.

    `nick` is their bytes: sanitise to render.
    """

    channel: ChannelId
    peer: PeerId
    nick: str
    ahead_ns: Nanos


class ClockShown(Struct, frozen=True):
    """The question about our clock was opened, changed, answered, or has settled itself."""

    clock: ClockInfo


class ReplacedShown(Struct, frozen=True):
    """An own message that was set aside was written anew; once let in, the old one is hidden."""

    channel: ChannelId
    message_id: MessageId
    """The old one."""
    by: MessageId


class ContradictionShown(Struct, frozen=True):
    """An author signed what cannot be true beside another entry; told once, when it is stored."""

    found: ContradictionInfo


class PeerShown(Struct, frozen=True):
    """A peer came, went, changed its name, or says that it is away."""

    peer: PeerId
    nick: str
    state: PeerState
    away: str = ""


class TrustShown(Struct, frozen=True):
    """The trust in a key changed; with `hidden`, so did whose messages are shown."""

    peer: PeerId
    nick: str
    trust: Trust
    hidden: bool = False


class TypingShown(Struct, frozen=True):
    """A peer began or ceased to type."""

    channel: ChannelId
    peer: PeerId
    nick: str
    typing: bool


class SyncShown(Struct, frozen=True):
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


class LiveShown(Struct, frozen=True):
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


class ChannelShown(Struct, frozen=True):
    """A channel was joined."""

    channel: ChannelId
    name: str


class ChannelLeft(Struct, frozen=True):
    """A channel was left."""

    channel: ChannelId


class Level(Enum):
    """Severity of a notice."""

    INFO = "info"
    ERROR = "error"


class Notice(Struct, frozen=True):
    """One sentence for the person, with what to do."""

    text: str
    level: Level = Level.INFO
    out_of: ChannelId | None = None
    """The channel of which it says why we are not in: it holds until we are."""


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
