"""Differences between the sets of two sides, and the roles of the two who look for them."""

from dataclasses import dataclass
from enum import Enum

from sync.structures.sorted_run import SyncId


class Role(Enum):
    """Role in a session: who opened it, and who responds."""

    INITIATOR = "initiator"
    RESPONDER = "responder"


@dataclass(frozen=True, slots=True)
class Differences:
    """Effect: ids found in one of the two sets only."""

    need: tuple[SyncId, ...]
    """The peer has them and we lack them."""

    have: tuple[SyncId, ...]
    """We have them and the peer lacks them: push them."""
