"""Checksums of ids and their places in a sketch (`sync.sketch`, points 2 and 3)."""

from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

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

BESIDE: Final = 1.5
"""Strides are parts of a place and this. Places are kept with it, which is exact."""

LEAST: Final = 1e-10
"""Least stride, which is a place further, as the definition has it where this is 0; the next larger
stride is 1.2e-10."""

AHEAD: Final = 8
"""Places of an id that are found at once where ids are few: calls would take longer than sums."""

FEW: Final = 1_024
"""Ids up to which it is so."""

POWERS: Final = np.array([pow(int(STEP), n, 1 << 64) for n in range(1, AHEAD + 1)], np.uint64)[
    :, None
]
"""Multipliers that lead a generator to each of its next places, (AHEAD, 1)."""

SIZE_MAX: Final = 1 << 16
"""Symbols of the longest sketch: places are numbers of 16 bits, which sort in a third of the
time."""


Doubles: TypeAlias = NDArray[np.float64]


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
    members, at, end = np.arange(count), np.full(count, BESIDE), size + BESIDE
    parts, places = [members], [np.zeros(count, np.uint16)]
    while members.size > FEW:
        generators = generators * STEP
        at = _after(at, _strides(generators))
        below = np.flatnonzero(at < end)
        members, at, generators = members.take(below), at.take(below), generators.take(below)
        parts.append(members)
        places.append((at - BESIDE).astype(np.uint16))
    while members.size:
        drawn = generators * POWERS
        ahead = _strides(drawn)
        for strides in ahead:  # each row becomes the places it leads to
            at = _after(at, strides)
        below = np.flatnonzero(ahead < end)
        parts.append(members.take(below % members.size))
        places.append((ahead.take(below) - BESIDE).astype(np.uint16))
        goes_on = np.flatnonzero(at < end)
        members, at = members.take(goes_on), at.take(goes_on)
        generators = drawn[-1].take(goes_on)
    return Placed(np.concatenate(parts), np.concatenate(places))


def _strides(drawn: Words) -> Doubles:
    """Return how far generators lead, as parts of where an id is."""
    strides: Doubles = (drawn >> UPPER).astype(np.float64)
    strides += 1.0
    np.divide(65536.0, np.sqrt(strides, out=strides), out=strides)
    strides -= 1.0
    np.maximum(strides, LEAST, out=strides)
    return strides


def _after(at: Doubles, strides: Doubles) -> Doubles:
    """Return the places that follow, all with `BESIDE` more than they are; `strides` is used up."""
    strides *= at
    np.ceil(strides, out=strides)
    strides += at
    return strides
