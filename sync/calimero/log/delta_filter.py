"""Bloom filters over message ids, as delta sync tells what is held (Calimero, "Bloom Filter").

An id is a SHA-256 already, so its first two words are the hashes: nothing is hashed again. A filter
says "certainly not" or "possibly"; what it is wrong about, parents and the check find.
"""

from collections.abc import Sequence
from typing import Final, Self

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

BITS_PER_ID: Final = 12
"""Bits of a filter for each id: 3 of 1,000 ids that are not there seem to be."""

SPARE_BITS: Final = 64
"""Bits more: a filter of a few ids would else be wrong up to twice as often."""

K: Final = 8
"""Bits that an id sets: the best number for so many bits."""

K_MAX: Final = 16
"""Bits an id may set in a peer's filter."""

BITS: Final = 8
"""Bits in a byte."""


class IdFilter(Struct, frozen=True):
    """A filter: `k` bits an id, and the bytes; without any it holds nothing, and `k` is 0."""

    k: int = 0
    bits: bytes = b""

    @classmethod
    def of(cls, ids: Sequence[bytes]) -> Self:
        """Return the filter of these ids, 32 bytes each."""
        if not ids:
            return cls()
        size = -(-(BITS_PER_ID * len(ids) + SPARE_BITS) // BITS)
        flags = np.zeros(BITS * size, np.uint8)
        flags[_positions(ids, K, BITS * size)] = 1
        return cls(K, np.packbits(flags, bitorder="little").tobytes())

    def __contains__(self, message_id: bytes) -> bool:
        """Return whether an id is possibly there; False is certain."""
        return not self.lacking((message_id,))

    def lacking(self, ids: Sequence[bytes]) -> list[bytes]:
        """Return those of `ids` that are certainly not there, in their order."""
        if not ids or not self.bits:
            return list(ids)
        flags = np.unpackbits(np.frombuffer(self.bits, np.uint8), bitorder="little").astype(
            np.bool_
        )
        lacking = np.flatnonzero(~flags[_positions(ids, self.k, len(flags))].all(axis=0))
        return [ids[at] for at in lacking.tolist()]


def _positions(ids: Sequence[bytes], k: int, size: int) -> NDArray[np.uint64]:
    """Return the bits of each id, (k, n), each below `size`.

    Enhanced double hashing: in a small filter the plain one is wrong half as often again.
    """
    words = np.frombuffer(b"".join(ids), ">u8").reshape(len(ids), -1).astype(np.uint64)
    bits = np.uint64(size)
    at, step = words[:, 0] % bits, words[:, 1] % bits
    positions = np.empty((k, len(ids)), np.uint64)
    for number in range(k):
        positions[number] = at
        at = (at + step) % bits
        step = (step + np.uint64(number + 1)) % bits
    return positions
