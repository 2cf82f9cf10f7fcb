"""Messages by which a snapshot of a channel comes, page by page, and their bytes in strict Borsh.

Who is empty asks (`SnapshotRequest`), and allows more pages as it has kept earlier ones
(`SnapshotMore`). A page is a `SnapshotChunk`: first those of the state, then messages, the newest
first. `SnapshotDone` of the receiver is the last message.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

from msgspec import Struct

from sync.errors import DecodeError
from sync.machine import MessageId
from sync.sessions.page_values import LogPlace
from sync.sessions.sync_config import CONFIG
from sync.structures.borsh import BOOLS, BorshReader, BorshWriter, BoundError

RECORD_MAX: Final = 64 * 1024
"""Bytes of a record: the content of an SDS message, as an entry is sent."""

RECORDS_MAX: Final = 1_024
"""Records of a page: no entry has less than 64 bytes, its signature alone."""

CHUNK_MAX: Final = CONFIG.snapshot_chunk_size + RECORD_MAX
"""Bytes of the message of a page: more is refused before any of it is read."""

WINDOW: Final = 4
"""Pages on their way that are not kept yet: while one is checked the next ones come. It is also
what a receiver holds in memory: half a megabyte at most."""

HASH_SIZE: Final = 32
ID_SIZE: Final = 32
PAGES_MAX: Final = 2**32 - 1


class SnapshotRequest(Struct, frozen=True):
    """The first message of the receiver.

    Attributes:
        before: messages below this place are wanted; None for all.
        pages: how many pages may be sent until `SnapshotMore`.
    """

    before: LogPlace | None
    pages: int


class SnapshotMore(Struct, frozen=True):
    """So many pages more may be sent: as many were kept."""

    pages: int


class SnapshotDone(Struct, frozen=True):
    """The receiver has kept the last page, or wants no more."""


class ChunkHead(Struct, frozen=True):
    """Facts of a page beside its records.

    Attributes:
        number: its number in this session, from 0 on.
        digest: SHA-256 of the records as they are written.
        of_state: whether its records are entries of state, and no messages.
        cursor: the place of its last message; None of a page without one.
        total: messages of the snapshot, those below `before` and those above.
        last: whether no other page follows.
    """

    number: int
    digest: bytes
    of_state: bool
    cursor: LogPlace | None
    total: int
    last: bool


class SnapshotChunk(Struct, frozen=True):
    """A page: signed entries as their authors sent them, messages in falling order."""

    head: ChunkHead
    records: tuple[bytes, ...]


Message: TypeAlias = SnapshotRequest | SnapshotMore | SnapshotDone | SnapshotChunk

TAGS: Final[dict[type[Message], int]] = {
    SnapshotChunk: 2, SnapshotRequest: 21, SnapshotMore: 22, SnapshotDone: 23,
}  # fmt: skip
"""Discriminants of MessagePayload."""


def chunk_of(  # fields of a page
    number: int,
    records: Sequence[bytes],
    cursor: LogPlace | None,
    total: int,
    *,
    of_state: bool = False,
    last: bool = False,
) -> SnapshotChunk:
    """Return a page of these records."""
    digest = hashlib.sha256(_written(records)).digest()
    return SnapshotChunk(ChunkHead(number, digest, of_state, cursor, total, last), tuple(records))


def encode(message: Message) -> bytes:
    """Return the bytes of a message."""
    out = BorshWriter()
    out.u8(TAGS[type(message)])
    match message:
        case SnapshotRequest(before, pages):
            out.option(before, lambda place: _write_place(out, place))
            out.u8(pages)
        case SnapshotMore(pages):
            out.u8(pages)
        case SnapshotDone():
            pass
        case SnapshotChunk(head, records):
            out.u32(head.number)
            out.fixed(head.digest, HASH_SIZE)
            out.u8(head.of_state)
            out.option(head.cursor, lambda place: _write_place(out, place))
            out.u64(head.total)
            out.u8(head.last)
            out.data += _written(records)
    return bytes(out.data)


def decode(payload: bytes) -> Message:
    """Parse a message.

    Raises:
        DecodeError: none, not canonical, over a limit, or a page with another digest.
    """
    reader = _opened(payload)
    message: Message
    match tag := reader.u8():
        case 2:
            head = _read_head(reader)
            start = reader.offset
            records = reader.blobs(RECORDS_MAX, RECORD_MAX)
            if hashlib.sha256(reader.since(start)).digest() != head.digest:
                raise DecodeError("a page whose digest is not that of its records")
            message = SnapshotChunk(head, records)
        case 21:
            message = SnapshotRequest(reader.option(lambda: _read_place(reader)), reader.u8())
        case 22:
            message = SnapshotMore(reader.u8())
        case 23:
            message = SnapshotDone()
        case _:
            raise DecodeError(f"a message of the unknown kind {tag}")
    reader.end()
    return message


def head_of(payload: bytes) -> ChunkHead:
    """Return the facts of a page, without reading its records.

    Raises:
        DecodeError: no page, or larger than one may be.
    """
    reader = _opened(payload)
    if (tag := reader.u8()) != TAGS[SnapshotChunk]:
        raise DecodeError(f"a message of kind {tag} instead of a page")
    return _read_head(reader)


def full() -> int:
    """Return how many bytes of records a page has at most."""
    return CONFIG.snapshot_chunk_size


def in_pages(
    records: Sequence[bytes], most: Callable[[], int] = full
) -> Iterator[tuple[bytes, ...]]:
    """Yield records in parts that are a page each, of `most` bytes as it is then."""
    part: list[bytes] = []
    size = 0
    for record in records:
        size += len(record)
        if part and (size > most() or len(part) == RECORDS_MAX):
            yield tuple(part)
            part, size = [], len(record)
        part.append(record)
    if part:
        yield tuple(part)


def _opened(payload: bytes) -> BorshReader:
    if len(payload) > CHUNK_MAX:
        raise BoundError(f"a message of {len(payload)} bytes, {CHUNK_MAX} are allowed")
    return BorshReader(payload)


def _written(records: Sequence[bytes]) -> bytes:
    out = BorshWriter()
    out.u32(len(records))
    for record in records:
        out.u32(len(record))
        out.fixed(record, len(record))
    return bytes(out.data)


def _read_head(reader: BorshReader) -> ChunkHead:
    return ChunkHead(
        number=reader.u32(),
        digest=reader.fixed(HASH_SIZE),
        of_state=_read_flag(reader),
        cursor=reader.option(lambda: _read_place(reader)),
        total=reader.u64(),
        last=_read_flag(reader),
    )


def _write_place(out: BorshWriter, place: LogPlace) -> None:
    lamport, message_id = place
    out.u64(lamport)
    out.fixed(bytes.fromhex(message_id), ID_SIZE)


def _read_place(reader: BorshReader) -> LogPlace:
    return reader.u64(), MessageId(reader.fixed(ID_SIZE).hex())


def _read_flag(reader: BorshReader) -> bool:
    flag = reader.u8()
    if flag >= len(BOOLS):
        raise DecodeError(f"{flag} is neither 0 nor 1")
    return bool(flag)
