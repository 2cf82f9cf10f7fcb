"""Registers: what stands is a function of the set of entries."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sync.calimero.governance.ops import Key
from sync.calimero.state import registers as registers_module
from sync.calimero.state.contents import Profile, StateKind, Topic
from sync.calimero.state.entry import StateEntry
from sync.calimero.state.registers import REGISTERS_OF_AUTHOR_MAX, Registers
from tests.support.sync.states import deletion_of, entry_of, person, pin_of


def stands(entries: list[StateEntry]) -> set[StateEntry]:
    """Return the entries that stand, from the definition."""
    newest: dict[bytes, StateEntry] = {}
    for entry in entries:
        if entry.key not in newest or entry.rank > newest[entry.key].rank:
            newest[entry.key] = entry
    authors = {entry.author for entry in entries}
    found: set[StateEntry] = set()
    for author in authors:
        theirs = [entry for entry in newest.values() if entry.author == author]
        theirs.sort(key=lambda one: one.rank, reverse=True)
        found.update(theirs[:REGISTERS_OF_AUTHOR_MAX])
    return found


POOL = [
    *[pin_of(1, line, stamp) for line in range(160) for stamp in (line % 7 + 1, 300 - line)],
    *[pin_of(2, line, 5) for line in range(20)],
    *[deletion_of(1, StateKind.PIN, 400, line.to_bytes(32, "big")) for line in range(0, 160, 9)],
    *[entry_of(number, Topic(f"topic {stamp}"), stamp) for number in (1, 2) for stamp in (3, 4)],
    entry_of(1, Profile("alice"), 1),
]


@given(st.randoms(use_true_random=False), st.integers(1, len(POOL)))
def test_what_stands_is_a_function_of_the_set_in_every_order(rng: random.Random, size: int) -> None:
    entries = rng.sample(POOL, size)
    registers = Registers(entries)
    assert set(registers) == stands(entries)
    rng.shuffle(entries)
    again = Registers([*entries, *rng.choices(entries, k=20)])
    assert again.tree.root == registers.tree.root
    assert set(again) == set(registers)


def test_the_newest_stands_and_of_one_time_the_larger_leaf() -> None:
    older, newer = entry_of(1, Topic("a"), 5), entry_of(1, Topic("b"), 6)
    registers = Registers([newer])
    assert registers.put(older) is None
    first, second = sorted([entry_of(1, Topic(t), 9) for t in "xy"], key=lambda one: one.leaf)
    kept = registers.put(first)
    assert kept is not None
    assert kept.replaced == newer
    assert registers.put(second) is not None
    assert registers.put(first) is None


def test_a_flood_by_one_author_pushes_out_none_but_their_own() -> None:
    registers = Registers([entry_of(2, Topic("stays"), 1), pin_of(1, 999, 1)])
    for line in range(200):
        registers.put(pin_of(1, line, 10 + line))
    assert len(registers) == REGISTERS_OF_AUTHOR_MAX + 1
    assert registers.of(Key(person(2).public_key), StateKind.TOPIC) is not None
    assert len(registers.of_author(Key(person(1).public_key))) == REGISTERS_OF_AUTHOR_MAX
    assert registers.would_keep(pin_of(1, 999, 1)) is False


def test_of_all_authors_those_of_highest_rank_stay_in_any_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(registers_module, "ENTRIES_MAX", 50)
    entries = [pin_of(author, line, 10 * author + line) for author in (1, 2) for line in range(40)]
    newest = sorted(entries, key=lambda one: one.rank)[-50:]
    for seed in range(6):
        random.Random(seed).shuffle(entries)
        registers = Registers()
        for entry in entries:
            assert registers.would_keep(entry) is (registers.put(entry) is not None)
        assert set(registers) == set(newest)


def test_an_author_can_be_taken_out_as_if_they_had_never_been() -> None:
    others = [pin_of(2, line, 5) for line in range(40)]
    registers = Registers([*others, *[pin_of(1, line, 7) for line in range(30)]])
    gone = registers.drop_author(Key(person(1).public_key))
    assert len(gone) == 30
    assert registers.tree.root == Registers(others).tree.root
    assert registers.authors() == {Key(person(2).public_key)}
    assert set(registers.of_kind(StateKind.PIN).values()) == set(others)
