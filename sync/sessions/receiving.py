"""The receiving half of a session: which of the messages that a peer pushes are let in.

Waku Sync's "Transfer Protocol", for every protocol that finds ids missing.

Rules:
1. Only what this session found missing is accepted, each id once.
2. The peer may push a message before its range is decided here: it waits, within limits, and
   is judged when its id is wanted or when no more ids can be.
3. The machine never looks into an item: who feeds it computes the `SyncId` from the message.
"""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import TypeAlias, assert_never

from msgspec import Struct

from sync.machine import SECOND, Nanos, Tick
from sync.sessions.found_ids import Fate, FoundIds
from sync.structures.ids import Ids
from sync.structures.link_trips import as_it_is
from sync.structures.ordered_set import SyncId

WAITING_MAX = 1_000
"""Messages that may wait for their range to be decided; a peer is one round ahead at most."""

WAITING_BYTES_MAX = 4 << 20
"""The same in bytes: four messages of the largest size, or 4 kB for each of a thousand."""

INACTIVITY_MAX: Nanos = 30 * SECOND
"""A peer that still owes messages may be busy reading them from its disk, but not for longer."""


class Phase(Enum):
    """Phase of the transfer."""

    DECIDING = "deciding"
    ENDED_EARLY = "ended early"
    RECEIVING = "receiving"
    FINISHED = "finished"


class Step(Enum):
    """Step that changes the phase of a transfer."""

    RECONCILED = "reconciliation is over, ids are missing"
    COMPLETED = "reconciliation is over, nothing is missing"
    REMOTE_FINISHED = "the peer's stream ended"
    EXPIRED = "nothing came in time"


TRANSITIONS: dict[Phase, dict[Step, Phase]] = {
    Phase.DECIDING: {
        Step.REMOTE_FINISHED: Phase.ENDED_EARLY,
        Step.RECONCILED: Phase.RECEIVING,
        Step.COMPLETED: Phase.FINISHED,
    },
    Phase.ENDED_EARLY: {Step.RECONCILED: Phase.FINISHED, Step.COMPLETED: Phase.FINISHED},
    Phase.RECEIVING: {
        Step.COMPLETED: Phase.FINISHED,
        Step.REMOTE_FINISHED: Phase.FINISHED,
        Step.EXPIRED: Phase.FINISHED,
    },
    Phase.FINISHED: {},
}


class Reason(Enum):
    """Reason why a pushed message is not let in."""

    NOT_WANTED = "not among the differences of this session, or already here"
    DUPLICATE = "already here in this session"
    ELSEWHERE = "already here from somebody else"
    TOO_MUCH_WAITING = "too many messages wait for their range"


class Wanted(Struct, frozen=True):
    """Input: ids that reconciliation has just found missing (`Differences.need`)."""

    ids: Sequence[SyncId]


class Arrived(Struct, frozen=True):
    """Input: the peer pushed a message, of `size` bytes on the wire."""

    sync_id: SyncId
    item: object
    size: int


class Here(Struct, frozen=True):
    """Input: a message is here that somebody else brought."""

    sync_id: SyncId


class ReconciliationFinished(Struct, frozen=True):
    """Input: no further ids will be wanted, however the reconciliation ended."""


class RemoteFinished(Struct, frozen=True):
    """Input: the peer's transfer stream ended."""


class Accept(Struct, frozen=True):
    """Effect: give the item to the one way in."""

    item: object


class Decline(Struct, frozen=True):
    """Effect: the item was dropped."""

    sync_id: SyncId
    reason: Reason


class TransferFinished(Struct, frozen=True):
    """Effect, once: nothing more is expected of the peer."""

    got: int
    missing: Sequence[SyncId]
    """Wanted and not received, rising."""


Input: TypeAlias = Wanted | Arrived | Here | ReconciliationFinished | RemoteFinished | Tick
Effect: TypeAlias = Accept | Decline | TransferFinished


class Transfer:
    """Receiving half of one transfer session (Waku Sync, "Transfer Protocol")."""

    def __init__(self) -> None:
        self.grown: Callable[[Nanos], Nanos] = as_it_is
        """Tells how long to wait for the peer where a fast one is waited for so long."""
        self._phase = Phase.DECIDING
        self.found = FoundIds()
        """Ids that were wanted; to be looked into only."""
        self._accepted = 0
        self._waiting: dict[SyncId, Arrived] = {}
        self._waiting_bytes = 0
        self._expires_at: Nanos | None = None
        self._remote_finished = False

    @property
    def phase(self) -> Phase:
        """Phase of the transfer."""
        return self._phase

    @property
    def missing(self) -> Ids:
        """Wanted ids whose messages have not come, rising."""
        return self.found.missing

    def wants(self, sync_id: SyncId) -> bool:
        """Return whether an id is one of these."""
        return self.found.is_missing(sync_id)

    @property
    def elsewhere(self) -> int:
        """Number of wanted messages that came from somebody else."""
        return self.found.count(Fate.ELSEWHERE)

    @property
    def open(self) -> bool:
        """True if the peer has begun to push and not ended."""
        return not self._remote_finished and bool(self._accepted or self._waiting)

    @property
    def lacking(self) -> int:
        """Number of missing ids."""
        return self.found.count(Fate.MISSING)

    @property
    def ids(self) -> int:
        """Number of ids kept: of missing messages, and of those that came."""
        return sum(map(self.found.count, (Fate.MISSING, Fate.GOT, Fate.ELSEWHERE)))

    @property
    def waiting_bytes(self) -> int:
        """Bytes of messages that wait for their range to be decided."""
        return self._waiting_bytes

    def deadline(self) -> Nanos | None:
        """Return when a peer that owes messages has been silent for too long.

        None while the reconciliation, which has a deadline of its own, goes on.
        """
        return self._expires_at

    def handle(self, event: Input, now: Nanos) -> list[Effect]:
        """Apply one input; `Wanted` must not follow `ReconciliationFinished`."""
        match event:
            case Wanted(ids=ids):
                return self._on_wanted(ids)
            case Arrived():
                return self._on_arrived(event, now)
            case Here(sync_id=sync_id):
                return self._on_here(sync_id)
            case ReconciliationFinished():
                return self._on_reconciliation_finished(now)
            case RemoteFinished():
                return self._on_remote_finished()
            case Tick():
                return self._on_tick(now)
            case _:
                assert_never(event)

    def _on_wanted(self, ids: Sequence[SyncId]) -> list[Effect]:
        """Want ids, and let in those that came before we knew."""
        assert self._phase in {Phase.DECIDING, Phase.ENDED_EARLY}, "nothing was left to decide"
        self.found.add(Ids.of(ids))
        effects: list[Effect] = []
        for sync_id in ids if self._waiting else ():
            early = self._waiting.pop(sync_id, None)
            if early is not None:
                self._waiting_bytes -= early.size
                effects.append(self._accept(early))
        return effects

    def _on_arrived(self, arrived: Arrived, now: Nanos) -> list[Effect]:
        fate = self.found.fate(arrived.sync_id)
        if fate is Fate.GOT or arrived.sync_id in self._waiting:
            return [Decline(arrived.sync_id, Reason.DUPLICATE)]
        if fate is Fate.ELSEWHERE:
            return [Decline(arrived.sync_id, Reason.ELSEWHERE)]
        if fate is Fate.MISSING:  # even if it is late: whoever feeds us says how late
            accepted = self._accept(arrived)
            if self._phase is Phase.RECEIVING:
                return [accepted, *self._go_on(now)]
            return [accepted]
        if self._phase in {Phase.RECEIVING, Phase.FINISHED}:
            return [Decline(arrived.sync_id, Reason.NOT_WANTED)]
        return self._wait(arrived)

    def _on_here(self, sync_id: SyncId) -> list[Effect]:
        if not self.found.came(sync_id, Fate.ELSEWHERE):
            return []
        if self._phase is Phase.RECEIVING and not self.lacking:
            return [self._finish(Step.COMPLETED)]
        return []

    def _wait(self, arrived: Arrived) -> list[Effect]:
        """Keep a message whose range is not decided yet, if there is room."""
        waiting_bytes = self._waiting_bytes + arrived.size
        if len(self._waiting) == WAITING_MAX or waiting_bytes > WAITING_BYTES_MAX:
            return [Decline(arrived.sync_id, Reason.TOO_MUCH_WAITING)]
        self._waiting[arrived.sync_id] = arrived
        self._waiting_bytes = waiting_bytes
        return []

    def _on_reconciliation_finished(self, now: Nanos) -> list[Effect]:
        """Drop what still waits: no range is left in which it could be missing."""
        unwanted: list[Effect] = [Decline(early, Reason.NOT_WANTED) for early in self._waiting]
        self._waiting.clear()
        self._waiting_bytes = 0
        if not self.lacking:
            return [*unwanted, self._finish(Step.COMPLETED)]
        if self._phase is Phase.ENDED_EARLY:
            return [*unwanted, self._finish(Step.RECONCILED)]
        self._step(Step.RECONCILED)
        self._expires_at = now + self.grown(INACTIVITY_MAX)
        return unwanted

    def _on_remote_finished(self) -> list[Effect]:
        self._remote_finished = True
        match self._phase:
            case Phase.DECIDING:
                self._step(Step.REMOTE_FINISHED)
                return []
            case Phase.RECEIVING:
                return [self._finish(Step.REMOTE_FINISHED)]
            case Phase.ENDED_EARLY | Phase.FINISHED:
                return []
            case _:
                assert_never(self._phase)

    def _on_tick(self, now: Nanos) -> list[Effect]:
        if self._expires_at is None or now < self._expires_at:
            return []
        return [self._finish(Step.EXPIRED)]

    def _go_on(self, now: Nanos) -> list[Effect]:
        """After an expected message: finished, or another while for the next one."""
        if not self.lacking:
            return [self._finish(Step.COMPLETED)]
        self._expires_at = now + self.grown(INACTIVITY_MAX)
        return []

    def _accept(self, arrived: Arrived) -> Accept:
        self._accepted += 1
        is_deciding = self._phase in {Phase.DECIDING, Phase.ENDED_EARLY}
        self.found.came(arrived.sync_id, Fate.GOT if is_deciding else Fate.GONE)
        return Accept(arrived.item)

    def _finish(self, step: Step) -> TransferFinished:
        self._step(step)
        self._expires_at = None
        return TransferFinished(self._accepted, self.missing)

    def _step(self, step: Step) -> None:
        self._phase = TRANSITIONS[self._phase][step]
