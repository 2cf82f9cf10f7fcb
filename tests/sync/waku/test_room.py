"""Sessions that find more than there is room for: both count the same, and end in peace."""

import random
from collections import deque
from dataclasses import dataclass, field

import pytest

from sync.errors import RemoteError
from sync.structures.ordered_set import SyncId
from sync.waku.division import NARROW
from sync.waku.message import Ranges
from sync.waku.reconcile import (
    IN_FLIGHT_MAX,
    Begin,
    Continue,
    Differences,
    Effect,
    Finished,
    Input,
    PayloadReceived,
    Reconciliation,
    Result,
    Role,
    SendPayload,
)
from sync.waku.wire import decode_ranges, encode_ranges
from tests.support.sync.waku.sets import NOW, PLAIN, SHARDS, filled, numbered, payload

HELD = 40_000
ROOM = 30_000
"""More than one step of an answer finds, and one payload has."""


@dataclass
class End:
    """One end of a session: what it found, in so much room, and what has not reached it yet."""

    role: Role
    items: set[SyncId]
    room: int
    payloads_max: int = 4
    need: list[SyncId] = field(default_factory=list)
    have: list[SyncId] = field(default_factory=list)
    inputs: deque[Input] = field(default_factory=deque)
    result: Result | None = None

    def __post_init__(self) -> None:
        local = filled(self.items)
        self.machine = Reconciliation(
            self.role,
            local,
            SHARDS,
            NOW,
            NARROW,
            room=lambda: self.room - len(self.need) - len(self.have),
            payloads_max=self.payloads_max,
        )

    def turn(self) -> list[bytes]:
        """Take one input; return the payloads that leave."""
        leaving = []
        for effect in self._handled(self.inputs.popleft()):
            match effect:
                case SendPayload(sent):
                    leaving.append(encode_ranges(sent))
                case Differences(need, have):
                    self.need += need
                    self.have += have
                case Finished(result):
                    assert self.result is None
                    self.result = result
                case Continue():
                    self.inputs.append(effect)
        return leaving

    def _handled(self, event: Input) -> list[Effect]:
        return self.machine.handle(event, NOW)


def met(ours: set[SyncId], theirs: set[SyncId], room: int, seed: int) -> tuple[End, End]:
    """The two ends after a session in which payloads take as long as the dice say."""
    dice = random.Random(seed)
    one, other = End(Role.INITIATOR, ours, room), End(Role.RESPONDER, theirs, room)
    one.inputs.append(Begin())
    beside = {id(one): other, id(other): one}
    while busy := [end for end in (one, other) if end.inputs]:
        end = dice.choice(busy)
        beside[id(end)].inputs.extend(PayloadReceived(decode_ranges(data)) for data in end.turn())
    return one, other


@pytest.mark.parametrize("begins", [True, False], ids=["who lacks begins", "who has begins"])
@pytest.mark.parametrize("seed", range(4))
def test_who_has_what_the_other_lacks_counts_what_the_other_counts(
    seed: int, *, begins: bool
) -> None:
    everything = {numbered(number) for number in range(HELD)}
    some = {numbered(number) for number in range(0, HELD, 1_000)}
    ours, theirs = (some, everything) if begins else (everything, some)

    one, other = met(ours, theirs, ROOM, seed)

    lacks, has = (one, other) if begins else (other, one)
    assert has.result is Result.PARTIAL
    assert lacks.result is not None
    assert ROOM // 2 < len(has.have) < ROOM
    assert sorted(lacks.need) == sorted(has.have)


@pytest.mark.parametrize("seed", range(4))
def test_with_room_for_all_everything_is_found(seed: int) -> None:
    everything = {numbered(number) for number in range(HELD)}

    one, other = met(set(), everything, 2 * HELD + 1, seed)

    assert sorted(one.need) == sorted(other.have) == sorted(everything)
    assert (one.result, other.result) == (Result.RECONCILED, Result.RECONCILED)


def test_only_so_many_payloads_may_still_come_after_the_end() -> None:
    claimed = {numbered(number) for number in range(9)}
    one = End(Role.RESPONDER, set(), room=3)
    opening = End(Role.INITIATOR, claimed, room=99)
    opening.inputs.append(Begin())
    (first,) = opening.turn()
    one.inputs.append(PayloadReceived(decode_ranges(first)))
    (answered,) = one.turn()
    opening.inputs.append(PayloadReceived(decode_ranges(answered)))
    (items,) = opening.turn()
    one.inputs.append(PayloadReceived(decode_ranges(items)))
    assert [decode_ranges(data).ranges for data in one.turn()] == [Ranges()]
    assert one.result is Result.PARTIAL

    late = PayloadReceived(decode_ranges(items))
    for _ in range(IN_FLIGHT_MAX):
        assert one.machine.handle(late, NOW) == []
    with pytest.raises(RemoteError, match="finished"):
        one.machine.handle(late, NOW)
    assert one.machine.handle(PayloadReceived(payload()), NOW) == []


def test_of_a_program_that_takes_one_payload_none_may_come_after_the_end() -> None:
    machine = Reconciliation(Role.RESPONDER, filled(set()), SHARDS, NOW, PLAIN, room=lambda: 0)
    opening = End(Role.INITIATOR, {numbered(1)}, room=9, payloads_max=1)
    opening.inputs.append(Begin())
    (first,) = opening.turn()
    [answered] = machine.handle(PayloadReceived(decode_ranges(first)), NOW)
    assert isinstance(answered, SendPayload)
    opening.inputs.append(PayloadReceived(answered.payload))
    (items,) = opening.turn()
    late = PayloadReceived(decode_ranges(items))
    machine.handle(late, NOW)

    with pytest.raises(RemoteError, match="finished"):
        machine.handle(late, NOW)
