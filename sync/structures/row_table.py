"""A table of numbers by rows of bytes, in columns: some bytes a row beside the row itself.

Rows come in many at once. They lie in few blocks, each rising: a block is joined to the one before
unless that is much larger, so that a row is copied a few times, and looked for in three blocks.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sync.structures.ids import ByteRows, byte_rows

NUMBER_MAX: Final = 2**16 - 1
"""The highest number; a higher one is this one."""

LARGER: Final = 8
"""Times that a block must be larger for the next one to stay a block of its own."""

BLOCKS_MAX: Final = 12
"""Each is over `LARGER` times as large as the next one, but for the first, which may be sealed."""

SPARSE_FROM: Final = 64
"""Rows from which on a block is written anew where over half of its numbers are zero."""


@dataclass(slots=True, eq=False)
class Block:
    """Rows in rising order, and a number for each."""

    rows: ByteRows
    numbers: NDArray[np.uint16]
    zeros: int = 0
    """Number of rows whose number is zero."""
    _raw: memoryview = field(init=False)
    _raw_numbers: memoryview = field(init=False)
    """Both columns as they are read one by one: in a third of the time that an array takes."""
    _width: int = field(init=False)

    def __post_init__(self) -> None:
        self._raw, self._width = self.rows.view(np.uint8).data, self.rows.itemsize
        self._raw_numbers = self.numbers.data

    def __reduce__(self) -> tuple[type["Block"], tuple[ByteRows, NDArray[np.uint16], int]]:
        """Copy the columns: a view of bytes cannot be copied."""
        return Block, (self.rows, self.numbers, self.zeros)

    def __len__(self) -> int:
        return len(self.rows)

    def place_of(self, row: bytes) -> int:
        """Return where a row is; -1 if it is not here."""
        at = int(self.rows.searchsorted(row))
        return at if self._raw[self._width * at : self._width * (at + 1)] == row else -1

    def row_at(self, place: int) -> bytes:
        """Return the row in a place."""
        return bytes(self._raw[self._width * place : self._width * (place + 1)])

    def places_of(self, rows: ByteRows) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Return where rows are or belong, and which of them are here."""
        at = self.rows.searchsorted(rows)
        here = at < len(self.rows)
        here[here] = self.rows[at[here]] == rows[here]
        return at, here

    def number_at(self, place: int) -> int:
        """Return the number in a place."""
        number: int = self._raw_numbers[place]
        return number

    def set(self, place: int, number: int) -> None:
        """Set the number in a place."""
        self.zeros += (not number) - (not self._raw_numbers[place])
        self._raw_numbers[place] = number

    def joined(self, other: "Block") -> "Block":
        """Return the rows of both, none of which is in both."""
        at = self.rows.searchsorted(other.rows)
        return Block(
            np.insert(self.rows, at, other.rows),
            np.insert(self.numbers, at, other.numbers),
            self.zeros + other.zeros,
        )

    def without_zeros(self) -> "Block":
        """Return what has a number."""
        kept = np.flatnonzero(self.numbers)
        return Block(self.rows[kept], self.numbers[kept])


class RowTable:
    """Numbers, zero at first, of rows of `width` bytes.

    A row whose number is zero again may be forgotten, unless the table `keeps` all.
    """

    def __init__(self, width: int, *, keeps: bool = False) -> None:
        self._width = width
        self._keeps = keeps
        self._blocks: list[Block] = []
        self._held = 0
        """Number of rows that have a number."""
        self._sealed = 0
        """Number of blocks, the first ones, that no row is put into any more."""
        self._last: tuple[bytes, Block, int] | None = None
        """The row found last, with its block and place: it is looked for a few times in a row."""

    def __len__(self) -> int:
        return self._held

    def __bool__(self) -> bool:
        return self._held > 0

    def __contains__(self, row: bytes) -> bool:
        return self.number(row) > 0

    @property
    def memory(self) -> int:
        """Bytes of the columns."""
        return sum(block.rows.nbytes + block.numbers.nbytes for block in self._blocks)

    def number(self, row: bytes) -> int:
        """Return the number of a row."""
        found = self._find(row)
        return 0 if found is None else found[1].number_at(found[2])

    def change(self, row: bytes, number: int) -> int:
        """Set the number of a row that has one; returns what it was, 0 if it has none."""
        found = self._find(row)
        if found is None or not (before := found[1].number_at(found[2])):
            return 0
        _, block, place = found
        block.set(place, number)
        self._held -= not number
        if 2 * block.zeros > len(block) >= SPARSE_FROM and not self._keeps:
            self._thin(block)
        return before

    def _find(self, row: bytes) -> tuple[bytes, Block, int] | None:
        """Return a row with its block and place, if it is here."""
        last = self._last
        if last is not None and last[0] == row:
            return last
        for block in self._blocks:
            if (at := block.place_of(row)) >= 0:
                self._last = (row, block, at)
                return self._last
        return None

    def insert(self, raw: bytes, number: int) -> int:
        """Give a number, not 0, to each of these rows that has none; returns how many had none."""
        rows, raised = byte_rows(raw, self._width), 0
        for block in self._blocks:
            at, here = block.places_of(rows)
            places = at[here][block.numbers[at[here]] == 0].tolist()
            for place in places:
                block.set(place, number)
            rows, raised = rows[~here], raised + len(places)
        self._append(rows, np.full(len(rows), number, np.uint16))
        raised += len(rows)
        self._held += raised
        return raised

    def count(self, raw: bytes) -> None:
        """Raise the number of each of these rows by one, as often as it comes."""
        rows, times = np.unique(np.frombuffer(raw, f"S{self._width}"), return_counts=True)
        for block in self._blocks:
            at, here = block.places_of(rows)
            places = at[here]
            raised = int(np.count_nonzero(block.numbers[places] == 0))
            block.zeros, self._held = block.zeros - raised, self._held + raised
            sums = block.numbers[places].astype(np.intp) + times[here]
            block.numbers[places] = np.minimum(sums, NUMBER_MAX)
            rows, times = rows[~here], times[~here]
        self._held += len(rows)
        self._append(rows, np.minimum(times, NUMBER_MAX).astype(np.uint16))

    def items(self) -> Iterator[tuple[bytes, int]]:
        """Yield the rows that have a number, and it."""
        for block in self._blocks:
            for at in np.flatnonzero(block.numbers).tolist():
                yield block.row_at(at), block.number_at(at)

    def having(self, number: int) -> bytes:
        """Return the rows that have this number, rising."""
        found = [block.rows[block.numbers == number] for block in self._blocks]
        rows = np.sort(np.concatenate(found)) if found else np.empty(0, f"S{self._width}")
        return rows.tobytes()

    def rows(self) -> bytes:
        """Return all rows that ever had a number, but for those that were forgotten; rising."""
        if not self._blocks:
            return b""
        return np.sort(np.concatenate([block.rows for block in self._blocks])).tobytes()

    def _append(self, rows: ByteRows, numbers: NDArray[np.uint16]) -> None:
        if not len(rows):
            return
        block, self._last = Block(rows, numbers), None
        while len(self._blocks) > self._sealed and len(self._blocks[-1]) <= LARGER * len(block):
            block = self._blocks.pop().joined(block)
        self._blocks.append(block)

    def seal(self) -> Block:
        """Make one block of all, which stays as it is but for its numbers, and return it."""
        assert self._keeps, "rows would be forgotten"
        whole = Block(np.empty(0, f"S{self._width}"), np.empty(0, np.uint16))
        for block in self._blocks:
            whole = whole.joined(block)
        self._blocks, self._sealed, self._last = [whole], 1, None
        return whole

    def _thin(self, block: Block) -> None:
        """Forget the rows of a block whose number is zero."""
        at = next(at for at, one in enumerate(self._blocks) if one is block)
        kept = block.without_zeros()
        self._blocks[at : at + 1] = [kept] if len(kept) else []
        self._last = None
