"""Members whose gates are told verdicts ahead of time, and count what they verify."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from sync.entries.identity import verify
from sync.group import values
from sync.group.inputs.foreseen import ForeseeingGate, Foresight, Verdict, verdict_of
from sync.machine import Nanos, PeerId
from sync.manager.registry import PROTOCOLS
from sync.sessions.protocol import Protocols
from tests.support.sync.groups import NOW, Member


@dataclass
class Verifier:
    """Counts what is verified."""

    counts: Counter[bytes] = field(default_factory=Counter)

    def __call__(self, peer: PeerId, signature: bytes, data: bytes) -> bool:
        self.counts[signature + data] += 1
        return verify(peer, signature, data)


def foreseeing(name: str, protocols: Protocols = PROTOCOLS) -> Member:
    return Member(name, gates=ForeseeingGate, verify=Verifier(), protocols=protocols)


def as_ever(name: str, protocols: Protocols = PROTOCOLS) -> Member:
    return Member(name, verify=Verifier(), protocols=protocols)


def counts(member: Member) -> Counter[bytes]:
    assert isinstance(member.verify, Verifier)
    return member.verify.counts


def gate_of(member: Member) -> ForeseeingGate:
    assert isinstance(member.group.gate, ForeseeingGate)
    return member.group.gate


def look_at(member: Member, events: Sequence[values.Input], now: Nanos = NOW) -> list[Verdict]:
    """Look at inputs that wait, as a driver does; returns the verdicts that were found."""
    gate, foresight = gate_of(member), Foresight(lambda: now)
    for event in events:
        foresight.look(member.group, event)
    gate.keep(foresight.frames)
    found = [one for one in map(verdict_of, foresight.waiting) if one is not None]
    for verdict in found:
        gate.learn(verdict)
    return found
