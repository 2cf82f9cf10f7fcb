"""One reconciliation session: two frozen sets in, their differences out.

Rules:
1. Every payload is answered range by range as "Responding to a `RangesData` payload" says; what
   the answer leaves out is a `Skip`. Answering goes in steps: see `Continue`.
2. A side that sends or receives an answer of nothing but `Skip` is finished. So is who sends or
   receives a payload without ranges.
3. A side finds a difference when it has both item sets of a range; twice only if the range was
   put off, in a payload too crowded, between the two sides' turns.
4. A payload never exceeds `PAYLOAD_BYTES_MAX`. Items that no longer fit go back as a fingerprint of
   their range; the first open range of a payload always fits or is divided, so every round settles
   something.
5. Between two that both know it an answer may have several payloads (`turn.Turn`).
6. A side that has found as much as there is room for says so by a payload without ranges. Who holds
   what the other one lacks stops at half of its room, after what it has counted, so that the other
   one, with as much room, has counted the same. What is still on its way then is passed over.
"""

from collections import deque
from collections.abc import Callable, Iterator
from enum import Enum
from typing import TypeAlias, assert_never

from msgspec import Struct

from sync.errors import RemoteError
from sync.machine import SECOND, Nanos, Tick
from sync.structures.differences import Differences, Role
from sync.structures.link_trips import as_it_is
from sync.structures.ordered_set import OrderedSet
from sync.waku.answerer import Answerer
from sync.waku.division import NARROW, Parameters
from sync.waku.message import CLUSTER, EVERYTHING, Bounds, Ranges, RangesData
from sync.waku.turn import PAYLOADS_MAX, Received, Turn

__all__ = ["Differences", "Role"]  # passed on

INACTIVITY_MAX: Nanos = 15 * SECOND
"""Without it a session with a peer that stopped hangs for ever; as long as a dead link's."""

ROUNDS_MAX = 256
"""Payloads received. A peer without any of our million messages takes some 170; this one stalls."""

NEED_MAX = 500_000
"""Ids one session may find missing, some 40 MB; what is beyond is left to the next one."""

IN_FLIGHT_MAX = 2 * PAYLOADS_MAX
"""Payloads of a peer that may come after we had enough: the rest of its turn, and what it says to
the part of ours that it has heard."""

DIFFERENCES_MAX = 2**63 - 1
"""No limit but the others."""


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


class Begin(Struct, frozen=True):
    """Input, initiator only: the stream is open."""


class PayloadReceived(Struct, frozen=True):
    """Input: the peer's next payload, decoded."""

    payload: RangesData


class Continue(Struct, frozen=True):
    """Effect, and the input that it asks for: there is more to answer, once others had a turn."""


class SendPayload(Struct, frozen=True):
    """Effect: send this payload, length-prefixed, on the session's stream."""

    payload: RangesData


class Finished(Struct, frozen=True):
    """Effect, the last one: the session is over."""

    result: Result
    rounds: int
    """Payloads received."""

    need: int
    have: int


Input: TypeAlias = Begin | PayloadReceived | Continue | Tick
Effect: TypeAlias = SendPayload | Differences | Continue | Finished


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
        payloads_max: int = 1,
        grown: Callable[[Nanos], Nanos] = as_it_is,
    ) -> None:
        """Take part as `role` with the snapshot `local`, over a stream opened at `opened_at`.

        Only what is in `window` is compared; where it ends, the initiator says for both. `room`
        tells how many ids more may be found before there is no memory for them. The peer takes up
        to `payloads_max` a turn. `grown` tells how long to wait for it where a fast one is waited
        for so long.
        """
        self._window = window
        self._room = room
        self._answerer = Answerer(local, parameters, min(payloads_max, PAYLOADS_MAX))
        several = payloads_max > 1
        self._turn = Turn(window.upper if role is Role.INITIATOR else None, several=several)
        self._unanswered: deque[Received] = deque()
        """Payloads that came, the first of them being answered."""
        self._steps: Iterator[None] = iter(())
        """Steps of the answer to that."""
        self._on_its_way = 0
        """Payloads of the peer that may still come, though we have ended the session."""
        self._is_ending = False
        """Whether the peer has said that it is finished, and what came before is still read."""
        self._empty = RangesData(CLUSTER, shards)
        self._phase = Phase.INITIATING if role is Role.INITIATOR else Phase.AWAITING
        self._grown = grown
        self._expires_at = opened_at + grown(INACTIVITY_MAX)
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
            case Continue():
                return self._go_on(now) if self._unanswered else []
            case Tick():
                return self._on_tick(now)
            case _:
                assert_never(event)

    def _begin(self, now: Nanos) -> list[Effect]:
        """Send one fingerprint over the window, after a `Skip` (Waku Sync, "Initial Message")."""
        assert self._phase is Phase.INITIATING, "only the initiator begins, and once"
        self._step(Step.OPENED)
        self._expires_at = now + self._grown(INACTIVITY_MAX)
        return [self._send(self._answerer.opening(self._window))]

    def _on_payload(self, payload: RangesData, now: Nanos) -> list[Effect]:
        """Answer a payload (Waku Sync, "Responding to a `RangesData` payload")."""
        if self._phase is Phase.FINISHED and (self._on_its_way or not payload.ranges):
            self._on_its_way = max(0, self._on_its_way - 1)
            return []
        if self._phase is not Phase.AWAITING or self._is_ending:
            raise RemoteError(f"a reconciliation payload came while {self._phase.value}")
        if self._rounds == ROUNDS_MAX:
            raise RemoteError(f"reconciliation is not done after {ROUNDS_MAX} payloads")
        if not self._matches(payload):
            return self._refuse(payload)
        if not payload.ranges:
            self._rounds += 1
            self._is_ending = bool(self._unanswered)
            return [] if self._is_ending else [self._settled()]
        if len(self._unanswered) == self._turn.payloads_max:
            raise RemoteError("more payloads came than a turn has, before our answer")
        received = self._turn.take(payload.ranges)
        self._rounds += 1
        self._expires_at = now + self._grown(INACTIVITY_MAX)
        self._unanswered.append(received)
        if len(self._unanswered) > 1:
            return []
        self._take_next()
        return self._go_on(now)

    def _take_next(self) -> None:
        """Begin to answer the first payload that has no answer yet."""
        ranges, first, last, _ = self._unanswered[0]
        floor = self._window.lower
        self._steps = self._answerer.take(ranges, floor, first=first, last=last)

    def _go_on(self, now: Nanos) -> list[Effect]:
        """Take a step of the answer."""
        received = self._unanswered[0]
        step = self._answerer.step(self._steps)
        need, have = step.need, step.have
        found = len(need) + len(have)
        if self._need + len(need) > NEED_MAX or found > self._room():
            return self._end_with_enough()
        self._need += len(need)
        self._have += len(have)
        self._expires_at = now + self._grown(INACTIVITY_MAX)
        effects: list[Effect] = []
        if not (received.last and received.settled) and not self._is_ending:
            effects += [self._send(ranges) for ranges in step.payloads]
        if found:
            effects.append(Differences(need, have))
        if have and self._is_several and self._have > self._room() - found:
            rest = self._answerer.written(last=received.last)
            return [*effects, *[self._send(one) for one in rest], *self._end_with_enough()]
        if not step.done:
            return [*effects, Continue()]
        self._unanswered.popleft()
        if received.last and not self._is_ending:
            if not step.payloads[-1]:
                return [*effects, self._settled()]
            self._step(Step.ANSWERED)
        if self._unanswered:
            self._take_next()
            effects.append(Continue())
        elif self._is_ending:
            effects.append(self._settled())
        return effects

    @property
    def _is_several(self) -> bool:
        return self._turn.payloads_max > 1

    def _end_with_enough(self) -> list[Effect]:
        """End a session that has found as much as it may."""
        self._on_its_way = IN_FLIGHT_MAX if self._is_several else 0
        return [self._send(Ranges()), self._finish(Step.ENOUGH, Result.PARTIAL)]

    def _settled(self) -> Finished:
        """End the session: there is nothing left to be done."""
        different = self._need or self._have
        return self._finish(Step.SETTLED, Result.RECONCILED if different else Result.EQUAL)

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
        self._unanswered.clear()
        self._steps = iter(())
        return Finished(result, self._rounds, self._need, self._have)

    def _step(self, step: Step) -> None:
        self._phase = TRANSITIONS[self._phase][step]
