"""Bloom filters over message ids, byte for byte those of `@waku/sds` (SDS, "Bloom filter").

A filter says "certainly not" or "possibly", so here it only ever hints (PROTOCOL 5).

Layout: 64-bit words, big-endian, nothing else; bit p is bit p % 64 of word p // 64. Capacity and
error rate are not on the wire: all members of a channel know them.

Hash: MurmurHash3 x86 32 bit of the item's UTF-8 with seed 0, taken as signed, then its absolute
value. For ASCII, and so for every id of ours, these are the positions of `@waku/sds`. For anything
else they are not, since it hashes UTF-16 units: a foreign peer would then miss an id it was told,
which costs a hint and never a message.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

import mmh3
import numpy as np
from numpy.typing import NDArray

from sync.errors import DecodeError
from sync.structures.bloom_parameters import BloomParameters

FILL_MAX: Final = 0.6
"""Share of set bits above which a peer's filter is no evidence: one of all ones claims everything.

An honest one has about 0.5 at capacity, and 0.535 when overfull by a tenth.
"""

TOGETHER_MIN: Final = 32
"""Ids from which on numpy sets their bits faster than a loop does: it takes 12 us to begin, and 60
to 100 where other things were done meanwhile, as is usual."""

MASKS: Final = tuple([1 << bit for bit in range(8)])
"""To shift a bit to its place takes longer than to look it up."""


def all_positions(parameters: BloomParameters, items: Sequence[str]) -> NDArray[np.int64]:
    """Return what `BloomParameters.positions` does, for many items: `k` bits each, k x items."""
    hashed = map(mmh3.hash, [*items, *[item + " b" for item in items]])
    both = np.abs(np.fromiter(hashed, np.int64, 2 * len(items))) % parameters.m_bits
    first, step = both[: len(items)], both[len(items) :]
    positions: NDArray[np.int64] = first + np.arange(parameters.k)[:, np.newaxis] * step
    return positions % parameters.m_bits


class RollingBloomFilter:
    """Our own filter: the newest ids, at most `capacity` and at least half of that.

    When it is full the next id pushes out the older half, and the bits of the younger one are left.
    Most ids come in while nobody asks for the filter, so bits are set, many at once, when somebody
    does; ids that were pushed out meanwhile never cost any.
    """

    def __init__(self, parameters: BloomParameters) -> None:
        self.parameters = parameters
        self._younger_max = parameters.capacity // 2
        self._older_max = parameters.capacity - self._younger_max
        self._older: dict[str, None] = {}
        self._younger: dict[str, None] = {}
        self._unset: list[str] = []
        self._bits = bytearray(parameters.size_bytes)  # in wire layout
        self._younger_bits = bytearray(parameters.size_bytes)
        """Those of the younger half alone, as far as they were set many at once."""
        self._one_by_one: list[str] = []
        """The other ids whose bits are set; for a few, two arrays would cost more than later."""
        self._bytes: bytes | None = None

    def insert(self, item: str) -> None:
        """Add `item`; one that is held already changes nothing and keeps its age."""
        if item in self._older or item in self._younger:
            return
        if len(self._younger) == self._younger_max:  # it fills after the older half
            self._roll_over()
        half = self._older if len(self._older) < self._older_max else self._younger
        half[item] = None
        self._unset.append(item)
        self._bytes = None

    def __contains__(self, item: str) -> bool:
        """Return whether a reader of our bytes would find `item`: wrong at times, as it would."""
        self._set_bits()
        return _all_set(self._bits, self.parameters.positions(item))

    def bits_of(self, item: str) -> tuple[tuple[int, bool], ...]:
        """Return the positions of `item`, each with whether its bit is set; changes no answer."""
        self._set_bits()
        positions = self.parameters.positions(item)
        return tuple([(position, _all_set(self._bits, [position])) for position in positions])

    def to_bytes(self) -> bytes:
        """Return the filter as it goes on the wire, always `size_bytes` long."""
        if self._bytes is None:
            self._set_bits()
            self._bytes = bytes(self._bits)
        return self._bytes

    def cells(self, count: int) -> tuple[float, ...]:
        """Return the share of set bits in each of `count` equal parts, in wire order."""
        data = self.to_bytes()
        edges = [at * len(data) // count for at in range(count + 1)]
        parts = [data[start:end] for start, end in pairwise(edges)]
        return tuple([_count_set(part) / (8 * len(part)) if part else 0.0 for part in parts])

    @property
    def count(self) -> int:
        """Ids held."""
        return len(self._older) + len(self._younger)

    @property
    def fill(self) -> float:
        """Share of set bits, 0..1."""
        return _count_set(self.to_bytes()) / self.parameters.m_bits

    @property
    def false_positive_rate(self) -> float:
        """Chance that an id it does not hold seems to be there, 0..1."""
        return self.fill**self.parameters.k

    def _roll_over(self) -> None:
        self._older, self._younger = self._younger, {}
        self._bits, self._younger_bits = self._younger_bits, bytearray(len(self._bits))
        unset = [*self._one_by_one, *self._unset]
        self._unset = [item for item in unset if item in self._older]
        self._one_by_one.clear()

    def _set_bits(self) -> None:
        """Set the bits of what came since they were set last."""
        unset = self._unset
        if len(unset) < TOGETHER_MIN:
            _set(self._bits, self.parameters, unset)
            self._one_by_one += unset
        else:
            added = _bits_of(self.parameters, unset)
            _add(self._bits, added)
            if unset[0] in self._younger:  # and so are those that came after it
                _add(self._younger_bits, added)
            else:
                self._one_by_one += unset
        unset.clear()


class ReceivedFilter:
    """A peer's filter, as `read` took it from a message."""

    def __init__(self, data: bytes, parameters: BloomParameters) -> None:
        self.parameters = parameters
        self._bits = data

    @classmethod
    def read(cls, data: bytes, parameters: BloomParameters) -> "ReceivedFilter":
        """Return the filter in `data`, of a channel with these parameters.

        Raises:
            DecodeError: another size than the channel's, or more than `FILL_MAX` of the bits set.
        """
        if len(data) != parameters.size_bytes:
            raise DecodeError(
                f"a filter of {len(data)} bytes, {parameters.size_bytes} belong to this channel"
            )
        set_bits = _count_set(data)
        if set_bits > FILL_MAX * parameters.m_bits:
            raise DecodeError(
                f"a filter with {set_bits} of {parameters.m_bits} bits set, {FILL_MAX:.0%} at most"
            )
        return cls(data, parameters)

    def __contains__(self, item: str) -> bool:
        """Return whether the peer possibly holds `item`; False is certain."""
        return _all_set(self._bits, self.parameters.positions(item))

    def rows_held(self, columns: NDArray[np.int64], rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return those of `rows` that the peer possibly holds.

        Args:
            columns: `wire_bits` of many items, k x items.
            rows: the items that are asked for.
        """
        bits = np.unpackbits(np.frombuffer(self._bits, np.uint8), bitorder="little")
        for column in columns:
            if not len(rows):
                break
            rows = rows[bits[column[rows]] != 0]
        return rows


def wire_byte(position: int) -> int:
    """Return which byte on the wire has the bit at `position`."""
    return position >> 3 ^ 7


def wire_bits(positions: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where the bits at `positions` stand in the bytes on the wire, lowest bit first."""
    return (positions >> 3 ^ 7) << 3 | positions & 7


# Byte p // 8 of a row of big-endian words is found by turning the three lowest bits of its index.


def _set(bits: bytearray, parameters: BloomParameters, items: Sequence[str]) -> None:
    """Set the bits of a few `items`."""
    size, k, masks = parameters.m_bits, parameters.k, MASKS
    for item in items:
        position, step = parameters.hashed(item)
        for _ in range(k):
            bits[position >> 3 ^ 7] |= masks[position & 7]
            position = (position + step) % size


def _bits_of(parameters: BloomParameters, items: Sequence[str]) -> NDArray[np.uint8]:
    """Return the bits of many `items` as bytes on the wire."""
    flags = np.zeros(8 * parameters.size_bytes, np.uint8)
    flags[wire_bits(all_positions(parameters, items))] = 1
    return np.packbits(flags, bitorder="little")


def _add(bits: bytearray, added: NDArray[np.uint8]) -> None:
    """Set those of `bits` that are set in `added`."""
    together = np.frombuffer(bits, np.uint8)
    together |= added


def _all_set(bits: bytes | bytearray, positions: Iterable[int]) -> bool:
    return all(bits[position >> 3 ^ 7] >> (position & 7) & 1 for position in positions)


def _count_set(bits: bytes | bytearray) -> int:
    return int.from_bytes(bits, "big").bit_count()
