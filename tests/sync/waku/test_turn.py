"""Answers of several payloads, and answering in steps."""

import random

import pytest

from sync.errors import RemoteError
from sync.structures.ordered_set import ORIGIN, ZERO_HASH, SyncId
from sync.waku import answer, answerer, asked, backlog
from sync.waku.division import NARROW, STRICT, Parameters
from sync.waku.message import (
    CLUSTER,
    EVERYTHING,
    Bounds,
    Fingerprint,
    Items,
    Ranges,
    RangesData,
    Skip,
)
from sync.waku.reconcile import (
    Begin,
    Continue,
    Differences,
    Finished,
    PayloadReceived,
    Phase,
    Reconciliation,
    Result,
    Role,
    SendPayload,
)
from sync.waku.turn import PAYLOADS_MAX, Turn
from sync.waku.wire import decode_ranges, encode_ranges
from tests.support.sync.waku.sets import (
    NOW,
    SHARDS,
    Side,
    handled,
    numbered,
    payload,
    pump,
    session,
)

OLD = 1
"""Payloads of an answer that a program of before takes, and sends."""

FULL = bytes([255]) * 32


def little_room(monkeypatch: pytest.MonkeyPatch, ranges: int) -> None:
    """Let a payload have so many ranges, as if sets were far larger than in a test."""
    for module in (answer, answerer):
        monkeypatch.setattr(module, "RANGES_MAX", ranges)
    monkeypatch.setattr(backlog, "BACKLOG_MAX", 2 * ranges)


def scattered(seed: int, count: int, lost: int) -> tuple[set[SyncId], set[SyncId]]:
    """Two sets of which so many ids are in one only."""
    dice = random.Random(seed)
    pool = [numbered(number) for number in range(count)]
    missing = dice.sample(pool, lost)
    at = dice.randrange(lost)
    return set(pool) - set(missing[:at]), set(pool) - set(missing[at:])


def reconciled(
    ours: set[SyncId],
    theirs: set[SyncId],
    takes: tuple[int, int],
    parameters: Parameters = NARROW,
) -> list[list[bytes]]:
    """Reconcile two who take so many payloads each; return the turns. Both learn everything."""
    to_initiator, to_responder = takes if OLD not in takes else (OLD, OLD)
    one = Side(session(Role.INITIATOR, ours, parameters, to_responder))
    other = Side(session(Role.RESPONDER, theirs, NARROW, to_initiator))
    turns = pump(one, other)
    for side, mine, others in ((one, ours, theirs), (other, theirs, ours)):
        assert sorted(side.need) == sorted(others - mine)
        assert sorted(side.have) == sorted(mine - others)
        assert side.finished is not None
        assert side.finished.result is Result.RECONCILED
    return turns


@pytest.mark.parametrize("parameters", [NARROW, STRICT], ids=["narrow", "to the letter"])
@pytest.mark.parametrize("takes", [(4, 4), (4, 2), (2, 4), (OLD, 4), (4, OLD), (OLD, OLD)], ids=str)
@pytest.mark.parametrize("seed", range(2))
def test_every_difference_is_found_once_whoever_takes_how_much(
    takes: tuple[int, int], parameters: Parameters, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    little_room(monkeypatch, 300)
    monkeypatch.setattr(asked, "WORK", 50)
    ours, theirs = scattered(seed, 4_000, 600)

    turns = reconciled(ours, theirs, takes, parameters)

    to_initiator, to_responder = takes if OLD not in takes else (OLD, OLD)
    assert max(map(len, turns[::2])) <= to_responder
    assert max(map(len, turns[1::2])) <= to_initiator
    assert (max(map(len, turns)) > 1) == (OLD not in takes)


def test_several_payloads_save_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    little_room(monkeypatch, 300)
    ours, theirs = scattered(1, 4_000, 600)

    before, several = (len(reconciled(ours, theirs, (most, most))) for most in (OLD, 4))

    assert before >= 14
    assert several <= 10


def test_ids_that_share_timestamps_go_on_in_further_payloads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    little_room(monkeypatch, 250)
    dice = random.Random(7)
    pool = [numbered(number, NOW + dice.randrange(5)) for number in range(3_000)]
    lost = dice.sample(pool, 500)

    turns = reconciled(set(pool) - set(lost[:250]), set(pool) - set(lost[250:]), (4, 4))

    assert max(map(len, turns)) > 1


def test_a_newcomer_is_told_all_in_few_turns() -> None:
    most = (PAYLOADS_MAX, PAYLOADS_MAX)
    turns = reconciled({numbered(0)}, {numbered(number) for number in range(70_000)}, most)

    assert [len(turn) for turn in turns] == [1, 1, 1, 5, 1]  # 16,384 ids each


# --- Steps -------------------------------------------------------------------------------------


def test_a_large_payload_is_answered_in_small_steps() -> None:
    ours, theirs = scattered(3, 30_000, 6_000)
    one, other = (
        Side(session(Role.INITIATOR, ours, NARROW, 4)),
        session(Role.RESPONDER, theirs, NARROW, 4),
    )
    steps: list[int] = []
    most = 0
    pending = one.take(one.machine.handle(Begin(), NOW))
    while pending:
        answers: list[bytes] = []
        for data in pending:
            effects = other.handle(PayloadReceived(decode_ranges(data)), NOW)
            count = 1
            while True:
                sent = [each.payload for each in effects if isinstance(each, SendPayload)]
                answers += map(encode_ranges, sent)
                found = [each for each in effects if isinstance(each, Differences)]
                most = max(most, *(len(each.need) + len(each.have) for each in found), 0)
                if Continue() not in effects:
                    break
                effects = other.handle(Continue(), NOW)
                count += 1
            steps.append(count)
        pending = [answer for data in answers for answer in one.receive(data)]

    assert max(steps) >= 5
    assert most <= asked.WORK + 300  # a range has no more


def test_steps_change_nothing_of_what_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    little_room(monkeypatch, 300)
    ours, theirs = scattered(5, 3_000, 300)
    told = []
    for work in (7, 100, 10**9):
        monkeypatch.setattr(asked, "WORK", work)
        told.append(reconciled(ours, theirs, (4, 4)))

    assert told[0] == told[1] == told[2]


def open_payload(machine: Reconciliation, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a machine begin an answer that takes several steps."""
    monkeypatch.setattr(asked, "WORK", 10)
    uppers = [SyncId(NOW + number, ZERO_HASH) for number in range(1, 200)]
    bounds = [
        Bounds(*each) for each in zip([ORIGIN, *uppers], [*uppers, EVERYTHING.upper], strict=True)
    ]
    questions = payload(*(Fingerprint(each, FULL) for each in bounds))
    assert machine.handle(PayloadReceived(questions), NOW) == [Continue()]


def test_a_payload_without_ranges_ends_the_session_once_what_came_before_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine = session(Role.RESPONDER, {numbered(1)}, NARROW, 4)
    open_payload(machine, monkeypatch)

    assert machine.handle(PayloadReceived(payload()), NOW) == []
    with pytest.raises(RemoteError, match="while"):
        machine.handle(PayloadReceived(payload(Skip(EVERYTHING))), NOW)
    effects = machine.handle(Continue(), NOW)
    while effects == [Continue()]:
        effects = machine.handle(Continue(), NOW)

    [finished] = effects  # and nothing is sent: nobody listens
    assert isinstance(finished, Finished)
    assert machine.phase is Phase.FINISHED
    assert machine.handle(Continue(), NOW) == []
    assert machine.handle(PayloadReceived(payload()), NOW) == []  # it has said so before


@pytest.mark.parametrize(("takes", "more"), [(OLD, 0), (2, PAYLOADS_MAX - 1)])
def test_more_payloads_than_a_turn_has_do_not_wait_for_their_answers(
    takes: int, more: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = session(Role.RESPONDER, {numbered(1)}, NARROW, takes)
    open_payload(machine, monkeypatch)
    again = PayloadReceived(payload(Fingerprint(EVERYTHING, FULL)))
    for _ in range(more):
        assert machine.handle(again, NOW) == []

    with pytest.raises(RemoteError, match="more payloads"):
        machine.handle(again, NOW)


# --- Rules of a turn ---------------------------------------------------------------------------


def at(number: int) -> SyncId:
    return SyncId(number, ZERO_HASH)


def part(begin: int, end: int, content: bytes | None = FULL) -> Ranges:
    """A payload that says something from `begin` to `end`."""
    bounds = Bounds(at(begin), at(end))
    said = Skip(bounds) if content is None else Fingerprint(bounds, content)
    return Ranges.of([Skip(Bounds(ORIGIN, at(begin))), said] if begin else [said])


def test_a_turn_is_over_where_everything_ends() -> None:
    turn = Turn(at(100), several=True)

    took = [turn.take(each) for each in (part(0, 40), part(50, 60), part(60, 100), part(0, 100))]

    assert [(one.first, one.last, one.settled) for one in took] == [
        (True, False, False),
        (True, False, False),
        (True, True, False),
        (False, True, False),
    ]


def test_a_turn_is_settled_if_all_of_it_is() -> None:
    turn = Turn(None, several=True)
    opening = turn.take(part(0, 100))

    said = [turn.take(each).settled for each in (part(0, 50), part(50, 100, None))]
    skipped = [turn.take(each).settled for each in (part(0, 50, None), part(50, 100, None))]

    assert opening.last
    assert said == [False, False]
    assert skipped == [True, True]


@pytest.mark.parametrize("again", [part(39, 60), part(0, 40), part(0, 30), part(10, 100)])
def test_a_payload_that_says_again_what_was_said_is_refused(again: Ranges) -> None:
    turn = Turn(at(100), several=True)
    turn.take(part(0, 40))

    with pytest.raises(RemoteError, match="does not go on"):
        turn.take(again)


def test_a_turn_without_end_is_refused() -> None:
    turn = Turn(at(100), several=True)
    for number in range(PAYLOADS_MAX - 1):
        turn.take(part(number, number + 1))

    with pytest.raises(RemoteError, match="not over after"):
        turn.take(part(50, 60))


def test_who_knows_of_one_payload_only_is_answered_whatever_it_covers() -> None:
    turn = Turn(at(100), several=False)

    assert [turn.take(part(0, 40)).last, turn.take(part(0, 30)).last] == [True, True]


def test_a_turn_of_nothing_but_questions_is_answered_within_a_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    little_room(monkeypatch, 300)
    items = {numbered(number) for number in range(3_000)}
    machine = session(Role.RESPONDER, items, STRICT, 10**6)  # it says that it takes a million
    handled(machine, PayloadReceived(payload(Fingerprint(EVERYTHING, FULL))))
    uppers = [one for one in sorted(items) if one.timestamp > NOW][: PAYLOADS_MAX * 290]
    bounds = [
        Bounds(SyncId(one.timestamp - 1, ZERO_HASH), SyncId(one.timestamp, ZERO_HASH))
        for one in uppers
    ]
    sent: list[Ranges] = []
    for begin in range(0, len(bounds), 290):
        asked = Ranges()
        for lower, upper in bounds[begin : begin + 290]:
            asked.append(lower, None)
            asked.append(upper, Items((), reconciled=False))
        if begin + 290 >= len(bounds):
            asked.append(EVERYTHING.upper, FULL)
        effects = handled(machine, PayloadReceived(RangesData(CLUSTER, SHARDS, asked)))
        sent += [one.payload.ranges for one in effects if isinstance(one, SendPayload)]

    assert 1 < len(sent) <= PAYLOADS_MAX
    assert all(len(ranges) <= 300 for ranges in sent)
    assert sent[-1].upper(-1) == EVERYTHING.upper
