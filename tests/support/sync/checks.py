"""Pairs of checks whose every frame is pushed through its bytes."""

import random
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeVar

import pytest
from msgspec.structs import replace

from sync.check.check import (
    Begin,
    Check,
    CheckFinished,
    Effect,
    FrameReceived,
    Result,
    SendFrame,
)
from sync.check.message import (
    FRAME_BYTES_MAX,
    Ask,
    Child,
    Claim,
    End,
    Frame,
    Hashes,
    Leaf,
    Leaves,
    Node,
    Proof,
    Verdict,
)
from sync.check.phases import Phase
from sync.check.wire import decode_frame, encode_frame
from sync.errors import RemoteError
from sync.machine import Nanos
from sync.structures.codec import length_prefixed
from sync.structures.ordered_set import SyncId
from sync.structures.set_digest import FANOUT_BITS, Held
from sync.waku.reconcile import Differences, Role
from tests.support.sync.digests import held
from tests.support.sync.waku.sets import NOW

FrameT = TypeVar("FrameT", Claim, Proof, Verdict, Ask, Hashes, Leaves, End)

SALTS = {Role.INITIATOR: b"i" * 16, Role.RESPONDER: b"r" * 16}


@dataclass
class Side:
    """One end of a check and what came out of it."""

    machine: Check
    need: list[SyncId] = field(default_factory=list)
    have: list[SyncId] = field(default_factory=list)
    finished: CheckFinished | None = None

    def take(self, effects: list[Effect]) -> list[bytes]:
        """Note the effects; return the bytes that leave."""
        leaving = []
        for effect in effects:
            assert self.finished is None, "nothing follows the end"
            match effect:
                case SendFrame(frame=frame):
                    leaving.append(encode_frame(frame))
                case Differences(need=need, have=have):
                    self.need += need
                    self.have += have
                case CheckFinished():
                    self.finished = effect
        assert all(len(data) <= FRAME_BYTES_MAX for data in leaving)
        return leaving

    @property
    def result(self) -> Result | None:
        return self.finished.result if self.finished else None


class Pair:
    """Two sides and the frames under way between them."""

    def __init__(self, initiator: Check, responder: Check) -> None:
        self.initiator = Side(initiator)
        self.responder = Side(responder)
        self.wire: list[bytes] = []
        self._under_way: deque[tuple[Side, bytes]] = deque()
        self._send(self.responder, self.initiator.take(initiator.handle(Begin(), NOW)))

    def run(self) -> "Pair":
        """Deliver until nothing is under way."""
        while self._under_way:
            self._deliver()
        return self

    def run_until(self, kind: type[FrameT], receiver: Role) -> FrameT:
        """Deliver until a frame of this kind comes next to this side; return it."""
        while True:
            side, data = self._under_way[0]
            frame = decode_frame(data)
            if side is self.side(receiver) and isinstance(frame, kind):
                return frame
            self._deliver()

    def next_frame(self, receiver: Role) -> Frame:
        """Deliver up to and with the next frame to this side; return it."""
        while True:
            side, data = self._under_way[0]
            self._deliver()
            if side is self.side(receiver):
                return decode_frame(data)

    @property
    def under_way(self) -> Frame | None:
        """The frame that is next."""
        return decode_frame(self._under_way[0][1]) if self._under_way else None

    def refuses(self, frame: Frame) -> None:
        """Deliver a frame before the one that is next: it is refused, and no trace is left."""
        side, _ = self._under_way[0]
        before = (side.machine.phase, side.machine.deadline())

        with pytest.raises(RemoteError):
            side.machine.handle(FrameReceived(frame), NOW + 1)

        assert (side.machine.phase, side.machine.deadline()) == before

    def instead(self, frame: Frame) -> Side:
        """Deliver a frame in the place of the one that is next; return who took it."""
        side, _ = self._under_way[0]
        effects = side.machine.handle(FrameReceived(frame), NOW)
        self._under_way.popleft()
        self._send(self._other(side), side.take(effects))
        return side

    def side(self, role: Role) -> Side:
        return self.initiator if role is Role.INITIATOR else self.responder

    @property
    def wire_bytes(self) -> int:
        """All that was sent, as it is on a stream."""
        return sum(len(length_prefixed(data)) for data in self.wire)

    def _deliver(self) -> None:
        self.instead(decode_frame(self._under_way[0][1]))

    def _other(self, side: Side) -> Side:
        return self.responder if side is self.initiator else self.initiator

    def _send(self, receiver: Side, frames: list[bytes]) -> None:
        self.wire += frames
        self._under_way += ((receiver, data) for data in frames)


def check(role: Role, what: Held | None, floor: Nanos = 0) -> Check:
    return Check(role, what, floor, SALTS[role], NOW)


def pair(
    ours: Iterable[SyncId], theirs: Iterable[SyncId], floors: tuple[Nanos, Nanos] = (0, 0)
) -> Pair:
    """The initiator has `ours`."""
    return Pair(
        check(Role.INITIATOR, held(ours), floors[0]), check(Role.RESPONDER, held(theirs), floors[1])
    )


def checked(ours: set[SyncId], theirs: set[SyncId], floors: tuple[Nanos, Nanos] = (0, 0)) -> Pair:
    """Run a check and hold what both sides learnt against the sets."""
    done = pair(ours, theirs, floors).run()

    assert_learnt(done, ours, theirs, max(floors))
    return done


def assert_learnt(done: Pair, ours: set[SyncId], theirs: set[SyncId], floor: Nanos = 0) -> None:
    ours = {item for item in ours if item.timestamp >= floor}
    theirs = {item for item in theirs if item.timestamp >= floor}
    expected = Result.EQUAL if ours == theirs else Result.DIFFERENT
    for side, mine, other in ((done.initiator, ours, theirs), (done.responder, theirs, ours)):
        assert side.finished is not None
        assert sorted(side.need) == sorted(other - mine)
        assert sorted(side.have) == sorted(mine - other)
        assert side.finished.result is expected
        assert (side.finished.floor, side.finished.count) == (floor, len(mine))
        assert (side.finished.need, side.finished.have) == (len(side.need), len(side.have))
        assert side.machine.phase is Phase.FINISHED
        assert side.machine.deadline() is None


def damaged(value: object, chance: random.Random) -> object:
    """A value of the same type, somewhat different: another number, other bytes, another order."""
    match value:
        case int():
            return chance.choice([value + 1, max(0, value - 1), value << FANOUT_BITS, 0, 2**32 - 1])
        case bytes() if value:
            at = chance.randrange(len(value))
            flipped = bytes([value[at] ^ 1 << chance.randrange(8)])
            return chance.choice([value[:at] + flipped + value[at + 1 :], b"", 2 * value])
        case tuple() if value:
            at = chance.randrange(len(value))
            without, again = value[:at] + value[at + 1 :], (*value[: at + 1], *value[at:])
            inside = (*value[:at], damaged(value[at], chance), *value[at + 1 :])
            return chance.choice([without, again, value[::-1], inside, inside])
        case (
            Claim() | Proof() | Verdict() | Ask() | Hashes() | Node() | Child() | Leaves() | Leaf()
        ):
            name = chance.choice(value.__struct_fields__)
            return replace(value, **{name: damaged(getattr(value, name), chance)})
        case _:
            return value
