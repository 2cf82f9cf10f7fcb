"""Bytes of a SyncHandshake, in strict Borsh."""

from itertools import pairwise
from typing import Final

from sync.errors import DecodeError
from sync.sessions.handshake import (
    HASH_SIZE,
    HEADS_MAX,
    SPREAD_SIZE,
    EntityState,
    LogState,
    SyncHandshake,
)
from sync.structures.borsh import BorshReader, BorshWriter, BoundError

VERSION: Final = 1
COUNT_MAX: Final = 1 << 40
"""Messages, logs or registers that a peer may say it has: estimates of them fit into 64 bits."""

SUPPORTED_SIZE: Final = 2
"""Bytes of the flags of kinds."""


def encode_handshake(handshake: SyncHandshake) -> bytes:
    """Return the bytes of a handshake."""
    out = BorshWriter()
    out.u8(VERSION)
    state, log = handshake.state, handshake.log
    out.fixed(state.root, HASH_SIZE)
    out.fixed(handshake.scope, HASH_SIZE)
    out.each(log.heads, lambda head: out.fixed(head, HASH_SIZE))
    out.u64(state.count)
    out.u32(state.depth)
    out.u8(bool(state.count))
    out.data += handshake.supported.to_bytes(SUPPORTED_SIZE, "little")
    out.fixed(log.root, HASH_SIZE)
    out.u64(log.count)
    out.u64(log.floor)
    out.u64(log.holes)
    out.fixed(log.heights, HASH_SIZE)
    out.u64(log.logs)
    out.fixed(state.spread, SPREAD_SIZE)
    return bytes(out.data)


def decode_handshake(data: bytes) -> SyncHandshake:
    """Parse a handshake.

    Raises:
        DecodeError: none, of another version, or not canonical.
    """
    reader = BorshReader(data)
    version = reader.u8()
    if version != VERSION:
        raise DecodeError(f"a handshake of version {version}; {VERSION} is known")
    root = reader.fixed(HASH_SIZE)
    scope = reader.fixed(HASH_SIZE)
    heads = reader.each(lambda: reader.fixed(HASH_SIZE), HEADS_MAX)
    if any(one >= other for one, other in pairwise(heads)):
        raise DecodeError("the heads of a handshake are not in order")
    count, depth, has_state = _count(reader), reader.u32(), reader.u8()
    if has_state != bool(count):
        raise DecodeError("a handshake contradicts itself about its state")
    supported = int.from_bytes(reader.fixed(SUPPORTED_SIZE), "little")
    log = LogState(
        root=reader.fixed(HASH_SIZE),
        count=_count(reader),
        floor=reader.u64(),
        heads=heads,
        holes=_count(reader),
        heights=reader.fixed(HASH_SIZE),
        logs=_count(reader),
    )
    spread = reader.fixed(SPREAD_SIZE)
    reader.end()
    return SyncHandshake(scope, log, EntityState(root, count, depth, spread), supported)


def _count(reader: BorshReader) -> int:
    count = reader.u64()
    if count > COUNT_MAX:
        raise BoundError(f"a handshake that counts {count}; {COUNT_MAX} are allowed")
    return count
