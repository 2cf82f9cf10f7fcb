"""One reconciliation session: two frozen sets in, their differences out.

Rules:
1. Every payload is answered range by range as "Responding to a `RangesData` payload" says; what
   the answer leaves out is a `Skip`.
2. Who sends an answer of nothing but `Skip`, or receives one, is finished.
3. A side finds a difference when it has both item sets of a range; twice only if the range was
   put off, in a payload too crowded, between the two sides' turns.
4. A payload never exceeds `PAYLOAD_BYTES_MAX`. What no longer fits goes back as a fingerprint of
   its range; the first open range of a payload always fits or is divided, so every round settles
   something.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias, assert_never

from sync.errors import RemoteError
from sync.machine import SECOND, Nanos, Tick
from sync.structures.ordered_set import OrderedSet, SyncId
from sync.waku.answer import Answerer
from sync.waku.division import NARROW, Parameters
from sync.waku.message import CLUSTER, EVERYTHING, Bounds, Ranges, RangesData

INACTIVITY_MAX: Nanos = 15 * SECOND
"""Without it a session with a peer that stopped hangs for ever; as long as a dead link's."""

ROUNDS_MAX = 256
"""Payloads received. A peer without any of our million messages takes some 170; this one stalls."""

NEED_MAX = 500_000
"""Ids one session may find missing, some 80 MB; what is beyond is left to the next one."""


DIFFERENCES_MAX = 2**63 - 1
"""No limit but the others."""


class Role(Enum):
    """Role in the session: who opened it, and who responds."""

    INITIATOR = "initiator"
    RESPONDER = "responder"


class Phase(Enum):
    """Phase of the session."""

    INITIATING = "initiating"
    AWAITING = "awaiting"
    FINISHED = "finished"


class Step(Enum):
    """Step that changes the phase of a session."""

    OPENED = "opening payload sent"
    ANSWERED = "answered with open ranges"
    SETTLED = "only Skip sent or received"
    ENOUGH = "as much is missing as one session may bring"
    REFUSED = "another cluster or other shards"
    EXPIRED = "nothing came in time"


TRANSITIONS: dict[Phase, dict[Step, Phase]] = {
    Phase.INITIATING: {Step.OPENED: Phase.AWAITING, Step.EXPIRED: Phase.FINISHED},
    Phase.AWAITING: {
        Step.ANSWERED: Phase.AWAITING,
        Step.SETTLED: Phase.FINISHED,
        Step.ENOUGH: Phase.FINISHED,
        Step.REFUSED: Phase.FINISHED,
        Step.EXPIRED: Phase.FINISHED,
    },
    Phase.FINISHED: {},
}


class Result(Enum):
    """Result of a session."""

    EQUAL = "equal"
    RECONCILED = "reconciled"
    PARTIAL = "partial: the next session goes on"
    MISMATCH = "mismatch"
    TIMED_OUT = "timed out"


@dataclass(frozen=True, slots=True)
class Begin:
    """Input, initiator only: the stream is open."""


@dataclass(frozen=True, slots=True)
class PayloadReceived:
    """Input: the peer's next payload, decoded."""

    payload: RangesData


@dataclass(frozen=True, slots=True)
class SendPayload:
    """Effect: send this payload, length-prefixed, on the session's stream."""

    payload: RangesData


@dataclass(frozen=True, slots=True)
class Differences:
    """Effect: ids found in one of the two sets only."""

    need: tuple[SyncId, ...]
    """The peer has them and we lack them."""

    have: tuple[SyncId, ...]
    """We have them and the peer lacks them: push them."""


@dataclass(frozen=True, slots=True)
class Finished:
    """Effect, the last one: the session is over."""

    result: Result
    rounds: int
    """Payloads received."""

    need: int
    have: int


Input: TypeAlias = Begin | PayloadReceived | Tick
Effect: TypeAlias = SendPayload | Differences | Finished


class Reconciliation:
    """The reconciliation half of one session (Waku Sync, "Reconciliation Message Flow")."""

    def __init__(  # noqa: PLR0913, PLR0917  # what a session is about
        self,
        role: Role,
        local: OrderedSet,
        shards: tuple[int, ...],
        opened_at: Nanos,
        parameters: Parameters = NARROW,
        window: Bounds = EVERYTHING,
        room: Callable[[], int] = lambda: DIFFERENCES_MAX,
    ) -> None:
        """Take part as `role` with the snapshot `local`, over a stream opened at `opened_at`.

        Only what is in `window` is compared; where it ends, the initiator says for both. `room`
        tells how many ids more may be found before there is no memory for them.
        """
        self._window = window
        self._room = room
        self._answerer = Answerer(local, parameters)
        self._empty = RangesData(CLUSTER, shards)
        self._phase = Phase.INITIATING if role is Role.INITIATOR else Phase.AWAITING
        self._expires_at = opened_at + INACTIVITY_MAX
        self._rounds = 0
        self._need = 0
        self._have = 0

    @property
    def phase(self) -> Phase:
        """Phase of the session."""
        return self._phase

    def deadline(self) -> Nanos | None:
        """Return when the peer has been silent for too long; None once the session is over."""
        return None if self._phase is Phase.FINISHED else self._expires_at

    def handle(self, event: Input, now: Nanos) -> list[Effect]:
        """Apply one input.

        Raises:
            RemoteError: a payload after the end, or one too many of them; nothing has changed.
        """
        match event:
            case Begin():
                return self._begin(now)
            case PayloadReceived(payload=payload):
                return self._on_payload(payload, now)
            case Tick():
                return self._on_tick(now)
            case _:
                assert_never(event)

    def _begin(self, now: Nanos) -> list[Effect]:
        """Send one fingerprint over the window, after a `Skip` (Waku Sync, "Initial Message")."""
        assert self._phase is Phase.INITIATING, "only the initiator begins, and once"
        self._step(Step.OPENED)
        self._expires_at = now + INACTIVITY_MAX
        return [self._send(self._answerer.opening(self._window))]

    def _on_payload(self, payload: RangesData, now: Nanos) -> list[Effect]:
        """Answer a payload (Waku Sync, "Responding to a `RangesData` payload")."""
        if self._phase is not Phase.AWAITING:
            raise RemoteError(f"a reconciliation payload came while {self._phase.value}")
        if self._rounds == ROUNDS_MAX:
            raise RemoteError(f"reconciliation is not done after {ROUNDS_MAX} payloads")
        if not self._matches(payload):
            return self._refuse(payload)
        first = not self._rounds
        answer = self._answerer.answer(payload.ranges, self._window.lower, first=first)
        self._rounds += 1
        found = len(answer.need) + len(answer.have)
        if self._need + len(answer.need) > NEED_MAX or found > self._room():
            return [self._send(Ranges()), self._finish(Step.ENOUGH, Result.PARTIAL)]
        self._need += len(answer.need)
        self._have += len(answer.have)
        self._expires_at = now + INACTIVITY_MAX
        sent = Ranges() if answer.settles else answer.ranges
        effects: list[Effect] = [] if payload.ranges.settled else [self._send(sent)]
        if answer.need or answer.have:
            effects.append(Differences(tuple(answer.need), tuple(answer.have)))
        if not answer.settles:
            self._step(Step.ANSWERED)
            return effects
        different = self._need or self._have
        finished = self._finish(Step.SETTLED, Result.RECONCILED if different else Result.EQUAL)
        return [*effects, finished]

    def _matches(self, payload: RangesData) -> bool:
        """Return whether the peer means our shards; later zero bytes may mean "all is done"."""
        if self._rounds and not payload.ranges:
            return True
        same_shards = set(payload.shards) == set(self._empty.shards)
        return payload.cluster == self._empty.cluster and same_shards

    def _refuse(self, payload: RangesData) -> list[Effect]:
        """End the session with an empty payload, unless it was one that told us."""
        self._rounds += 1
        reply: list[Effect] = [self._send(Ranges())] if payload.ranges else []
        return [*reply, self._finish(Step.REFUSED, Result.MISMATCH)]

    def _on_tick(self, now: Nanos) -> list[Effect]:
        if self._phase is Phase.FINISHED or now < self._expires_at:
            return []
        return [self._finish(Step.EXPIRED, Result.TIMED_OUT)]

    def _send(self, ranges: Ranges) -> SendPayload:
        return SendPayload(RangesData(self._empty.cluster, self._empty.shards, ranges))

    def _finish(self, step: Step, result: Result) -> Finished:
        self._step(step)
        return Finished(result, self._rounds, self._need, self._have)

    def _step(self, step: Step) -> None:
        self._phase = TRANSITIONS[self._phase][step]
