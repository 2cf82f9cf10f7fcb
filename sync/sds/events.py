"""Inputs and effects of an SDS channel."""

from collections.abc import Callable
from typing import TypeAlias

from msgspec import Struct

from sync.machine import MessageId, Nanos, PeerId, Tick
from sync.sds.incoming import Content
from sync.sds.message import Delivery, HistoryEntry, Message


class Sealed(Struct, frozen=True):
    """Result of `seal`: a body's message id, content and retrieval hint."""

    message_id: MessageId
    content: bytes
    retrieval_hint: bytes | None


Seal: TypeAlias = Callable[[int, tuple[HistoryEntry, ...], object], Sealed]
"""(lamport, causal history, body) -> message id and content."""


class Send(Struct, frozen=True):
    """Input: write a message. `body` is whatever `seal` understands; it is about `names`.

    Its causal history names those too, whatever else it names.
    """

    body: object
    names: tuple[HistoryEntry, ...] = ()


class SendEphemeral(Struct, frozen=True):
    """Input: tell something short-lived."""

    content: bytes


class SendAgain(Struct, frozen=True):
    """Input: the person wants an own message sent again."""

    message_id: MessageId


class AskAgain(Struct, frozen=True):
    """Input: the person wants what is missing asked for now; of all that is, if `ids` is empty.

    `gaps` are messages that were delivered after a gap: what they lack is looked for again, also
    what nobody here remembers to have lost.
    """

    ids: tuple[MessageId, ...]
    gaps: tuple[Content, ...] = ()


class Received(Struct, frozen=True):
    """Input: a message, checked by the caller. `hint` is its own retrieval hint.

    `from_author`: it came straight from its sender, so its filter counts, and a sync message. `via`
    is whose link it came on; None where it was fetched elsewhere. `bulk`: it is part of a history.
    """

    message: Message
    hint: bytes | None
    from_author: bool
    via: PeerId | None = None
    bulk: bool = False


class HeardCopy(Struct, frozen=True):
    """Input: somebody else than its author sent a message that we have: an answer was given."""

    message_id: MessageId
    sender: PeerId | None
    """None where no peer sent it to us: a retriever fetched it."""


class Beside(Struct, frozen=True):
    """Input: a message came straight from its sender, and is here though it has no place yet.

    Its filter and its repair request say something of today all the same; its history does not.
    """

    message: Message


class Requested(Struct, frozen=True):
    """Input: `requester` asks for these messages of ours, each with its author as we stored it."""

    requester: PeerId
    entries: tuple[HistoryEntry, ...]


class SetAside(Struct, frozen=True):
    """Input: a message is here, but may not take its place yet: nobody is asked for it."""

    message_id: MessageId


class Postpone(Struct, frozen=True):
    """Input: these are here, and take their places when what they name, on its way, is here too.

    Nobody is asked for them; who waits for them goes on waiting.
    """

    message_ids: frozenset[MessageId]
    gone: bool = False
    """They were let go meanwhile: whoever is named by others is looked for again."""


class HeldBy(Struct, frozen=True):
    """Input: `peer` has proved that it holds these messages of ours."""

    peer: PeerId
    message_ids: tuple[MessageId, ...]


class Forgo(Struct, frozen=True):
    """Input: what is missing now is older than what we take from others: it counts as met."""


class Admit(Struct, frozen=True):
    """Input: a message that was kept aside takes its place now."""

    content: Content
    send: bool = False
    """Whether it is ours and was sent to nobody yet."""


class Seek(Struct, frozen=True):
    """Input: `message_id` is here and names `history` in another way; look, but do not wait.

    `author` wrote it, and it came on the link of `via`.
    """

    history: tuple[HistoryEntry, ...]
    message_id: MessageId
    author: PeerId
    via: PeerId | None = None


class Connected(Struct, frozen=True):
    """Input: how many peers of the channel are connected."""

    peers: int


class Paced(Struct, frozen=True):
    """Input: a trip there and back takes `trip` on every link of the channel; 0 for no time."""

    trip: Nanos


class ReferenceClock(Struct, frozen=True):
    """Input: the reference clock is `offset_ns` ahead of `now`."""

    offset_ns: Nanos


class RestoredOwn(Struct, frozen=True):
    """An own message that was not acknowledged before the start."""

    message_id: MessageId
    delivery: Delivery
    attempts: int


class Restored(Struct, frozen=True):
    """Input: the state on disk.

    Attributes:
        log: every delivered message, ascending, in the rows that `OrderedLog.restore` reads.
        tips: the delivered messages that none names and the newest `history_size`, oldest first.
        outgoing: own messages without an acknowledgement.
        waiting: messages held back.
        gaps: newest messages that were delivered after a gap: what they lack is looked for again.
    """

    log: bytes
    tips: tuple[Content, ...]
    outgoing: tuple[RestoredOwn, ...]
    waiting: tuple[Content, ...]
    gaps: tuple[Content, ...] = ()


Input: TypeAlias = (
    Send
    | SendEphemeral
    | SendAgain
    | AskAgain
    | Received
    | HeardCopy
    | Beside
    | Requested
    | SetAside
    | Postpone
    | HeldBy
    | Forgo
    | Admit
    | Seek
    | Connected
    | Paced
    | ReferenceClock
    | Restored
    | Tick
)


class Broadcast(Struct, frozen=True):
    """Send this message to everybody."""

    message: Message


class Rebroadcast(Struct, frozen=True):
    """Send an own message again, with the filter of now."""

    message_id: MessageId
    bloom_filter: bytes
    attempts: int
    delivery: Delivery


class Answer(Struct, frozen=True):
    """Send a message of the history to everybody, as it was stored: somebody asked for it."""

    message_id: MessageId


class LookUp(Struct, frozen=True):
    """Tell who wrote these messages of ours (`Requested`): `requester` asks for them."""

    requester: PeerId
    message_ids: tuple[MessageId, ...]


class Retrieve(Struct, frozen=True):
    """Fetch these elsewhere, by their hints: to ask in the channel was in vain, or takes long."""

    wanted: tuple[HistoryEntry, ...]


class Delivered(Struct, frozen=True):
    """A message took its place in the log."""

    message_id: MessageId
    after_gap: bool


class Held(Struct, frozen=True):
    """A message waits for its dependencies."""

    message_id: MessageId


class Missing(Struct, frozen=True):
    """A message we lack was named by `named_by`, a message id or the sender of a sync message."""

    message_id: MessageId
    named_by: str


class Found(Struct, frozen=True):
    """A missing message came, or is given up as lost."""

    message_id: MessageId
    lost: bool = False


class DeliveryChanged(Struct, frozen=True):
    """The delivery state of an own message changed."""

    message_id: MessageId
    delivery: Delivery
    attempts: int


class EphemeralArrived(Struct, frozen=True):
    """Somebody told something short-lived."""

    sender_id: PeerId
    content: bytes


class FilterIgnored(Struct, frozen=True):
    """A peer's filter was of no use; its message was taken all the same."""

    sender_id: PeerId
    reason: str


Effect: TypeAlias = (
    Broadcast
    | Rebroadcast
    | Answer
    | LookUp
    | Retrieve
    | Delivered
    | Held
    | Missing
    | Found
    | DeliveryChanged
    | EphemeralArrived
    | FilterIgnored
)
