"""Delta sync as a protocol of its own, after a handshake that tells the heads alone."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sync.calimero.handshake import decode_handshake, encode_handshake
from sync.calimero.log.delta import DeltaExchange
from sync.calimero.log.delta_messages import LAMPORT_MAX
from sync.group.group import Group
from sync.group.views.delta import DeltaMessages
from sync.machine import ChannelId, Nanos
from sync.sessions.cards import Round
from sync.sessions.handshake import HEADS_MAX, EntityState, LogState, SyncHandshake
from sync.sessions.protocol import Effect, Exchange, Fit, Opening, Pushed, Send, Situation
from sync.sessions.values import LoadedEntry, Plane, Stored
from sync.structures.differences import Role
from sync.waku.session import WAKU_SYNC


@dataclass
class DeltaAlone:
    plane: Plane = Plane.LOG
    name: str = "delta"
    stream: str = "/chat-tui/delta-alone/1"
    transfer: str = WAKU_SYNC.transfer
    payloads_max: int = 1
    usual: bool = False
    family: str = ""
    stays: bool = False
    contradicted: str = "differences that no filter showed"
    group: Group | None = None
    payloads: list[bytes] = field(default_factory=list)

    def suits(self, situation: Situation) -> Fit | None:
        return Fit(1, "test")

    def exchange(self, opening: Opening) -> Exchange:
        return AfterHandshake(self, opening)

    def encode_pushed(self, channel: ChannelId, payload: bytes, created_ns: Nanos) -> bytes:
        return WAKU_SYNC.encode_pushed(channel, payload, created_ns)

    def decode_pushed(self, frame: bytes) -> Pushed:
        return WAKU_SYNC.decode_pushed(frame)


class AfterHandshake:
    def __init__(self, protocol: DeltaAlone, opening: Opening) -> None:
        assert protocol.group is not None
        self.protocol, self.opening = protocol, opening
        self.view = DeltaMessages(protocol.group)
        self.log = self.view.frozen()
        heads = tuple(sorted(one for _, one in self.log.between(0, LAMPORT_MAX, HEADS_MAX)))
        digest = opening.held.digest
        log = LogState(digest.root, digest.count, heads=heads)
        self.ours = SyncHandshake(bytes(32), log, EntityState(bytes(32), 0, 0), 0)
        self.delta: DeltaExchange | None = None

    @property
    def cards(self) -> Sequence[Round]:
        return () if self.delta is None else self.delta.cards

    def open(self, now: Nanos) -> Sequence[Effect]:
        del now
        return [Send(encode_handshake(self.ours))]

    def payload(self, payload: bytes, now: Nanos) -> Sequence[Effect]:
        if self.delta is not None:
            self.protocol.payloads.append(payload)
            return self.delta.payload(payload, now)
        theirs = decode_handshake(payload)
        self.delta = DeltaExchange(self.opening, self.view, self.log, self.ours, theirs)
        if self.opening.role is Role.INITIATOR:
            return self.delta.open(now)
        return [Send(encode_handshake(self.ours))]

    def go_on(self, now: Nanos) -> Sequence[Effect]:
        assert self.delta is not None
        return self.delta.go_on(now)

    def loaded(self, page: Sequence[LoadedEntry], now: Nanos, *, more: bool) -> Sequence[Effect]:
        assert self.delta is not None
        return self.delta.loaded(page, now, more=more)

    def stored(self, one: Stored, now: Nanos, *, known: bool) -> Sequence[Effect]:
        del one, now, known
        return []

    def leave(self, now: Nanos) -> Sequence[Effect]:
        del now
        return []

    def tick(self, now: Nanos) -> Sequence[Effect]:
        return [] if self.delta is None else self.delta.tick(now)

    def deadline(self) -> Nanos | None:
        return None if self.delta is None else self.delta.deadline()
