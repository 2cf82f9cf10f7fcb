"""A table of numbers by rows: it says what a dictionary says, in a few bytes a row."""

import os
import pickle
from collections.abc import Callable
from copy import deepcopy
from itertools import product

import hypothesis.strategies as st
import pytest
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from sync.structures import row_table
from sync.structures.row_table import NUMBER_MAX, SPARSE_FROM, RowTable

ROWS = [bytes(row) for row in product((0, 1, 255), repeat=3)]
"""With zeros at their ends, which text of a fixed width would lose."""

some_rows = st.lists(st.sampled_from(ROWS), max_size=12)


class TableMachine(RuleBasedStateMachine):
    """A table that keeps all, beside a dictionary; it may be sealed between."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.plain = RowTable(3, keeps=True), dict[bytes, int]()
        self.met = set[bytes]()

    @rule(rows=some_rows)
    def count(self, rows: list[bytes]) -> None:
        self.table.count(b"".join(rows))
        for row in rows:
            self.plain[row] = self.plain.get(row, 0) + 1
        self.met.update(rows)

    @rule(rows=some_rows, number=st.integers(1, 3))
    def insert(self, rows: list[bytes], number: int) -> None:
        fresh = {row for row in rows if not self.plain.get(row)}
        assert self.table.insert(b"".join(rows), number) == len(fresh)
        self.plain |= dict.fromkeys(fresh, number)
        self.met.update(rows)

    @rule(row=st.sampled_from(ROWS), number=st.integers(0, 3))
    def change(self, row: bytes, number: int) -> None:
        before = self.plain.get(row, 0)
        assert self.table.change(row, number) == before
        if before:
            self.plain[row] = number

    @rule()
    def seal(self) -> None:
        block = self.table.seal()
        assert [block.row_at(at) for at in range(len(block))] == sorted(self.met)

    @invariant()
    def says_the_same(self) -> None:
        held = {row: number for row, number in self.plain.items() if number}
        assert dict(self.table.items()) == held
        assert (len(self.table), bool(self.table)) == (len(held), bool(held))
        assert [self.table.number(row) for row in ROWS] == [held.get(row, 0) for row in ROWS]
        ones = sorted(row for row, number in held.items() if number == 1)
        assert self.table.having(1) == b"".join(ones)
        assert self.table.rows() == b"".join(sorted(self.met))


TestTable = TableMachine.TestCase


def test_a_row_of_another_width_is_not_there() -> None:
    table = RowTable(3)
    table.count(b"\1\0\0")

    assert [row in table for row in (b"\1\0\0", b"\1\0", b"\1", b"", b"\1\0\0\0")] == [True] + [
        False
    ] * 4


def test_a_row_that_was_just_found_is_found_where_it_is_since() -> None:
    table = RowTable(1)
    table.count(b"\1")
    assert table.number(b"\1") == 1

    table.count(b"\2")  # both lie in one block now
    table.change(b"\1", 3)

    assert dict(table.items()) == {b"\1": 3, b"\2": 1}


def test_rows_that_come_in_many_parts_lie_in_few_blocks() -> None:
    table = RowTable(32)
    for _ in range(200):
        table.count(os.urandom(32 * 50))

    assert len(table._blocks) <= 4
    assert table.memory == len(table) * (32 + 2)


def test_what_has_no_number_any_more_is_forgotten() -> None:
    table = RowTable(32)
    table.count(os.urandom(32 * 1_000))
    rows = [row for row, _ in table.items()]
    for row in rows[:-1]:
        table.change(row, 0)

    assert dict(table.items()) == {rows[-1]: 1}
    assert table.memory <= SPARSE_FROM * (32 + 2)


def test_the_highest_number_is_not_passed() -> None:
    table = RowTable(1)
    table.count(b"\1")
    table.change(b"\1", NUMBER_MAX)
    table.count(b"\1\1")

    assert table.number(b"\1") == NUMBER_MAX


def test_so_few_blocks_are_the_most() -> None:
    assert row_table.LARGER ** (row_table.BLOCKS_MAX - 2) > 2**29


def pickled(table: RowTable) -> RowTable:
    """A copy, made as tests make copies of whole nodes."""
    copied: RowTable = pickle.loads(pickle.dumps(table))
    return copied


@pytest.mark.parametrize("copied", [deepcopy, pickled])
def test_a_copy_goes_its_own_way(copied: Callable[[RowTable], RowTable]) -> None:
    table = RowTable(2)
    table.count(b"aabbcc")
    other = copied(table)
    other.change(b"aa", 7)

    assert (table.number(b"aa"), other.number(b"aa"), other.number(b"bb")) == (1, 7, 1)
