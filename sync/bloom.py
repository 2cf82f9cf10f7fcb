"""Bloom filters over message ids, byte for byte those of `@waku/sds` (SDS, "Bloom filter").

A filter says "certainly not" or "possibly", so here it only ever hints (DESIGN 5, "acknowledged").

Layout: 64-bit words, big-endian, nothing else; bit p is bit p % 64 of word p // 64. Capacity and
error rate are not on the wire: all members of a channel know them.

Hash: MurmurHash3 x86 32 bit of the item's UTF-8 with seed 0, taken as signed, then its absolute
value. For ASCII, and so for every id of ours, these are the positions of `@waku/sds`. For anything
else they are not, since it hashes UTF-16 units: a foreign peer would then miss an id it was told,
which costs a hint and never a message.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import mmh3

from sync.errors import DecodeError

FILL_MAX: Final = 0.6
"""Share of set bits above which a peer's filter is no evidence: one of all ones claims everything.

An honest one has about 0.5 at capacity, and 0.535 when overfull by a tenth.
"""

ERROR_RATE_MAX: Final = 0.5
"""Above this a filter at capacity would come too close to `FILL_MAX`, and tell nothing anyway."""

WORD_BITS: Final = 64


@dataclass(frozen=True)
class BloomParameters:
    """Size of a filter: for how many ids, and how often it may be wrong once it holds them."""

    capacity: int
    error_rate: float

    def __post_init__(self) -> None:
        assert self.capacity > 0
        assert 0 < self.error_rate <= ERROR_RATE_MAX

    @cached_property
    def k(self) -> int:
        """Bits an item sets."""
        return round(math.log(2) * self._bits_per_item)

    @cached_property
    def m_bits(self) -> int:
        """Bits that can be set."""
        return self.capacity * self._bits_per_item

    @cached_property
    def size_bytes(self) -> int:
        """Bytes on the wire: `m_bits` in whole words and, as in `@waku/sds`, always one begun."""
        return (1 + self.m_bits // WORD_BITS) * (WORD_BITS // 8)

    @property
    def _bits_per_item(self) -> int:
        return math.ceil(-math.log(self.error_rate) / math.log(2) ** 2)

    def positions(self, item: str) -> tuple[int, ...]:
        """Return the `k` bits of `item`, each below `m_bits`; the same one may come twice."""
        size = self.m_bits
        first = abs(mmh3.hash(item)) % size
        step = abs(mmh3.hash(item + " b")) % size
        return tuple([(first + n * step) % size for n in range(self.k)])


LAN: Final = BloomParameters(capacity=1000, error_rate=0.001)
"""1,880 bytes a message. In a chat, what is older than 1,000 messages is acknowledged or lost."""

WAKU: Final = BloomParameters(capacity=10_000, error_rate=0.001)
"""What `@waku/sds` uses, and cannot be told otherwise: 18,752 bytes a message."""


class RollingBloomFilter:
    """Our own filter: the newest ids, at most `capacity` and at least half of that.

    When it is full the next id pushes out the older half. The younger half is at all times also
    kept in a filter of its own, so no insert costs more than 2k bits.
    """

    def __init__(self, parameters: BloomParameters) -> None:
        self.parameters = parameters
        self._younger_max = parameters.capacity // 2
        self._older_max = parameters.capacity - self._younger_max
        self._older: set[str] = set()
        self._younger: set[str] = set()
        self._bits = bytearray(parameters.size_bytes)  # in wire layout, of both halves
        self._younger_bits = bytearray(parameters.size_bytes)
        self._set_bits = 0

    def insert(self, item: str) -> None:
        """Add `item`, O(k); one that is held already changes nothing and keeps its age."""
        if item in self._older or item in self._younger:
            return
        if self.count == self.parameters.capacity:
            self._roll_over()
        positions = self.parameters.positions(item)
        if len(self._older) < self._older_max:
            self._older.add(item)
        else:
            self._younger.add(item)
            _set(self._younger_bits, positions)
        self._set_bits += _set(self._bits, positions)

    def __contains__(self, item: str) -> bool:
        """Return whether a reader of our bytes would find `item`: wrong at times, as it would."""
        return _all_set(self._bits, self.parameters.positions(item))

    def to_bytes(self) -> bytes:
        """Return the filter as it goes on the wire, always `size_bytes` long."""
        return bytes(self._bits)

    @property
    def count(self) -> int:
        """Ids held."""
        return len(self._older) + len(self._younger)

    @property
    def fill(self) -> float:
        """Share of set bits, 0..1."""
        return self._set_bits / self.parameters.m_bits

    @property
    def false_positive_rate(self) -> float:
        """Chance that an id it does not hold seems to be there, 0..1."""
        return self.fill**self.parameters.k

    def _roll_over(self) -> None:
        self._older, self._younger = self._younger, set()
        self._bits, self._younger_bits = self._younger_bits, bytearray(len(self._bits))
        self._set_bits = _count_set(self._bits)


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
        return self.contains_positions(self.parameters.positions(item))

    def contains_positions(self, positions: Iterable[int]) -> bool:
        """Return the same for an item whose `parameters.positions` were computed before."""
        return _all_set(self._bits, positions)


# Byte p // 8 of a row of big-endian words is found by turning the three lowest bits of its index.


def _set(bits: bytearray, positions: Iterable[int]) -> int:
    """Set the bits; return how many were not set before."""
    changed = 0
    for position in positions:
        index, mask = position >> 3 ^ 7, 1 << (position & 7)
        if not bits[index] & mask:
            bits[index] |= mask
            changed += 1
    return changed


def _all_set(bits: bytes | bytearray, positions: Iterable[int]) -> bool:
    # A plain loop: every received filter is asked about every message on its way, and a
    # generator expression would double the cost.
    for position in positions:  # noqa: SIM110
        if not bits[position >> 3 ^ 7] >> (position & 7) & 1:
            return False
    return True


def _count_set(bits: bytes | bytearray) -> int:
    return int.from_bytes(bits, "big").bit_count()
