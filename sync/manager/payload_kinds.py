"""Kinds of what goes over a session's stream, told by its bytes alone, for whoever shows them.

Each protocol has a spelling of its own: ranges begin with our cluster, messages about author logs
are CBOR arrays, those of Calimero and sketches begin with a tag, frames of the check are protobuf.
"""

from collections.abc import Callable
from enum import Enum
from typing import Final, TypeAlias

from sync.calimero.handshake import decode_handshake
from sync.calimero.log import delta_messages as delta
from sync.calimero.log import snapshot_messages as snapshot
from sync.calimero.state import messages as state
from sync.check import message as check
from sync.check.wire import decode_frame
from sync.errors import RemoteError
from sync.p2panda import messages as p2panda
from sync.sessions.handshake import SyncHandshake
from sync.sketch import messages as sketch
from sync.waku.message import CLUSTER, RangesData
from sync.waku.wire import decode_ranges


class PayloadKind(Enum):
    """Kinds of payloads; the value is the word for one."""

    HANDSHAKE = "handshake"
    RANGES = "ranges"
    LOGS = "logs"
    """Heights of author logs, and what else is said about these."""
    HASHES = "hashes"
    """Of the nodes of two trees of state."""
    FILTER = "filter"
    """Ids that are held, as delta sync tells them."""
    SYMBOLS = "symbols"
    """Of a sketch of all ids."""
    WANT = "request"
    ENTRY = "entry"
    PAGE = "page"
    CHECK = "check"
    OTHER = "payload"
    """Of a protocol that is not known here."""


Message: TypeAlias = (
    RangesData
    | SyncHandshake
    | p2panda.Message
    | state.Message
    | delta.Message
    | snapshot.Message
    | snapshot.ChunkHead
    | sketch.Message
    | check.Frame
)

KINDS: Final[dict[type, PayloadKind]] = {
    RangesData: PayloadKind.RANGES,
    SyncHandshake: PayloadKind.HANDSHAKE,
    p2panda.Entry: PayloadKind.ENTRY,
    state.HashNodes: PayloadKind.HASHES,
    state.LevelData: PayloadKind.HASHES,
    state.Authors: PayloadKind.HASHES,
    state.Outcome: PayloadKind.HASHES,
    state.Want: PayloadKind.WANT,
    state.Entries: PayloadKind.ENTRY,
    delta.BloomFilter: PayloadKind.FILTER,
    delta.Want: PayloadKind.WANT,
    delta.DeltaEntries: PayloadKind.ENTRY,
    snapshot.SnapshotRequest: PayloadKind.WANT,
    snapshot.SnapshotMore: PayloadKind.WANT,
    snapshot.SnapshotDone: PayloadKind.WANT,
    snapshot.ChunkHead: PayloadKind.PAGE,
    sketch.Opening: PayloadKind.SYMBOLS,
    sketch.MoreSymbols: PayloadKind.SYMBOLS,
    sketch.AskMore: PayloadKind.WANT,
    sketch.Wanted: PayloadKind.WANT,
    sketch.Stop: PayloadKind.WANT,
    sketch.Entries: PayloadKind.ENTRY,
    sketch.Done: PayloadKind.ENTRY,
    **dict.fromkeys(
        (check.Claim, check.Proof, check.Verdict, check.Ask, check.Hashes, check.Leaves, check.End),
        PayloadKind.CHECK,
    ),
}
"""Of each message; those about author logs that are not here are `LOGS`."""

CLUSTER_BEGINS: Final = bytes((CLUSTER & 127 | 128, CLUSTER >> 7 & 127 | 128, CLUSTER >> 14))
"""First bytes of ranges: our cluster as a varint."""

ARRAY: Final = 0x80
"""The least first byte of a CBOR array."""

BEGINNINGS: Final = {
    **dict.fromkeys((0, 1), PayloadKind.HASHES),
    2: PayloadKind.PAGE,
    **dict.fromkeys((3, 17), PayloadKind.ENTRY),
    4: PayloadKind.FILTER,
    16: PayloadKind.WANT,
    **dict.fromkeys((32, 33), PayloadKind.SYMBOLS),
    35: PayloadKind.WANT,
    36: PayloadKind.ENTRY,
}
"""By the first byte, of those of Calimero's messages and of sketches that may be long."""

TAGGED: Final[tuple[Callable[[bytes], Message], ...]] = (
    snapshot.head_of,
    state.decode,
    delta.decode,
    snapshot.decode,
    decode_handshake,
    sketch.decode,
)
"""They share tags, but no bytes are a message of two of them."""


def read(payload: bytes) -> Message | None:
    """Return what a payload says, of a page only its head; None of one that is not known."""
    readers: tuple[Callable[[bytes], Message], ...]
    if not payload or payload.startswith(CLUSTER_BEGINS):
        readers = (decode_ranges,)
    elif payload[0] >= ARRAY:
        readers = (p2panda.decode,)
    else:
        readers = (*TAGGED, decode_frame, decode_ranges)
    for reader in readers:
        try:
            return reader(payload)
        except RemoteError:
            continue
    return None


def kind_of(payload: bytes) -> PayloadKind:
    """Return the kind of a payload."""
    message = read(payload)
    if message is None:
        return PayloadKind.OTHER
    if isinstance(message, p2panda.Message):
        return KINDS.get(type(message), PayloadKind.LOGS)
    return KINDS[type(message)]


def kind_of_beginning(payload: bytes) -> PayloadKind:
    """Return the kind of a payload of which only the beginning is kept."""
    if payload.startswith(CLUSTER_BEGINS):
        return PayloadKind.RANGES
    if payload[:1] >= bytes((ARRAY,)):
        return PayloadKind.LOGS
    return BEGINNINGS.get(payload[0], PayloadKind.OTHER) if payload else PayloadKind.OTHER
