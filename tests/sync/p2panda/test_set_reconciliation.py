"""Two sides find exactly what each lacks, whatever they hold; what is no batch has a reason."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sync.p2panda import set_reconciliation
from sync.p2panda.bounds import Place, rank
from sync.p2panda.heads import Heads
from sync.p2panda.log_heights import compare
from sync.p2panda.messages import (
    Done,
    EmptyPayload,
    EmptySet,
    Fingerprint,
    LowerBound,
    Message,
    Payload,
    Reason,
    ReplicationError,
    Terminal,
)
from sync.p2panda.set_reconciliation import Owed, Policy, Reconciliation, Say, State
from sync.structures.log_spans import LogSpan
from tests.support.sync.heights import (
    BROKEN_BATCHES,
    KEYS,
    SESSION,
    SUM,
    A,
    B,
    C,
    Session,
    heights,
    reconciled,
)

policies = st.builds(
    Policy,
    first_parts=st.sampled_from([2, 3, 64]),
    parts=st.integers(2, 5),
    items=st.integers(1, 4),
    author_items=st.sampled_from([1, 4, 12]),
)


def assert_exact(session: Session, one: Heads, other: Heads) -> None:
    """Check both sides against both lists: what each owes, and that a batch tiles the circle."""
    for side, ours, theirs in zip(session.sides, (one, other), (other, one), strict=True):
        exact = compare(ours, theirs)
        assert sorted(side.owed) == list(exact.owed)
        # Who holds nothing is told no heights, it just gets everything.
        assert sorted(side.expected) == (list(exact.expected) if one and other else [])
        assert side.ends == 1
    for batch in session.messages:
        assert_tiled(batch)


def assert_tiled(batch: list[Message]) -> None:
    """Check that the ranges of a batch join, go forwards, and close the circle."""
    first, *ranges, last = [batch[0], *batch] if isinstance(batch[0], EmptySet) else batch
    if isinstance(first, EmptySet):
        assert ranges == []
        return
    assert isinstance(first, LowerBound)
    assert last == Terminal(SESSION)
    uppers = [one.upper for one in ranges if not isinstance(one, LowerBound | Terminal)]  # type: ignore[union-attr]
    ends = [upper for upper in uppers if upper is not None]
    assert ends[-1] == first.bound
    places = [rank(bound, first.bound) for bound in [first.bound, *ends[:-1]]]
    assert places == sorted(set(places))


@given(heights, heights, policies)
@settings(max_examples=300)
def test_both_modes_find_exactly_what_each_side_lacks(
    ours: list[Place], theirs: list[Place], policy: Policy
) -> None:
    one, other = Heads(ours), Heads(theirs)

    assert_exact(reconciled(one, other, policy), one, other)


@given(heights, st.data(), policies)
@settings(max_examples=200)
def test_logs_that_grew_are_found(ours: list[Place], data: st.DataObject, policy: Policy) -> None:
    grown = st.lists(st.sampled_from([2, 2, 2, 5]), min_size=len(ours), max_size=len(ours))
    pairs = zip(ours, data.draw(grown), strict=True)
    theirs = [item._replace(height=height) for item, height in pairs]
    one, other = Heads(ours), Heads(theirs)

    assert_exact(reconciled(one, other, policy), one, other)


def test_all_small_circles() -> None:
    """Three logs, each at height 0 (not there), 1 or 2 on both sides, with both extreme keys."""
    logs = [(KEYS[0], 0), (KEYS[0], 1), (KEYS[4], 0)]
    sets = [
        Heads(Place(*log, height) for log, height in zip(logs, levels, strict=True) if height)
        for levels in product(range(3), repeat=3)
    ]
    for one, other in product(sets, repeat=2):
        for policy in (Policy(), Policy(2, 2, 1, 1)):
            assert_exact(reconciled(one, other, policy), one, other)


def test_equal_sets_take_one_round_trip() -> None:
    session = reconciled(Heads([A, B, C]), Heads([A, B, C]))

    start = Place(b"\0")
    assert session.messages[1:] == [
        [LowerBound(SESSION, start), Done(SESSION, start), Terminal(SESSION)]
    ]


def test_who_has_nothing_says_so_and_gets_everything() -> None:
    session = reconciled(Heads(), Heads([A, B]))

    assert session.messages == [[EmptySet(SESSION, can_respond=True)]]
    assert session.sides[1].owed == [LogSpan(A.key, 0, 0, 2), LogSpan(B.key, 0, 0, 2)]


def test_a_height_is_compared_before_the_next_message() -> None:
    side = Reconciliation(SESSION, Heads([B]))
    assert list(side.receive(LowerBound(SESSION, A))) == []

    assert list(side.receive(Payload(SESSION, B._replace(height=1)))) == [
        Owed(LogSpan(B.key, 0, 1, 2))
    ]


def test_of_one_log_the_first_height_counts() -> None:
    """Told low again and again, we do not send again and again."""
    side = Reconciliation(SESSION, Heads([B._replace(height=4)]))
    told: list[Message] = [
        LowerBound(SESSION, A),
        Payload(SESSION, B._replace(height=1)),
        Payload(SESSION, B._replace(height=2)),
        Payload(SESSION, B._replace(height=3), can_respond=False, upper=A),
        Terminal(SESSION),
    ]

    owed = [effect for one in told for effect in side.receive(one) if isinstance(effect, Owed)]

    assert owed == [Owed(LogSpan(B.key, 0, 1, 4))]
    assert side.state is State.OVER


def test_a_peer_with_whole_keys_as_bounds_is_understood() -> None:
    """A grown log between two bounds that cut it off from its earlier height."""
    side = Reconciliation(SESSION, Heads([A, B._replace(height=4), C]))
    middle = B._replace(height=3)
    told: list[Message] = [
        LowerBound(SESSION, A),
        Payload(SESSION, A),
        Payload(SESSION, B, can_respond=True, upper=middle),
        Fingerprint(SESSION, Heads([C]).fingerprint(A, A), A),
        Terminal(SESSION),
    ]

    effects = [effect for one in told for effect in side.receive(one)]

    assert Owed(LogSpan(B.key, 0, 2, 4)) in effects
    assert [one.message for one in effects if isinstance(one, Say)] == [
        LowerBound(SESSION, A),
        Payload(SESSION, A, can_respond=False, upper=middle),
        Payload(SESSION, B._replace(height=4)),
        Payload(SESSION, C, can_respond=True, upper=A),
        Terminal(SESSION),
    ]


@pytest.mark.parametrize(("reason", "said"), BROKEN_BATCHES.values(), ids=BROKEN_BATCHES.keys())
@pytest.mark.parametrize("heads", [Heads(), Heads([A, B, C])], ids=["empty", "three"])
def test_what_is_no_batch_has_a_reason(reason: Reason, said: list[Message], heads: Heads) -> None:
    side = Reconciliation(SESSION, heads)
    for one in said[:-1]:
        list(side.receive(one))

    with pytest.raises(ReplicationError) as refused:
        list(side.receive(said[-1]))

    assert refused.value.reason is reason


def test_ranges_without_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(set_reconciliation, "RANGES_MAX", 10)
    side = Reconciliation(SESSION, Heads([C]))
    list(side.receive(LowerBound(SESSION, A)))
    for log in range(10):
        list(side.receive(Done(SESSION, Place(KEYS[2], log + 1))))

    with pytest.raises(ReplicationError) as refused:
        list(side.receive(Done(SESSION, Place(KEYS[2], 99))))

    assert refused.value.reason is Reason.ENDLESS


def test_batches_without_end_are_refused() -> None:
    """A peer that answers every batch by fingerprints that are never equal."""
    side = Reconciliation(SESSION, Heads([A, B, C]), Policy(items=1))

    def batch() -> None:
        for one in (LowerBound(SESSION, A), Fingerprint(SESSION, SUM, A), Terminal(SESSION)):
            list(side.receive(one))

    for _ in range(set_reconciliation.BATCHES_MAX):
        batch()
    with pytest.raises(ReplicationError) as refused:
        batch()

    assert refused.value.reason is Reason.ENDLESS


@given(
    heights,
    st.lists(
        st.one_of(
            st.builds(LowerBound, st.just(SESSION), st.sampled_from([A, B, C])),
            st.builds(Done, st.just(SESSION), st.sampled_from([A, B, C])),
            st.builds(EmptyPayload, st.just(SESSION), st.sampled_from([A, B, C])),
            st.builds(Fingerprint, st.just(SESSION), st.just(SUM), st.sampled_from([A, B, C])),
            st.builds(
                Payload,
                st.just(SESSION),
                st.sampled_from([A, B, C]),
                st.booleans(),
                st.sampled_from([None, A, B, C]),
            ),
            st.just(Terminal(SESSION)),
        ),
        max_size=20,
    ),
)
def test_whatever_is_said_ends_in_an_answer_or_a_reason(
    ours: list[Place], said: list[Message]
) -> None:
    side = Reconciliation(SESSION, Heads(ours))
    batch: list[Message] = []
    for one in said:
        try:
            effects = list(side.receive(one))
        except ReplicationError:
            return
        batch += [effect.message for effect in effects if isinstance(effect, Say)]
        if batch and isinstance(batch[-1], Terminal | EmptySet):
            assert_tiled(batch)
            batch = []
