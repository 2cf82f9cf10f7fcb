"""Messages of a session by sketch, and their bytes.

Whoever opened the session says an `Opening`. The other one, if its symbols are enough, says what it
`Wanted`; else it sends `MoreSymbols`, from the first on, until the opener has enough (`AskMore`)
and says what it wants. Then both send `Entries`, which the other one lacks, and `Done`. Either may
say `Stop` instead of anything before.
"""

from collections.abc import Callable
from enum import IntEnum
from typing import Final, TypeAlias

import numpy as np
from msgspec import Struct

from sync.entries.entry import BODY_MAX
from sync.errors import DecodeError
from sync.sketch.key import words_of
from sync.sketch.peeling import FOUND_MAX
from sync.sketch.symbols import Symbols
from sync.sketch.symbols_wire import IDS_MAX, decode_symbols, encode_symbols
from sync.structures.borsh import BorshReader, BorshWriter, BoundError, read_kind
from sync.structures.set_digest import LEAF_BITS
from sync.structures.sorted_run import HASH_BYTES, split

VERSION: Final = 1

SYMBOLS_MAX: Final = 16_384
"""Symbols of the longest prefix: 0.72 MB to keep, 0.68 MB on the wire, and enough for 11,800
differences."""

FLOOR_MAX: Final = (1 << 64 - LEAF_BITS) - 1
"""The last bucket that a time can be in."""

ENTRIES_MAX: Final = 1_024
"""Entries in one message."""

CONTENT_MAX: Final = BODY_MAX + 4_096
"""Bytes of an entry: its body, header and signature."""

MESSAGE_SIZE: Final = 8 * 1024
"""Bytes of entries after which a message is full. Nothing of one is seen before its last byte: a
larger one takes longer over a slow wire than its receiver waits for any sign."""


class Reason(IntEnum):
    """Reasons to stop."""

    MANY = 0
    SPENT = 1
    FLOORS = 2
    POISONED = 3

    @property
    def words(self) -> str:
        """It as it is shown."""
        return WORDS[self]


WORDS: Final = {
    Reason.MANY: "more differs than a sketch can tell",
    Reason.SPENT: "all symbols are spent",
    Reason.FLOORS: "one side has let go of too much",
    Reason.POISONED: "symbols that no honest peer sends",
}


class Opening(Struct, frozen=True):
    """The first symbols of who opened the session.

    Attributes:
        kept: how many symbols it could tell in all.
        floor: the first bucket of the digest (`sync.structures.set_digest`) that they cover.
        ids: how many ids they are of.
        symbols: 64 of them.
    """

    kept: int
    floor: int
    ids: int
    symbols: Symbols


class MoreSymbols(Struct, frozen=True):
    """Symbols of who answers, `first` of which were sent before, of a set of so many ids."""

    first: int
    ids: int
    symbols: Symbols


class AskMore(Struct, frozen=True):
    """The symbols so far are not enough."""


class Wanted(Struct, frozen=True):
    """All that differs is known to the sender.

    Attributes:
        owed: how many entries it is going to send.
        hashes: of what it lacks, 32 bytes each, one after the other.
    """

    owed: int
    hashes: bytes


class Entries(Struct, frozen=True):
    """Entries as their authors signed them."""

    contents: tuple[bytes, ...]


class Done(Struct, frozen=True):
    """All entries have been sent."""


class Stop(Struct, frozen=True):
    """It does not go on by a sketch."""

    reason: Reason


Message: TypeAlias = Opening | MoreSymbols | AskMore | Wanted | Entries | Done | Stop

TAGS: Final[dict[type[Message], int]] = {
    Opening: 32,
    MoreSymbols: 33,
    AskMore: 34,
    Wanted: 35,
    Entries: 36,
    Done: 37,
    Stop: 38,
}
"""Behind those of Calimero's messages, so that a payload says by itself what it is."""


def encode(message: Message) -> bytes:
    """Return the bytes of a message: its tag, then its fields in their order."""
    out = BorshWriter()
    out.u8(TAGS[type(message)])
    match message:
        case Opening(kept, floor, ids, symbols):
            out.u8(VERSION)
            out.u32(kept)
            out.u32(floor)
            _write_symbols(out, symbols, 0, ids)
        case MoreSymbols(first, ids, symbols):
            out.u32(first)
            _write_symbols(out, symbols, first, ids)
        case Wanted(owed, hashes):
            out.u32(owed)
            out.u32(len(hashes) // HASH_BYTES)
            out.data += hashes
        case Entries(contents):
            out.each(contents, lambda one: _write_content(out, one))
        case Stop(reason):
            out.u8(reason)
        case AskMore() | Done():
            pass
    return bytes(out.data)


def decode(payload: bytes) -> Message:
    """Parse a message.

    Raises:
        DecodeError: none, not canonical, or over a limit.
    """
    return read_kind(payload, READERS)


def _write_symbols(out: BorshWriter, symbols: Symbols, first: int, ids: int) -> None:
    """Write the number of ids and of symbols, and these, with the bytes they take."""
    data = encode_symbols(symbols, first, ids)
    out.u64(ids)
    out.u32(len(symbols))
    out.u32(len(data))
    out.fixed(data, len(data))


def _read_symbols(reader: BorshReader, first: int) -> tuple[int, Symbols]:
    ids = reader.u64()
    if ids > IDS_MAX:
        raise BoundError(f"{ids} ids, {IDS_MAX} are allowed")
    number = reader.count(SYMBOLS_MAX - first)
    data = reader.fixed(reader.u32())
    return ids, decode_symbols(data, number, first, ids)


def _read_opening(reader: BorshReader) -> Opening:
    version = reader.u8()
    if version != VERSION:
        raise DecodeError(f"a sketch of version {version}; {VERSION} is known")
    kept, floor = reader.count(SYMBOLS_MAX), reader.u32()
    if floor > FLOOR_MAX:
        raise BoundError(f"symbols from bucket {floor} on, the last one is {FLOOR_MAX}")
    return Opening(kept, floor, *_read_symbols(reader, 0))


def _read_more(reader: BorshReader) -> MoreSymbols:
    first = reader.count(SYMBOLS_MAX)
    return MoreSymbols(first, *_read_symbols(reader, first))


def _read_wanted(reader: BorshReader) -> Wanted:
    owed = reader.count(FOUND_MAX)
    hashes = reader.fixed(HASH_BYTES * reader.count(FOUND_MAX - owed))
    words = words_of(hashes)
    first = np.sort(words[:, 0])
    # Who has two of the same first word is rare enough to look closer.
    if (first[1:] == first[:-1]).any() and len(set(split(words))) < len(words):
        raise DecodeError("a hash that is wanted twice")
    return Wanted(owed, hashes)


def _write_content(out: BorshWriter, content: bytes) -> None:
    out.u32(len(content))
    out.fixed(content, len(content))


def _read_content(reader: BorshReader) -> bytes:
    size = reader.u32()
    if size > CONTENT_MAX:
        raise BoundError(f"an entry of {size} bytes, {CONTENT_MAX} are allowed")
    return reader.fixed(size)


def _read_entries(reader: BorshReader) -> Entries:
    contents = reader.each(lambda: _read_content(reader), ENTRIES_MAX)
    if not contents:  # else a session would last for as long as such messages come
        raise DecodeError("a message of entries without one")
    return Entries(contents)


def _read_stop(reader: BorshReader) -> Stop:
    value = reader.u8()
    if value not in WORDS:
        raise DecodeError(f"an unknown reason to stop: {value}")
    return Stop(Reason(value))


READERS: Final[dict[int, Callable[[BorshReader], Message]]] = {
    TAGS[Opening]: _read_opening,
    TAGS[MoreSymbols]: _read_more,
    TAGS[AskMore]: lambda _: AskMore(),
    TAGS[Wanted]: _read_wanted,
    TAGS[Entries]: _read_entries,
    TAGS[Done]: lambda _: Done(),
    TAGS[Stop]: _read_stop,
}
