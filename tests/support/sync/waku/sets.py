"""Builders for the tests of Waku Sync: ids, sets and sessions."""

import hashlib
from dataclasses import dataclass, field

from sync.machine import SECOND, Nanos
from sync.structures.ordered_set import OrderedSet, SyncId
from sync.waku.division import STRICT, Parameters
from sync.waku.message import CLUSTER, PAYLOAD_BYTES_MAX, Range, Ranges, RangesData
from sync.waku.reconcile import (
    Begin,
    Continue,
    Differences,
    Effect,
    Finished,
    Input,
    PayloadReceived,
    Reconciliation,
    Role,
    SendPayload,
)
from sync.waku.wire import decode_ranges, encode_ranges

NOW: Nanos = 1_700_000_000 * SECOND
SHARDS = (5,)
PLAIN = STRICT
"""The specification to the letter."""


def numbered(number: int, timestamp: Nanos | None = None) -> SyncId:
    """An id with a hash like those of real messages, one a second unless told otherwise."""
    digest = hashlib.sha256(number.to_bytes(8, "big")).digest()
    return SyncId(NOW + number * SECOND if timestamp is None else timestamp, digest)


def filled(items: set[SyncId]) -> OrderedSet:
    ordered = OrderedSet()
    ordered.extend(items)
    return ordered.frozen()


def session(
    role: Role, items: set[SyncId], parameters: Parameters, payloads_max: int = 1
) -> Reconciliation:
    """One side; it may answer in so many payloads."""
    local = filled(items)
    return Reconciliation(role, local, SHARDS, NOW, parameters, payloads_max=payloads_max)


def handled(machine: Reconciliation, event: Input, now: Nanos = NOW) -> list[Effect]:
    """The effects of an input, with those of all steps of the answer to it."""
    effects = machine.handle(event, now)
    while Continue() in effects:
        effects.remove(Continue())
        effects += machine.handle(Continue(), now)
    return effects


@dataclass
class Side:
    """One end of a session and what came out of it."""

    machine: Reconciliation
    need: list[SyncId] = field(default_factory=list)
    have: list[SyncId] = field(default_factory=list)
    finished: Finished | None = None
    sent: list[RangesData] = field(default_factory=list)

    def take(self, effects: list[Effect]) -> list[bytes]:
        """Note the effects; return the bytes that leave."""
        leaving = []
        for effect in effects:
            match effect:
                case SendPayload(payload=payload):
                    self.sent.append(payload)
                    leaving.append(encode_ranges(payload))
                case Differences(need=need, have=have):
                    self.need += need
                    self.have += have
                case Finished():
                    assert self.finished is None
                    self.finished = effect
                case Continue():
                    leaving += self.take(self.machine.handle(effect, NOW))
        assert all(len(data) <= PAYLOAD_BYTES_MAX for data in leaving)
        return leaving

    def receive(self, data: bytes) -> list[bytes]:
        return self.take(self.machine.handle(PayloadReceived(decode_ranges(data)), NOW))


def pump(initiator: Side, responder: Side) -> list[list[bytes]]:
    """Run a session to its end; return everything that was on the wire, turn by turn."""
    turns = []
    pending = initiator.take(initiator.machine.handle(Begin(), NOW))
    receiver, other = responder, initiator
    while pending:
        turns.append(pending)
        pending = [answer for data in pending for answer in receiver.receive(data)]
        receiver, other = other, receiver
    return turns


def payload(*ranges: Range, cluster: int = CLUSTER, shards: tuple[int, ...] = SHARDS) -> RangesData:
    """A payload of these ranges, which join."""
    return RangesData(cluster, shards, Ranges.of(ranges))


def subset_with_zero_xor(candidates: list[SyncId]) -> list[SyncId]:
    """Some of the ids whose hashes XOR to zero: among 257 there always are (Gauss over GF(2))."""
    basis: dict[int, tuple[int, int]] = {}
    for at, candidate in enumerate(candidates):
        value, members = int.from_bytes(candidate.hash, "big"), 1 << at
        while value and value.bit_length() in basis:
            reduced, used = basis[value.bit_length()]
            value, members = value ^ reduced, members ^ used
        if not value:
            return [item for index, item in enumerate(candidates) if members >> index & 1]
        basis[value.bit_length()] = (value, members)
    raise AssertionError("257 vectors of 256 bits are never independent")
