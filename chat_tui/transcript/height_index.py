"""Index from lines to rows: row heights kept in chunks with their sums.

Changing, inserting, removing and finding a row cost the same near the top as near the bottom, so
messages that arrive late, in the middle, are no special case.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

CHUNK: Final = 512
"""Rows in a full chunk; it splits at twice that. Near the square root of 100,000 rows, where
walking the chunks costs as much as walking inside one."""


class Heights:
    """The heights, in lines, of a sequence of rows."""

    def __init__(self, heights: Sequence[int] = ()) -> None:
        self._chunks = [list(heights[at : at + CHUNK]) for at in range(0, len(heights), CHUNK)]
        self._sums = [sum(chunk) for chunk in self._chunks]
        self._count = len(heights)
        self._total = sum(self._sums)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[int]:
        for chunk in self._chunks:
            yield from chunk

    @property
    def total(self) -> int:
        """Lines of all rows together."""
        return self._total

    def __getitem__(self, index: int) -> int:
        number, offset = self._find(index)
        return self._chunks[number][offset]

    def __setitem__(self, index: int, height: int) -> None:
        number, offset = self._find(index)
        self._grow(number, height - self._chunks[number][offset])
        self._chunks[number][offset] = height

    def insert(self, index: int, heights: Sequence[int]) -> None:
        """Insert rows so that the first of them becomes row `index`; at most the length."""
        if not self._chunks:
            self._chunks, self._sums = [[]], [0]
        number, offset = self._find(index)
        self._chunks[number][offset:offset] = heights
        self._count += len(heights)
        self._grow(number, sum(heights))
        self._split(number)

    def remove(self, index: int, count: int) -> None:
        """Remove `count` rows from row `index` on."""
        while count:
            number, offset = self._find(index)
            chunk = self._chunks[number]
            removed = chunk[offset : offset + count]
            del chunk[offset : offset + count]
            self._count -= len(removed)
            count -= len(removed)
            self._grow(number, -sum(removed))
            if not chunk:
                del self._chunks[number], self._sums[number]

    def top(self, index: int) -> int:
        """Return the first line of row `index`; for the length, the line below the last row."""
        if index == self._count:
            return self._total
        number, offset = self._find(index)
        return sum(self._sums[:number]) + sum(islice(self._chunks[number], offset))

    def at(self, line: int) -> tuple[int, int]:
        """Return (row, line within it) of `line`, which must be at least 0 and below `total`."""
        row = 0
        for chunk, lines in zip(self._chunks, self._sums, strict=True):
            if line < lines:
                for height in chunk:
                    if line < height:
                        return row, line
                    line -= height
                    row += 1
            line -= lines
            row += len(chunk)
        raise IndexError(f"line {line} is below the last row")

    def _find(self, index: int) -> tuple[int, int]:
        """Return (chunk, offset in it); the length is found at the end of the last chunk."""
        last = len(self._chunks) - 1
        for number, chunk in enumerate(self._chunks):
            if index < len(chunk) or (number == last and index == len(chunk)):
                return number, index
            index -= len(chunk)
        raise IndexError(f"row {index} is beyond the last row")

    def _grow(self, number: int, lines: int) -> None:
        self._sums[number] += lines
        self._total += lines

    def _split(self, number: int) -> None:
        chunk = self._chunks[number]
        if len(chunk) > 2 * CHUNK:
            parts = [chunk[at : at + CHUNK] for at in range(0, len(chunk), CHUNK)]
            self._chunks[number : number + 1] = parts
            self._sums[number : number + 1] = [sum(part) for part in parts]
