"""Measurements of a run: latency, traffic, losses and their repair.

A *loss* is a message and a node that heard of it before having it: somebody's message or sync
message named it (`values.Missing`). It begins there and ends when the node stores the message. Its
requests are the broadcasts, by whomever, whose repair request named the message in between; its
responses are the answers to requests (`values.BroadcastStored` without a filter) broadcast in
between. Messages that were only overtaken are losses too, and mostly end before anybody asks.
"""

import hashlib
import zlib
from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum

from msgspec import Struct

from sync.machine import MILLISECOND, SECOND, MessageId, Nanos
from sync.runner.batch import Batch
from sync.sds.message import Kind, Message

STEPS_MAX = 16_384
"""Numbers of the digest hashed together: one call for each would cost more than the hashing."""


class Sort(Enum):
    """Purposes of frames."""

    CONTENT = "content"
    """A new message."""
    SYNC = "sync"
    EPHEMERAL = "ephemeral"
    RESEND = "resend"
    """An own message again, as nobody has acknowledged it."""
    ANSWER = "answer"
    """A message that somebody asked for."""


class Spread(Struct, frozen=True):
    """Distribution of a number: count, percentiles and maximum; all 0 without any."""

    count: int
    p50: float
    p95: float
    p99: float
    max: float

    @classmethod
    def of(cls, numbers: Iterable[float]) -> "Spread":
        """Return the percentiles of `numbers`: each is one of them (nearest rank)."""
        rising = sorted(numbers)
        if not rising:
            return cls(0, 0, 0, 0, 0)
        p50, p95, p99 = (rising[-(-len(rising) * share // 100) - 1] for share in (50, 95, 99))
        return cls(len(rising), p50, p95, p99, rising[-1])


class Sent(Struct, frozen=True):
    """Frames of one sort: each counted once, however many receive it."""

    frames: int = 0
    size: int = 0
    """Bytes."""


class Repairs(Struct, frozen=True):
    """Statistics of losses and their repair, as the module docstring defines them."""

    losses: int
    unasked: int
    """Losses that ended before anybody asked."""
    open: int
    """Losses that did not end."""
    seconds: Spread
    """Length of a loss."""
    requests: Spread
    """Requests per loss."""
    responses: Spread
    """Responses per loss."""
    messages: int
    """Messages that were lost by anybody."""
    requests_of_message: Spread
    """All requests for each of these, over the whole run."""
    responses_of_message: Spread
    """All responses to these, over the whole run."""


@dataclass(slots=True)
class Meter:
    """Counts what nodes do, and chains it into one digest."""

    latencies: "array[int]" = field(default_factory=lambda: array("q"))
    """Nanoseconds from a message's being shown at its author to its being shown at another."""
    sent: dict[Sort, Sent] = field(default_factory=dict)
    requests: Counter[MessageId] = field(default_factory=Counter)
    """Per message, how many broadcasts asked for it."""
    responses: Counter[MessageId] = field(default_factory=Counter)
    """Per message, how many broadcasts answered with it."""
    losses: list[tuple[MessageId, int, int, Nanos]] = field(default_factory=list)
    """Losses that ended: message, requests, responses, how long."""
    open: dict[tuple[int, MessageId], tuple[int, int, Nanos]] = field(default_factory=dict)
    """Losses that have not ended: requests and responses before, and when it began."""
    newest_delivery: Nanos = 0
    """When a message was last shown anywhere."""
    requests_heard: int = 0
    """Number of times somebody who had a message heard it asked for."""
    hints: int = 0
    """Own messages marked "possibly acknowledged"."""
    false_hints: int = 0
    """Of these, because of the filter of a peer that did not hold the message."""
    _written_at: dict[MessageId, tuple[int, Nanos]] = field(default_factory=dict)
    _chain: bytes = b""
    _steps: "array[int]" = field(default_factory=lambda: array("q"))

    # --- What is told --------------------------------------------------------------------------

    def written(self, node: int, message_id: MessageId, now: Nanos) -> None:
        """A message was shown to its author."""
        self._written_at[message_id] = (node, now)

    def delivered(self, node: int, message_id: MessageId, now: Nanos) -> None:
        """A message is shown at `node`; how late, only of what was written in this world."""
        self.newest_delivery = now
        author, written_at = self._written_at.get(message_id, (node, now))
        if author != node:
            self.latencies.append(now - written_at)

    def broadcast(self, message: Message, payload: bytes) -> None:
        """Something new was sent."""
        self._send(_SORTS[message.kind], payload)
        for entry in message.repair_request:
            self.requests[entry.message_id] += 1

    def resent(self, payload: bytes) -> None:
        """An own message was sent again."""
        self._send(Sort.RESEND, payload)

    def answered(self, message_id: MessageId, payload: bytes) -> None:
        """A request was answered."""
        self._send(Sort.ANSWER, payload)
        self.responses[message_id] += 1

    def missed(self, node: int, message_id: MessageId, now: Nanos) -> None:
        """A node heard of a message that it does not have."""
        before = self.requests[message_id], self.responses[message_id], now
        self.open.setdefault((node, message_id), before)

    def came(self, node: int, message_id: MessageId, now: Nanos) -> None:
        """A node has stored a message."""
        before = self.open.pop((node, message_id), None) if self.open else None
        if before is not None:
            requests = self.requests[message_id] - before[0]
            responses = self.responses[message_id] - before[1]
            self.losses.append((message_id, requests, responses, now - before[2]))

    def longest_loss(self, now: Nanos) -> Nanos:
        """Return how long the longest loss lasted, or lasts."""
        lasted = [span for *_, span in self.losses]
        return max(lasted + [now - began for *_, began in self.open.values()], default=0)

    def hinted(self, *, right: bool) -> None:
        """An own message was marked "possibly acknowledged"."""
        self.hints += 1
        self.false_hints += not right

    def turned(self, now: Nanos, node: int, batch: Batch) -> None:
        """A node let out what a turn made."""
        self._steps.extend((now, node, len(batch.inputs), len(batch.records), len(batch.releases)))
        if len(self._steps) >= STEPS_MAX:
            self._fold(self._steps.tobytes())
            self._steps = array("q")

    # --- What came of it -----------------------------------------------------------------------

    def digest(self, end: object) -> str:
        """Return a SHA-256 over when each node let out how much, what it sent, and `end`."""
        self._fold(self._steps.tobytes())
        self._steps = array("q")
        self._fold(str(end).encode())
        return self._chain.hex()

    def latency(self) -> Spread:
        """Return the milliseconds from writing to being shown elsewhere."""
        return Spread.of(nanos / MILLISECOND for nanos in self.latencies)

    def repairs(self) -> Repairs:
        """Return what became of losses so far."""
        messages = {message_id for message_id, *_ in self.losses}
        messages.update(message_id for _, message_id in self.open)
        return Repairs(
            losses=len(self.losses) + len(self.open),
            unasked=sum(requests == 0 for _, requests, _, _ in self.losses),
            open=len(self.open),
            seconds=Spread.of(lasted / SECOND for *_, lasted in self.losses),
            requests=Spread.of(requests for _, requests, _, _ in self.losses),
            responses=Spread.of(responses for _, _, responses, _ in self.losses),
            messages=len(messages),
            requests_of_message=Spread.of(self.requests[message_id] for message_id in messages),
            responses_of_message=Spread.of(self.responses[message_id] for message_id in messages),
        )

    def _send(self, sort: Sort, payload: bytes) -> None:
        before = self.sent.get(sort, Sent())
        self.sent[sort] = Sent(before.frames + 1, before.size + len(payload))
        self._steps.append(zlib.crc32(payload))

    def _fold(self, steps: bytes) -> None:
        self._chain = hashlib.sha256(self._chain + steps).digest()


_SORTS = {Kind.CONTENT: Sort.CONTENT, Kind.SYNC: Sort.SYNC, Kind.EPHEMERAL: Sort.EPHEMERAL}
