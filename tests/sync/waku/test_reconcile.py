"""Pairs of reconciliations, every payload pushed through its bytes."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from sync.structures.ordered_set import HASH_BYTES, ORIGIN, ZERO_HASH, SyncId
from sync.waku.division import NARROW, STRICT, Parameters
from sync.waku.message import (
    EVERYTHING,
    PAYLOAD_BYTES_MAX,
    TIMESTAMP_MAX,
    Fingerprint,
    ItemSet,
)
from sync.waku.reconcile import (
    ROUNDS_MAX,
    Phase,
    Result,
    Role,
)
from sync.waku.wire import decode_ranges
from tests.support.sync.waku.sets import NOW, PLAIN, Side, filled, numbered, pump, session

TINY = replace(STRICT, partitions=3, wide_partitions=3, item_set_threshold=2, fresh_threshold=2)


def reconciled(
    ours: set[SyncId],
    theirs: set[SyncId],
    parameters: Parameters = PLAIN,
    their_parameters: Parameters | None = None,
) -> list[bytes]:
    """Reconcile two sets, check what both sides learnt, and return the payloads."""
    initiator = Side(session(Role.INITIATOR, ours, parameters))
    responder = Side(session(Role.RESPONDER, theirs, their_parameters or parameters))

    wire = [data for turn in pump(initiator, responder) for data in turn]

    expected = Result.EQUAL if ours == theirs else Result.RECONCILED
    for side, mine, other in ((initiator, ours, theirs), (responder, theirs, ours)):
        assert sorted(side.need) == sorted(other - mine)
        assert sorted(side.have) == sorted(mine - other)
        assert side.finished is not None
        assert side.finished.result is expected
        assert (side.finished.need, side.finished.have) == (len(side.need), len(side.have))
        assert side.machine.phase is Phase.FINISHED
        assert side.machine.deadline() is None
    return wire


def test_equal_sets_cost_two_payloads_and_under_sixty_bytes() -> None:
    items = {numbered(number) for number in range(1_000)}

    opening, answer = reconciled(items, items)

    assert len(opening) < 60
    assert len(answer) < 60


def test_two_empty_sets_are_equal() -> None:
    assert len(reconciled(set(), set())) == 2


@pytest.mark.parametrize("size", [1, 100, 101, 20_000])
def test_a_side_with_nothing_learns_of_everything(size: int) -> None:
    items = {numbered(number) for number in range(size)}

    reconciled(set(), items)
    reconciled(items, set())


def test_disjoint_sets_are_exchanged_whole() -> None:
    reconciled({numbered(n) for n in range(50)}, {numbered(n) for n in range(25, 100)})
    reconciled({numbered(n) for n in range(3_000)}, {numbered(n) for n in range(3_000, 7_000)})


def test_a_small_difference_is_answered_with_item_sets() -> None:
    items = {numbered(number) for number in range(100)}

    wire = reconciled(items, items - {numbered(77)})

    kinds = [[type(part) for part in decode_ranges(data).ranges] for data in wire]
    assert kinds == [[Fingerprint], [ItemSet], [ItemSet], []]


def test_of_a_divided_range_the_equal_parts_are_skipped() -> None:
    items = {numbered(number) for number in range(80_000)}

    wire = reconciled(items, items - {numbered(40_123)})

    assert [type(part) for part in decode_ranges(wire[1]).ranges] == [Fingerprint] * 8
    assert sum(map(len, wire)) < 20_000


some_parameters = st.builds(
    Parameters,
    partitions=st.integers(2, 9),
    wide_partitions=st.integers(2, 20),
    item_set_threshold=st.integers(1, 50),
    choices=st.sampled_from([(1,), (1, 2), (1, 3, 8)]),
    fresh_threshold=st.integers(0, 9),
    joined_max=st.integers(-1, 9),
    narrow=st.booleans(),
)

few_ids = st.builds(
    SyncId,
    st.integers(0, 3) | st.integers(0, TIMESTAMP_MAX - 1),
    st.lists(st.sampled_from([0, 1, 0x35, 0xFF]), max_size=4).map(
        lambda head: bytes(head).ljust(HASH_BYTES, b"\0")
    ),
)


@given(
    st.sets(few_ids, max_size=30),
    st.sets(few_ids, max_size=10),
    st.sets(few_ids, max_size=10),
    some_parameters,
    some_parameters,
)
def test_any_two_sets_learn_exactly_their_differences(
    common: set[SyncId],
    ours: set[SyncId],
    theirs: set[SyncId],
    parameters: Parameters,
    their_parameters: Parameters,
) -> None:
    left, right = common | ours, common | theirs
    if filled(left).fingerprint(ORIGIN, EVERYTHING.upper) == filled(right).fingerprint(
        ORIGIN, EVERYTHING.upper
    ):
        # Such short hashes do cancel out; real ones only in malice.
        right = left

    initiator = Side(session(Role.INITIATOR, left, parameters))
    responder = Side(session(Role.RESPONDER, right, their_parameters))
    pump(initiator, responder)

    assert {*initiator.need} <= right - left
    assert {*initiator.have} <= left - right
    assert sorted(initiator.need) == sorted(responder.have)
    assert sorted(initiator.have) == sorted(responder.need)


@settings(max_examples=60)
@given(
    st.integers(0, 400),
    st.integers(0, 2**32),
    st.sampled_from([0.0, 0.01, 0.5, 1.0]),
    st.sampled_from([1, 3, 1_000_000]),
    some_parameters,
    some_parameters,
)
def test_random_sets_learn_exactly_their_differences(
    size: int,
    seed: int,
    lost: float,
    timestamps: int,
    parameters: Parameters,
    their_parameters: Parameters,
) -> None:
    dice = random.Random(seed)
    items = [numbered(number, NOW + dice.randrange(timestamps)) for number in range(size)]
    ours = {item for item in items if dice.random() >= lost}
    theirs = {item for item in items if dice.random() >= lost}

    reconciled(ours, theirs, parameters, their_parameters)


@pytest.mark.parametrize(
    "parameters", [PLAIN, replace(STRICT, item_set_threshold=20_000), NARROW, TINY]
)
def test_ten_thousand_messages_of_one_nanosecond_converge(parameters: Parameters) -> None:
    items = {numbered(number, NOW) for number in range(10_000)}
    lost = {numbered(number, NOW) for number in (17, 4_711, 9_999)}

    reconciled(items - lost, items | {numbered(10_000, NOW)}, parameters)


def test_neighbours_by_one_nanosecond_and_by_one_bit_are_told_apart() -> None:
    narrow = [numbered(number, NOW + number) for number in range(40)]
    last_bit = [SyncId(NOW + 7, bytes(31) + bytes([number])) for number in range(1, 41)]
    items = {*narrow, *last_bit, SyncId(0, ZERO_HASH), SyncId(TIMESTAMP_MAX - 1, b"\xff" * 32)}
    lost = {narrow[7], last_bit[0], last_bit[39], SyncId(TIMESTAMP_MAX - 1, b"\xff" * 32)}

    reconciled(items, items - lost, TINY)
    reconciled(items - lost, items, TINY)


@pytest.mark.parametrize("parameters", [PLAIN, NARROW, replace(STRICT, item_set_threshold=10_000)])
def test_sets_far_bigger_than_a_payload_converge(parameters: Parameters) -> None:
    common = {numbered(number) for number in range(0, 60_000, 2)}
    ours = common | {numbered(number) for number in range(1, 30_000, 2)}
    theirs = common | {numbered(number) for number in range(30_001, 60_000, 2)}

    wire = reconciled(ours, theirs, parameters)

    assert max(map(len, wire)) > PAYLOAD_BYTES_MAX // 4


@pytest.mark.slow
@pytest.mark.parametrize("newcomer", list(Role))
def test_a_hundred_thousand_messages_reach_a_newcomer(newcomer: Role) -> None:
    history = {numbered(number) for number in range(100_000)}

    wire = reconciled(set(), history) if newcomer is Role.INITIATOR else reconciled(history, set())

    assert len(wire) < ROUNDS_MAX // 2


def test_where_every_other_id_differs_the_answer_still_fits_a_payload() -> None:
    ours = {numbered(number) for number in range(0, 60_000, 2)}
    theirs = {numbered(number) for number in range(60_000) if number % 4}

    wire = reconciled(ours, theirs, NARROW)

    assert max(map(len, wire)) <= PAYLOAD_BYTES_MAX


def test_a_side_that_has_memory_for_little_gets_everything_in_several_sessions() -> None:
    whole = {numbered(number) for number in range(50_000)}
    held: set[SyncId] = set()
    sessions = 0
    while held != whole:
        sessions += 1
        few = Side(session(Role.INITIATOR, held, NARROW))
        few.machine._room = lambda: 20_000 - len(few.need)  # noqa: B023
        all_ = Side(session(Role.RESPONDER, whole, NARROW))
        pump(few, all_)
        assert few.finished is not None

        assert 0 < len(few.need) <= 20_000
        assert set(few.need) <= set(all_.have)  # the peer knows what to push
        held |= set(few.need)

    assert 1 < sessions <= 6
