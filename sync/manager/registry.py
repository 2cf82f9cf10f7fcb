"""The protocols by which this program compares histories, each registered with one line."""

from typing import Final

from sync.p2panda.session import Mode, Replication
from sync.sessions.protocol import Protocols
from sync.waku.session import WAKU_SYNC

LOG_HEIGHT: Final = Replication(Mode.LOG_HEIGHT, pushes=WAKU_SYNC)
SETS: Final = Replication(Mode.SETS, pushes=WAKU_SYNC)
"""p2panda replication, with peers that announce their author logs."""

WAKU_ONLY: Final = Protocols((WAKU_SYNC,))
"""As programs speak that announce no author logs; for stories of what is older."""

PROTOCOLS: Final = Protocols((WAKU_SYNC, LOG_HEIGHT, SETS))
"""All there are, the usual one first."""
