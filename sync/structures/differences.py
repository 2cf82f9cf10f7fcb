"""Differences between the sets of two sides, and the roles of the two who look for them."""

from collections.abc import Sequence
from enum import Enum

from msgspec import Struct

from sync.structures.sorted_run import SyncId


class Role(Enum):
    """Role in a session: who opened it, and who responds."""

    INITIATOR = "initiator"
    RESPONDER = "responder"


class Differences(Struct, frozen=True):
    """Effect: ids found in one of the two sets only."""

    need: Sequence[SyncId]
    """The peer has them and we lack them."""

    have: Sequence[SyncId]
    """We have them and the peer lacks them: push them."""
