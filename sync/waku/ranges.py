"""Ranges of a payload, one by one as values, and all together in columns.

A payload has thousands of ranges and ids. What is done to all of them is done to the columns, a
numpy operation at a time; a range becomes a value of its own only to be shown, or where ids share
timestamps and bounds have hashes.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, NamedTuple, Self, TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from sync.machine import Nanos
from sync.structures.ordered_set import (
    HASH_BYTES,
    ORIGIN,
    ZERO_HASH,
    Bounds,
    Columns,
    SyncId,
    sync_ids,
)
from sync.structures.sorted_run import HASH_WORDS, Words

Octets: TypeAlias = NDArray[np.uint8]
Kinds: TypeAlias = Octets

SKIP: Final = 0
FINGERPRINT: Final = 1
ITEM_SET: Final = 2
"""Kinds of ranges, and the bytes that say so on the wire (Waku Sync, "RangeType")."""

RECONCILED: Final = 3
"""The kind of an item set whose sender knows ours: on the wire a flag says so."""

UNKNOWN: Final = 4
"""The kind of a range of which we know nothing but that it differs; it never travels."""


class Skip(NamedTuple):
    """Nothing is left to be done here (RangeType 0)."""

    bounds: Bounds


class Fingerprint(NamedTuple):
    """The XOR of the sender's hashes, 32 bytes (RangeType 1)."""

    bounds: Bounds
    fingerprint: bytes


class ItemSet(NamedTuple):
    """All ids the sender has here, rising; `reconciled` means it knows ours (RangeType 2)."""

    bounds: Bounds
    elements: tuple[SyncId, ...]
    reconciled: bool


Range: TypeAlias = Skip | Fingerprint | ItemSet


class Items(NamedTuple):
    """Content of an `ItemSet`, without its bounds."""

    elements: tuple[SyncId, ...]
    reconciled: bool


Content: TypeAlias = bytes | Items | None
"""Content of a range: a fingerprint, empty if `UNKNOWN`, items, or nothing if it is a `Skip`."""

_numbers: Final[Callable[[], "array[int]"]] = partial(array, "Q")


@dataclass(slots=True)
class Ranges:
    """Ranges that join, from `ORIGIN` on.

    Range n reaches up to (`timestamps[n]`, `hashes[n]`), a hash that is not in the table being
    zero, is of `kinds[n]` and has `counts[n]` ids. The fingerprints of all that have one follow
    each other, and so do the ids. Numbers are of 64 bits, fingerprints and hashes of 32 bytes.
    """

    timestamps: "array[int]" = field(default_factory=_numbers)
    hashes: dict[int, bytes] = field(default_factory=dict)
    kinds: bytearray = field(default_factory=bytearray)
    counts: "array[int]" = field(default_factory=_numbers)
    fingerprints: bytearray = field(default_factory=bytearray)
    id_timestamps: "array[int]" = field(default_factory=_numbers)
    id_hashes: bytearray = field(default_factory=bytearray)

    @classmethod
    def of(cls, ranges: Iterable[Range]) -> Self:
        """Return these ranges, which join."""
        columns = cls()
        for entry in ranges:
            assert entry.bounds.lower == columns.upper(-1), "ranges must join"
            match entry:
                case Skip():
                    columns.append(entry.bounds.upper, None)
                case Fingerprint(fingerprint=fingerprint):
                    columns.append(entry.bounds.upper, fingerprint)
                case ItemSet(elements=elements, reconciled=reconciled):
                    columns.append(entry.bounds.upper, Items(elements, reconciled))
                case _:
                    assert_never(entry)
        return columns

    def __len__(self) -> int:
        return len(self.kinds)

    def __iter__(self) -> Iterator[Range]:
        lower = ORIGIN
        for at, content in enumerate(self.contents()):
            bounds = Bounds(lower, self.upper(at))
            lower = bounds.upper
            if content is None:
                yield Skip(bounds)
            elif isinstance(content, bytes):
                yield Fingerprint(bounds, content)
            else:
                yield ItemSet(bounds, *content)

    # --- Reading -------------------------------------------------------------------------------

    def upper(self, at: int) -> SyncId:
        """Return the upper bound of range `at`; of -1, the lower bound of the first."""
        if not self.kinds:
            return ORIGIN
        return SyncId(self.timestamps[at], self.hashes.get(at % len(self.kinds), ZERO_HASH))

    def bounds(self, at: int) -> Bounds:
        """Return the bounds of range `at`."""
        return Bounds(self.upper(at - 1) if at else ORIGIN, self.upper(at))

    def contents(self, first: int = 0, last: int | None = None) -> list[Content]:
        """Return the contents of the ranges from `first` to `last`, or to the end, as values."""
        kinds = self.kinds[first:last]
        fingerprint = self.kinds.count(FINGERPRINT, 0, first) * HASH_BYTES
        begin = int(self.count_column[:first].sum())
        counts = self.counts[first:last]
        ids = self._ids(begin, begin + sum(counts))
        contents: list[Content] = []
        at = 0
        for kind, count in zip(kinds, counts, strict=True):
            if kind == SKIP:
                contents.append(None)
            elif kind == FINGERPRINT:
                contents.append(bytes(self.fingerprints[fingerprint : fingerprint + HASH_BYTES]))
                fingerprint += HASH_BYTES
            elif kind == UNKNOWN:
                contents.append(b"")
            else:
                contents.append(Items(tuple(ids[at : at + count]), kind == RECONCILED))
                at += count
        return contents

    def content(self, at: int) -> Content:
        """Return the content of range `at` as a value."""
        return self.contents(at, at + 1)[0]

    def _ids(self, begin: int, end: int) -> list[SyncId]:
        raw = bytes(self.id_hashes[HASH_BYTES * begin : HASH_BYTES * end])
        hashes = [raw[at : at + HASH_BYTES] for at in range(0, len(raw), HASH_BYTES)]
        return sync_ids(self.id_timestamps[begin:end], hashes)

    @property
    def edges(self) -> Words:
        """Timestamps of all bounds, from the lower one of the first range on, (n + 1)."""
        edges = np.zeros(len(self) + 1, np.uint64)
        edges[1:] = self.timestamps
        return edges

    @property
    def settled(self) -> bool:
        """True if all ranges are `Skip`."""
        return self.kinds.count(SKIP) == len(self.kinds)

    # --- Columns as numpy knows them; nothing may be added while somebody has one ----------------

    @property
    def kind_column(self) -> Kinds:
        """See `kinds`."""
        return np.frombuffer(self.kinds, np.uint8)

    @property
    def count_column(self) -> NDArray[np.intp]:
        """See `counts`."""
        return np.frombuffer(self.counts, np.uint64).astype(np.intp)

    @property
    def fingerprint_column(self) -> Words:
        """The fingerprints, (k, 4)."""
        return np.frombuffer(self.fingerprints, np.uint64).reshape(-1, HASH_WORDS)

    @property
    def ids(self) -> Columns:
        """All ids."""
        return Columns(
            np.frombuffer(self.id_timestamps, np.uint64),
            np.frombuffer(self.id_hashes, np.uint64).reshape(-1, HASH_WORDS),
        )

    # --- Writing -------------------------------------------------------------------------------

    def extend(self, timestamps: Iterable[Nanos], contents: Sequence[Content]) -> None:
        """Add ranges that reach on to these bounds, which have no hashes."""
        self.timestamps.extend(timestamps)
        for content in contents:
            self._add(content)

    def append(self, upper: SyncId, content: Content) -> None:
        """Add a range that reaches from the last one up to `upper`."""
        if upper.hash != ZERO_HASH:
            self.hashes[len(self.kinds)] = upper.hash
        self.timestamps.append(upper.timestamp)
        self._add(content)

    def extend_columns(  # one range, in six columns
        self,
        timestamps: Words,
        kinds: Kinds,
        counts: NDArray[np.intp],
        fingerprints: Words,
        ids: Columns,
    ) -> None:
        """Add ranges whose bounds have no hashes."""
        self.timestamps.frombytes(timestamps.tobytes())
        self.kinds += kinds.tobytes()
        self.counts.frombytes(counts.astype(np.uint64).tobytes())
        self.fingerprints += fingerprints.tobytes()
        self._add_columns(ids)

    def extend_rest(self, other: "Ranges", first: int) -> None:
        """Add the ranges of another payload from this number on."""
        begin = len(self) - first
        self.hashes |= {begin + at: one for at, one in other.hashes.items() if at >= first}
        fingerprints = HASH_BYTES * other.kinds.count(FINGERPRINT, 0, first)
        ids = int(other.count_column[:first].sum())
        self.timestamps += other.timestamps[first:]
        self.kinds += other.kinds[first:]
        self.counts += other.counts[first:]
        self.fingerprints += other.fingerprints[fingerprints:]
        self.id_timestamps += other.id_timestamps[ids:]
        self.id_hashes += other.id_hashes[HASH_BYTES * ids :]

    def extend_fingerprints(self, timestamps: Sequence[Nanos], fingerprints: bytes) -> None:
        """Add fingerprints of ranges whose bounds have no hashes."""
        self.timestamps.extend(timestamps)
        self.kinds += bytes([FINGERPRINT]) * len(timestamps)
        self.counts.frombytes(bytes(self.counts.itemsize * len(timestamps)))
        self.fingerprints += fingerprints

    def join(self, upper: Nanos, elements: Sequence[SyncId]) -> None:
        """Make the last range, an item set, reach up to `upper`, with these ids more."""
        self.timestamps[-1] = upper
        self.counts[-1] += len(elements)
        self._add_ids(elements)

    def _add(self, content: Content) -> None:
        count = 0
        if content is None:
            kind = SKIP
        elif isinstance(content, bytes):
            kind = FINGERPRINT if content else UNKNOWN
            self.fingerprints += content
        else:
            kind = RECONCILED if content.reconciled else ITEM_SET
            count = len(content.elements)
            self._add_ids(content.elements)
        self.kinds.append(kind)
        self.counts.append(count)

    def _add_ids(self, elements: Sequence[SyncId]) -> None:
        self.id_timestamps.extend([one.timestamp for one in elements])
        self.id_hashes += b"".join([one.hash for one in elements])

    def _add_columns(self, ids: Columns) -> None:
        self.id_timestamps.frombytes(ids.timestamps.tobytes())
        self.id_hashes += ids.hashes.tobytes()


def windows(raw: Octets, width: int) -> Octets:
    """Return the `width` bytes from each place on: a view, (n - width + 1, width)."""
    return np.ndarray((max(len(raw) - width + 1, 0), width), np.uint8, raw, 0, (1, 1))
