"""Hash comparison and level-wise: both bring any two states to agreement."""

import random
from collections.abc import Callable
from functools import lru_cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sync.calimero.state.comparing import spread_of
from sync.calimero.state.contents import StateKind
from sync.calimero.state.entry import StateEntry
from sync.calimero.state.exchange import TURNS_MAX, Comparison, Result, StateExchange
from sync.calimero.state.messages import Children, HashNodes, LevelData, Want, encode
from sync.calimero.state.registers import Registers
from sync.errors import RemoteError
from tests.support.sync.state_pairs import End, StatePair
from tests.support.sync.states import deletion_of, pin_of

BOTH = list(Comparison)
LINES = 90
POOL = [
    *[pin_of(author, line, 5 + line) for author in range(1, 9) for line in range(LINES)],
    *[
        deletion_of(author, StateKind.PIN, 500, line.to_bytes(32, "big"))
        for author in range(1, 9)
        for line in range(0, LINES, 5)
    ],
]


def slow_union(*states: Registers) -> Registers:
    """Return what two states have together, from the definition."""
    return Registers([entry for state in states for entry in state])


@pytest.mark.parametrize("comparison", BOTH)
@given(st.randoms(use_true_random=False), st.integers(0, 600), st.integers(0, 600))
@settings(max_examples=40)
def test_any_two_states_end_equal_to_what_they_have_together(
    comparison: Comparison, rng: random.Random, left: int, right: int
) -> None:
    pair = StatePair(Registers(rng.sample(POOL, left)), Registers(rng.sample(POOL, right)))
    together = slow_union(pair.left.registers, pair.right.registers)
    assert pair.run(comparison) is Result.CONVERGED
    for end in (pair.left, pair.right):
        assert end.registers.tree.root == together.tree.root
        assert set(end.registers) == set(together)


@pytest.mark.parametrize("comparison", BOTH)
def test_equal_states_end_after_one_word_each_or_the_ids(comparison: Comparison) -> None:
    entries = POOL[:500]
    pair = StatePair(Registers(entries), Registers(entries))
    assert pair.run(comparison) is Result.CONVERGED
    assert pair.cost.bodies == 0


@pytest.mark.parametrize("comparison", BOTH)
@given(rng=st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_changes_during_a_session_end_it_as_moved_or_agreed_never_as_failed(
    comparison: Comparison, rng: random.Random
) -> None:
    pair = StatePair(Registers(rng.sample(POOL, 300)), Registers(rng.sample(POOL, 300)))

    def change(entries: list[StateEntry]) -> Callable[[End], None]:
        def put(end: End) -> None:
            for entry in entries:
                if end.registers.put(entry):
                    end.exchange.moved()

        return put

    changes: list[object] = [change(rng.sample(POOL, 5)) for _ in range(3)]
    assert pair.run(comparison, changes) in {Result.CONVERGED, Result.MOVED}
    again = StatePair(pair.left.registers, pair.right.registers)
    assert again.run(comparison) is Result.CONVERGED


@pytest.mark.parametrize("comparison", BOTH)
def test_a_deletion_wins_whoever_begins(comparison: Comparison) -> None:
    value, gone = pin_of(1, 7, 5), deletion_of(1, StateKind.PIN, 9, (7).to_bytes(32, "big"))
    for first, second in [(value, gone), (gone, value)]:
        pair = StatePair(Registers([*POOL[200:400], first]), Registers([*POOL[200:400], second]))
        assert pair.run(comparison) is Result.CONVERGED
        for end in (pair.left, pair.right):
            entry = end.registers.get(gone.key)
            assert entry == gone


def test_an_empty_state_gets_all_and_gives_nothing() -> None:
    for comparison in BOTH:
        for left, right in [(POOL[:400], []), ([], POOL[:400])]:
            pair = StatePair(Registers(left), Registers(right))
            assert pair.run(comparison) is Result.CONVERGED
            assert pair.cost.round_trips <= 2


def test_what_was_not_told_cannot_be_wanted() -> None:
    exchange = End(Registers(POOL[:100])).exchange
    with pytest.raises(RemoteError, match="not told"):
        exchange.payload(encode(Want((bytes(16),))))


def test_nodes_must_rise_and_be_no_more_than_were_told_of() -> None:
    exchange = End(Registers(POOL[:100])).exchange
    one = Children(b"\x01", ((0, bytes(16)),))
    exchange.payload(encode(HashNodes((one,), more=True)))
    with pytest.raises(RemoteError, match="order"):
        exchange.payload(encode(HashNodes((one,), more=True)))
    exchange = End(Registers(POOL[:100])).exchange
    many = tuple(Children(bytes([a, b]), ((0, bytes(16)),)) for a in range(2) for b in range(16))
    with pytest.raises(RemoteError, match="more nodes"):
        exchange.payload(encode(HashNodes(many)))


def test_a_level_is_compared_at_the_beginning_alone() -> None:
    exchange = End(Registers(POOL[:100])).exchange
    exchange.payload(encode(LevelData(2, ())))
    with pytest.raises(RemoteError, match="level"):
        exchange.payload(encode(LevelData(2, ())))
    with pytest.raises(RemoteError, match="level"):
        End(Registers()).exchange.payload(encode(LevelData(3, ())))


def test_a_peer_that_never_ends_is_ended() -> None:
    registers = Registers(POOL[:100])
    exchange: StateExchange = End(registers).exchange
    for _ in range(TURNS_MAX):
        exchange.payload(encode(HashNodes(())))
        exchange.go_on()
    with pytest.raises(RemoteError, match="without end"):
        exchange.payload(encode(HashNodes(())))


def test_the_spread_tells_which_first_level_nodes_differ_whatever_the_shape() -> None:
    few, many = Registers(POOL[:10]), Registers(POOL[:300])
    assert spread_of(Registers().tree) == bytes(128)
    assert len(spread_of(many.tree)) == 128
    shared = Registers(POOL[:10])
    assert spread_of(few.tree) == spread_of(shared.tree)


@lru_cache
def many() -> list[StateEntry]:
    """Return the pins of 40 authors: too many for level-wise to begin with all ids."""
    return [pin_of(author, line, 5 + line) for author in range(1, 41) for line in range(100)]


@pytest.mark.parametrize("comparison", BOTH)
@pytest.mark.parametrize(("left", "right"), [(4000, 3999), (4000, 1), (4000, 20), (2600, 4000)])
def test_thousands_are_compared_from_a_level_on(
    comparison: Comparison, left: int, right: int
) -> None:
    rng = random.Random(left + right)
    pair = StatePair(Registers(rng.sample(many(), left)), Registers(rng.sample(many(), right)))
    together = slow_union(pair.left.registers, pair.right.registers)
    assert pair.run(comparison) is Result.CONVERGED
    assert pair.left.registers.tree.root == together.tree.root


def test_of_one_difference_among_thousands_only_its_subtree_is_visited() -> None:
    entries = many()[:2_000]
    changed = pin_of(1, 5, 900)
    pair = StatePair(Registers(entries), Registers([*entries, changed]))
    assert pair.run(Comparison.HASH) is Result.CONVERGED
    assert pair.cost.ids <= 600
    assert pair.cost.round_trips <= 3
    both_ways = StatePair(Registers(entries), Registers([*entries, changed]))
    assert both_ways.run(Comparison.LEVEL) is Result.CONVERGED
    assert both_ways.cost.ids > 10 * pair.cost.ids
