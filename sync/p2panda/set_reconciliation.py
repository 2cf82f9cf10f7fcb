"""Mode 1, set reconciliation: two sides split a circle of log heights down to those that differ.

Rules:
1. The ranges of a batch tile the circle, from its lower bound on and back to there.
2. Every message is answered by itself; what is `Done` is told only once more has to be told.
3. Where heights are told, all of the range are, by both sides: a log that one of them does not
   mention there or anywhere else is one that it lacks.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NamedTuple, TypeAlias

from msgspec import Struct

from sync.p2panda.bounds import Place, rank
from sync.p2panda.heads import Heads
from sync.p2panda.messages import (
    Done,
    EmptyPayload,
    EmptySet,
    Fingerprint,
    LowerBound,
    Message,
    Payload,
    Reason,
    ReplicationError,
    Terminal,
)
from sync.structures.log_spans import LogSpan

RANGES_MAX: Final = 1 << 17
"""Ranges and heights of one batch that we take: 10,000 logs that all differ have a fifth of it."""

BATCHES_MAX: Final = 64
"""Batches that we take. Each side splits a range in two at least, so 2**30 logs need fewer."""


class Policy(Struct, frozen=True):
    """Rules by which ranges are split, and told by their heights.

    More items of one author than of several: bounds within an author are as long as items. Twelve
    of them would be 61 kB instead of 43 where 50 of 10,000 logs of 1,000 authors grew, since equal
    heights are answered too.
    """

    first_parts: int = 64
    parts: int = 4
    items: int = 2
    author_items: int = 4


class Say(NamedTuple):
    """Effect: send this message."""

    message: Message


class Owed(NamedTuple):
    """Effect: the peer lacks these entries, send them."""

    span: LogSpan


class Expected(NamedTuple):
    """Effect: we lack these entries, and the peer says that it has them."""

    span: LogSpan


class Reconciled(NamedTuple):
    """Effect: no batch follows, in either direction; what was never mentioned is told before."""


Effect: TypeAlias = Say | Owed | Expected | Reconciled


class State(Enum):
    """States of a side of the reconciliation."""

    BEGINNING = "beginning"
    WAITING = "waiting"
    READING = "reading"
    OVER = "over"


class Step(Enum):
    """Step that leads from a state to the next."""

    TOLD = "our batch is sent"
    BATCH = "a batch of the peer begins"
    SETTLED = "a side has nothing at all, or no batch needs an answer"


TRANSITIONS: Final[Mapping[State, Mapping[Step, State]]] = {
    State.BEGINNING: {
        Step.TOLD: State.WAITING,
        Step.BATCH: State.READING,
        Step.SETTLED: State.OVER,
    },
    State.WAITING: {Step.BATCH: State.READING, Step.SETTLED: State.OVER},
    State.READING: {Step.TOLD: State.WAITING, Step.SETTLED: State.OVER},
    State.OVER: {},
}


@dataclass(slots=True)
class _Reading:
    """A batch of the peer as far as it was read."""

    start: Place
    at: Place
    ranges: int = 0
    items: list[Place] = field(default_factory=list)
    asked: bool = False
    closed: bool = False

    def advance(self, upper: Place) -> Place:
        """Go on to the end of a range; return where it began."""
        lower = self.at
        if self.closed:
            raise ReplicationError(Reason.NOT_TILING, "a range after the circle closed")
        if upper == self.start:
            self.closed = True
        elif rank(upper, self.start) <= rank(lower, self.start):
            raise ReplicationError(Reason.BACKWARDS)
        self.at = upper
        return lower

    def count(self) -> None:
        """Count a message."""
        self.ranges += 1
        if self.ranges > RANGES_MAX:
            raise ReplicationError(Reason.ENDLESS, f"more than {RANGES_MAX} ranges in a batch")

    def take(self, item: Place) -> None:
        """Take a height of the range that is being read."""
        last = self.items[-1] if self.items else None
        here = rank(item, self.start)
        if self.closed:
            raise ReplicationError(Reason.NOT_TILING, "a height after the circle closed")
        if here < rank(self.at, self.start) or (last and here <= rank(last, self.start)):
            raise ReplicationError(Reason.BACKWARDS, "heights")
        self.items.append(item)


class Reconciliation:
    """One side of a session's set reconciliation.

    The effects of a call must be taken to their end before the next call. After a
    `ReplicationError` the session is over.

    Args:
        session: the session's id, in every message.
        heads: our heights.
        policy: how we split.
    """

    def __init__(self, session: int, heads: Heads, policy: Policy | None = None) -> None:
        self.state = State.BEGINNING
        self.batches = 0
        self._session = session
        self._heads = heads
        self._policy = policy or Policy()
        self._reading: _Reading | None = None
        self._told: set[tuple[bytes, int]] = set()
        self._unmentioned: set[Place] = set()
        self._opened = False
        self._settled: Place | None = None
        self._asking = False

    def begin(self) -> Iterator[Effect]:
        """Yield the first batch."""
        assert self.state is State.BEGINNING, "a reconciliation begins once"
        if not self._heads:
            yield Say(EmptySet(self._session, can_respond=True))
            yield from self._end()
            return
        start = self._heads.beginning()
        self._opened = self._asking = True
        yield Say(LowerBound(self._session, start))
        yield from self._fingerprints(start, start, self._policy.first_parts)
        yield from self._close()

    def receive(self, message: Message) -> Iterator[Effect]:
        """Yield what a message of the peer asks for.

        Raises:
            ReplicationError: not what an honest peer sends now; with the reason.
        """
        if self.state is State.OVER:
            raise ReplicationError(Reason.OUT_OF_TURN, "reconciliation is over")
        if message[0] != self._session:
            raise ReplicationError(Reason.SESSION)
        match message:
            case EmptySet():
                yield from self._on_empty_set()
            case LowerBound(bound=bound):
                yield from self._on_lower_bound(bound)
            case Payload() | EmptyPayload() | Done() | Fingerprint() | Terminal():
                yield from self._on_range(message)
            case _:
                raise ReplicationError(Reason.OUT_OF_TURN, type(message).__name__)

    def _on_empty_set(self) -> Iterator[Effect]:
        """The peer has nothing: everything is owed."""
        if self._reading or self.batches:
            raise ReplicationError(Reason.OUT_OF_TURN, "EmptySet within a reconciliation")
        self._unmentioned.update(self._heads)
        yield from self._end()

    def _on_lower_bound(self, bound: Place) -> Iterator[Effect]:
        if self._reading:
            raise ReplicationError(Reason.OUT_OF_TURN, "LowerBound within a batch")
        self.batches += 1
        if self.batches > BATCHES_MAX:
            raise ReplicationError(Reason.ENDLESS, f"more than {BATCHES_MAX} batches")
        self._step(Step.BATCH)
        self._reading = _Reading(bound, bound)
        if not self._heads:
            # What follows is still read to its end, but nothing of it needs an answer.
            yield Say(EmptySet(self._session, can_respond=False))

    def _on_range(
        self, message: Payload | EmptyPayload | Done | Fingerprint | Terminal
    ) -> Iterator[Effect]:
        reading = self._reading
        if reading is None:
            raise ReplicationError(Reason.OUT_OF_TURN, "a range before LowerBound")
        reading.count()
        if reading.items and not isinstance(message, Payload):
            raise ReplicationError(Reason.NOT_TILING, "heights without an upper bound")
        match message:
            case Fingerprint(fingerprint=fingerprint, upper=upper):
                lower = reading.advance(upper)
                reading.asked = True
                yield from self._on_fingerprint(lower, upper, fingerprint)
            case Payload(item=item, can_respond=can_respond, upper=upper):
                yield from self._on_height(reading, item)
                if upper is not None:
                    yield from self._on_heights(reading, upper, can_respond)
            case EmptyPayload(upper=upper):
                lower = reading.advance(upper)
                reading.asked = True
                yield from self._answer_heights(lower, upper)
            case Done(upper=upper):
                reading.advance(upper)
                self._settled = upper
            case Terminal():
                yield from self._on_terminal(reading)

    def _on_height(self, reading: _Reading, item: Place) -> Iterator[Effect]:
        """Compare a height at once (section 2.2); of one log the first counts."""
        reading.take(item)
        key, log, theirs = item
        if (key, log) in self._told:
            return
        self._told.add((key, log))
        ours = self._heads.height(key, log)
        if ours > theirs:
            yield Owed(LogSpan(key, log, theirs, ours))
        elif ours < theirs:
            yield Expected(LogSpan(key, log, ours, theirs))

    def _on_heights(self, reading: _Reading, upper: Place, can_respond: bool) -> Iterator[Effect]:  # noqa: FBT001 - as it is on the wire
        """All heights of a range are there."""
        last = reading.items[-1]
        reading.items.clear()
        lower = reading.advance(upper)
        if not reading.closed and rank(last, reading.start) >= rank(upper, reading.start):
            raise ReplicationError(Reason.NOT_TILING, "a height behind its range")
        if can_respond:
            reading.asked = True
            yield from self._answer_heights(lower, upper)
        else:
            self._settled = upper

    def _on_fingerprint(self, lower: Place, upper: Place, theirs: bytes) -> Iterator[Effect]:
        if not self._heads:
            return
        if self._heads.fingerprint(lower, upper) == theirs:
            self._settled = upper
            return
        count = self._heads.count(lower, upper)
        own = self._heads.within(lower, upper) if count <= self._policy.author_items else []
        self._asking = True
        yield from self._open()
        if count == 0:
            yield Say(EmptyPayload(self._session, upper))
        elif 0 < len(own) <= self._policy.items or len({item.key for item in own}) == 1:
            yield from self._tell(
                own, Payload(self._session, own[-1], can_respond=True, upper=upper)
            )
        else:
            yield from self._fingerprints(lower, upper, self._policy.parts)

    def _on_terminal(self, reading: _Reading) -> Iterator[Effect]:
        """The peer's batch ends, and with it ours."""
        if not reading.closed:
            raise ReplicationError(Reason.NOT_TILING, "the batch ends before the circle closed")
        if reading.asked and self._heads:
            yield from self._open()
            self._reading = None
            yield from self._close()
        else:
            self._reading = None
            yield from self._end()

    def _answer_heights(self, lower: Place, upper: Place) -> Iterator[Effect]:
        """Tell all of ours of a range whose heights the peer told, also those it has as well.

        Without them it could not tell what is equal here from what is not here.
        """
        if own := self._heads.within(lower, upper):
            yield from self._open()
            yield from self._tell(
                own, Payload(self._session, own[-1], can_respond=False, upper=upper)
            )
        else:
            self._settled = upper

    def _tell(self, own: Sequence[Place], last: Payload) -> Iterator[Effect]:
        """Tell the heights of a range."""
        self._unmentioned.update(own)
        for item in own[:-1]:
            yield Say(Payload(self._session, item))
        yield Say(last)

    def _fingerprints(self, lower: Place, upper: Place, parts: int) -> Iterator[Effect]:
        for bound in self._heads.split(lower, upper, parts):
            fingerprint = self._heads.fingerprint(lower, bound)
            yield Say(Fingerprint(self._session, fingerprint, bound))
            lower = bound

    def _open(self) -> Iterator[Effect]:
        """Begin our batch if this was not done, and tell what is settled up to here."""
        if not self._opened and self._reading:
            self._opened = True
            yield Say(LowerBound(self._session, self._reading.start))
        if self._settled is not None:
            yield Say(Done(self._session, self._settled))
            self._settled = None

    def _close(self) -> Iterator[Effect]:
        """End our batch, and all of it if nothing in it needs an answer."""
        asking = self._asking
        self._opened = self._asking = False
        self._step(Step.TOLD)
        yield Say(Terminal(self._session))
        if not asking:
            yield from self._end()

    def _end(self) -> Iterator[Effect]:
        """Owe the logs that the peer never mentioned."""
        self._step(Step.SETTLED)
        for item in sorted(self._unmentioned):
            key, log, height = item
            if (key, log) not in self._told:
                yield Owed(LogSpan(key, log, 0, height))
        yield Reconciled()

    def _step(self, step: Step) -> None:
        self.state = TRANSITIONS[self.state][step]
