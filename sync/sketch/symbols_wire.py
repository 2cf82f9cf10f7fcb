"""Bytes of symbols (`sync.sketch`, point 6)."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from sync.errors import DecodeError
from sync.sketch.key import as_numbers, words_of
from sync.sketch.symbols import WORDS, Symbols, checksums_of, sums_of
from sync.structures.sorted_run import HASH_BYTES, HASH_WORDS

CHECKSUM_BYTES: Final = 8

IDS_MAX: Final = 2**31 - 1
"""Ids that a peer may say it has: numbers of symbols have 32 bits."""

NUMBER_BYTES_MAX: Final = 5
"""Of one number: 33 bits, as a zigzag."""

GROUP: Final = 7
MORE: Final = 0x80


def encode_symbols(symbols: Symbols, first: int, ids: int) -> bytes:
    """Return the bytes of symbols, of which `first` stand before, of a set of so many ids."""
    distances = symbols.counts.astype(np.int64) - expected(first, len(symbols), ids)
    numbers = np.where(distances < 0, -2 * distances - 1, 2 * distances).astype(np.uint64)
    return sums_of(symbols.rows) + checksums_of(symbols.rows) + _groups(numbers)


def decode_symbols(data: bytes, number: int, first: int, ids: int) -> Symbols:
    """Return `number` symbols; `data` holds nothing else.

    Raises:
        DecodeError: malformed, not canonical, or of more ids than there are.
    """
    sums_end = HASH_BYTES * number
    rows_end = sums_end + CHECKSUM_BYTES * number
    if len(data) < rows_end:
        raise DecodeError(f"{number} symbols in {len(data)} bytes")
    rows = np.empty((number, WORDS), np.uint64)
    rows[:, :HASH_WORDS] = words_of(data[:sums_end])
    rows[:, HASH_WORDS] = as_numbers(np.frombuffer(data[sums_end:rows_end], np.uint64))
    numbers = _numbers(data[rows_end:], number)
    halves = (numbers >> np.uint64(1)).astype(np.int64)
    odd = (numbers & np.uint64(1)).astype(np.bool_)
    counts = np.where(odd, -halves - 1, halves) + expected(first, number, ids)
    if number and (counts.min() < 0 or counts.max() > ids):
        raise DecodeError("a symbol of more ids than there are")
    return Symbols(rows, counts.astype(np.int32))


def expected(first: int, number: int, ids: int) -> NDArray[np.int64]:
    """Return how many of so many ids are expected in each symbol: 2n // (i + 2)."""
    return 2 * ids // (np.arange(first, first + number, dtype=np.int64) + 2)


def _groups(numbers: NDArray[np.uint64]) -> bytes:
    """Return numbers as varints, one after the other."""
    columns, there = [], [np.ones(len(numbers), np.bool_)]
    while there[-1].any():
        goes_on = numbers >= MORE
        columns.append((numbers & np.uint64(MORE - 1)).astype(np.uint8) | goes_on * np.uint8(MORE))
        there.append(goes_on)
        numbers = numbers >> np.uint64(GROUP)
    if not columns:
        return b""
    return np.stack(columns, axis=1)[np.stack(there[:-1], axis=1)].tobytes()


def _numbers(data: bytes, number: int) -> NDArray[np.uint64]:
    """Return the numbers of so many varints.

    Raises:
        DecodeError: other bytes than `_groups` writes.
    """
    read = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(read < MORE) + 1
    if len(ends) != number or (ends[-1] if number else 0) != len(read):
        raise DecodeError(f"{len(ends)} numbers where {number} should be")
    if not number:
        return np.empty(0, np.uint64)
    starts = np.concatenate(([0], ends[:-1]))
    lengths = ends - starts
    if lengths.max() > NUMBER_BYTES_MAX or bool(((read[ends - 1] == 0) & (lengths > 1)).any()):
        raise DecodeError("a number that is not canonical")
    within = np.arange(len(read)) - np.repeat(starts, lengths)
    parts = (read & (MORE - 1)).astype(np.uint64) << (within * GROUP).astype(np.uint64)
    return np.add.reduceat(parts, starts)
