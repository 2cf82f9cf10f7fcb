"""The first symbols of all ids that a channel holds, kept while these come and go.

Rules:
1. There is none of a thousand ids or fewer, nor where no session would use it.
2. Ids are put in many at once: 1 us each, where one by itself takes 50.
3. All are put in anew, a slice at a time, where the prefix is to be longer, or another floor is
   more than a slice away, or where it does not count as many ids as are held. Ids that are lower
   than its floor, a bucket of the digest, are not in it.
"""

from array import array
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from msgspec import Struct

from sync.machine import MILLISECOND, Nanos
from sync.sessions.selection import SKETCH_IDS_MIN
from sync.sketch.key import SketchKey, words_of
from sync.sketch.messages import SYMBOLS_MAX
from sync.sketch.symbols import Symbols
from sync.structures.ordered_set import EVERYTHING, ZERO_HASH, Columns, OrderedSet, SyncId
from sync.structures.set_digest import LEAF_BITS
from sync.structures.sorted_run import Words

IDS_MANY: Final = 20_000
"""Ids above which it has `SYMBOLS_MAX` symbols."""

SYMBOLS_FEW: Final = 1_024
"""Symbols up to there: enough for 700 differences."""

BATCH: Final = 512
"""Ids that wait to be put in."""

SLICE: Final = 4_096
"""Ids that are put in, or taken out, at one time: 3 ms."""

PAUSE: Final[Nanos] = 3 * MILLISECOND
"""Between two slices: whatever else there is has its turn."""


class Sketch(Struct, frozen=True):
    """A prefix at one moment.

    Attributes:
        key: of the channel.
        symbols: nobody changes them.
        floor: the first bucket of the digest that they cover.
        ids: how many they are of.
    """

    key: SketchKey
    symbols: Symbols
    floor: int
    ids: int


@dataclass(slots=True)
class Building:
    """A prefix that is being made; what comes meanwhile goes in as well."""

    symbols: Symbols
    floor: int
    parts: list[Columns]
    at: int = field(default=0)


class Prefix:
    """See the module docstring."""

    def __init__(self, key: bytes, items: OrderedSet, *, kept: bool = True) -> None:
        """Begin without one.

        Args:
            key: of the channel, 32 bytes.
            items: what it holds, as that changes.
            kept: whether it is ever to be made.
        """
        self._key = SketchKey.of(key)
        self._items = items
        self._kept = kept
        self._symbols: Symbols | None = None
        self._floor = 0
        self._lent = False
        """Set while somebody holds the symbols as they are."""
        self._building: Building | None = None
        self._times = array("Q")
        self._hashes = bytearray()
        """Ids that wait: a fifth of the memory of objects."""
        self._due: Nanos | None = None

    @property
    def memory(self) -> int:
        """Bytes of the symbols."""
        return 0 if self._symbols is None else self._symbols.memory

    def begin_anew(self, now: Nanos) -> None:
        """Other ids are held than before."""
        self._symbols = self._building = None
        self._forget()
        self._due = now if self._kept else None

    def add(self, sync_id: SyncId, now: Nanos) -> None:
        """An id is held that was not."""
        if not self._kept:
            return
        if self._symbols is None and self._building is None:
            if self._due is None and self._items.added > SKETCH_IDS_MIN:
                self._due = now
            return
        self._times.append(sync_id.timestamp)
        self._hashes += sync_id.hash
        if len(self._times) >= BATCH:
            self._put_in()
            self._grow(now)

    def deadline(self) -> Nanos | None:
        """Return when the next slice is due."""
        return self._due

    def tick(self, now: Nanos) -> None:
        """Do the slice that is due."""
        if self._due is None or now < self._due:
            return
        if self._building is None:
            self._begin(self._floor)
        else:
            self._build(self._building)
        self._due = None if self._building is None else now + PAUSE

    def frozen(self, frozen: OrderedSet, floor: Nanos, now: Nanos) -> Sketch | None:
        """Return it from the bucket of a retention floor on, as it is of what was frozen.

        None if there is none yet; then one is made. None, too, if more has come since `frozen` was
        what is held: a peer would take for invented what a session does not know of.
        """
        self._put_in()
        self._grow(now)
        bucket = floor >> LEAF_BITS
        if self._symbols is None:
            return None
        if bucket != self._floor:
            self._move(bucket)
        first, told = first_of(self._floor), self._symbols.counts[0]
        held = self._items.count(first, EVERYTHING.upper)
        if self._floor != bucket or held != told:
            if self._building is None:
                self._symbols = None
                self._begin(bucket)
                self._due = now
            return None
        if frozen.count(first, EVERYTHING.upper) != held:
            return None
        self._lent = True
        return Sketch(self._key, self._symbols, self._floor, held)

    # --- Steps ---------------------------------------------------------------------------------

    def _size(self) -> int:
        """Return how many symbols there should be."""
        held = self._items.added
        if held <= SKETCH_IDS_MIN:
            return 0
        return SYMBOLS_MAX if held > IDS_MANY else SYMBOLS_FEW

    def _grow(self, now: Nanos) -> None:
        """Have a longer one made, if there should be one by now."""
        if self._kept and self._due is None and self._size() > len(self._symbols or ()):
            self._due = now

    def _begin(self, floor: int) -> None:
        """Begin to make one, if it is to be longer than what is there."""
        size = self._size()
        if size > len(self._symbols or ()):
            self._put_in()
            parts = self._items.parts(first_of(floor))
            self._building = Building(Symbols.empty(size), floor, parts)

    def _build(self, building: Building) -> None:
        """Put the next slice in; once all are, the prefix is this one."""
        while building.parts and building.at >= len(building.parts[0].timestamps):
            del building.parts[0]
            building.at = 0
        if building.parts:
            hashes = building.parts[0].hashes[building.at : building.at + SLICE]
            building.symbols.put(hashes, self._key)
            building.at += SLICE
            return
        self._put_in()
        self._symbols, self._floor = building.symbols, building.floor
        self._building, self._lent = None, False

    def _put_in(self) -> None:
        """Put in what waits."""
        if not self._times:
            return
        times, hashes = np.array(self._times, np.uint64), words_of(bytes(self._hashes))
        self._forget()
        if self._symbols is not None:
            self._own().put(_above(times, hashes, self._floor), self._key)
        if self._building is not None:
            self._building.symbols.put(_above(times, hashes, self._building.floor), self._key)

    def _forget(self) -> None:
        """Let go of what waits."""
        self._times, self._hashes = array("Q"), bytearray()

    def _own(self) -> Symbols:
        """Return symbols that nobody else holds."""
        assert self._symbols is not None
        if self._lent:
            self._symbols, self._lent = self._symbols.copy(), False
        return self._symbols

    def _move(self, floor: int) -> None:
        """Take out, or put in, what is between two floors, if it is no more than a slice."""
        lower, upper = first_of(min(self._floor, floor)), first_of(max(self._floor, floor))
        if self._items.count(lower, upper) > SLICE:
            return
        hashes = hashes_between(self._items, lower, upper)
        self._own().put(hashes, self._key, -1 if floor > self._floor else 1)
        self._floor = floor
        if self._building is not None:
            self._begin_again(floor)

    def _begin_again(self, floor: int) -> None:
        """Begin what is being made anew, from another floor on."""
        self._building = None
        self._begin(floor)


def first_of(bucket: int) -> SyncId:
    """Return the lower bound of a bucket of the digest."""
    return SyncId(bucket << LEAF_BITS, ZERO_HASH)


def hashes_between(items: OrderedSet, lower: SyncId, upper: SyncId) -> Words:
    """Return the hashes of ids from `lower` up to, and without, `upper`, which has none itself."""
    return np.concatenate(
        [
            part.hashes[: int(part.timestamps.searchsorted(np.uint64(upper.timestamp)))]
            for part in items.parts(lower)
        ]
    )


def _above(times: Words, hashes: Words, floor: int) -> Words:
    """Return the hashes of ids from a bucket on."""
    above: Words = hashes[times >= np.uint64(floor << LEAF_BITS)]
    return above
