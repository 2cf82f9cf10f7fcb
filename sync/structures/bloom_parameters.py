"""Bloom filter size and bit positions of an id; without numpy, to keep the program's start fast."""

import math
from functools import cached_property
from typing import Final

import mmh3
from msgspec import Struct

ERROR_RATE_MAX: Final = 0.5
"""Above this a filter at capacity would come too close to `FILL_MAX`, and tell nothing anyway."""

WORD_BITS: Final = 64


class BloomParameters(Struct, frozen=True, dict=True):
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
        first, step = self.hashed(item)
        size = self.m_bits
        return tuple([(first + n * step) % size for n in range(self.k)])

    def hashed(self, item: str) -> tuple[int, int]:
        """Return the first bit of `item`, and how far it is from each to the next."""
        size = self.m_bits
        return abs(mmh3.hash(item)) % size, abs(mmh3.hash(item + " b")) % size


LAN: Final = BloomParameters(capacity=1000, error_rate=0.001)
"""1,880 bytes a message. In a chat, what is older than 1,000 messages is acknowledged or lost."""

WAKU: Final = BloomParameters(capacity=10_000, error_rate=0.001)
"""Size used by `@waku/sds`, which cannot be told otherwise: 18,752 bytes a message."""
