"""Pairs of checks: what is equal, what differs, and what a forged fingerprint cannot hide."""

import random
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sync.check import check as check_module
from sync.check import descent
from sync.check.check import (
    INACTIVITY_MAX,
    Begin,
    CheckFinished,
    FrameReceived,
    Result,
    SendFrame,
)
from sync.check.message import IDS_MAX, Ask, Claim, Ending, Leaves, Proof, Verdict
from sync.check.phases import TRANSITIONS, Phase
from sync.check.proof import sealed
from sync.machine import SECOND, Tick
from sync.structures.ordered_set import HASH_BYTES, OrderedSet, SyncId
from sync.structures.set_digest import LEAF_BITS, Digest, Held
from sync.waku.message import EVERYTHING, TIMESTAMP_MAX
from sync.waku.reconcile import Begin as BeginReconciliation
from sync.waku.reconcile import Finished as ReconciliationFinished
from sync.waku.reconcile import PayloadReceived, Role, SendPayload
from sync.waku.reconcile import Result as ReconciliationResult
from tests.support.sync.checks import SALTS, Pair, assert_learnt, check, checked, pair
from tests.support.sync.digests import SortedIds, held, times
from tests.support.sync.waku.sets import (
    NOW,
    PLAIN,
    filled,
    numbered,
    session,
    subset_with_zero_xor,
)

BUCKET = 1 << LEAF_BITS

timestamps = (
    st.integers(0, 3 * BUCKET)
    | st.integers(0, 300).map(lambda leaf: leaf * BUCKET)
    | st.integers(0, TIMESTAMP_MAX - 1)
)
sync_ids = st.builds(SyncId, timestamps, st.sampled_from([bytes(32), b"\1" * 32, b"\xff" * 32]))
id_sets = st.sets(sync_ids, max_size=40)


def spread(count: int, days: int = 30, seed: int = 0) -> set[SyncId]:
    """Ids evenly over some days."""
    chance = random.Random(seed)
    span = days * 86_400 * SECOND
    return {numbered(number, NOW + chance.randrange(span)) for number in range(count)}


def test_equal_sets_cost_three_frames_and_under_a_hundred_and_fifty_bytes() -> None:
    items = {numbered(number) for number in range(20_000)}

    plain = checked(items, items)
    with_floors = checked(items, items, (NOW + SECOND, NOW))

    assert len(plain.wire) == len(with_floors.wire) == 3
    assert plain.wire_bytes < 130
    assert with_floors.wire_bytes <= 150


def test_two_empty_sets_are_equal() -> None:
    checked(set(), set())


@given(id_sets, id_sets)
def test_both_sides_learn_exactly_what_differs(ours: set[SyncId], theirs: set[SyncId]) -> None:
    checked(ours, theirs)


@given(id_sets, id_sets, timestamps, timestamps)
def test_nothing_is_compared_below_the_higher_floor(
    ours: set[SyncId], theirs: set[SyncId], floor: int, other: int
) -> None:
    checked(ours, theirs, (floor, other))


@given(id_sets, id_sets)
def test_once_both_have_what_they_found_missing_they_are_equal(
    ours: set[SyncId], theirs: set[SyncId]
) -> None:
    one, other = held(ours), held(theirs)
    initiator = check(
        Role.INITIATOR, one.with_found(SortedIds(ours | theirs), times(theirs - ours))
    )
    responder = check(
        Role.RESPONDER, other.with_found(SortedIds(ours | theirs), times(ours - theirs))
    )

    done = Pair(initiator, responder).run()

    assert_learnt(done, ours | theirs, ours | theirs)


@pytest.mark.parametrize("size", [1, 2_000])
def test_a_side_with_nothing_learns_of_everything(size: int) -> None:
    items = spread(size)

    checked(set(), items)
    checked(items, set())


def test_one_difference_among_many_takes_five_questions_and_little_more_than_its_bucket() -> None:
    items = spread(20_000)
    [lost, *_] = sorted(items)

    done = checked(items - {lost}, items)

    assert len(done.wire) == 3 + 2 * 5 + 1
    assert done.wire_bytes < 8_000


def test_hundreds_of_differences_are_found_in_batches() -> None:
    items = spread(20_000)
    shuffled = sorted(items, key=lambda item: item.hash)

    done = checked(items - set(shuffled[:300]), items - set(shuffled[200:500]))

    assert len(done.wire) < 30


def reconciliation_says(ours: set[SyncId], theirs: set[SyncId]) -> ReconciliationResult:
    """Return the result the initiator of a reconciliation gets after one round."""
    initiator = session(Role.INITIATOR, ours, PLAIN)
    responder = session(Role.RESPONDER, theirs, PLAIN)
    [opening] = initiator.handle(BeginReconciliation(), NOW)
    assert isinstance(opening, SendPayload)
    [answer, *_] = responder.handle(PayloadReceived(opening.payload), NOW)
    assert isinstance(answer, SendPayload)
    [*_, last] = initiator.handle(PayloadReceived(answer.payload), NOW)
    assert isinstance(last, ReconciliationFinished)
    return last.result


@pytest.mark.parametrize("seed", range(3))
def test_a_forged_fingerprint_hides_nothing_from_the_check(seed: int) -> None:
    common = {numbered(number) for number in range(1_000)}
    chance = random.Random(seed)
    candidates = [
        SyncId(NOW + chance.randrange(1_000 * SECOND), chance.randbytes(HASH_BYTES))
        for _ in range(257)
    ]
    forged = set(subset_with_zero_xor(candidates))
    both = common | forged
    bounds = (EVERYTHING.lower, EVERYTHING.upper)
    assert filled(common).fingerprint(*bounds) == filled(both).fingerprint(*bounds)
    assert reconciliation_says(common, both) is ReconciliationResult.EQUAL

    done = checked(common, both)

    assert set(done.initiator.need) == set(done.responder.have) == forged
    checked(both, common)


def test_a_swap_that_keeps_count_and_fingerprint_is_found() -> None:
    chance = random.Random(7)
    forged: list[SyncId] = []
    while not forged or len(forged) % 2:
        candidates = [SyncId(NOW, chance.randbytes(HASH_BYTES)) for _ in range(257)]
        forged = subset_with_zero_xor(candidates)
    half = len(forged) // 2
    ours, theirs = set(forged[:half]), set(forged[half:])
    assert reconciliation_says(ours, theirs) is ReconciliationResult.EQUAL

    checked(ours, theirs)


def test_neither_side_can_repeat_the_words_of_the_other() -> None:
    items = {numbered(1)}
    known = pair(items, items)
    proof = known.run_until(Proof, Role.INITIATOR)
    known.run_until(Verdict, Role.RESPONDER)

    responder = known.instead(Verdict(proof.count, proof.digest))

    assert responder.finished is None
    assert responder.machine.phase is Phase.DESCENDING


def test_a_proof_is_bound_to_role_and_both_salts() -> None:
    root = b"\7" * 32

    seals = {
        sealed(role, one, other, root)
        for role in Role
        for one in SALTS.values()
        for other in SALTS.values()
    }

    assert len(seals) == 2 * 2 * 2


def test_our_root_with_another_count_is_no_proof() -> None:
    items = {numbered(number) for number in range(10)}
    both = pair(items, items)

    proof = both.run_until(Proof, Role.INITIATOR)
    both.refuses(Proof(proof.salt, proof.floor, proof.count + 1, proof.digest))
    verdict = both.run_until(Verdict, Role.RESPONDER)
    both.refuses(Verdict(verdict.count - 1, verdict.digest))

    assert_learnt(both.run(), items, items)


def test_the_floor_of_a_digest_counts_like_our_own() -> None:
    items = {numbered(number) for number in range(20)}
    floor = NOW + 10 * SECOND
    initiator = check(Role.INITIATOR, held(items - {numbered(3)}).above(floor))

    done = Pair(initiator, check(Role.RESPONDER, held(items))).run()

    assert_learnt(done, items, items, floor)


def test_a_floor_above_everything_is_told_with_the_result() -> None:
    done = checked({numbered(1)}, {numbered(2)}, (0, TIMESTAMP_MAX))

    assert done.initiator.finished == CheckFinished(Result.EQUAL, TIMESTAMP_MAX, 0, 1, 0, 0, "")


def test_a_responder_with_nothing_to_compare_declines() -> None:
    done = Pair(check(Role.INITIATOR, held([])), check(Role.RESPONDER, None)).run()

    reason = "the peer has nothing to compare"
    assert len(done.wire) == 2
    assert done.initiator.finished == CheckFinished(Result.REFUSED, 0, 0, 1, 0, 0, reason)
    assert done.responder.result is Result.REFUSED


def crowd(count: int) -> set[SyncId]:
    """Ids of one leaf."""
    return {numbered(number, NOW + number) for number in range(count)}


@pytest.mark.parametrize("mine", [0, 1])
def test_a_leaf_that_fills_a_frame_is_compared_and_one_id_more_is_not(mine: int) -> None:
    full = crowd(IDS_MAX)
    few = {numbered(number, NOW + number) for number in range(mine)}

    checked(few, full)
    checked(full, few)

    for ours, theirs in ((few, crowd(IDS_MAX + 1)), (crowd(IDS_MAX + 1), few)):
        done = pair(ours, theirs).run()
        for side in (done.initiator, done.responder):
            assert side.finished is not None
            assert side.finished.result is Result.FAILED
            assert side.finished.reason == Ending.LEAF_TOO_LARGE.value


def test_leaves_are_batched_by_the_ids_of_either_side(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(descent, "IDS_MAX", 10)
    ours = {numbered(number, NOW + number * BUCKET // 4) for number in range(80)}
    theirs = {numbered(number + 1_000, NOW + number * BUCKET // 7) for number in range(100)}

    checked(ours, theirs)


def test_a_check_ends_when_too_many_places_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = spread(50), spread(60, seed=1)
    asked = sum(isinstance(frame, Ask | Leaves) for frame in sent_by_initiator(pair(ours, theirs)))

    monkeypatch.setattr(descent, "QUESTIONS_MAX", asked)
    checked(ours, theirs)
    monkeypatch.setattr(descent, "QUESTIONS_MAX", asked - 1)
    done = pair(ours, theirs).run()

    for side in (done.initiator, done.responder):
        assert side.finished is not None
        assert side.finished.result is Result.FAILED
        assert side.finished.reason == Ending.TOO_MANY_QUESTIONS.value


def sent_by_initiator(both: Pair) -> list[object]:
    """All that the responder receives."""
    received: list[object] = []
    while both.responder.finished is None:
        received.append(both.next_frame(Role.RESPONDER))
    return received


@pytest.mark.parametrize("role", Role)
def test_a_check_ends_when_too_many_messages_are_missing(
    monkeypatch: pytest.MonkeyPatch, role: Role
) -> None:
    items = {numbered(number) for number in range(100)}
    sets = (set[SyncId](), items) if role is Role.INITIATOR else (items, set[SyncId]())

    monkeypatch.setattr(check_module, "NEED_MAX", 100)
    checked(*sets)
    monkeypatch.setattr(check_module, "NEED_MAX", 99)
    done = pair(*sets).run()

    assert (done.initiator.result, done.responder.result) == (Result.FAILED, Result.FAILED)
    finished = done.side(role).finished
    assert finished is not None
    assert finished.reason == Ending.TOO_MANY_DIFFERENCES.value
    assert finished.need == 0


@pytest.mark.parametrize("role", Role)
def test_a_silent_peer_ends_the_check_after_fifteen_seconds(role: Role) -> None:
    machine = check(role, held([]))
    if role is Role.INITIATOR:
        machine.handle(Begin(), NOW + SECOND)
        opened = NOW + SECOND
    else:
        opened = NOW

    assert machine.deadline() == opened + INACTIVITY_MAX
    assert machine.handle(Tick(), opened + INACTIVITY_MAX - 1) == []
    [finished] = machine.handle(Tick(), opened + INACTIVITY_MAX)

    assert finished == CheckFinished(Result.TIMED_OUT, 0, 0, 0, 0, 0, "")
    assert machine.handle(Tick(), NOW + 100 * SECOND) == []
    assert machine.deadline() is None


def test_every_frame_restarts_the_countdown() -> None:
    machine = check(Role.RESPONDER, held([]))

    [sent] = machine.handle(FrameReceived(Claim(b"i" * 16, 0)), NOW + 7 * SECOND)

    assert isinstance(sent, SendFrame)
    assert machine.deadline() == NOW + 7 * SECOND + INACTIVITY_MAX


def test_every_phase_has_its_row_and_every_phase_but_the_last_leads_there() -> None:
    assert set(TRANSITIONS) == set(Phase)
    for phase, row in TRANSITIONS.items():
        assert (Phase.FINISHED in row.values()) is (phase is not Phase.FINISHED)


def test_what_is_held_never_changes_under_a_check() -> None:
    source = SortedIds([numbered(1)])
    what = held(source.items)
    root = what.digest.root

    checked(set(source.items), spread(20))

    assert what.digest.root == root


def _other(role: Role) -> Role:
    return Role.RESPONDER if role is Role.INITIATOR else Role.INITIATOR


class Watched(OrderedSet):
    """A set of which is seen when nobody holds it any more."""

    __slots__ = ("__weakref__",)


@pytest.mark.parametrize("role", Role)
def test_what_was_compared_is_let_go_when_the_check_is_over(role: Role) -> None:
    items = Watched()
    items.extend([numbered(number) for number in range(10)])
    compared = weakref.ref(items)
    machine = check(role, Held(items, Digest.of(items)))
    other = check(_other(role), held([numbered(number) for number in range(9)]))
    del items

    done = Pair(machine, other) if role is Role.INITIATOR else Pair(other, machine)
    done.run()

    assert done.side(role).result is Result.DIFFERENT
    assert compared() is None
