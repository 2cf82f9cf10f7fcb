"""Reading the ranges of a payload into columns (Waku Sync, "Payload encoding").

Where a range ends is known only once it was read, so a walk finds where each number begins, the
cheapest it can; what the numbers are, and whether they may be, numpy says of all of them together.

Rule: of all that is wrong with a payload, what comes first in its bytes is the error; the walk
stops where it cannot go on, and what lies before that may still be wrong.
"""

from dataclasses import dataclass, field
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sync.errors import DecodeError
from sync.structures.codec import CONTINUES, UVARINT_SIZE_MAX, uvarint_at
from sync.structures.ordered_set import HASH_BYTES, ZERO_HASH, Columns, SyncId, columns_of
from sync.structures.sorted_run import HASH_WORDS, Words
from sync.waku.message import RANGES_MAX
from sync.waku.ranges import FINGERPRINT, ITEM_SET, SKIP, Kinds, Octets, Ranges, windows

ELEMENT_BYTES_MIN: Final = 1 + HASH_BYTES
"""An element of an item set: a one-byte varint and the hash; bounds what a count may claim."""

UINT64_MAX: Final = 2**64 - 1
TOO_LATE: Final = "a timestamp does not fit into 64 bits"
FALLING: Final = "the elements of an item set do not rise"
OUTSIDE: Final = "an item set has elements outside its range"

FEW: Final = 48
"""So many numbers are read faster one by one."""

NO_IDS: Final = columns_of(())

ENDS: Final = bytes(CONTINUES) + b"\1" * CONTINUES
"""Maps bytes to 0 where a number ends, and to 1 where it goes on."""

PADDING: Final = bytes(UVARINT_SIZE_MAX + HASH_BYTES)
"""Zeros behind a payload, so that what is cut short can be looked at like the rest."""

Starts: TypeAlias = NDArray[np.intp]


def read_ranges(data: bytes, offset: int) -> Ranges:
    """Return the ranges that begin at `offset` and take the rest of a payload.

    Raises:
        DecodeError: see `sync.waku.wire.decode_ranges`.
    """
    walk = Walk(data)
    stopped: DecodeError | None = None
    try:
        walk.go(offset)
    except DecodeError as error:
        stopped = error
    ranges, wrong = _Columns(walk).read()
    if wrong is not None:
        raise wrong
    if stopped is not None:
        raise stopped
    return ranges


def read_bound(data: bytes, offset: int, previous: SyncId) -> tuple[SyncId, int]:
    """Read what `writing.encode_bound` writes; hash bytes that were not sent are zero.

    Returns:
        The bound, and the offset after it.

    Raises:
        DecodeError: short input, a timestamp beyond 64 bits, or a hash that is not above that of
            `previous` in exactly its last byte.
    """
    delta, offset = uvarint_at(data, offset)
    if delta:
        timestamp = previous.timestamp + delta
        if timestamp > UINT64_MAX:
            raise DecodeError(TOO_LATE)
        return SyncId(timestamp, ZERO_HASH), offset
    length = data[offset] if offset < len(data) else 0
    if not 1 <= length <= HASH_BYTES:
        raise DecodeError(f"a bound has {length} bytes of hash, not 1 to {HASH_BYTES}")
    end = offset + 1 + length
    head = data[offset + 1 : end]
    if len(head) != length:
        raise DecodeError("a payload ends within the hash of a bound")
    if head[:-1] != previous.hash[: length - 1] or head[-1] <= previous.hash[length - 1]:
        raise DecodeError("a bound does not first exceed the one before it in its last hash byte")
    return SyncId(previous.timestamp, head.ljust(HASH_BYTES, b"\0")), end


@dataclass(slots=True)
class Walk:
    """Places where the numbers of a payload begin, as far as it can be read."""

    data: bytes
    ranges: list[int] = field(default_factory=list)
    """Where each range begins, with the number of its bound."""

    kinds: bytearray = field(default_factory=bytearray)
    hashes: dict[int, bytes] = field(default_factory=dict)
    """Of bounds that have one."""

    behind: dict[int, int] = field(default_factory=dict)
    """Where the bounds of these end."""

    sets: list[int] = field(default_factory=list)
    """Numbers of the ranges that are item sets and were read to their end."""

    counts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    """Number of ids of these, and where their flag stands."""

    elements: list[int] = field(default_factory=list)
    """Where each id begins, with the number of its timestamp."""

    begun: list[int] = field(default_factory=list)
    """Numbers of the elements that are the first of an item set."""

    def go(self, at: int) -> None:
        """Walk to the end.

        Raises:
            DecodeError: it cannot be walked any further.
        """
        data, size = self.data, len(self.data)
        ends = data.translate(ENDS)
        find, begins, is_of = ends.find, self.ranges.append, self.kinds.append
        for number in range(RANGES_MAX):
            if at >= size:
                break
            begins(at)
            end = find(0, at)
            if end < 0:
                uvarint_at(data, at)
            after = end + 1
            if not data[at]:
                before = SyncId(0, self.hashes.get(number - 1, ZERO_HASH))
                bound, after = read_bound(data, at, before)
                self.hashes[number] = bound.hash
                self.behind[number] = after
            if after == size:
                raise DecodeError("a payload ends before the type of a range")
            kind = data[after]
            if kind == FINGERPRINT:
                at = after + 1 + HASH_BYTES
            elif kind == SKIP:
                at = after + 1
            elif kind == ITEM_SET:
                at = self._walk_items(ends, number, after + 1)
                kind += data[at - 1]
            else:
                raise DecodeError(f"range type {kind} is not 0, 1 or 2")
            is_of(kind)
        if at < size:
            raise DecodeError(f"a payload has over {RANGES_MAX} ranges")
        if at > size:
            raise DecodeError("a payload ends within a fingerprint")

    def _walk_items(self, ends: bytes, number: int, at: int) -> int:
        """Walk over an item set; returns the offset after it."""
        data, size = self.data, len(self.data)
        count, at = uvarint_at(data, at)
        if count * ELEMENT_BYTES_MIN >= size - at:
            raise DecodeError(f"{count} elements and a flag claimed, {size - at} bytes left")
        self.begun.append(len(self.elements))
        find, begins = ends.find, self.elements.append
        for _ in range(count):
            end = find(0, at)
            if end < 0:
                uvarint_at(data, at)  # which raises; it may stand far behind the end
            begins(at)
            at = end + ELEMENT_BYTES_MIN
        if at >= size or data[at] > 1:
            raise DecodeError("an item set does not end with a reconciled flag of 0 or 1")
        self.sets.append(number)
        self.counts.append(count)
        self.ends.append(at)
        return at + 1


class _Columns:
    """Columns of the numbers that a walk found, and the first of these that is wrong."""

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        self._raw = np.frombuffer(walk.data + PADDING, np.uint8)
        self._at = len(walk.data) + 1
        """Where the first error is; behind the end if there is none."""

        self._error: DecodeError | None = None

    def read(self) -> tuple[Ranges, DecodeError | None]:
        """Return the ranges, and what is wrong first."""
        walk, ranges = self._walk, Ranges(hashes=self._walk.hashes)
        starts = np.array(walk.ranges, np.intp)
        deltas, behind = self._numbers(starts)
        timestamps = np.cumsum(deltas, dtype=np.uint64)
        self._note(starts[1:][timestamps[1:] < timestamps[:-1]], TOO_LATE)
        ids = self._elements(timestamps)
        if self._error is not None or len(walk.kinds) < len(starts):
            return ranges, self._error
        kinds = np.frombuffer(walk.kinds, np.uint8)
        counts = np.zeros(len(kinds), np.intp)
        counts[walk.sets] = walk.counts
        fingerprints = self._fingerprints(kinds, behind)
        ranges.extend_columns(timestamps, kinds, counts, fingerprints, ids)
        return ranges, None

    def _numbers(self, starts: Starts) -> tuple[Words, Starts]:
        """Return the numbers that begin there, and the offsets after them."""
        if len(starts) <= FEW:
            return self._few_numbers(starts)
        heads = windows(self._raw, UVARINT_SIZE_MAX)[starts]
        goes_on = heads >= CONTINUES
        sizes = goes_on.argmin(axis=1) + 1
        values = (heads[:, 0] & 0x7F).astype(np.uint64)
        longest = int(sizes.max(initial=1))
        within = np.ones(len(starts), np.bool_)
        for byte in range(1, longest):
            within &= goes_on[:, byte - 1]
            part = (heads[:, byte] & 0x7F).astype(np.uint64) << np.uint64(7 * byte)
            values |= np.where(within, part, np.uint64(0))
        last = heads[np.arange(len(starts)), sizes - 1]
        endless = goes_on.all(axis=1)
        wrong = (sizes > 1) & (last == 0) | endless
        wrong |= (sizes == UVARINT_SIZE_MAX) & (last > 1)
        self._note_number(starts[wrong])
        return values, starts + sizes

    def _few_numbers(self, starts: Starts) -> tuple[Words, Starts]:
        """Return the same, one by one: numpy takes 60 us to begin."""
        values, behind = np.zeros(len(starts), np.uint64), starts.copy()
        for number, at in enumerate(starts.tolist()):
            try:
                values[number], behind[number] = uvarint_at(self._walk.data, at)
            except DecodeError as error:
                self._note([at], error)
                break
        return values, behind

    def _elements(self, uppers: Words) -> Columns:
        """Return the ids of all item sets, whose timestamps are sums of their own."""
        walk = self._walk
        if not walk.elements:
            return NO_IDS
        starts = np.array(walk.elements, np.intp)
        deltas, behind = self._numbers(starts)
        raw = windows(self._raw, HASH_BYTES)[behind]
        hashes = raw.reshape(-1).view(np.uint64).reshape(-1, HASH_WORDS)
        first = np.zeros(len(starts), np.bool_)
        begun = np.array(walk.begun, np.intp)
        begun = begun[begun < len(starts)]
        first[begun] = True
        tied = np.flatnonzero((deltas == 0) & ~first)
        falling = [at for at in tied.tolist() if raw[at].tobytes() <= raw[at - 1].tobytes()]
        self._note(starts[falling], FALLING)
        sums = np.cumsum(deltas, dtype=np.uint64)
        # Each set counts from 0 on: what was counted before it, modulo 2^64, is taken off.
        base = (sums - deltas)[begun]
        sizes = np.diff(np.append(begun, len(starts)))
        timestamps = sums - np.repeat(base, sizes)
        overflows = np.zeros(len(starts), np.bool_)
        overflows[1:] = (timestamps[1:] < timestamps[:-1]) & ~first[1:]
        ids = Columns(timestamps, hashes)
        self._note_outside(uppers, ids, overflows)
        return ids

    def _note_outside(self, uppers: Words, ids: Columns, overflows: NDArray[np.bool_]) -> None:
        """Note the first item set that has elements outside its range."""
        walk = self._walk
        sets, sizes = np.array(walk.sets, np.intp), np.array(walk.counts, np.intp)
        ends = np.cumsum(sizes)
        there = sizes > 0
        sets, last, flags = sets[there], ends[there] - 1, np.array(walk.ends, np.intp)[there]
        first = last + 1 - sizes[there]
        lower = np.where(sets > 0, uppers[sets - 1], np.uint64(0)) if len(sets) else uppers[:0]
        upper = uppers[sets]
        lowest, highest = ids.timestamps[first], ids.timestamps[last]
        outside = (lowest < lower) | (highest >= upper)
        if walk.hashes:
            for at in np.flatnonzero((lowest == lower) | (highest == upper)).tolist():
                below, above = (
                    walk.hashes.get(int(sets[at]) - 1 + one, ZERO_HASH) for one in (0, 1)
                )
                head, tail = (ids.hashes[one[at]].tobytes() for one in (first, last))
                begins = lowest[at] > lower[at] or (lowest[at] == lower[at] and head >= below)
                ends_before = highest[at] < upper[at] or (highest[at] == upper[at] and tail < above)
                outside[at] = not (begins and ends_before)
        overflows = overflows[: int(sizes.sum())]  # without those of a set that does not end
        if overflows.any():
            outside |= np.add.reduceat(overflows, first, dtype=np.intp) > 0
        self._note(flags[outside], OUTSIDE)

    def _fingerprints(self, kinds: Kinds, behind: Starts) -> Words:
        """Return all fingerprints, which stand behind their bounds and types."""
        for number, after in self._walk.behind.items():
            behind[number] = after
        raw: Octets = windows(self._raw, HASH_BYTES)[behind[kinds == FINGERPRINT] + 1]
        return raw.reshape(-1).view(np.uint64).reshape(-1, HASH_WORDS)

    def _note(self, where: Starts | list[int], error: DecodeError | str) -> None:
        """Note what is wrong at the first of these places, which rise."""
        if len(where) and where[0] < self._at:
            self._at = int(where[0])
            self._error = DecodeError(error) if isinstance(error, str) else error

    def _note_number(self, where: Starts) -> None:
        """Note the first of these numbers, which are not what they should be."""
        if not len(where):
            return
        try:
            uvarint_at(self._walk.data, int(where[0]))
        except DecodeError as error:
            self._note(where, error)
