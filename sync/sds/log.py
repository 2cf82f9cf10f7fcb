"""The local log: every delivered message id, in one order, in some sixty bytes a message.

A million messages in Python objects would be a quarter of a gigabyte. Here an id is 32 bytes in
one row of ids, numbered in the order of arrival; a table of numbers answers "do we have it", and
chunks of numbers keep the order of (lamport, message id) (SDS, "Resolve Conflicts"). Contents are
on the disk.
"""

import sys
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sync.machine import MessageId, PeerId

ID_BYTES: Final = 32
HEX_CHARACTERS: Final = 2 * ID_BYTES

PARTS: Final = 1024
"""Tables the numbers are spread over, so that one of them grows at a time: none stalls the chat."""

PART_SHIFT: Final = 64 - 10
TAG_SHIFT: Final = 64 - 10 - 32
TAG_MASK: Final = 0xFFFFFFFF
"""A slot holds 32 bits of an id, its tag, so that a foreign one is told apart at a glance, and one
more than its number; 0 is an empty slot. Which slot is its own the tag says too, so a table grows
without a look at the ids."""

SLOTS_MIN: Final = 32
TOGETHER: Final = 1 << 13
"""Ids that are put into the table together: what is needed meanwhile stays in the caches, and new
pages of memory cost more than all the rest."""

CHUNK_MAX: Final = 256
CHUNK_FILLED: Final = CHUNK_MAX // 2
"""Numbers in one chunk of the order, and how many of them are filled in order: the rest is room for
late ones. A search in a chunk takes 7 steps, and 8,000 chunks are a million."""

RECENT_MAX: Final = 512
"""Newest ids that are also kept as they are, or twice as many: most that is asked for is new."""

ROW_BYTES: Final = 8 + ID_BYTES
"""One message of a log as a journal gives it back: lamport, big-endian, then the id."""

Slots: TypeAlias = "array[int] | memoryview[int]"
"""The table of a part, of 64 bits a slot; of many that were made together, their part of it."""


class IdTable:
    """Message ids by the number of their arrival, from 0, and the number of an id in O(1).

    An id that is not 64 lowercase hex digits, as a foreign client may choose it, costs more room.
    """

    def __init__(self) -> None:
        self._ids = bytearray()
        self._count = 0
        self._parts: list[Slots | None] = [None] * PARTS
        self._sizes = [0] * PARTS
        self._missed: tuple[str | None, bytes, int] = (None, b"", 0)
        """Id looked for last in vain, its bytes, and their first 8 as a number: it is most
        likely what is added next."""
        self._odd: dict[str, int] = {}
        self._odd_ids: dict[int, str] = {}

    def __getstate__(self) -> dict[str, object]:
        """Copy the tables: a view of memory cannot be copied by itself."""
        parts = [None if one is None else array("Q", one.tobytes()) for one in self._parts]
        return {**self.__dict__, "_parts": parts}

    def __len__(self) -> int:
        return self._count

    def find(self, message_id: str) -> int | None:
        """Return the number of an id, None if it is not here."""
        key = _key(message_id)
        if key is None:
            return self._odd.get(message_id)
        place = int.from_bytes(key[:8], "big")
        slots = self._parts[place >> PART_SHIFT]
        if slots is not None:
            tag, mask = place >> TAG_SHIFT & TAG_MASK, len(slots) - 1
            slot = tag & mask
            while entry := slots[slot]:
                if entry >> 32 == tag:
                    end = (entry & TAG_MASK) * ID_BYTES
                    if self._ids[end - ID_BYTES : end] == key:
                        return end // ID_BYTES - 1
                slot = (slot + 1) & mask
        self._missed = (message_id, key, place)
        return None

    def add(self, message_id: str) -> int:
        """Take in an id that is not here; returns its number."""
        number = self._count
        self._count += 1
        missed, key, place = self._missed
        if missed is not message_id:
            found = _key(message_id)
            if found is None:
                return self._add_odd(message_id, number)
            key, place = found, int.from_bytes(found[:8], "big")
        self._ids += key
        part = place >> PART_SHIFT
        slots = self._parts[part]
        if slots is None:
            slots = self._parts[part] = _slots(SLOTS_MIN)
        elif 3 * self._sizes[part] >= 2 * len(slots):
            slots = self._parts[part] = _grown(slots)
        self._sizes[part] += 1
        _put(slots, (place >> TAG_SHIFT & TAG_MASK) << 32 | number + 1)
        return number

    def _add_odd(self, message_id: str, number: int) -> int:
        self._odd[message_id] = number
        self._odd_ids[number] = message_id
        self._ids += bytes(ID_BYTES)
        return number

    def bytes_of(self, number: int) -> bytes:
        """Return the 32 bytes of the id with this number; zeros of one that has another form."""
        return bytes(self._ids[number * ID_BYTES : (number + 1) * ID_BYTES])

    def extend(self, ids: NDArray[np.uint8]) -> None:
        """Take in ids that are not here, (n, 32): at a start, a million at once."""
        if not len(ids):
            return
        first = self._count + 1
        for start in range(0, len(ids), TOGETHER):
            self._ids += ids[start : start + TOGETHER].tobytes()
        self._ids += bytes(ID_BYTES)  # make room now, which moves them all: 15 ms at a million
        del self._ids[-ID_BYTES:]
        self._count += len(ids)
        places = ids[:, :8].copy().view(">u8")[:, 0].astype(np.uint64)
        parts = (places >> np.uint64(PART_SHIFT)).astype(np.uint16)
        order = np.argsort(parts, kind="stable")  # numbers of 16 bits: by digits, a ms at 100,000
        for start in range(0, len(order), TOGETHER):
            some = order[start : start + TOGETHER]
            self._fill(parts[some], places[some], some + first)

    def id_of(self, number: int) -> MessageId:
        """Return the id with this number."""
        if self._odd_ids and number in self._odd_ids:
            return MessageId(self._odd_ids[number])
        return MessageId(self._ids[number * ID_BYTES : (number + 1) * ID_BYTES].hex())

    def _fill(
        self, parts: NDArray[np.uint16], places: NDArray[np.uint64], numbers: NDArray[np.intp]
    ) -> None:
        """Put new ids into their parts, all together.

        In the order of their slots each goes to its own, or the first free one after the last: a
        running maximum, which begins anew in each part. Ids that this puts beyond the end, or on a
        taken slot, go one by one.
        """
        added = np.bincount(parts, minlength=PARTS)
        filled = np.flatnonzero(added)
        totals = [self._sizes[part] + new for part, new in enumerate(added.tolist()) if new]
        sizes = np.array([max(SLOTS_MIN, 1 << (3 * one // 2).bit_length()) for one in totals])
        row_of = np.zeros(PARTS, np.int64)
        row_of[filled] = np.arange(len(filled))
        tags = places >> np.uint64(TAG_SHIFT) & np.uint64(TAG_MASK)
        entries = tags << np.uint64(32) | numbers.astype(np.uint64)
        rows = row_of[parts]
        homes = tags.astype(np.int64) & (sizes[rows] - 1)
        order = _order(homes, parts)
        rows, entries = rows[order], entries[order]
        steps = np.arange(len(order)) - (rows << 32)
        slots = np.maximum.accumulate(homes[order] - steps) + steps
        fits = slots < sizes[rows]
        ends = np.cumsum(sizes)
        together = np.zeros(ends[-1], np.uint64)
        together[(ends - sizes)[rows[fits]] + slots[fits]] = entries[fits]
        tables: list[Slots] = []
        memory = together.data
        for part, end, size, total in zip(
            filled.tolist(), ends.tolist(), sizes.tolist(), totals, strict=True
        ):
            table = memory[end - size : end]  # no copy: until it grows, it stays there
            for entry in self._parts[part] or ():
                if entry:
                    _put(table, entry)
            self._parts[part], self._sizes[part] = table, total
            tables.append(table)
        for row, entry in zip(rows[~fits].tolist(), entries[~fits].tolist(), strict=True):
            _put(tables[row], entry)


class OrderedLog:
    """Message ids in the order of (lamport, message id)."""

    def __init__(self) -> None:
        self._table = IdTable()
        self.recent: dict[str, PeerId | None] = {}
        """The newest ids and their authors: whoever looks for one of them often need not ask."""
        self._less_recent: dict[str, PeerId | None] = {}
        self._lamports = array("Q")
        self._chunks: list[array[int]] = []
        self._heads: list[tuple[int, MessageId]] = []
        """The first place of each chunk."""
        self._last: tuple[int, str] = (-1, "")

    def __len__(self) -> int:
        return len(self._lamports)

    def __contains__(self, message_id: str) -> bool:
        return (
            message_id in self.recent
            or message_id in self._less_recent
            or self._table.find(message_id) is not None
        )

    def __iter__(self) -> Iterator[tuple[int, MessageId]]:
        """Yield (lamport, message id), ascending."""
        for chunk in self._chunks:
            for number in chunk:
                yield self._lamports[number], self._table.id_of(number)

    @property
    def last(self) -> tuple[int, str]:
        """The highest place, (-1, "") in an empty log."""
        return self._last

    def newest(self, count: int) -> list[MessageId]:
        """Return the ids at the last `count` places, ascending."""
        return [self._table.id_of(number) for number in self._last_numbers(count)]

    def newest_places(self, count: int) -> list[tuple[int, MessageId]]:
        """Return the last `count` places, ascending."""
        numbers = self._last_numbers(count)
        return [(self._lamports[number], self._table.id_of(number)) for number in numbers]

    def _last_numbers(self, count: int) -> list[int]:
        numbers: list[int] = []
        for chunk in reversed(self._chunks):
            numbers[:0] = chunk
            if len(numbers) >= count:
                break
        return numbers[-count:] if count else []

    def above(self, lamport: int) -> list[MessageId]:
        """Return the ids with a higher Lamport timestamp, ascending."""
        numbers: list[int] = []
        for chunk in reversed(self._chunks):
            later = [number for number in chunk if self._lamports[number] > lamport]
            numbers[:0] = later
            if len(later) < len(chunk):
                break
        return [self._table.id_of(number) for number in numbers]

    def lamport_of(self, message_id: str, count: int) -> int | None:
        """Return the Lamport timestamp of an id that is among the first `count` that came."""
        number = self._table.find(message_id)
        return None if number is None or number >= count else self._lamports[number]

    def between(self, floor: int, until: int, most: int, count: int) -> list[tuple[int, bytes]]:
        """Return Lamport timestamp and id, as bytes, from `floor` up to and without `until`.

        Ascending, and of more than `most` the last ones; of the first `count` ids that came alone.
        """
        places: list[tuple[int, bytes]] = []
        for number in self._down_from(until):
            lamport = self._lamports[number]
            if lamport < floor or len(places) >= most:
                break
            if number < count:
                places.append((lamport, self._table.bytes_of(number)))
        places.reverse()
        return places

    def floor_of(self, below: int, until: int, count: int) -> int:
        """Return the lowest Lamport timestamp of `below` ids under `until`, 0 if there are fewer.

        Of the first `count` ids that came alone.
        """
        for number in self._down_from(until):
            if number < count:
                below -= 1
                if not below:
                    return self._lamports[number]
        return 0

    def _down_from(self, until: int) -> Iterator[int]:
        """Yield the numbers of all ids with a Lamport timestamp below `until`, descending."""
        for at in range(bisect_left(self._heads, (until, MessageId(""))) - 1, -1, -1):
            for number in reversed(self._chunks[at]):
                if self._lamports[number] < until:
                    yield number

    def author_of(self, message_id: str) -> PeerId | None:
        """Return the author of a message that was added lately; None if only the disk knows."""
        return self.recent.get(message_id) or self._less_recent.get(message_id)

    def insert(self, lamport: int, message_id: MessageId, author: PeerId | None = None) -> None:
        """Add an id that is not here, at its place: O(log n)."""
        number = self._table.add(message_id)
        self._lamports.append(lamport)
        if len(self.recent) == RECENT_MAX:
            self._less_recent, self.recent = self.recent, {}
        self.recent[message_id] = author
        place = (lamport, message_id)
        if place < self._last:
            self._insert(place, number)
            return
        self._last = place
        if self._chunks and len(self._chunks[-1]) < CHUNK_FILLED:
            self._chunks[-1].append(number)
        else:
            self._chunks.append(array("I", (number,)))
            self._heads.append(place)

    def restore(self, log: bytes) -> None:
        """Take in a whole log, ascending, of `ROW_BYTES` a message; only into an empty one."""
        assert not self._chunks, "a log is restored once"
        if not log:
            return
        rows = np.frombuffer(log, np.uint8).reshape(-1, ROW_BYTES)
        self._table.extend(rows[:, 8:])
        self._lamports.frombytes(rows[:, :8].tobytes())
        if sys.byteorder == "little":
            self._lamports.byteswap()
        self._lamports.append(0)  # as with the ids
        self._lamports.pop()
        numbers = array("I", np.arange(len(rows), dtype=np.uint32).tobytes())
        starts = range(0, len(rows), CHUNK_FILLED)
        self._chunks = [numbers[start : start + CHUNK_FILLED] for start in starts]
        self._heads = [(self._lamports[start], self._table.id_of(start)) for start in starts]
        self._last = (self._lamports[-1], self._table.id_of(len(rows) - 1))

    def _insert(self, place: tuple[int, MessageId], number: int) -> None:
        at = max(bisect_right(self._heads, place) - 1, 0)
        chunk = self._chunks[at]
        lamport, message_id = place
        lamport_of = self._lamports.__getitem__
        position = bisect_left(chunk, lamport, key=lamport_of)
        if position < len(chunk) and lamport_of(chunk[position]) == lamport:
            end = bisect_right(chunk, lamport, lo=position, key=lamport_of)
            position = bisect_left(chunk, message_id, lo=position, hi=end, key=self._table.id_of)
        chunk.insert(position, number)
        if position == 0:
            self._heads[at] = place
        if len(chunk) > CHUNK_MAX:
            half = chunk[CHUNK_MAX // 2 :]
            del chunk[CHUNK_MAX // 2 :]
            self._chunks.insert(at + 1, half)
            self._heads.insert(at + 1, (lamport_of(half[0]), self._table.id_of(half[0])))


def _order(homes: NDArray[np.int64], parts: NDArray[np.uint16]) -> NDArray[np.intp]:
    """Return the order by part, then by home in it, each time by digits where these are few."""
    narrow = homes.max() < 1 << 16
    order = np.argsort(homes.astype(np.uint16) if narrow else homes, kind="stable")
    by_part: NDArray[np.intp] = order[np.argsort(parts[order], kind="stable")]
    return by_part


def _key(message_id: str) -> bytes | None:
    """Return the 32 bytes of an id; None where it is not the one way to write 32 bytes in hex."""
    if len(message_id) != HEX_CHARACTERS:
        return None
    try:
        key = bytes.fromhex(message_id)
    except ValueError:
        return None
    return key if key.hex() == message_id else None


def _slots(size: int) -> "array[int]":
    return array("Q", bytes(8 * size))


def _put(slots: Slots, entry: int) -> None:
    """Put an entry into the first free slot from its tag's own on; there always is one."""
    mask = len(slots) - 1
    slot = entry >> 32 & mask
    while slots[slot]:
        slot = (slot + 1) & mask
    slots[slot] = entry


def _grown(slots: Slots) -> "array[int]":
    """Return the same entries in twice as many slots."""
    grown = _slots(2 * len(slots))
    for entry in slots:
        if entry:
            _put(grown, entry)
    return grown
