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

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias, assert_never

from sync.errors import RemoteError
from sync.machine import SECOND, Nanos, Tick
from sync.ranges import HASH_BYTES, ORIGIN, OrderedSet, SyncId, rungs
from sync.waku.message import (
    CLUSTER,
    EVERYTHING,
    ITEM_BYTES_MAX,
    PAYLOAD_BYTES_MAX,
    RANGE_BYTES_MAX,
    Bounds,
    Fingerprint,
    ItemSet,
    Range,
    RangesData,
    Skip,
)

INACTIVITY_MAX: Nanos = 15 * SECOND
"""Without it a session with a peer that stopped hangs for ever; as long as a dead link's."""

ROUNDS_MAX = 64
"""Payloads received. A peer without any of our 100,000 messages takes about 8; this one stalls."""

NEED_MAX = 500_000
"""Ids one session may claim we lack, some 80 MB; five histories of the size we are made for."""

HEADER_BYTES_MAX = 1024
"""Cluster and shards of our own payloads: ours name one shard."""

RUNGS_MAX = 1 + HASH_BYTES
"""Ranges it may take to reach a bound (`sync.ranges.rungs`)."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """The implementer's two numbers (Waku Sync, "Parameters")."""

    partitions: int = 8
    """Into how many sub-ranges a range is divided."""

    item_set_threshold: int = 100
    """Up to how many local ids a range that differs is sent as an item set; 100 as in nwaku. One
    difference among 100,000 then costs 16 kB in 7 payloads; at 2,000 it is 926 kB in 5."""


class Role(Enum):
    """Who opened the session."""

    INITIATOR = "initiator"
    RESPONDER = "responder"


class Phase(Enum):
    """Where the session is."""

    INITIATING = "initiating"
    AWAITING = "awaiting"
    FINISHED = "finished"


class Step(Enum):
    """What moves a session on."""

    OPENED = "opening payload sent"
    ANSWERED = "answered with open ranges"
    SETTLED = "only Skip sent or received"
    REFUSED = "another cluster or other shards"
    EXPIRED = "nothing came in time"


TRANSITIONS: dict[Phase, dict[Step, Phase]] = {
    Phase.INITIATING: {Step.OPENED: Phase.AWAITING, Step.EXPIRED: Phase.FINISHED},
    Phase.AWAITING: {
        Step.ANSWERED: Phase.AWAITING,
        Step.SETTLED: Phase.FINISHED,
        Step.REFUSED: Phase.FINISHED,
        Step.EXPIRED: Phase.FINISHED,
    },
    Phase.FINISHED: {},
}


class Result(Enum):
    """How a session ended."""

    EQUAL = "equal"
    RECONCILED = "reconciled"
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


@dataclass(slots=True)
class _Answer:
    """A payload being written, and the differences found on the way."""

    ranges: list[Range] = field(default_factory=list)
    end: SyncId = ORIGIN
    """Up to here the ranges reach."""

    room: int = PAYLOAD_BYTES_MAX - HEADER_BYTES_MAX
    """Bytes the ranges still to come may take."""

    need: list[SyncId] = field(default_factory=list)
    have: list[SyncId] = field(default_factory=list)

    def add(self, entry: Range) -> None:
        """Append a range, after a `Skip` over what lies between."""
        self.skip_to(entry.bounds.lower)
        self._append(entry)

    def skip_to(self, bound: SyncId) -> None:
        """Append the `Skip` ranges, mostly one or none, that lead up to `bound`."""
        for rung in rungs(self.end, bound):
            self._append(Skip(Bounds(self.end, rung)))

    def _append(self, entry: Range) -> None:
        self.ranges.append(entry)
        self.end = entry.bounds.upper
        self.room -= RANGE_BYTES_MAX
        if isinstance(entry, ItemSet):
            self.room -= ITEM_BYTES_MAX * len(entry.elements)

    @property
    def settles(self) -> bool:
        """Whether nothing is left open by it."""
        return all(isinstance(entry, Skip) for entry in self.ranges)


class Reconciliation:
    """The reconciliation half of one session (Waku Sync, "Reconciliation Message Flow")."""

    def __init__(
        self,
        role: Role,
        local: OrderedSet,
        shards: tuple[int, ...],
        opened_at: Nanos,
        parameters: Parameters = Parameters(),
    ) -> None:
        """Take part as `role` with the snapshot `local`, over a stream opened at `opened_at`."""
        self._local = local
        self._empty = RangesData(CLUSTER, shards)
        self._parameters = parameters
        self._reserve = (parameters.partitions + 3 * RUNGS_MAX) * RANGE_BYTES_MAX
        self._phase = Phase.INITIATING if role is Role.INITIATOR else Phase.AWAITING
        self._expires_at = opened_at + INACTIVITY_MAX
        self._rounds = 0
        self._need = 0
        self._have = 0

    @property
    def phase(self) -> Phase:
        """Where the session is."""
        return self._phase

    def deadline(self) -> Nanos | None:
        """When the peer has been silent for too long; None once the session is over."""
        return None if self._phase is Phase.FINISHED else self._expires_at

    def handle(self, event: Input, now: Nanos) -> list[Effect]:
        """Apply one input.

        Raises:
            RemoteError: a payload after the end, one too many of them, or more ids than
                `NEED_MAX`; nothing has changed.
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
        """Send one fingerprint over everything (Waku Sync, "Initial Message")."""
        assert self._phase is Phase.INITIATING, "only the initiator begins, and once"
        self._step(Step.OPENED)
        self._expires_at = now + INACTIVITY_MAX
        return [self._send(self._fingerprint(EVERYTHING))]

    def _on_payload(self, payload: RangesData, now: Nanos) -> list[Effect]:
        """Answer a payload (Waku Sync, "Responding to a `RangesData` payload")."""
        if self._phase is not Phase.AWAITING:
            raise RemoteError(f"a reconciliation payload came while {self._phase.value}")
        if self._rounds == ROUNDS_MAX:
            raise RemoteError(f"reconciliation is not done after {ROUNDS_MAX} payloads")
        if not self._matches(payload):
            return self._refuse(payload)
        answer = self._answer(payload.ranges)
        if self._need + len(answer.need) > NEED_MAX:
            raise RemoteError(f"reconciliation claims that we lack over {NEED_MAX} messages")
        self._rounds += 1
        self._need += len(answer.need)
        self._have += len(answer.have)
        self._expires_at = now + INACTIVITY_MAX
        received_open = not all(isinstance(entry, Skip) for entry in payload.ranges)
        effects: list[Effect] = [self._send(*answer.ranges)] if received_open else []
        if answer.need or answer.have:
            effects.append(Differences(tuple(answer.need), tuple(answer.have)))
        if not answer.settles:
            self._step(Step.ANSWERED)
            return effects
        different = self._need or self._have
        finished = self._finish(Step.SETTLED, Result.RECONCILED if different else Result.EQUAL)
        return [*effects, finished]

    def _matches(self, payload: RangesData) -> bool:
        """Whether the peer means our shards; later zero bytes may stand for "all is done"."""
        if self._rounds and not payload.ranges:
            return True
        same_shards = set(payload.shards) == set(self._empty.shards)
        return payload.cluster == self._empty.cluster and same_shards

    def _refuse(self, payload: RangesData) -> list[Effect]:
        """End the session with an empty payload, unless it was one that told us."""
        self._rounds += 1
        reply: list[Effect] = [self._send()] if payload.ranges else []
        return [*reply, self._finish(Step.REFUSED, Result.MISMATCH)]

    def _on_tick(self, now: Nanos) -> list[Effect]:
        if self._phase is Phase.FINISHED or now < self._expires_at:
            return []
        return [self._finish(Step.EXPIRED, Result.TIMED_OUT)]

    def _answer(self, received: tuple[Range, ...]) -> _Answer:
        """Write the answer to ranges; changes nothing but the answer."""
        answer = _Answer()
        end = received[-1].bounds.upper if received else ORIGIN
        for entry in received:
            if answer.room < self._reserve:
                self._ask_for_the_rest(Bounds(entry.bounds.lower, end), answer)
                break
            self._answer_range(entry, answer)
        answer.skip_to(end)
        return answer

    def _answer_range(self, entry: Range, answer: _Answer) -> None:
        match entry:
            case Skip():
                pass
            case Fingerprint(bounds=bounds, fingerprint=fingerprint):
                if self._local.fingerprint(bounds.lower, bounds.upper) != fingerprint:
                    self._disclose(bounds, answer)
            case ItemSet(bounds=bounds, reconciled=reconciled) if reconciled:
                _compare(entry, self._local.items(bounds.lower, bounds.upper), answer)
            case ItemSet(bounds=bounds):
                if not self._fits(bounds, answer):
                    self._disclose(bounds, answer)
                    return
                items = self._local.items(bounds.lower, bounds.upper)
                _compare(entry, items, answer)
                answer.add(ItemSet(bounds, tuple(items), reconciled=True))
            case _:
                assert_never(entry)

    def _disclose(self, bounds: Bounds, answer: _Answer) -> None:
        """Answer a range that differs: its items, or divided when it has too many of them."""
        if self._local.count(bounds.lower, bounds.upper) <= self._parameters.item_set_threshold:
            answer.add(self._items_or_fingerprint(bounds, answer))
            return
        lower = bounds.lower
        for upper in self._local.split(lower, bounds.upper, self._parameters.partitions):
            answer.add(self._items_or_fingerprint(Bounds(lower, upper), answer))
            lower = upper

    def _items_or_fingerprint(self, bounds: Bounds, answer: _Answer) -> Range:
        count = self._local.count(bounds.lower, bounds.upper)
        if count > self._parameters.item_set_threshold or not self._fits(bounds, answer):
            return self._fingerprint(bounds)
        items = self._local.items(bounds.lower, bounds.upper)
        return ItemSet(bounds, tuple(items), reconciled=False)

    def _ask_for_the_rest(self, bounds: Bounds, answer: _Answer) -> None:
        """Put off all further ranges by a fingerprint over the whole of them."""
        lower = bounds.lower
        for upper in rungs(lower, bounds.upper):
            answer.add(self._fingerprint(Bounds(lower, upper)))
            lower = upper

    def _fits(self, bounds: Bounds, answer: _Answer) -> bool:
        """Whether the local items go into the answer and leave enough room to end it."""
        item_bytes = ITEM_BYTES_MAX * self._local.count(bounds.lower, bounds.upper)
        return item_bytes + self._reserve <= answer.room

    def _fingerprint(self, bounds: Bounds) -> Fingerprint:
        return Fingerprint(bounds, self._local.fingerprint(bounds.lower, bounds.upper))

    def _send(self, *ranges: Range) -> SendPayload:
        return SendPayload(RangesData(self._empty.cluster, self._empty.shards, ranges))

    def _finish(self, step: Step, result: Result) -> Finished:
        self._step(step)
        return Finished(result, self._rounds, self._need, self._have)

    def _step(self, step: Step) -> None:
        self._phase = TRANSITIONS[self._phase][step]


def _compare(remote: ItemSet, local: list[SyncId], answer: _Answer) -> None:
    """Note the differences between a received item set and the local one of the same range."""
    theirs, ours = set(remote.elements), set(local)
    answer.need += (sync_id for sync_id in remote.elements if sync_id not in ours)
    answer.have += (sync_id for sync_id in local if sync_id not in theirs)
