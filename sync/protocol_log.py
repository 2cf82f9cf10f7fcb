"""What a node notes of its protocol: one small row for each thing that happened to a message.

Rules:
1. A row is a few small values, never a text: a log tells who had what when, not what was said.
2. `seq` counts the rows of one start of one node without a hole: what is lost later shows.
"""

from dataclasses import dataclass
from enum import StrEnum

from sync.machine import ChannelId, MessageId, Nanos, PeerId


class LogKind(StrEnum):
    """What happened. The first nine are about a message; repairs are those of SDS-R."""

    SENT = "sent"
    RECEIVED = "received"
    DUPLICATE = "duplicate"
    BUFFERED = "buffered"
    DELIVERED = "delivered"
    POSSIBLY_ACKNOWLEDGED = "possibly acknowledged"
    ACKNOWLEDGED = "acknowledged"
    FAILED = "failed"
    MISSING = "missing"
    REPAIR_REQUESTED = "repair requested"
    REPAIR_ANSWERED = "repair answered"
    REPAIRED = "repaired"
    LOST = "lost"
    SESSION_STARTED = "session started"
    SESSION_ROUND = "session round"
    SESSION_ENDED = "session ended"


@dataclass(frozen=True, slots=True)
class LogRow:
    """One row, in the order of the columns of `storage.tables.LOG`.

    `run` names a simulated run or a profile's log, `boot` counts its starts. `peer` is the other
    one: who it came from, who asked, with whom the session is; None for a broadcast. `lamport` is
    the message's own, `size` the bytes of the frame, `session` and `round` count from 1.
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
