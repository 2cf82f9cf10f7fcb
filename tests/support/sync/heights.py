"""Two sides of set reconciliation over their bytes, and heights to compare."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from hypothesis import strategies as st

from sync.p2panda.bounds import Place
from sync.p2panda.heads import Heads
from sync.p2panda.messages import (
    Done,
    EmptyPayload,
    EmptySet,
    Entry,
    Fingerprint,
    LowerBound,
    Message,
    Payload,
    Reason,
    Terminal,
    decode,
    encode,
)
from sync.p2panda.set_reconciliation import (
    Effect,
    Expected,
    Owed,
    Policy,
    Reconciled,
    Reconciliation,
    Say,
    State,
)
from sync.structures.log_spans import LogSpan

SESSION = 3
MESSAGES_MAX = 100_000

KEYS = (b"\0" * 32, b"\0" * 31 + b"\1", b"\1" + b"\0" * 31, b"\x7f" * 32, b"\xff" * 32)
"""Keys that share beginnings of all lengths, the lowest and the highest one among them."""

A, B, C = Place(KEYS[1], 0, 2), Place(KEYS[2], 0, 2), Place(KEYS[3], 0, 2)
SUM: Final = bytes(16)

BROKEN_BATCHES: Final[dict[str, tuple[Reason, list[Message]]]] = {
    "a range before its lower bound": (Reason.OUT_OF_TURN, [Done(SESSION, A)]),
    "another session": (Reason.SESSION, [LowerBound(SESSION + 1, A)]),
    "an entry": (Reason.OUT_OF_TURN, [Entry(SESSION, b"", b"")]),
    "two lower bounds": (Reason.OUT_OF_TURN, [LowerBound(SESSION, A), LowerBound(SESSION, A)]),
    "no ranges": (Reason.NOT_TILING, [LowerBound(SESSION, A), Terminal(SESSION)]),
    "a gap": (Reason.NOT_TILING, [LowerBound(SESSION, A), Done(SESSION, B), Terminal(SESSION)]),
    "backwards": (
        Reason.BACKWARDS,
        [LowerBound(SESSION, A), Done(SESSION, C), Fingerprint(SESSION, SUM, B)],
    ),
    "an empty range": (
        Reason.BACKWARDS,
        [LowerBound(SESSION, A), Done(SESSION, B), EmptyPayload(SESSION, B)],
    ),
    "round and round": (
        Reason.NOT_TILING,
        [LowerBound(SESSION, A), Done(SESSION, A), Done(SESSION, B)],
    ),
    "heights backwards": (
        Reason.BACKWARDS,
        [LowerBound(SESSION, A), Payload(SESSION, C), Payload(SESSION, B)],
    ),
    "a height twice": (
        Reason.BACKWARDS,
        [LowerBound(SESSION, A), Payload(SESSION, C), Payload(SESSION, C)],
    ),
    "heights behind their range": (
        Reason.NOT_TILING,
        [LowerBound(SESSION, A), Payload(SESSION, C, can_respond=False, upper=B)],
    ),
    "heights after the circle": (
        Reason.NOT_TILING,
        [LowerBound(SESSION, A), Done(SESSION, A), Payload(SESSION, B)],
    ),
    "heights without an end": (
        Reason.NOT_TILING,
        [LowerBound(SESSION, A), Payload(SESSION, B), Done(SESSION, A)],
    ),
    "nothing at all, in the middle": (
        Reason.OUT_OF_TURN,
        [LowerBound(SESSION, A), EmptySet(SESSION, can_respond=True)],
    ),
    "something after the end": (
        Reason.OUT_OF_TURN,
        [EmptySet(SESSION, can_respond=True), LowerBound(SESSION, A)],
    ),
}
"""Batches that no honest peer sends; the last message of each is refused, for this reason."""

heights = st.dictionaries(
    st.tuples(st.sampled_from(KEYS) | st.binary(min_size=32, max_size=32), st.integers(0, 5)),
    st.integers(1, 4),
    max_size=60,
).map(lambda logs: [Place(key, log, height) for (key, log), height in logs.items()])


@dataclass(slots=True)
class Side:
    """A side and what it found."""

    machine: Reconciliation
    owed: list[LogSpan] = field(default_factory=list)
    expected: list[LogSpan] = field(default_factory=list)
    ends: int = 0

    def take(self, effects: Iterable[Effect]) -> list[bytes]:
        """Note what is found; return the messages to send."""
        said = []
        for effect in effects:
            match effect:
                case Say(message):
                    said.append(encode(message))
                case Owed(span):
                    self.owed.append(span)
                case Expected(span):
                    self.expected.append(span)
                case Reconciled():
                    self.ends += 1
        return said

    def receive(self, data: bytes) -> list[bytes]:
        """Take a message."""
        return self.take(self.machine.receive(decode(data)))


@dataclass(slots=True)
class Session:
    """Both sides after their reconciliation, and what went over the wire, batch by batch."""

    sides: tuple[Side, Side]
    batches: list[list[bytes]]

    @property
    def messages(self) -> list[list[Message]]:
        """The messages of each batch."""
        return [[decode(data) for data in batch] for batch in self.batches]


def reconciled(one: Heads, other: Heads, policy: Policy | None = None) -> Session:
    """Let two sides reconcile, the first one beginning."""
    sides = Side(Reconciliation(SESSION, one, policy)), Side(Reconciliation(SESSION, other, policy))
    batches = []
    sending, receiving = sides
    pending = sending.take(sending.machine.begin())
    while pending:
        batches.append(pending)
        assert sum(map(len, batches)) < MESSAGES_MAX, "a reconciliation without end"
        pending = [answer for data in pending for answer in receiving.receive(data)]
        sending, receiving = receiving, sending
    assert [side.machine.state for side in sides] == [State.OVER, State.OVER]
    return Session(sides, batches)
