"""The protocols by which this program compares histories, each registered with one line."""

from typing import Final

from sync.p2panda.session import Mode, Replication
from sync.sessions.protocol import Protocols
from sync.waku.session import WAKU_SYNC

LOG_HEIGHT: Final = Replication(Mode.LOG_HEIGHT, pushes=WAKU_SYNC)
SETS: Final = Replication(Mode.SETS, pushes=WAKU_SYNC)
"""p2panda replication, with peers that announce their author logs."""

WAKU_ONLY: Final = Protocols((WAKU_SYNC,))

WITH_P2PANDA: Final = Protocols((WAKU_SYNC, LOG_HEIGHT, SETS))
"""With sessions over author logs and relays, with peers that offer their logs."""

PROTOCOLS: Final = WITH_P2PANDA
"""Protocols of a node that is told nothing else, the usual one first."""
