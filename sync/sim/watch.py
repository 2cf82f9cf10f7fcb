"""Somebody who watches a world: every step of a few nodes, every frame between them.

A watcher may also have frames lost on purpose. Without a watch a world pays nothing for this.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from typing import Final

from msgspec import Struct

from sync.group import values
from sync.group.ingest import Gate
from sync.machine import MessageId, Nanos
from sync.manager.payload_kinds import PayloadKind, kind_of
from sync.runner.runner import Trace
from sync.sds.message import Kind
from sync.sim.node import Node
from sync.view.projection import repair_info
from sync.view.view import RepairInfo

LOST_KEPT: Final = 64
"""Lost frames kept until they are taken: more than one event loses among a few nodes."""

UNDER_WAY_MAX: Final = 512
"""Frames and payloads under way that are remembered; beyond, the oldest are forgotten."""


class Cause(Enum):
    """Reasons why a frame or a payload is under way."""

    NEW = "new message"
    SYNC = "sync message"
    TYPING = "typing notice"
    RESEND = "sent again"
    ANSWER = "answer"
    SESSION = "reconciliation"
    TRANSFER = "transfer"
    STATE = "state entry"
    ROOT = "root of a state"
    OPERATION = "operation"
    HEADS = "heads of a governance"
    ASKS_OPS = "request for operations"


CARRIED: Final = {
    values.SessionPayload: Cause.SESSION,
    values.Transferred: Cause.TRANSFER,
    values.StateArrived: Cause.STATE,
    values.RootTold: Cause.ROOT,
    values.OpsArrived: Cause.OPERATION,
    values.OpsAnswered: Cause.OPERATION,
    values.HeartbeatArrived: Cause.HEADS,
    values.OpsRequested: Cause.ASKS_OPS,
}
"""Causes of what is carried to one node alone, by the input it is there."""


class Flight(Struct, frozen=True):
    """One frame on its way from one node to another; `at` is when it arrives, or would."""

    sender: int
    receiver: int
    cause: Cause
    message_id: MessageId | None
    asks: bool
    """Whether it asks for something (a repair request)."""
    sent_at: Nanos
    at: Nanos
    lost: bool = False
    carries: PayloadKind | None = None
    """Of a payload of a session: what it says."""


class Step(Struct, frozen=True):
    """A step of a node's machines: what came in, what came of it, and its repairs before it."""

    node: int
    at: Nanos
    machine: str
    event: object
    effects: tuple[object, ...]
    before: RepairInfo | None
    after: RepairInfo | None


@dataclass(slots=True)
class Doom:
    """The next `count` new messages of `sender` (None: of anybody) do not reach `receivers`."""

    sender: int | None
    receivers: frozenset[int]
    count: int = 1


@dataclass(slots=True)
class Watch:
    """Sees the first `shown` nodes of a world; `gate` is given by the world's owner.

    Attributes:
        content_loss: share of the new messages that each receiver loses; all else arrives.
    """

    shown: int
    rng: random.Random
    gate: Gate | None = None
    content_loss: float = 0.0
    dooms: list[Doom] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    """Steps since they were taken."""
    lost: list[Flight] = field(default_factory=list)
    """Frames lost since they were taken."""
    flights: list[Flight] = field(default_factory=list)
    """Under way, by the time they were sent."""
    begun: list[Flight] = field(default_factory=list)
    """Those that set out since they were taken."""
    _repairs: dict[int, RepairInfo] = field(default_factory=dict)

    def take_steps(self) -> tuple[list[Step], list[Flight]]:
        """Return what happened since the last call."""
        steps, lost = self.steps, self.lost
        self.steps, self.lost = [], []
        return steps, lost

    def take_begun(self) -> list[Flight]:
        """Return the frames that set out since the last call."""
        begun, self.begun = self.begun, []
        return begun

    # --- What a world tells --------------------------------------------------------------------

    def trace_of(self, node: Node) -> Trace | None:
        """Return what is told the steps of `node`; None for one that is not shown."""
        if node.number >= self.shown:
            return None
        self._repairs.pop(node.number, None)
        return partial(self._stepped, node)

    def spared(
        self, node: Node, payload: bytes, cause: Cause, receivers: Sequence[int]
    ) -> Sequence[int]:
        """Return those of `receivers` that a frame is not lost to on purpose."""
        if cause is not Cause.NEW or (not self.dooms and not self.content_loss):
            return receivers
        assert self.gate is not None
        if self.gate.read(payload).kind is not Kind.CONTENT:
            return receivers
        lost: set[int] = set()
        for doom in list(self.dooms):
            if doom.sender in {None, node.number}:
                lost |= doom.receivers
                doom.count -= 1
                if not doom.count:
                    self.dooms.remove(doom)
        if self.content_loss:
            lost |= {one for one in receivers if self.rng.random() < self.content_loss}
        return [one for one in receivers if one not in lost] if lost else receivers

    def sent(  # all that is known of a frame
        self,
        node: Node,
        payload: bytes,
        cause: Cause,
        receivers: Sequence[int],
        arrivals: Sequence[tuple[Nanos, int]],
        now: Nanos,
    ) -> None:
        """A frame went out to `receivers`; copies of it arrive as `arrivals` says."""
        if node.number >= self.shown:
            return
        assert self.gate is not None
        message = self.gate.read(payload)
        if message.kind is Kind.EPHEMERAL:
            cause = Cause.TYPING
        elif message.kind is Kind.SYNC:
            cause = Cause.SYNC
        flight = partial(
            Flight,
            sender=node.number,
            cause=cause,
            message_id=message.message_id if message.content else None,
            asks=bool(message.repair_request) and cause in {Cause.NEW, Cause.SYNC},
            sent_at=now,
        )
        for at, receiver in arrivals:
            if receiver < self.shown:
                self._set_out(flight(receiver=receiver, at=at))
        arriving = {receiver for _, receiver in arrivals}
        for receiver in receivers:
            if receiver < self.shown and receiver not in arriving:
                self._lose(flight(receiver=receiver, at=now, lost=True))

    def carried(
        self, sender: Node, receiver: Node, event: values.Input, now: Nanos, at: Nanos
    ) -> None:
        """Something was put on a stream."""
        cause = CARRIED.get(type(event))
        seen = sender.number < self.shown and receiver.number < self.shown
        if seen and cause is not None:
            carries = kind_of(event.payload) if isinstance(event, values.SessionPayload) else None
            way = sender.number, receiver.number
            self._set_out(Flight(*way, cause, None, False, now, at, carries=carries))  # noqa: FBT003

    def arrived(self, sender: int, node: Node, now: Nanos) -> None:
        """A frame is there: what was under way until now is so no more."""
        if sender < self.shown and node.number < self.shown:
            self.flights = [one for one in self.flights if one.at > now]

    def unheard(self, sender: int, node: Node, event: values.Input) -> None:
        """A frame came where nobody can hear it: the node is off, or cut off."""
        if sender >= self.shown or node.number >= self.shown:
            return
        assert self.gate is not None
        if isinstance(event, values.Arrived):
            message = self.gate.read(event.payload)
            message_id = message.message_id if message.content else None
            cause = Cause.NEW if message.content else Cause.SYNC
            asks = bool(message.repair_request)
            self._lose(Flight(sender, node.number, cause, message_id, asks, 0, 0, lost=True))
        elif type(event) in CARRIED:
            cause = CARRIED[type(event)]
            self._lose(Flight(sender, node.number, cause, None, False, 0, 0, lost=True))  # noqa: FBT003

    # --- Inside --------------------------------------------------------------------------------

    def _stepped(
        self, node: Node, now: Nanos, machine: str, event: object, effects: Sequence[object]
    ) -> None:
        group = None if node.runner is None else node.runner.groups.get(machine)  # type: ignore[call-overload]  # a channel, or the manager
        before = self._repairs.get(node.number)
        after = before
        if group is not None:
            after = self._repairs[node.number] = repair_info(group.sds)
        at = now - node.machine_offset
        self.steps.append(Step(node.number, at, machine, event, tuple(effects), before, after))

    def _set_out(self, flight: Flight) -> None:
        self.flights.append(flight)
        self.begun.append(flight)
        del self.flights[:-UNDER_WAY_MAX], self.begun[:-UNDER_WAY_MAX]

    def _lose(self, flight: Flight) -> None:
        self.lost.append(flight)
        del self.lost[:-LOST_KEPT]
