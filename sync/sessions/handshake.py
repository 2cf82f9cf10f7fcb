"""SyncHandshake: what two ends tell each other, so that both choose the same kind of session.

A claim of a peer may cost time, never data: a kind that suits the claims and not the truth ends
without agreement, and the next kind is tried.
"""

from enum import IntEnum
from typing import Final

from msgspec import Struct

HASH_SIZE: Final = 32
HEADS_MAX: Final = 16
"""Heads of messages that a handshake names, the newest first."""

SPREAD_SIZE: Final = 128
"""Bytes of `spread`: 16 hashes of 8."""

SPREAD_HASH_SIZE: Final = 8
NOTHING: Final = bytes(HASH_SIZE)


class SyncKind(IntEnum):
    """Kinds of sessions; `CHOOSE` leaves it to the rule."""

    CHOOSE = 0
    HASH = 1
    LEVEL = 2
    SNAPSHOT = 3
    DELTA = 4
    LOG_HEIGHT = 5
    SETS = 6
    WAKU = 7
    GOVERNANCE = 8
    SKETCH = 9

    @property
    def bit(self) -> int:
        """The flag of the kind among those that somebody speaks."""
        return 1 << self

    @property
    def word(self) -> str:
        """Its name as it is shown, and asked for."""
        return self.name.replace("_", "").lower()


def kind_named(protocol: str) -> SyncKind:
    """Return the kind by which a protocol of this name compares; `CHOOSE` if it is none of these.

    Those that begin with a handshake are none: what they then pick is.
    """
    return next((kind for kind in SyncKind if kind.word == protocol), SyncKind.CHOOSE)


def flags(*kinds: SyncKind) -> int:
    """Return the flags of these kinds."""
    return sum(kind.bit for kind in set(kinds))


class LogState(Struct, frozen=True):
    """Messages of one end.

    Attributes:
        root: digest of their ids (`sync.structures.set_digest`), 32 bytes.
        count: how many there are.
        floor: nothing older is held, in nanoseconds; 0 where everything is.
        heads: ids of messages that nothing is held behind, sorted, 32 bytes each.
        holes: messages that others name and that are not here.
        logs: author logs.
        heights: SHA-256 of their heights.
    """

    root: bytes
    count: int
    floor: int = 0
    heads: tuple[bytes, ...] = ()
    holes: int = 0
    logs: int = 0
    heights: bytes = NOTHING


class EntityState(Struct, frozen=True):
    """Registers of one end.

    Attributes:
        root: hash of their tree, 32 bytes.
        count: entries in it.
        depth: steps from the root to the deepest node.
        spread: hashes of the 16 first-level nodes, 8 bytes each.
    """

    root: bytes
    count: int
    depth: int
    spread: bytes = bytes(SPREAD_SIZE)


class SyncHandshake(Struct, frozen=True):
    """State of one end.

    Attributes:
        scope: SHA-256 of its sorted heads of governance; zeros where nobody governs.
        log: its messages.
        state: its registers.
        supported: flags of the kinds that it speaks.
    """

    scope: bytes
    log: LogState
    state: EntityState
    supported: int

    def speaks(self, kind: SyncKind) -> bool:
        """Return whether it speaks a kind."""
        return bool(self.supported & kind.bit)
