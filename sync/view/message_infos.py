"""Values that describe one message: what happened to it, and what is stored of it."""

from enum import Enum
from typing import TypeAlias

from msgspec import Struct

from sync.entries.changes import Change
from sync.machine import ChannelId, MessageId, Nanos, PeerId
from sync.sds.message import Delivery
from sync.view.infos import HoldersInfo


class What(Enum):
    """Events in the life of a message here."""

    WRITTEN = "written"
    MISSING = "missing"
    """It was named, and is not here."""
    FOUND = "found"
    """It was missing, and came."""
    LOST = "lost"
    """It was missing, and is given up."""
    PREVIEWED = "previewed"
    """It is shown, and waits for older ones on their way."""
    DELIVERED = "delivered"
    MARKED = "marked"
    """An own one is held for received with another certainty."""
    RESENT = "resent"
    ANSWERED = "answered"
    """Somebody asked for it, and got it from us."""
    COPIED = "copied"
    """It came in a snapshot, with all that the channel had before."""
    WITHDRAWN = "withdrawn"
    """It is set aside until its time."""
    DISCARDED = "discarded"
    """It was damaged on the disk."""
    PUSHED_OUT = "pushed out"
    """It waited for a snapshot, and there was no room for all that did."""


class Noticed(Struct, frozen=True):
    """Discovery of a missing message: who named it where, and when we planned to request it.

    `named_by` is a message id, or the peer of a sync message. The others are None where the message
    came before anybody had to plan to ask.
    """

    named_by: str
    namer: PeerId | None = None
    t_req: Nanos | None = None
    t_min: Nanos | None = None
    t_max: Nanos | None = None


More: TypeAlias = bool | Delivery | tuple[str] | tuple[str, PeerId, Nanos, Nanos, Nanos] | None
"""Details beside the kind: after a gap, the new mark, or the fields of `Noticed`."""

Note: TypeAlias = tuple[Nanos, ChannelId, MessageId, What, More]
"""One note of a happening, as it is kept: when, where, about which message, what, and more."""


class Happening(Struct, frozen=True):
    """Something that happened to a message. `at` is by the engine's clock, as in a snapshot."""

    at: Nanos
    what: What
    delivery: Delivery | None = None
    """Only of `MARKED`."""
    noticed: Noticed | None = None
    """Only of `MISSING`."""
    after_gap: bool = False
    """Only of `DELIVERED`: whether something before it is missing."""
    by: PeerId | None = None
    """Only of `COPIED`: who sent the snapshot, or the last of it."""


class MessageStory(Struct, frozen=True):
    """Remembered history of a message, oldest first; nothing is known from before `since`."""

    since: Nanos
    happenings: tuple[Happening, ...] = ()
    holders: HoldersInfo | None = None
    """Holders and evidence; None if nothing is remembered any more."""
    named: tuple[tuple[PeerId, MessageId | None], ...] = ()
    """Author and id of the message that named it; in a sync message, if the id is None."""


class ChangeInfo(Struct, frozen=True):
    """An edit, a redaction or the reactions of one author; the text is theirs: sanitise it."""

    message_id: MessageId
    author: PeerId
    created_ns: Nanos
    change: Change


class StoredInfo(Struct, frozen=True):
    """A message as it is stored: the bytes that came, and what changes it, in its order."""

    payload: bytes
    """The SDS message: what it says of the network is signed by nobody, its content is."""
    waku_hash: bytes
    changes: tuple[ChangeInfo, ...] = ()
    """Those delivered; of more than 100, the last ones."""
    goes_back: bool = False
    """Set if it claims to know less of governance than the entry before it in its author's log."""
