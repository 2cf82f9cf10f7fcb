"""Pairs of reconciliations, every payload pushed through its bytes."""

import hashlib
import random
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sync.errors import RemoteError
from sync.machine import SECOND, Nanos, Tick
from sync.ranges import HASH_BYTES, ORIGIN, ZERO_HASH, OrderedSet, SyncId, rungs
from sync.waku import reconcile
from sync.waku.message import (
    CLUSTER,
    EVERYTHING,
    PAYLOAD_BYTES_MAX,
    TIMESTAMP_MAX,
    Bounds,
    Fingerprint,
    ItemSet,
    Range,
    RangesData,
    Skip,
)
from sync.waku.reconcile import (
    INACTIVITY_MAX,
    ROUNDS_MAX,
    TRANSITIONS,
    Begin,
    Differences,
    Effect,
    Finished,
    Parameters,
    PayloadReceived,
    Phase,
    Reconciliation,
    Result,
    Role,
    SendPayload,
)
from sync.waku.wire import RANGES_MAX, decode_ranges, encode_ranges

NOW: Nanos = 1_700_000_000 * SECOND
SHARDS = (5,)
PLAIN = Parameters()
TINY = Parameters(partitions=3, item_set_threshold=2)


def numbered(number: int, timestamp: Nanos | None = None) -> SyncId:
    """An id with a hash like those of real messages, one a second unless told otherwise."""
    digest = hashlib.sha256(number.to_bytes(8, "big")).digest()
    return SyncId(NOW + number * SECOND if timestamp is None else timestamp, digest)


def filled(items: set[SyncId]) -> OrderedSet:
    ordered = OrderedSet()
    ordered.extend(items)
    return ordered.frozen()


def session(role: Role, items: set[SyncId], parameters: Parameters) -> Reconciliation:
    return Reconciliation(role, filled(items), SHARDS, NOW, parameters)


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
        assert all(len(data) <= PAYLOAD_BYTES_MAX for data in leaving)
        return leaving


def pump(initiator: Side, responder: Side) -> list[bytes]:
    """Run a session to its end; return everything that was on the wire."""
    wire = []
    pending = initiator.take(initiator.machine.handle(Begin(), NOW))
    receiver, other = responder, initiator
    while pending:
        [data] = pending
        wire.append(data)
        received = PayloadReceived(decode_ranges(data))
        pending = receiver.take(receiver.machine.handle(received, NOW))
        receiver, other = other, receiver
    return wire


def reconciled(
    ours: set[SyncId], theirs: set[SyncId], parameters: Parameters = PLAIN
) -> list[bytes]:
    """Reconcile two sets, check what both sides learnt, and return the payloads."""
    initiator = Side(session(Role.INITIATOR, ours, parameters))
    responder = Side(session(Role.RESPONDER, theirs, parameters))

    wire = pump(initiator, responder)

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
    assert kinds == [[Fingerprint], [ItemSet], [ItemSet], [Skip]]


def test_of_a_divided_range_the_equal_parts_are_skipped() -> None:
    items = {numbered(number) for number in range(80_000)}

    wire = reconciled(items, items - {numbered(40_123)})

    assert [type(part) for part in decode_ranges(wire[1]).ranges] == [Fingerprint] * 8
    assert sum(map(len, wire)) < 20_000


few_ids = st.builds(
    SyncId,
    st.integers(0, 3) | st.integers(0, TIMESTAMP_MAX - 1),
    st.lists(st.sampled_from([0, 1, 0x35, 0xFF]), max_size=4).map(
        lambda head: bytes(head).ljust(HASH_BYTES, b"\0")
    ),
)


@settings(deadline=None)
@given(
    st.sets(few_ids, max_size=30),
    st.sets(few_ids, max_size=10),
    st.sets(few_ids, max_size=10),
    st.builds(Parameters, st.integers(2, 9), st.integers(1, 5)),
)
def test_any_two_sets_learn_exactly_their_differences(
    common: set[SyncId], ours: set[SyncId], theirs: set[SyncId], parameters: Parameters
) -> None:
    left, right = common | ours, common | theirs
    if filled(left).fingerprint(ORIGIN, EVERYTHING.upper) == filled(right).fingerprint(
        ORIGIN, EVERYTHING.upper
    ):
        # Such short hashes do cancel out; real ones only in malice.
        right = left

    initiator = Side(session(Role.INITIATOR, left, parameters))
    responder = Side(session(Role.RESPONDER, right, parameters))
    pump(initiator, responder)

    assert {*initiator.need} <= right - left
    assert {*initiator.have} <= left - right
    assert sorted(initiator.need) == sorted(responder.have)
    assert sorted(initiator.have) == sorted(responder.need)


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 400),
    st.integers(0, 2**32),
    st.sampled_from([0.0, 0.01, 0.5, 1.0]),
    st.sampled_from([1, 3, 1_000_000]),
    st.builds(Parameters, st.integers(2, 9), st.integers(1, 50)),
)
def test_random_sets_learn_exactly_their_differences(
    size: int, seed: int, lost: float, timestamps: int, parameters: Parameters
) -> None:
    dice = random.Random(seed)
    items = [numbered(number, NOW + dice.randrange(timestamps)) for number in range(size)]
    ours = {item for item in items if dice.random() >= lost}
    theirs = {item for item in items if dice.random() >= lost}

    reconciled(ours, theirs, parameters)


@pytest.mark.parametrize("parameters", [PLAIN, Parameters(8, 20_000), TINY])
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


@pytest.mark.parametrize("parameters", [PLAIN, Parameters(item_set_threshold=10_000)])
def test_sets_far_bigger_than_a_payload_converge(parameters: Parameters) -> None:
    common = {numbered(number) for number in range(0, 60_000, 2)}
    ours = common | {numbered(number) for number in range(1, 30_000, 2)}
    theirs = common | {numbered(number) for number in range(30_001, 60_000, 2)}

    wire = reconciled(ours, theirs, parameters)

    assert max(map(len, wire)) > PAYLOAD_BYTES_MAX // 2


@pytest.mark.slow
@pytest.mark.parametrize("newcomer", list(Role))
def test_a_hundred_thousand_messages_reach_a_newcomer(newcomer: Role) -> None:
    history = {numbered(number) for number in range(100_000)}

    wire = reconciled(set(), history) if newcomer is Role.INITIATOR else reconciled(history, set())

    assert len(wire) < ROUNDS_MAX // 2


def test_an_item_set_that_asks_for_more_than_a_payload_is_put_off_not_cut() -> None:
    items = {numbered(number) for number in range(40_000)}
    machine = session(Role.RESPONDER, items, PLAIN)
    asked = RangesData(CLUSTER, SHARDS, (ItemSet(EVERYTHING, (), reconciled=False),))

    [sent] = machine.handle(PayloadReceived(asked), NOW)

    assert isinstance(sent, SendPayload)
    assert [type(part) for part in sent.payload.ranges] == [Fingerprint] * 8


def test_a_payload_of_too_many_open_ranges_is_answered_within_one_payload() -> None:
    items = {numbered(number) for number in range(RANGES_MAX)}
    machine = session(Role.RESPONDER, items, PLAIN)
    uppers = [SyncId(NOW + number * SECOND, ZERO_HASH) for number in range(1, RANGES_MAX)]
    bounds = [Bounds(*pair) for pair in zip([ORIGIN, *uppers[:-1]], uppers, strict=True)]
    asked = RangesData(CLUSTER, SHARDS, tuple(Fingerprint(pair, b"\1" * 32) for pair in bounds))

    [sent] = machine.handle(PayloadReceived(asked), NOW)

    assert isinstance(sent, SendPayload)
    rest = sent.payload.ranges[-1]
    assert len(encode_ranges(sent.payload)) <= PAYLOAD_BYTES_MAX
    assert isinstance(rest, Fingerprint)
    assert rest.bounds.upper == uppers[-1]
    assert all(isinstance(part, ItemSet) for part in sent.payload.ranges[:-1])
    assert len(sent.payload.ranges) > 1_000


def test_the_rest_of_a_crowded_payload_reaches_a_bound_inside_a_timestamp() -> None:
    top = SyncId(NOW * 2, bytes.fromhex("0a0b0c").ljust(HASH_BYTES, b"\0"))
    items = {numbered(number) for number in range(RANGES_MAX)}
    machine = session(Role.RESPONDER, items, PLAIN)
    uppers = [SyncId(NOW + number * SECOND, ZERO_HASH) for number in range(1, RANGES_MAX - 10)]
    uppers += rungs(uppers[-1], top)
    bounds = [Bounds(*pair) for pair in zip([ORIGIN, *uppers[:-1]], uppers, strict=True)]
    asked = RangesData(CLUSTER, SHARDS, tuple(Fingerprint(pair, b"\1" * 32) for pair in bounds))

    [sent] = machine.handle(PayloadReceived(asked), NOW)

    assert isinstance(sent, SendPayload)
    assert decode_ranges(encode_ranges(sent.payload)).ranges[-1].bounds.upper == top
    assert [type(part) for part in sent.payload.ranges[-4:]] == [Fingerprint] * 4


@pytest.mark.parametrize("local", [set(), {numbered(1)}])
def test_a_fingerprint_is_never_answered_with_a_reconciled_item_set(local: set[SyncId]) -> None:
    machine = session(Role.RESPONDER, local, PLAIN)
    asked = RangesData(CLUSTER, SHARDS, (Fingerprint(EVERYTHING, b"\1" * 32),))

    effects = machine.handle(PayloadReceived(asked), NOW)

    expected = ItemSet(EVERYTHING, tuple(local), reconciled=False)
    assert effects == [SendPayload(RangesData(CLUSTER, SHARDS, (expected,)))]


def one_answer(local: set[SyncId], *received: Range) -> list[Effect]:
    """What a responder does with one payload."""
    machine = session(Role.RESPONDER, local, PLAIN)
    return machine.handle(PayloadReceived(RangesData(CLUSTER, SHARDS, received)), NOW)


def test_an_open_item_set_is_answered_with_our_own_marked_reconciled() -> None:
    mine, yours = numbered(1), numbered(2)

    effects = one_answer({mine}, ItemSet(EVERYTHING, (yours,), reconciled=False))

    answer = ItemSet(EVERYTHING, (mine,), reconciled=True)
    assert effects == [
        SendPayload(RangesData(CLUSTER, SHARDS, (answer,))),
        Differences(need=(yours,), have=(mine,)),
    ]


def test_a_reconciled_item_set_is_answered_with_skip_and_ends_the_session() -> None:
    mine, yours = numbered(1), numbered(2)

    effects = one_answer({mine}, ItemSet(EVERYTHING, (yours,), reconciled=True))

    assert effects == [
        SendPayload(RangesData(CLUSTER, SHARDS, (Skip(EVERYTHING),))),
        Differences(need=(yours,), have=(mine,)),
        Finished(Result.RECONCILED, rounds=1, need=1, have=1),
    ]


@pytest.mark.parametrize("received", [(), (Skip(EVERYTHING),)])
def test_nothing_but_skip_ends_the_session_without_an_answer(received: tuple[Range, ...]) -> None:
    assert one_answer({numbered(1)}, *received) == [Finished(Result.EQUAL, 1, 0, 0)]


def test_a_foreign_reconciled_empty_set_in_answer_to_a_fingerprint_is_understood() -> None:
    mine = numbered(1)
    machine = session(Role.INITIATOR, {mine}, PLAIN)
    machine.handle(Begin(), NOW)
    answer = RangesData(CLUSTER, SHARDS, (ItemSet(EVERYTHING, (), reconciled=True),))

    [_, differences, finished] = machine.handle(PayloadReceived(answer), NOW)

    assert differences == Differences(need=(), have=(mine,))
    assert finished == Finished(Result.RECONCILED, 1, 0, 1)


def test_skips_are_merged_up_to_bounds_inside_a_timestamp() -> None:
    uppers = list(rungs(ORIGIN, SyncId(NOW, bytes.fromhex("0a0b0c0d").ljust(HASH_BYTES, b"\0"))))
    uppers.append(SyncId(NOW + 1, ZERO_HASH))
    bounds = [Bounds(*pair) for pair in zip([ORIGIN, *uppers[:-1]], uppers, strict=True)]
    item = SyncId(NOW, b"\x0a\x0b\x0c\x0d" + bytes(27) + b"\1")

    effects = one_answer(
        {item}, *map(Skip, bounds[:-1]), Fingerprint(bounds[-1], b"\1" * HASH_BYTES)
    )

    assert isinstance(effects[0], SendPayload)
    ranges = decode_ranges(encode_ranges(effects[0].payload)).ranges
    assert ranges[-1] == ItemSet(bounds[-1], (item,), reconciled=False)
    assert [part.bounds for part in ranges] == bounds


def test_a_window_begins_after_a_leading_skip() -> None:
    window = SyncId(NOW + 5 * SECOND, ZERO_HASH)
    before, inside = numbered(1), numbered(9)

    effects = one_answer(
        {before, inside},
        Skip(Bounds(ORIGIN, window)),
        Fingerprint(Bounds(window, EVERYTHING.upper), ZERO_HASH),
    )

    answer = ItemSet(Bounds(window, EVERYTHING.upper), (inside,), reconciled=False)
    skip = Skip(Bounds(ORIGIN, window))
    assert effects == [SendPayload(RangesData(CLUSTER, SHARDS, (skip, answer)))]


@pytest.mark.parametrize("header", [(CLUSTER + 1, SHARDS), (CLUSTER, (6,)), (CLUSTER, (5, 6))])
def test_other_shards_are_refused_with_an_empty_payload(
    header: tuple[int, tuple[int, ...]],
) -> None:
    machine = session(Role.RESPONDER, {numbered(1)}, PLAIN)
    foreign = RangesData(*header, (Fingerprint(EVERYTHING, ZERO_HASH),))

    effects = machine.handle(PayloadReceived(foreign), NOW)

    assert effects == [
        SendPayload(RangesData(CLUSTER, SHARDS)),
        Finished(Result.MISMATCH, 1, 0, 0),
    ]


@pytest.mark.parametrize("answer", [RangesData(CLUSTER, (6,)), decode_ranges(b"")])
def test_an_initiator_understands_that_its_shards_were_refused(answer: RangesData) -> None:
    machine = session(Role.INITIATOR, {numbered(1)}, PLAIN)
    machine.handle(Begin(), NOW)

    effects = machine.handle(PayloadReceived(answer), NOW)

    assert effects == [Finished(Result.MISMATCH, 1, 0, 0)]


def test_zero_bytes_later_in_a_session_mean_that_all_is_done() -> None:
    machine = session(Role.RESPONDER, {numbered(1)}, PLAIN)
    opening = RangesData(CLUSTER, SHARDS, (Fingerprint(EVERYTHING, ZERO_HASH),))
    machine.handle(PayloadReceived(opening), NOW)

    effects = machine.handle(PayloadReceived(decode_ranges(b"")), NOW)

    assert effects == [Finished(Result.EQUAL, 2, 0, 0)]


def test_a_silent_peer_ends_the_session_after_fifteen_seconds() -> None:
    machine = session(Role.INITIATOR, set(), PLAIN)
    machine.handle(Begin(), NOW + SECOND)
    deadline = machine.deadline()

    early = machine.handle(Tick(), NOW + SECOND + INACTIVITY_MAX - 1)
    late = machine.handle(Tick(), NOW + SECOND + INACTIVITY_MAX)
    again = machine.handle(Tick(), NOW + 100 * SECOND)

    assert deadline == NOW + SECOND + INACTIVITY_MAX
    assert early == again == []
    assert late == [Finished(Result.TIMED_OUT, 0, 0, 0)]


def test_every_payload_restarts_the_countdown() -> None:
    machine = session(Role.RESPONDER, {numbered(1)}, PLAIN)
    opening = RangesData(CLUSTER, SHARDS, (Fingerprint(EVERYTHING, ZERO_HASH),))

    assert machine.deadline() == NOW + INACTIVITY_MAX
    machine.handle(PayloadReceived(opening), NOW + 7 * SECOND)
    assert machine.deadline() == NOW + 7 * SECOND + INACTIVITY_MAX


def test_a_peer_that_never_comes_to_an_end_is_stopped() -> None:
    machine = session(Role.RESPONDER, {numbered(1)}, PLAIN)
    open_for_ever = RangesData(CLUSTER, SHARDS, (Fingerprint(EVERYTHING, b"\1" * 32),))

    for _ in range(ROUNDS_MAX):
        [sent] = machine.handle(PayloadReceived(open_for_ever), NOW)
        assert isinstance(sent, SendPayload)
    with pytest.raises(RemoteError, match="not done"):
        machine.handle(PayloadReceived(open_for_ever), NOW)


def test_a_peer_that_claims_too_many_messages_is_stopped_before_anything_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reconcile, "NEED_MAX", 2)
    machine = session(Role.RESPONDER, set(), PLAIN)
    claim = ItemSet(EVERYTHING, tuple(numbered(number) for number in range(3)), reconciled=True)
    payload = RangesData(CLUSTER, SHARDS, (claim,))

    with pytest.raises(RemoteError, match="over 2 messages"):
        machine.handle(PayloadReceived(payload), NOW)

    assert machine.phase is Phase.AWAITING
    fewer = replace(payload, ranges=(replace(claim, elements=claim.elements[:2]),))
    assert machine.handle(PayloadReceived(fewer), NOW)[-1] == Finished(Result.RECONCILED, 1, 2, 0)


@pytest.mark.parametrize("begun", [False, True])
def test_a_payload_out_of_turn_is_the_peers_fault(begun: bool) -> None:
    machine = session(Role.INITIATOR, set(), PLAIN)
    skip = PayloadReceived(RangesData(CLUSTER, SHARDS, (Skip(EVERYTHING),)))
    if begun:
        machine.handle(Begin(), NOW)
        machine.handle(skip, NOW)

    with pytest.raises(RemoteError):
        machine.handle(skip, NOW)


def test_every_phase_has_its_row_and_every_phase_but_the_last_leads_there() -> None:
    assert set(TRANSITIONS) == set(Phase)
    for phase, row in TRANSITIONS.items():
        assert (Phase.FINISHED in row.values()) is (phase is not Phase.FINISHED)
