"""Writing the ranges of a payload from columns (Waku Sync, "Payload encoding").

How many bytes each part takes is known before one is written, so each has its place, and all of
them are put there together.
"""

from typing import Final

import numpy as np

from sync.structures.codec import CONTINUES, UVARINT_SIZE_MAX, encode_uvarint
from sync.structures.ordered_set import HASH_BYTES, ZERO_HASH, SyncId, shortened
from sync.structures.sorted_run import HASH_WORDS, Positions, Words
from sync.waku.ranges import FINGERPRINT, ITEM_SET, RECONCILED, UNKNOWN, Octets, Ranges, windows

FEW: Final = 24
"""So many numbers are written faster one by one."""

LARGER: Final = np.array([1 << 7 * size for size in range(1, UVARINT_SIZE_MAX)], np.uint64)
"""The smallest numbers of two bytes, of three, and so on."""


def written_ranges(header: bytes, ranges: Ranges) -> bytes:
    """Return a payload of these ranges, whose bounds must be `shortened`."""
    assert UNKNOWN not in ranges.kinds, "what is not known cannot be said"
    deltas, bounds = _bounds(ranges)
    heads = _sizes(deltas)
    for at, bound in bounds.items():
        heads[at] = len(bound)
    kinds = ranges.kind_column
    fingerprints = np.flatnonzero(kinds == FINGERPRINT)
    sets = _Sets(ranges) if ITEM_SET in ranges.kinds or RECONCILED in ranges.kinds else None
    sizes = heads + 1
    sizes[fingerprints] += HASH_BYTES
    if sets is not None:
        sizes[sets.at] += sets.sizes
    begins = sizes.cumsum() + (len(header) - sizes)
    types = begins + heads

    raw = np.empty(len(header) + int(sizes.sum()), np.uint8)
    raw[: len(header)] = np.frombuffer(header, np.uint8)
    _put(raw, begins, deltas)
    for at, bound in bounds.items():
        raw[begins[at] : types[at]] = np.frombuffer(bound, np.uint8)
    raw[types] = np.minimum(kinds, ITEM_SET)
    windows(raw, HASH_BYTES)[types[fingerprints] + 1] = _bytes(ranges.fingerprint_column)
    if sets is not None:
        sets.write(raw, types[sets.at] + 1)
    return raw.tobytes()


class _Sets:
    """The item sets of a payload: count, ids and flag of each."""

    def __init__(self, ranges: Ranges) -> None:
        kinds = ranges.kind_column
        self.at = np.flatnonzero((kinds == ITEM_SET) | (kinds == RECONCILED))
        self._flags = kinds[self.at] == RECONCILED
        self._lengths = ranges.count_column[self.at]
        self._counts = self._lengths.astype(np.uint64)
        self._ids = ranges.ids
        self._steps = _steps(self._ids.timestamps, self._lengths)
        self._told = _sizes(self._counts)
        ids = _sizes(self._steps)
        # Where each id ends, and each set, among all ids.
        self._ends = (ids + HASH_BYTES).cumsum()
        self._begins = self._ends - ids - HASH_BYTES
        edges = np.concatenate(([0], self._ends))[np.concatenate(([0], self._lengths.cumsum()))]
        self._before = edges[:-1]
        self.sizes = self._told + (edges[1:] - edges[:-1]) + 1
        """Bytes of each."""

    def write(self, raw: Octets, at: Positions) -> None:
        """Write the sets to these places."""
        _put(raw, at, self._counts)
        moved = np.repeat(at + self._told - self._before, self._lengths)
        _put(raw, self._begins + moved, self._steps)
        hashes = self._ends + moved - HASH_BYTES
        windows(raw, HASH_BYTES)[hashes] = _bytes(self._ids.hashes)
        raw[at + self.sizes - 1] = self._flags


def encode_bound(bound: SyncId, previous: SyncId) -> bytes:
    """Encode an upper bound (Waku Sync, "Delta encoding for sequential SyncIDs").

    Layout: timestamp less that of `previous`; only if that is 0, one length byte (1..32) and the
    hash up to the first byte that differs from the hash of `previous`.
    """
    if bound.timestamp != previous.timestamp:
        assert bound.hash == ZERO_HASH, "the bound would not arrive whole"
        return encode_uvarint(bound.timestamp - previous.timestamp)
    assert previous < bound == shortened(bound, previous), "the bound would not arrive whole"
    differs = [ours != other for ours, other in zip(bound.hash, previous.hash, strict=True)]
    length = 1 + differs.index(True)
    return bytes([0, length]) + bound.hash[:length]


def _bounds(ranges: Ranges) -> tuple[Words, dict[int, bytes]]:
    """Return how far each range's bound is from the one before, and those that need their hash."""
    edges = ranges.edges
    assert bool((edges[1:] >= edges[:-1]).all()), "the bounds of ranges must rise"
    deltas = edges[1:] - edges[:-1]
    bounds: dict[int, bytes] = {}
    for at in np.flatnonzero(deltas == 0).tolist():
        upper = ranges.upper(at)
        before = ranges.upper(at - 1).hash if at - 1 in bounds else ZERO_HASH
        bounds[at] = encode_bound(upper, SyncId(upper.timestamp, before))
    return deltas, bounds


def _steps(timestamps: Words, lengths: Positions) -> Words:
    """Return how far each id is from the one before it; the first of an item set, from 0."""
    steps = timestamps.copy()
    steps[1:] -= timestamps[:-1]
    first = (np.cumsum(lengths) - lengths)[lengths > 0]
    steps[first] = timestamps[first]
    return steps


def _sizes(numbers: Words) -> Positions:
    """Return how many bytes numbers take."""
    return LARGER.searchsorted(numbers, "right") + 1


def _put(raw: Octets, at: Positions, numbers: Words) -> None:
    """Write numbers to these places (Waku Sync, "Varint encoding")."""
    if len(at) <= FEW:
        for where, number in zip(at.tolist(), numbers.tolist(), strict=True):
            encoded = encode_uvarint(number)
            raw[where : where + len(encoded)] = np.frombuffer(encoded, np.uint8)
        return
    while len(at):
        more = numbers >= CONTINUES
        raw[at] = (numbers & np.uint64(CONTINUES - 1)).astype(np.uint8) | (more * CONTINUES)
        at, numbers = at[more] + 1, numbers[more] >> np.uint64(7)


def _bytes(words: Words) -> Octets:
    """Return rows of words as rows of bytes."""
    assert words.shape[1:] == (HASH_WORDS,)
    return np.ascontiguousarray(words).view(np.uint8)
