"""Symbols of a sketch, in columns (`sync.sketch`, points 4 and 5)."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sync.sketch.key import SketchKey, as_numbers
from sync.sketch.places import Placed, checksums, placed
from sync.structures.sorted_run import HASH_WORDS, Words

WORDS: Final = HASH_WORDS + 1
"""Of a row: the sum, as the bytes of hashes are, and the checksum, as a number."""


@dataclass(slots=True, eq=False)
class Symbols:
    """The first symbols of a set, 44 bytes each.

    Attributes:
        rows: (n, 5): sums and checksums.
        counts: (n): numbers of ids; of a difference they may be negative.
    """

    rows: Words
    counts: NDArray[np.int32]

    @classmethod
    def empty(cls, size: int) -> "Symbols":
        """Return the symbols of no ids."""
        return cls(np.zeros((size, WORDS), np.uint64), np.zeros(size, np.int32))

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def memory(self) -> int:
        """Bytes of the columns."""
        return self.rows.nbytes + self.counts.nbytes

    def copy(self) -> "Symbols":
        """Return symbols of their own that start out equal."""
        return Symbols(self.rows.copy(), self.counts.copy())

    def with_more(self, more: "Symbols") -> "Symbols":
        """Return these and those that follow."""
        rows = np.concatenate((self.rows, more.rows))
        return Symbols(rows, np.concatenate((self.counts, more.counts)))

    def part(self, first: int, end: int) -> "Symbols":
        """Return a view of those from `first` up to, and without, `end`."""
        return Symbols(self.rows[first:end], self.counts[first:end])

    def part_at(self, places: NDArray[np.intp]) -> "Symbols":
        """Return a copy of those at these places."""
        return Symbols(self.rows[places], self.counts[places])

    def put(self, hashes: Words, key: SketchKey, sign: int = 1) -> None:
        """Put ids in, by their hashes, (n, 4); with a `sign` of -1, take them out."""
        if len(hashes):
            self.put_at(placed(hashes, key, len(self)), rows_of(hashes, key), sign)

    def put_at(self, where: Placed, ids: Words, signs: int | NDArray[np.int32]) -> None:
        """Put ids, as rows of their own, in at these places, each as its sign says: 1 or -1.

        Ids that share a place are gathered first: to write each by itself takes twice as long.
        Rows are gathered by `take`, in a fifth of the time that indexing takes, and summed up to
        each place's last one, in two thirds of the time that `reduceat` takes.
        """
        order = np.argsort(where.places, kind="stable")
        places, members = where.places.take(order), where.members.take(order)
        if not len(places):
            return
        lasts = np.empty(len(places), np.bool_)
        lasts[-1] = True
        np.not_equal(places[1:], places[:-1], out=lasts[:-1])
        ends = np.flatnonzero(lasts)
        at = places.take(ends)
        gathered = ids.take(members, axis=0)
        # In place: memory of its own for so many takes as long as the sums.
        sums = np.bitwise_xor.accumulate(gathered, axis=0, out=gathered).take(ends, axis=0)
        sums[1:] ^= sums[:-1].copy()
        self.rows[at] = self.rows.take(at, axis=0) ^ sums
        if isinstance(signs, int):
            numbers = signs * (ends + 1)
        else:
            numbers = signs.take(members).cumsum().take(ends)
        numbers[1:] -= numbers[:-1].copy()
        self.counts[at] += numbers.astype(np.int32)

    def less(self, other: "Symbols") -> "Symbols":
        """Return the difference with as many symbols of another set."""
        return Symbols(self.rows ^ other.rows, self.counts - other.counts)

    def pure(self, key: SketchKey, among: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return which of some symbols of a difference are pure, in their order."""
        single = among[np.abs(self.counts[among]) == 1]
        sums = checksums(self.rows[single, :HASH_WORDS], key)
        found: NDArray[np.intp] = single[sums == self.rows[single, HASH_WORDS]]
        return found

    @property
    def is_empty(self) -> bool:
        """True if nothing is in any of them."""
        return not (self.rows.any() or self.counts.any())


def rows_of(hashes: Words, key: SketchKey) -> Words:
    """Return the row of each id by itself, (n, 5)."""
    rows = np.empty((len(hashes), WORDS), np.uint64)
    rows[:, :HASH_WORDS] = hashes
    rows[:, HASH_WORDS] = checksums(hashes, key)
    return rows


def sums_of(rows: Words) -> bytes:
    """Return the sums of rows as they travel, 32 bytes each."""
    return rows[:, :HASH_WORDS].tobytes()


def checksums_of(rows: Words) -> bytes:
    """Return the checksums of rows as they travel, 8 bytes each."""
    return as_numbers(np.ascontiguousarray(rows[:, HASH_WORDS])).tobytes()
