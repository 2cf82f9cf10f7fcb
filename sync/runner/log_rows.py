"""Rows of a node's protocol log: one small row for each thing that happened to a message.

Rules:
1. A row is a few small values, never a text: a log tells who had what when, not what was said.
2. `seq` counts the rows of one start of one node without a hole: what is lost later shows.
"""

from enum import StrEnum
from typing import Final, NamedTuple

from sync.machine import ChannelId, MessageId, Nanos, PeerId


class LogKind(StrEnum):
    """Kinds of rows. The first nine are about a message; repairs are those of SDS-R.

    Rows are as of their commit: what a power cut takes back leaves no row.
    """

    SENT = "sent"
    """An own message went out, to everybody; once more each time that it is sent again."""
    RECEIVED = "received"
    """A message came that was not here, checked down to its signature: broadcast or transferred."""
    DUPLICATE = "duplicate"
    """A message came that was here."""
    BUFFERED = "buffered"
    """A received message waits: for missing ones, or for history that is on its way."""
    DELIVERED = "delivered"
    """A message took its place in the log, an own one too."""
    POSSIBLY_ACKNOWLEDGED = "possibly acknowledged"
    """An own message seems to be in the filter of `peer`."""
    ACKNOWLEDGED = "acknowledged"
    """An own message was named by `peer`, or `peer` proved to hold it; None: by what was kept."""
    FAILED = "failed"
    """An own message was sent as often as it may be, and nobody has told that they have it."""
    MISSING = "missing"
    """A message that is not here was named, by what came from `peer`; None: by what was kept."""
    REPAIR_REQUESTED = "repair requested"
    """We asked for a message, in a frame that went out."""
    REPAIR_ANSWERED = "repair answered"
    """We sent a message to everybody because `peer` asked for it."""
    REPAIRED = "repaired"
    """A message that was missing, or lost, is here and in its place, however it came."""
    LOST = "lost"
    """A missing message was given up."""
    SESSION_STARTED = "session started"
    """A reconciliation with `peer` began: our stream to it, or its stream to us."""
    SESSION_ROUND = "session round"
    """A payload came and was answered, or we sent the first one; its check has rounds, too."""
    SESSION_ENDED = "session ended"
    """It is over; `round` and `bytes` are those of all its rounds."""
    LINK_UP = "link up"
    """A link to `peer` proved the channel, the only one."""
    LINK_DOWN = "link down"
    """No link to `peer` proves the channel any more."""
    REFUSED = "refused"
    """Something of `peer` was refused, because of `reason`."""
    DECIDED = "decided"
    """A session with `peer` is to begin, because of `reason`; its cost is an `estimate`."""
    LIVE_STARTED = "live started"
    """The session with `peer` stays, to pass on what is new; the number is that of the session."""
    LIVE_ENDED = "live ended"
    """It is over, because of `reason`; items are those that it brought and passed on."""


class Route(StrEnum):
    """Ways on which messages come and go."""

    BROADCAST = "broadcast"
    """From its author to everybody."""
    ANSWER = "answer"
    """To everybody, because somebody asked for it."""
    TRANSFER = "transfer"
    """On the stream that follows a session of differences."""
    ENTRY = "entry"
    """In a session that sends entries."""
    LIVE = "live"
    """In a session that goes on, to pass on what is new."""
    SNAPSHOT = "snapshot"
    """As a part of a whole state."""


class Role(StrEnum):
    """Ends of a session."""

    BEGAN = "began"
    ANSWERED = "answered"


SHARED_FROM: Final = 2**62
"""Numbers of sessions from here on are shared by both ends; those below are a node's own."""

REASON_MAX: Final = 160
"""Characters of a reason: peers may have a say in it."""


class LogRow(NamedTuple):
    """One row, in the order of the columns of `storage.archive.tables.LOG`.

    `run` names a simulated run or a profile's log, `boot` counts its starts. `peer` is the other
    one: who it came from, who asked, with whom the session is; None for a broadcast. `lamport` is
    the message's own, where the message is at hand. `size` are the bytes of the frame as it is
    before encryption; of a round, those of all payloads, of both ends: so both ends note the same.
    `session` is the same at both ends (`SHARED_FROM`), unless its stream never was there; `round`
    counts from 1. At its end, `items_in` came and `items_out` were found missing at the peer.
    `mono_ns` counts with `ts_ns`, from the start of the computer: nobody sets it. `estimate` is in
    bytes.
    """

    run: str
    boot: int
    seq: int
    ts_ns: Nanos
    node: PeerId
    peer: PeerId | None
    channel: ChannelId
    kind: LogKind
    message_id: MessageId | None = None
    lamport: int | None = None
    size: int | None = None
    session: int | None = None
    round: int | None = None
    mono_ns: Nanos | None = None
    route: Route | None = None
    protocol: str | None = None
    role: Role | None = None
    outcome: str | None = None
    items_in: int | None = None
    items_out: int | None = None
    estimate: int | None = None
    reason: str | None = None
