"""Rows of a node's protocol log: one small row for each thing that happened to a message.

Rules:
1. A row is a few small values, never a text: a log tells who had what when, not what was said.
2. `seq` counts the rows of one start of one node without a hole: what is lost later shows.
"""

from dataclasses import dataclass
from enum import StrEnum

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


@dataclass(frozen=True, slots=True)
class LogRow:
    """One row, in the order of the columns of `storage.archive.tables.LOG`.

    `run` names a simulated run or a profile's log, `boot` counts its starts. `peer` is the other
    one: who it came from, who asked, with whom the session is; None for a broadcast. `lamport` is
    the message's own, where the message is at hand. `size` are the bytes of the frame as it is
    before encryption; of a round, those of all payloads, of both ends: so both ends note the same.
    `session` is this node's own number for it, and `round` counts from 1.
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
