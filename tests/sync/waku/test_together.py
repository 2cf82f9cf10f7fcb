"""Answers to many ranges together say what answers one by one say: every byte, every difference."""

import random
from collections.abc import Iterator
from itertools import pairwise
from typing import Final, NamedTuple

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from sync.structures.ordered_set import EVERYTHING, ZERO_HASH, Bounds, OrderedSet, SyncId
from sync.waku import answer, answerer, asked, backlog
from sync.waku.answer import Answer
from sync.waku.answerer import Answerer
from sync.waku.division import NARROW, Parameters
from sync.waku.message import Fingerprint, ItemSet, Range, Ranges, Skip
from sync.waku.reconcile import Reconciliation, Role
from sync.waku.rows import Rows
from tests.support.sync.waku.sets import NOW, SHARDS, Side, numbered, pump

EAGER: Final = Parameters(fresh_threshold=3, item_set_threshold=9, choices=(1, 2), joined_max=4)
"""Many item sets, and most of them too full to be joined."""

SPREAD: Final = {"apart": 10**12, "near each other": 3_000, "in one place": 40}


class Told(NamedTuple):
    """All that was on the wire, and what both found."""

    turns: list[list[bytes]]
    found: list[tuple[list[SyncId], list[SyncId]]]


class Case(NamedTuple):
    """Two sets, and how they are compared."""

    ours: OrderedSet
    theirs: OrderedSet
    parameters: Parameters
    window: Bounds
    payloads_max: int


def a_case(seed: int, spread: int, parameters: Parameters) -> Case:
    """Sets of some hundred ids, of which many came late; some are compared from a floor on."""
    dice = random.Random(seed)
    size = dice.choice([3, 60, 400, 900])
    pool = [numbered(number, NOW + dice.randrange(spread)) for number in range(size)]
    lost = dice.choice([0.0, 0.01, 0.2, 0.9])
    sides = [[one for one in pool if dice.random() >= lost / 2] for _ in range(2)]
    floor = dice.choice([EVERYTHING.lower, SyncId(NOW + spread // 3, ZERO_HASH), dice.choice(pool)])
    window = Bounds(floor._replace(hash=ZERO_HASH), EVERYTHING.upper)
    ours, theirs = (filled(one, dice) for one in sides)
    return Case(ours, theirs, parameters, window, dice.choice([1, 4]))


def filled(ids: list[SyncId], dice: random.Random) -> OrderedSet:
    """A set whose short run has some of the ids."""
    held = OrderedSet()
    at = dice.randrange(len(ids) + 1)
    for one in sorted(ids[:at]):
        held.insert(one)
    for one in ids[at:]:
        held.insert(one)
    return held.frozen()


def told(case: Case) -> Told:
    sides = [
        Side(
            Reconciliation(
                role,
                local,
                SHARDS,
                NOW,
                case.parameters,
                case.window,
                payloads_max=case.payloads_max,
            )
        )
        for role, local in ((Role.INITIATOR, case.ours), (Role.RESPONDER, case.theirs))
    ]
    turns = pump(*sides)
    return Told(turns, [(side.need, side.have) for side in sides])


def alone(case: Case) -> Told:
    """The same, every range answered one by one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Answerer, "_may_be_together", lambda *_: False)
        return told(case)


@settings(max_examples=20, phases=[Phase.explicit, Phase.generate])
@pytest.mark.parametrize("spread", SPREAD.values(), ids=SPREAD)
@pytest.mark.parametrize("parameters", [NARROW, EAGER], ids=["narrow", "eager"])
@given(seed=st.integers(0, 2**32))
def test_both_say_the_same(seed: int, spread: int, parameters: Parameters) -> None:
    case = a_case(seed, spread, parameters)

    assert told(case) == alone(case)


@pytest.mark.parametrize("ranges", [250, 400])
@pytest.mark.parametrize("work", [40, 2_048])
@pytest.mark.parametrize("seed", range(2))
def test_both_say_the_same_where_payloads_have_little_room(
    seed: int, work: int, ranges: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (answer, answerer):
        monkeypatch.setattr(module, "RANGES_MAX", ranges)
    monkeypatch.setattr(backlog, "BACKLOG_MAX", 2 * ranges)
    monkeypatch.setattr(asked, "WORK", work)
    dice = random.Random(seed)
    pool = [numbered(number) for number in range(3_000)]
    ours, theirs = (filled([one for one in pool if dice.random() > 0.1], dice) for _ in range(2))
    case = Case(ours, theirs, NARROW, EVERYTHING, 1 + 3 * seed)

    assert told(case) == alone(case)


def test_hardly_a_range_is_answered_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    together: list[int] = []
    single: list[int] = []
    add_rows, answer_each = Answer.add_rows, Answerer._answer_each

    def counted_rows(self: Answer, rows: Rows) -> None:
        together.append(len(rows.kinds))
        add_rows(self, rows)

    def counted_each(self: Answerer, *arguments: object) -> Iterator[None]:
        single.append(1)
        return answer_each(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Answer, "add_rows", counted_rows)
    monkeypatch.setattr(Answerer, "_answer_each", counted_each)
    dice = random.Random(4)
    pool = [numbered(number) for number in range(3_000)]
    ours, theirs = (filled([one for one in pool if dice.random() > 0.01], dice) for _ in range(2))
    told(Case(ours, theirs, NARROW, EVERYTHING, 1))

    assert sum(together) > 50
    assert not single


def test_of_a_range_across_the_floor_what_is_above_is_answered() -> None:
    dice = random.Random(1)
    ids = [numbered(number) for number in range(60)]
    held = filled(ids, dice)
    floor = ids[20]._replace(hash=ZERO_HASH)
    edges = [EVERYTHING.lower, ids[10], ids[30], ids[40], EVERYTHING.upper]
    bounds = [
        Bounds(lower._replace(hash=ZERO_HASH), upper._replace(hash=ZERO_HASH))
        for lower, upper in pairwise(edges)
    ]
    below = numbered(99, ids[12].timestamp + 1)
    heard = (*ids[10:12], below, *ids[13:25], *ids[26:30])
    lacked = Bounds(ids[25]._replace(hash=ZERO_HASH), SyncId(ids[25].timestamp + 1, ZERO_HASH))
    cases: list[tuple[Range, list[Bounds]]] = [
        (Skip(bounds[1]), []),
        (Fingerprint(bounds[1], bytes([1]) * 32), [Bounds(floor, bounds[1].upper)]),
        (ItemSet(bounds[1], heard, reconciled=False), [lacked]),
    ]
    for across, expected in cases:
        ranges = Ranges.of([Skip(bounds[0]), across, Skip(bounds[2]), Skip(bounds[3])])
        machine = Answerer(held, NARROW)
        step = machine.step(machine.take(ranges, floor, first=True, last=True))

        answered = [one for one in step.payloads[-1] if not isinstance(one, Skip)]
        assert [one.bounds for one in answered] == expected
        assert step.need == []
        assert step.have == ([ids[25]] if isinstance(across, ItemSet) else [])
