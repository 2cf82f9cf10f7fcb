"""The protocols by which this program compares histories, each registered with one line."""

from collections.abc import Mapping
from typing import Final

from sync.calimero.log.session import LogSync
from sync.calimero.state.session import HASH, LEVEL, STATE, StateSync
from sync.p2panda.session import Mode, Replication
from sync.sessions.handshake import SyncKind
from sync.sessions.protocol import Protocols
from sync.waku.session import WAKU_SYNC

__all__ = ["HASH", "LEVEL", "STATE"]  # what is only passed on

LOG_HEIGHT: Final = Replication(Mode.LOG_HEIGHT, pushes=WAKU_SYNC)
SETS: Final = Replication(Mode.SETS, pushes=WAKU_SYNC)
"""p2panda replication, with peers that announce their author logs."""

WAKU_ONLY: Final = Protocols((WAKU_SYNC,))

WITH_P2PANDA: Final = Protocols((WAKU_SYNC, LOG_HEIGHT, SETS))
"""With sessions over author logs and relays, with peers that offer their logs."""

WITH_STATE: Final = Protocols((*WITH_P2PANDA, STATE, HASH, LEVEL))
"""With sessions over the state of channels."""

LOG: Final = LogSync(SyncKind.CHOOSE, pushes=WAKU_SYNC)
"""Sessions over messages that begin with a handshake, which decides how to go on."""

DELTA: Final = LogSync(SyncKind.DELTA, pushes=WAKU_SYNC)
"""Delta sync alone, where a person asks for it."""


SNAPSHOT: Final = LogSync(SyncKind.SNAPSHOT, pushes=WAKU_SYNC)
"""The kind of these that fills an empty channel, when it is asked for by name."""

WITH_CALIMERO: Final = Protocols((*WITH_STATE, LOG, DELTA, SNAPSHOT))
"""With these."""

SKETCH: Final = LogSync(SyncKind.SKETCH, pushes=WAKU_SYNC)
"""Sketches alone, where a person asks for them; peers that announce them may pick them, too."""

WITH_SKETCH: Final = Protocols((*WITH_CALIMERO, SKETCH))
"""With these."""

WHOLE_BY: Final[Mapping[str, Protocols]] = {
    WAKU_SYNC.name: WAKU_ONLY,
    LOG_HEIGHT.name: Protocols((WAKU_SYNC, LOG_HEIGHT)),
    SETS.name: Protocols((WAKU_SYNC, SETS)),
}
"""By name: what to speak for whole histories to be compared by that protocol."""

BY_RULE: Final[Mapping[str, Protocols]] = {
    "rule": WITH_SKETCH,
    **{
        one.name: Protocols(
            (WAKU_SYNC, LogSync(SyncKind.CHOOSE, WAKU_SYNC, frozenset({one.kind})), one)
        )
        for one in (DELTA, SNAPSHOT)
    },
    SKETCH.name: Protocols(
        (*WITH_P2PANDA, LogSync(SyncKind.CHOOSE, WAKU_SYNC, frozenset({SKETCH.kind})), SKETCH)
    ),  # with those that announce author logs, a new link waits for what is announced
    **{
        one.name: Protocols((WAKU_SYNC, StateSync(SyncKind.CHOOSE, frozenset({one.kind})), one))
        for one in (HASH, LEVEL)
    },
}
"""By name: what to speak for the handshakes to pick as they do, or this kind wherever it suits."""

PROTOCOLS: Final = WITH_SKETCH
"""Protocols of a node that is told nothing else, the usual one first."""
