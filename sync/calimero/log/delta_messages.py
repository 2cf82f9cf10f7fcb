"""Messages of delta sync, and their bytes (Calimero, "Delta Sync").

Ends of a session take turns. A turn is any number of `DeltaEntries`, then one of the others: the
first one of either end is its `BloomFilter`, each later one a `Want`. The heads of both are in the
handshakes that came before.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Final, TypeAlias

from msgspec import Struct

from sync.calimero.log.delta_filter import BITS, BITS_PER_ID, K_MAX, SPARE_BITS, IdFilter
from sync.entries.entry import BODY_MAX
from sync.errors import DecodeError
from sync.structures.borsh import BorshReader, BorshWriter, BoundError, read_kind

ID_SIZE: Final = 32

WANTED_MAX: Final = 3_000
"""Ids in one request: 96 kB. What else is wanted is asked for in the next turn."""

WALK_MAX: Final = 10_000
"""Entries that a session brings either side, and ids it asks for: as many as an honest walk finds.
Who lacks more compares sets."""

FILTER_IDS_MAX: Final = 16_384
"""Ids of one filter: the newest of a channel. 25 kB; what is older the check compares."""

FILTER_SIZE_MAX: Final = (BITS_PER_ID * FILTER_IDS_MAX + SPARE_BITS) // BITS

NEAR_MAX: Final = 256
"""Stretches of the past that a message tells about: one for each gap of a few, merged where they
meet."""

NEAR_SIZE_MAX: Final = FILTER_SIZE_MAX
"""Bytes of all their filters."""

ENTRIES_MAX: Final = 1_024
"""Entries in one message."""

CONTENT_MAX: Final = BODY_MAX + 4_096
"""Bytes of an entry: its body, header and signature."""

MESSAGE_SIZE: Final = 8 * 1024
"""Bytes of entries after which a message is full. Nothing of one is seen before its last byte: a
larger one takes longer over a slow wire than its receiver waits for any sign."""

LAMPORT_MAX: Final = 2**64 - 1


class Stretch(Struct, frozen=True):
    """All messages that the sender holds from one Lamport timestamp up to, and without, another.

    Attributes:
        floor: the lowest one, in milliseconds since the epoch as in entries.
        until: the one above the highest.
        filter: of the ids held there.
    """

    floor: int
    until: int
    filter: IdFilter

    def lacks(self, lamport: int, message_id: bytes) -> bool:
        """Return whether a message is from there and certainly not held."""
        return self.floor <= lamport < self.until and message_id not in self.filter


class BloomFilter(Struct, frozen=True):
    """The sender's messages above the common frontier, and what it wants.

    Attributes:
        floor: the lowest Lamport timestamp that `filter` covers; there is no upper end.
        filter: of the ids held from there on.
        wanted: ids that messages of the sender name and that it lacks, rising.
        near: what it holds around these, rising and apart.
    """

    floor: int
    filter: IdFilter
    wanted: tuple[bytes, ...] = ()
    near: tuple[Stretch, ...] = ()


class Want(Struct, frozen=True):
    """Ids that the sender lacks, by what came: parents and heads. Without any it has all it wants.

    Attributes:
        ids: rising.
        near: what it holds around these, rising and apart.
    """

    ids: tuple[bytes, ...] = ()
    near: tuple[Stretch, ...] = ()


class DeltaEntries(Struct, frozen=True):
    """Entries as their authors signed them, parents first: contents of CausalDeltas."""

    contents: tuple[bytes, ...]


Message: TypeAlias = BloomFilter | Want | DeltaEntries

TAGS: Final[dict[type[Message], int]] = {DeltaEntries: 3, BloomFilter: 4, Want: 16}
"""Discriminants of MessagePayload."""


def encode(message: Message) -> bytes:
    """Return the bytes of a message."""
    out = BorshWriter()
    out.u8(TAGS[type(message)])
    match message:
        case BloomFilter(floor, held, wanted, near):
            out.u64(floor)
            _write_filter(out, held)
            out.each(wanted, lambda one: out.fixed(one, ID_SIZE))
            out.each(near, lambda one: _write_stretch(out, one))
        case Want(ids, near):
            out.each(ids, lambda one: out.fixed(one, ID_SIZE))
            out.each(near, lambda one: _write_stretch(out, one))
        case DeltaEntries(contents):
            out.u32(len(contents))
            for content in contents:
                out.u32(len(content))
                out.fixed(content, len(content))
    return bytes(out.data)


def decode(payload: bytes) -> Message:
    """Parse a message.

    Raises:
        DecodeError: none, not canonical, or over a limit.
    """
    return read_kind(payload, READERS)


def _write_filter(out: BorshWriter, held: IdFilter) -> None:
    out.u8(held.k)
    out.u32(len(held.bits))
    out.fixed(held.bits, len(held.bits))


def _read_filter(reader: BorshReader) -> IdFilter:
    k, size = reader.u8(), reader.u32()
    if size > FILTER_SIZE_MAX:
        raise BoundError(f"a filter of {size} bytes, {FILTER_SIZE_MAX} are allowed")
    if k > K_MAX or bool(k) is not bool(size):
        raise DecodeError(f"a filter of {size} bytes of which an id sets {k} bits")
    return IdFilter(k, reader.fixed(size))


def _write_stretch(out: BorshWriter, one: Stretch) -> None:
    out.u64(one.floor)
    out.u64(one.until)
    _write_filter(out, one.filter)


def _read_near(reader: BorshReader) -> tuple[Stretch, ...]:
    near = reader.each(lambda: _read_stretch(reader), NEAR_MAX)
    if any(one.floor >= one.until for one in near):
        raise DecodeError("a stretch without room")
    if any(lower.until > upper.floor for lower, upper in pairwise(near)):
        raise DecodeError("stretches that are not in order")
    size = sum(len(one.filter.bits) for one in near)
    if size > NEAR_SIZE_MAX:
        raise BoundError(f"filters of {size} bytes, {NEAR_SIZE_MAX} are allowed")
    return near


def _read_stretch(reader: BorshReader) -> Stretch:
    return Stretch(reader.u64(), reader.u64(), _read_filter(reader))


def _read_ids(reader: BorshReader) -> tuple[bytes, ...]:
    ids = reader.each(lambda: reader.fixed(ID_SIZE), WANTED_MAX)
    if any(one >= other for one, other in pairwise(ids)):
        raise DecodeError("ids that are not in order")
    return ids


def _read_bloom(reader: BorshReader) -> BloomFilter:
    return BloomFilter(reader.u64(), _read_filter(reader), _read_ids(reader), _read_near(reader))


def _read_entries(reader: BorshReader) -> DeltaEntries:
    contents = reader.each(lambda: _read_content(reader), ENTRIES_MAX)
    if not contents:
        raise DecodeError("no entries")
    return DeltaEntries(contents)


def _read_content(reader: BorshReader) -> bytes:
    size = reader.u32()
    if size > CONTENT_MAX:
        raise BoundError(f"an entry of {size} bytes")
    return reader.fixed(size)


READERS: Final[dict[int, Callable[[BorshReader], Message]]] = {
    TAGS[DeltaEntries]: _read_entries,
    TAGS[BloomFilter]: _read_bloom,
    TAGS[Want]: lambda reader: Want(_read_ids(reader), _read_near(reader)),
}
