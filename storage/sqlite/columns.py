"""Conversion to and from SQLite values: ids as bytes, u64 as signed integers, enums as numbers."""

import sqlite3
from enum import Enum
from io import BytesIO
from itertools import chain
from struct import Struct
from typing import Final, TypeVar

from sync.group.status import Status
from sync.machine import MessageId, PeerId
from sync.sds.message import Delivery

E = TypeVar("E", bound=Enum)

U64_MAX: Final = (1 << 64) - 1

U64_MIDDLE: Final = 1 << 63
"""SQLite's integers are signed: this is taken off, which keeps every order and fits every u64."""

DELIVERY: Final = {
    Delivery.UNACKNOWLEDGED: 0,
    Delivery.POSSIBLY_ACKNOWLEDGED: 1,
    Delivery.ACKNOWLEDGED: 2,
    Delivery.FAILED: 3,
}
STATUS: Final = {Status.DELIVERED: 0, Status.WAITING: 1, Status.PARKED: 2, Status.LOADING: 3}
STATUS_OF: Final = {number: status for status, number in STATUS.items()}
DELIVERY_OF: Final = {number: delivery for delivery, number in DELIVERY.items()}


STAMPED_AT_ONCE: Final = 1024
"""Rows that are put together at once."""

OTHER_SIGN: Final = bytes([byte ^ 0x80 for byte in range(256)])
"""First byte of a signed number by that of the unsigned one it stands for, and the other way."""


def delivery_of(stored: int) -> Delivery:
    """Return the delivery that `stored` stands for; of an unknown one nothing is claimed."""
    return DELIVERY_OF.get(stored, Delivery.UNACKNOWLEDGED)


def member_of(kind: type[E], stored: str) -> E | None:
    """Return the member of `kind` whose value is `stored`; None if that rotted, and none is."""
    return next((one for one in kind if one.value == stored), None)


def from_u64(value: int) -> int:
    """Return the integer that stands for the unsigned 64-bit `value`."""
    return value - U64_MIDDLE


def to_u64(stored: int) -> int:
    """Return the unsigned 64-bit value that `stored` stands for."""
    return stored + U64_MIDDLE


def stamped_rows(rows: sqlite3.Cursor) -> bytes:
    """Return rows of a stored u64 and 32 bytes each, as `sync.group.records.stamped_row` does."""
    whole = BytesIO()  # gives out what it holds without a copy, which is 4 MB of 100,000 messages
    while some := rows.fetchmany(STAMPED_AT_ONCE):
        packed = bytearray(Struct(">" + "q32s" * len(some)).pack(*chain.from_iterable(some)))
        packed[::40] = packed[::40].translate(OTHER_SIGN)
        whole.write(packed)
    return whole.getvalue()


def message_id(stored: bytes) -> MessageId:
    """Return the id whose 32 bytes were stored."""
    return MessageId(stored.hex())


def peer_id(stored: bytes) -> PeerId:
    """Return the participant whose 32 key bytes were stored."""
    return PeerId(stored.hex())
