"""The slow plain definition of a Waku Sync payload: one number after another, one range at a time.

What `sync.waku.wire` reads and writes in columns must be this, to the byte and to the error.
"""

from sync.errors import DecodeError
from sync.structures.codec import Reader, append_uvarint, uvarint_at
from sync.structures.ordered_set import HASH_BYTES, ORIGIN, ZERO_HASH, Bounds, SyncId
from sync.waku.message import (
    PAYLOAD_BYTES_MAX,
    RANGES_MAX,
    SHARDS_OF_CLUSTER,
    Fingerprint,
    ItemSet,
    Range,
    RangesData,
    Skip,
)
from sync.waku.reading import ELEMENT_BYTES_MIN, TOO_LATE, UINT64_MAX, read_bound
from sync.waku.writing import encode_bound


def plainly_encoded(payload: RangesData) -> bytes:
    encoded = bytearray()
    for number in (payload.cluster, len(payload.shards), *payload.shards):
        append_uvarint(encoded, number)
    previous = ORIGIN
    for entry in payload.ranges:
        encoded += encode_bound(entry.bounds.upper, previous)
        previous = entry.bounds.upper
        match entry:
            case Skip():
                encoded.append(0)
            case Fingerprint(fingerprint=fingerprint):
                encoded.append(1)
                encoded += fingerprint
            case ItemSet(elements=elements, reconciled=reconciled):
                encoded.append(2)
                append_uvarint(encoded, len(elements))
                before = 0
                for timestamp, digest in elements:
                    append_uvarint(encoded, timestamp - before)
                    encoded += digest
                    before = timestamp
                encoded.append(reconciled)
    return bytes(encoded)


def plainly_decoded(data: bytes) -> tuple[int, tuple[int, ...], list[Range]]:
    """Cluster, shards and ranges.

    Raises:
        DecodeError: the first thing that is wrong.
    """
    if len(data) > PAYLOAD_BYTES_MAX:
        raise DecodeError(f"{len(data)} bytes are over the limit of {PAYLOAD_BYTES_MAX}")
    if not data:
        return 0, (), []
    reader = Reader(data)
    cluster, shard_count = reader.uvarint(), reader.uvarint()
    if shard_count > min(SHARDS_OF_CLUSTER, reader.remaining):
        raise DecodeError(f"{shard_count} shards claimed, {reader.remaining} bytes left")
    shards = tuple([reader.uvarint() for _ in range(shard_count)])
    return cluster, shards, _ranges(data, reader.offset)


def _ranges(data: bytes, offset: int) -> list[Range]:
    ranges: list[Range] = []
    upper, size = ORIGIN, len(data)
    while offset < size:
        if len(ranges) == RANGES_MAX:
            raise DecodeError(f"a payload has over {RANGES_MAX} ranges")
        lower = upper
        delta, after = uvarint_at(data, offset)
        if delta:
            upper, offset = SyncId(lower.timestamp + delta, ZERO_HASH), after
            if upper.timestamp > UINT64_MAX:
                raise DecodeError(TOO_LATE)
        else:
            upper, offset = read_bound(data, offset, lower)
        if offset == size:
            raise DecodeError("a payload ends before the type of a range")
        kind, offset = data[offset], offset + 1
        bounds = Bounds(lower, upper)
        if kind == 0:
            ranges.append(Skip(bounds))
        elif kind == 1:
            ranges.append(Fingerprint(bounds, data[offset : offset + HASH_BYTES]))
            offset += HASH_BYTES
        elif kind == 2:
            items, offset = _items(data, offset, bounds)
            ranges.append(items)
        else:
            raise DecodeError(f"range type {kind} is not 0, 1 or 2")
    if offset > size:
        raise DecodeError("a payload ends within a fingerprint")
    return ranges


def _items(data: bytes, offset: int, bounds: Bounds) -> tuple[ItemSet, int]:
    count, offset = uvarint_at(data, offset)
    if count * ELEMENT_BYTES_MIN >= len(data) - offset:
        raise DecodeError(f"{count} elements and a flag claimed, {len(data) - offset} bytes left")
    elements: list[SyncId] = []
    timestamp, digest = 0, b""
    for at in range(count):
        delta, start = uvarint_at(data, offset)
        offset = start + HASH_BYTES
        previous, digest = digest, data[start:offset]
        if at and not delta and digest <= previous:
            raise DecodeError("the elements of an item set do not rise")
        timestamp += delta
        elements.append(SyncId(timestamp, digest))
    if offset >= len(data) or data[offset] > 1:
        raise DecodeError("an item set does not end with a reconciled flag of 0 or 1")
    if elements and not bounds.lower <= elements[0] <= elements[-1] < bounds.upper:
        raise DecodeError("an item set has elements outside its range")
    return ItemSet(bounds, tuple(elements), data[offset] == 1), offset + 1
