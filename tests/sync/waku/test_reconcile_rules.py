"""One reconciliation by itself: the answer to each kind of range, its limits and its ends."""

import pytest

from sync.errors import RemoteError
from sync.machine import SECOND, Tick
from sync.structures.ordered_set import HASH_BYTES, ORIGIN, ZERO_HASH, SyncId, rungs
from sync.waku import reconcile
from sync.waku.division import ITEMS_MAX
from sync.waku.message import (
    CLUSTER,
    EVERYTHING,
    PAYLOAD_BYTES_MAX,
    RANGES_MAX,
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
    PayloadReceived,
    Phase,
    Result,
    Role,
    SendPayload,
)
from sync.waku.wire import decode_ranges, encode_ranges
from tests.support.sync.waku.sets import NOW, PLAIN, SHARDS, handled, numbered, payload, session


def test_of_an_item_set_that_asks_for_more_than_a_payload_the_beginning_is_answered() -> None:
    items = {numbered(number) for number in range(40_000)}
    machine = session(Role.RESPONDER, items, PLAIN)
    asked = payload(ItemSet(EVERYTHING, (), reconciled=False))

    *found, sent = handled(machine, PayloadReceived(asked))

    assert isinstance(sent, SendPayload)
    have = [one for each in found if isinstance(each, Differences) for one in each.have]
    *parts, rest = sent.payload.ranges
    told = [one for part in parts if isinstance(part, ItemSet) for one in part.elements]
    assert all(isinstance(part, ItemSet) and part.reconciled for part in parts)
    assert isinstance(rest, Fingerprint)
    assert rest.bounds.upper == EVERYTHING.upper
    assert told == have == sorted(items)[: len(told)]
    assert ITEMS_MAX // 2 < len(told) <= ITEMS_MAX


def test_a_payload_of_too_many_open_ranges_is_answered_within_one_payload() -> None:
    items = {numbered(number) for number in range(RANGES_MAX)}
    machine = session(Role.RESPONDER, items, PLAIN)
    uppers = [SyncId(NOW + number * SECOND, ZERO_HASH) for number in range(1, RANGES_MAX)]
    bounds = [Bounds(*pair) for pair in zip([ORIGIN, *uppers[:-1]], uppers, strict=True)]
    asked = payload(*(Fingerprint(pair, b"\1" * 32) for pair in bounds))

    [sent] = handled(machine, PayloadReceived(asked))

    assert isinstance(sent, SendPayload)
    ranges = list(sent.payload.ranges)
    rest = ranges[-1]
    assert len(encode_ranges(sent.payload)) <= PAYLOAD_BYTES_MAX
    assert isinstance(rest, Fingerprint)
    assert rest.bounds.upper == uppers[-1]
    answered = [part for part in ranges if isinstance(part, ItemSet)]
    assert len(answered) > ITEMS_MAX // 2
    assert all(isinstance(part, ItemSet | Fingerprint) for part in ranges)


def test_the_rest_of_a_crowded_payload_reaches_a_bound_inside_a_timestamp() -> None:
    top = SyncId(NOW * 2, bytes.fromhex("0a0b0c").ljust(HASH_BYTES, b"\0"))
    items = {numbered(number) for number in range(RANGES_MAX)}
    machine = session(Role.RESPONDER, items, PLAIN)
    uppers = [SyncId(NOW + number * SECOND, ZERO_HASH) for number in range(1, RANGES_MAX - 10)]
    uppers += rungs(uppers[-1], top)
    bounds = [Bounds(*pair) for pair in zip([ORIGIN, *uppers[:-1]], uppers, strict=True)]
    asked = payload(*(Fingerprint(pair, b"\1" * 32) for pair in bounds))

    [sent] = handled(machine, PayloadReceived(asked))

    assert isinstance(sent, SendPayload)
    assert decode_ranges(encode_ranges(sent.payload)).ranges.upper(-1) == top
    assert [type(part) for part in list(sent.payload.ranges)[-4:]] == [Fingerprint] * 4


@pytest.mark.parametrize("local", [set(), {numbered(1)}])
def test_a_fingerprint_is_never_answered_with_a_reconciled_item_set(local: set[SyncId]) -> None:
    machine = session(Role.RESPONDER, local, PLAIN)
    asked = payload(Fingerprint(EVERYTHING, b"\1" * 32))

    effects = handled(machine, PayloadReceived(asked))

    expected = ItemSet(EVERYTHING, tuple(local), reconciled=False)
    assert effects == [SendPayload(payload(expected))]


def one_answer(local: set[SyncId], *received: Range) -> list[Effect]:
    """Return the effects of one payload on a responder."""
    machine = session(Role.RESPONDER, local, PLAIN)
    return handled(machine, PayloadReceived(payload(*received)))


def test_an_open_item_set_is_answered_with_our_own_marked_reconciled() -> None:
    mine, yours = numbered(1), numbered(2)

    effects = one_answer({mine}, ItemSet(EVERYTHING, (yours,), reconciled=False))

    answer = ItemSet(EVERYTHING, (mine,), reconciled=True)
    assert effects == [
        SendPayload(payload(answer)),
        Differences(need=(yours,), have=(mine,)),
    ]


def test_a_reconciled_item_set_is_answered_with_an_empty_payload_which_ends_the_session() -> None:
    mine, yours = numbered(1), numbered(2)

    effects = one_answer({mine}, ItemSet(EVERYTHING, (yours,), reconciled=True))

    assert effects == [
        SendPayload(payload()),
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
    answer = payload(ItemSet(EVERYTHING, (), reconciled=True))

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
    ranges = list(decode_ranges(encode_ranges(effects[0].payload)).ranges)
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
    assert effects == [SendPayload(payload(skip, answer))]


@pytest.mark.parametrize("header", [(CLUSTER + 1, SHARDS), (CLUSTER, (6,)), (CLUSTER, (5, 6))])
def test_other_shards_are_refused_with_an_empty_payload(
    header: tuple[int, tuple[int, ...]],
) -> None:
    machine = session(Role.RESPONDER, {numbered(1)}, PLAIN)
    cluster, shards = header
    foreign = payload(Fingerprint(EVERYTHING, ZERO_HASH), cluster=cluster, shards=shards)

    effects = machine.handle(PayloadReceived(foreign), NOW)

    assert effects == [
        SendPayload(payload()),
        Finished(Result.MISMATCH, 1, 0, 0),
    ]


@pytest.mark.parametrize("answer", [payload(shards=(6,)), decode_ranges(b"")])
def test_an_initiator_understands_that_its_shards_were_refused(answer: RangesData) -> None:
    machine = session(Role.INITIATOR, {numbered(1)}, PLAIN)
    machine.handle(Begin(), NOW)

    effects = machine.handle(PayloadReceived(answer), NOW)

    assert effects == [Finished(Result.MISMATCH, 1, 0, 0)]


def test_zero_bytes_later_in_a_session_mean_that_all_is_done() -> None:
    machine = session(Role.RESPONDER, {numbered(1)}, PLAIN)
    opening = payload(Fingerprint(EVERYTHING, ZERO_HASH))
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
    opening = payload(Fingerprint(EVERYTHING, ZERO_HASH))

    assert machine.deadline() == NOW + INACTIVITY_MAX
    machine.handle(PayloadReceived(opening), NOW + 7 * SECOND)
    assert machine.deadline() == NOW + 7 * SECOND + INACTIVITY_MAX


def test_a_peer_that_never_comes_to_an_end_is_stopped() -> None:
    machine = session(Role.RESPONDER, {numbered(1)}, PLAIN)
    open_for_ever = payload(Fingerprint(EVERYTHING, b"\1" * 32))

    for _ in range(ROUNDS_MAX):
        [sent] = machine.handle(PayloadReceived(open_for_ever), NOW)
        assert isinstance(sent, SendPayload)
    with pytest.raises(RemoteError, match="not done"):
        machine.handle(PayloadReceived(open_for_ever), NOW)


def test_what_is_missing_beyond_the_limit_is_left_to_the_next_session(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reconcile, "NEED_MAX", 2)
    machine = session(Role.RESPONDER, set(), PLAIN)
    claim = ItemSet(EVERYTHING, tuple(numbered(number) for number in range(3)), reconciled=True)

    effects = machine.handle(PayloadReceived(payload(claim)), NOW)

    assert effects == [SendPayload(payload()), Finished(Result.PARTIAL, 1, 0, 0)]
    assert machine.phase is Phase.FINISHED


def test_as_much_as_the_limit_is_taken_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconcile, "NEED_MAX", 2)
    machine = session(Role.RESPONDER, set(), PLAIN)
    claim = ItemSet(EVERYTHING, tuple(numbered(number) for number in range(2)), reconciled=True)

    effects = machine.handle(PayloadReceived(payload(claim)), NOW)

    assert effects[-1] == Finished(Result.RECONCILED, 1, 2, 0)


@pytest.mark.parametrize("begun", [False, True])
def test_a_payload_out_of_turn_is_the_peers_fault(begun: bool) -> None:
    machine = session(Role.INITIATOR, set(), PLAIN)
    skip = PayloadReceived(payload(Skip(EVERYTHING)))
    if begun:
        machine.handle(Begin(), NOW)
        machine.handle(skip, NOW)

    with pytest.raises(RemoteError):
        machine.handle(skip, NOW)


def test_every_phase_has_its_row_and_every_phase_but_the_last_leads_there() -> None:
    assert set(TRANSITIONS) == set(Phase)
    for phase, row in TRANSITIONS.items():
        assert (Phase.FINISHED in row.values()) is (phase is not Phase.FINISHED)
