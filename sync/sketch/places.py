"""Checksums of ids and their places in a sketch (`sync.sketch`, points 2 and 3)."""

from typing import Final, NamedTuple

import numpy as np

from sync.sketch.key import SketchKey, as_numbers
from sync.structures.sorted_run import HASH_WORDS, Positions, Words

STEP: Final = np.uint64(0xDA942042E4DD58B5)
"""Multiplier of the generator."""

FIRST: Final = np.uint64(0xFF51AFD7ED558CCD)
SECOND: Final = np.uint64(0xC4CEB9FE1A85EC53)
"""Multipliers of `mix`: those with which MurmurHash3 ends."""

HALF: Final = np.uint64(33)
UPPER: Final = np.uint64(32)
ODD: Final = np.uint64(1)

SIZE_MAX: Final = 1 << 16
"""Symbols of the longest sketch: places are numbers of 16 bits, which sort in a third of the
time."""


class Placed(NamedTuple):
    """Places of ids: row `members[n]` of them is in place `places[n]`; columns of equal length."""

    members: Positions
    places: "np.ndarray[tuple[int], np.dtype[np.uint16]]"


def mix(words: Words) -> Words:
    """Return each word mixed, a permutation of all words."""
    words = words ^ (words >> HALF)
    words = words * FIRST
    words = words ^ (words >> HALF)
    words = words * SECOND
    return words ^ (words >> HALF)


def checksums(hashes: Words, key: SketchKey) -> Words:
    """Return the checksums of ids, (n), from their hashes, (n, 4)."""
    numbers = as_numbers(hashes)
    sums = np.full(len(numbers), key.checking, np.uint64)
    for word in range(HASH_WORDS):
        sums = mix(sums ^ numbers[:, word])
    return sums


def placed(hashes: Words, key: SketchKey, size: int) -> Placed:
    """Return all places of ids below `size`, `SIZE_MAX` at most."""
    assert size <= SIZE_MAX, "places are numbers of 16 bits"
    count = len(hashes)
    generators = mix(as_numbers(hashes)[:, 0] ^ key.placing) | ODD
    members, at = np.arange(count), np.zeros(count)
    parts, places = [members], [np.zeros(count, np.uint16)]
    while members.size:
        generators = generators * STEP
        drawn = (generators >> UPPER).astype(np.float64)
        at = at + np.maximum(np.ceil((at + 1.5) * (65536.0 / np.sqrt(drawn + 1.0) - 1.0)), 1.0)
        goes_on = at < size
        members, at, generators = members[goes_on], at[goes_on], generators[goes_on]
        parts.append(members)
        places.append(at.astype(np.uint16))
    return Placed(np.concatenate(parts), np.concatenate(places))
