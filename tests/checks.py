"""Pairs of checks whose every frame is pushed through its bytes."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeVar

import pytest

from sync.codec import length_prefixed
from sync.digest import Held
from sync.errors import RemoteError
from sync.machine import Nanos
from sync.ranges import SyncId
from sync.waku.check import (
    Begin,
    Check,
    CheckFinished,
    Effect,
    FrameReceived,
    Phase,
    Result,
    SendFrame,
)
from sync.waku.check_message import (
    FRAME_BYTES_MAX,
    Ask,
    Claim,
    End,
    Frame,
    Hashes,
    Leaves,
    Proof,
    Verdict,
)
from sync.waku.check_wire import decode_frame, encode_frame
from sync.waku.reconcile import Differences, Role
from tests.digests import held
from tests.waku_sets import NOW

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

    def refuses(self, frame: Frame) -> None:
        """Deliver a frame before the one that is next: it is refused, and no trace is left."""
        side, _ = self._under_way[0]
        before = (side.machine.phase, side.machine.deadline())

        with pytest.raises(RemoteError):
            side.machine.handle(FrameReceived(frame), NOW + 1)

        assert (side.machine.phase, side.machine.deadline()) == before

    def instead(self, frame: Frame) -> Side:
        """Deliver a frame in the place of the one that is next; return who got it."""
        side, _ = self._under_way[0]
        self._under_way[0] = (side, encode_frame(frame))
        self._deliver()
        return side

    def side(self, role: Role) -> Side:
        return self.initiator if role is Role.INITIATOR else self.responder

    @property
    def wire_bytes(self) -> int:
        """All that was sent, as it is on a stream."""
        return sum(len(length_prefixed(data)) for data in self.wire)

    def _deliver(self) -> None:
        side, data = self._under_way.popleft()
        other = self.responder if side is self.initiator else self.initiator
        received = FrameReceived(decode_frame(data))
        self._send(other, side.take(side.machine.handle(received, NOW)))

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
