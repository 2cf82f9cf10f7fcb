"""Whole sessions over two stores: every kind, whoever opens, ends with the same bytes at both."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sync.calimero.state.contents import Profile, StateKind, Topic
from sync.calimero.state.entry import StateEntry
from sync.calimero.state.messages import HashNodes, decode
from sync.calimero.state.registers import Registers
from sync.calimero.state.tree import half_byte
from sync.group.stating import Stating
from sync.sessions.values import Outcome
from tests.support.sync.state.sessions import NOW, SPOKEN, StateSession, stating
from tests.support.sync.states import deletion_of, entry_of, pin_of

POOL = [
    *[pin_of(author, line, 5 + line) for author in range(1, 7) for line in range(150)],
    *[
        deletion_of(author, StateKind.PIN, stamp, line.to_bytes(32, "big"))
        for author in range(1, 7)
        for line in range(0, 150, 7)
        for stamp in (2, 700)
    ],
    *[entry_of(author, Topic(f"topic {n}"), n) for author in range(1, 7) for n in (3, 9, 10**12)],
    *[entry_of(author, Profile(f"name {n}"), n) for author in range(1, 7) for n in (3, 9)],
]
"""More than 128 registers of each author, newer and older entries of one, deletions of both."""

REFERENCE = 10**18
SETTABLE = [one for one in POOL if one.signed.stamp < 10**12]
"""Those that no clock of these sessions takes for the future's, where they would wait."""

ENDS = {Outcome.CONVERGED, Outcome.MOVED}


def contents(one: Stating) -> list[bytes]:
    return [entry.content for entry in one.registers]


def pair(rng: random.Random) -> tuple[Stating, Stating]:
    sizes = (rng.choice([0, 1, 20, 300]), rng.choice([0, 1, 20, 300]))
    left, right = (rng.sample(POOL, size) for size in sizes)
    return stating(20, left), stating(21, right)


@pytest.mark.parametrize("protocol", SPOKEN)
@pytest.mark.parametrize("opener", [0, 1])
@given(rng=st.randoms(use_true_random=False))
@settings(max_examples=8)
def test_two_stores_end_byte_equal_with_the_root_of_what_they_had_together(
    protocol: str, opener: int, rng: random.Random
) -> None:
    both = pair(rng)
    together = Registers([one for state in both for one in state.registers])
    StateSession(both[opener], both[1 - opener], protocol).run()

    assert contents(both[0]) == contents(both[1]) == [one.content for one in together]
    assert both[0].registers.tree.root == both[1].registers.tree.root == together.tree.root


@pytest.mark.parametrize("protocol", SPOKEN)
@given(rng=st.randoms(use_true_random=False))
@settings(max_examples=8)
def test_what_is_set_during_a_session_is_at_both_after_it_or_after_the_next(
    protocol: str, rng: random.Random
) -> None:
    left, right = pair(rng)
    set_meanwhile: list[StateEntry] = []

    def between(end: Stating) -> None:
        entry = rng.choice(SETTABLE)
        set_meanwhile.append(entry)
        end.receive([entry.content], NOW)

    had = [*left.registers, *right.registers]
    session = StateSession(left, right, protocol, between=between)
    session.run()
    assert session.left.finished is not None
    assert session.left.finished.outcome in ENDS
    StateSession(right, left, protocol).run()
    together = Registers([*had, *set_meanwhile])

    assert contents(left) == contents(right) == [one.content for one in together]


@given(rng=st.randoms(use_true_random=False), changes=st.integers(1, 12))
@settings(max_examples=6)
def test_a_hash_comparison_tells_of_no_node_that_has_no_difference_below(
    rng: random.Random, changes: int
) -> None:
    entries = [pin_of(author, line, 5) for author in range(1, 13) for line in range(100)]
    places = rng.sample(range(len(entries)), changes)
    newer = [pin_of(1 + place // 100, place % 100, 9) for place in places]
    left, right = stating(20, entries), stating(21, [*entries, *newer])
    differing = [tuple(half_byte(one.key, depth) for depth in range(64)) for one in newer]
    session = StateSession(left, right, "hash")
    session.run()
    told = [
        node.path
        for payload in session.sent[2:]
        if isinstance(message := decode(payload), HashNodes)
        for node in message.nodes
    ]

    assert told
    for path in told:
        assert any(key[: len(path)] == tuple(path) for key in differing), path.hex()
    deepest = max(len(path) for path in told)
    assert len(told) <= changes * 2 * (deepest + 1)
    assert contents(left) == contents(right)


@pytest.mark.parametrize("protocol", SPOKEN)
@pytest.mark.parametrize("opener", [0, 1])
@pytest.mark.parametrize("kind", list(StateKind))
def test_a_deletion_wins_whoever_has_it_and_whoever_opens(
    protocol: str, opener: int, kind: StateKind
) -> None:
    name = (7).to_bytes(32, "big") if kind is StateKind.PIN else b""
    gone, again = deletion_of(3, kind, 50, name), deletion_of(3, kind, 60, name)
    for first, second in [(pin_of(3, 7, 40), gone), (gone, again)]:
        both = stating(20, [*POOL[:40], first]), stating(21, [*POOL[20:60], second])
        StateSession(both[opener], both[1 - opener], protocol).run()
        for one in both:
            held = one.registers.get(second.key)
            assert held is not None
            assert held.content == second.content
            assert held.says is None


@given(rng=st.randoms(use_true_random=False), size=st.integers(1, 200))
@settings(max_examples=25)
def test_no_order_of_arrival_and_no_batch_changes_a_root(rng: random.Random, size: int) -> None:
    entries = rng.sample(POOL, size)
    roots = set()
    for _ in range(3):
        rng.shuffle(entries)
        one = stating(20)
        left = [entry.content for entry in entries]
        while left:
            count = rng.randint(1, 9)
            one.receive(left[:count], NOW + REFERENCE)
            left = left[count:]
        roots.add(one.registers.tree.root)
    assert len(roots) == 1
