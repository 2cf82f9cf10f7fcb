"""The frames of the check after a reconciliation, and their limits (ours, not Waku Sync's).

Rules:
1. The initiator asks and the responder answers; nodes and leaves are those of
`sync.structures.set_digest`.
2. An honest side's words always fit into one frame: questions are cut, frames never.
"""

from enum import Enum
from typing import Final, TypeAlias

from msgspec import Struct

from sync.machine import Nanos

CHECK = "/chat-tui/sync-check/1"
"""Protocol id a connection opens with to check."""

SALT_BYTES: Final = 16
"""Of either side, so that neither can have worked out a digest in advance."""

DIGEST_BYTES: Final = 32
"""SHA-256."""

FRAME_BYTES_MAX: Final = 1 << 20
"""The frame limit of the stream that carries them."""

NODES_MAX: Final = 64
"""Nodes or leaves one frame names. Their 64 children each are 185 kB, 7 ms to write and 7 to read;
of a busy month's leaves a frame holds no more anyway."""

IDS_MAX: Final = 26_000
"""Ids in the leaves of one frame, each side's: at 40 bytes, with `NODES_MAX` leaves, 1 MiB."""

QUESTIONS_MAX: Final = 512
"""Of one check. One difference takes 5; all of a million messages of a month, about 50."""

NEED_MAX: Final = 100_000
"""Ids one check may find that we lack, 16 MB: the reconciliation before it found the many."""


ASIDE_MAX: Final = 1_024
"""Ids that one side says it keeps aside; who keeps more says nothing of them, and is believed to
hold only what it held before."""

Aside: TypeAlias = tuple[bytes, ...] | None
"""Hashes of entries that the session brought and that are kept aside: parked until their time,
waiting for others, dropped. They are known, and hold nothing up, but nobody may count on them.
None where nothing is said of what was brought."""


class Claim(Struct, frozen=True):
    """The initiator opens: its salt, and the retention floor below which it keeps nothing."""

    salt: bytes
    floor: Nanos


class Proof(Struct, frozen=True):
    """The responder's salt, floor, and what it holds from the higher of both floors on."""

    salt: bytes
    floor: Nanos
    count: int
    digest: bytes
    aside: Aside = None


class Verdict(Struct, frozen=True):
    """Count and digest of what the initiator holds from the higher of both floors on."""

    count: int
    digest: bytes
    aside: Aside = None


class Ask(Struct, frozen=True):
    """Question for the children of nodes of a level, 1 to 4, by rising index."""

    level: int
    indexes: tuple[int, ...]


class Child(Struct, frozen=True):
    """A node or leaf that holds ids; `count` says how many if it is a leaf, else it is 0."""

    index: int
    hash: bytes
    count: int = 0


class Node(Struct, frozen=True):
    """A node and all its children, rising."""

    index: int
    children: tuple[Child, ...]


class Hashes(Struct, frozen=True):
    """Answer to `Ask`, in its order."""

    level: int
    nodes: tuple[Node, ...]


class Leaf(Struct, frozen=True):
    """The rows (`sync.structures.set_digest`) the sender has of a leaf, rising."""

    index: int
    rows: bytes


class Leaves(Struct, frozen=True):
    """Question with the initiator's rows of leaves, by rising index; answer with the other's."""

    leaves: tuple[Leaf, ...]


class Ending(Enum):
    """Reason why a side ends a check that was not equal."""

    SETTLED = "every difference has been shown"
    DECLINED = "the peer has nothing to compare"
    LEAF_TOO_LARGE = "too many messages within 18 minutes to compare them one by one"
    TOO_MANY_QUESTIONS = "too many places differ"
    TOO_MANY_DIFFERENCES = "too many messages are missing"


class End(Struct, frozen=True):
    """The last frame of a check that was not equal."""

    ending: Ending


Frame: TypeAlias = Claim | Proof | Verdict | Ask | Hashes | Leaves | End
