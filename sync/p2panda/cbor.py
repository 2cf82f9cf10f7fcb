"""CBOR as our messages need it: one spelling a value, and nothing allocated on a peer's word.

Rules:
1. Numbers from 0 to 2**64 - 1, bytes, text, true, false, null and arrays, nothing else.
2. Lengths are definite and heads the shortest; nothing follows the value.
3. An array lies in at most `DEPTH_MAX` - 1 others and has no more items than bytes are left; all
   arrays together have no more than the reader wants. A value of one byte takes 64 here.
"""

from collections.abc import Sequence
from typing import Final, TypeAlias

from sync.errors import DecodeError

Value: TypeAlias = "int | bytes | str | bool | Sequence[Value] | None"

DEPTH_MAX: Final = 5
"""Arrays within each other: Have is the deepest message, fields, authors, author, logs, log."""

NUMBER: Final = 0
BYTES: Final = 2
TEXT: Final = 3
ARRAY: Final = 4
SIMPLE: Final = 7
"""Major types (RFC 8949, section 3.1), the three high bits of a head."""

FALSE: Final = 0xF4
TRUE: Final = 0xF5
NULL: Final = 0xF6
SIMPLES: Final = {FALSE: False, TRUE: True, NULL: None}

SMALL: Final = 24
"""Numbers below this one stand in the head itself."""

_SHORT_HEADS: Final = [bytes([first]) for first in range(256)]

WIDTHS: Final = {24: (1, SMALL), 25: (2, 1 << 8), 26: (4, 1 << 16), 27: (8, 1 << 32)}
"""Meaning of the five low bits of a head: bytes that follow, and the least number they may hold."""


def head(major: int, number: int) -> bytes:
    """Return the shortest head: type and number, 0 <= number < 2**64."""
    if number < SMALL:
        return _SHORT_HEADS[major << 5 | number]
    for low, (width, _least) in WIDTHS.items():
        if number < 1 << 8 * width:
            return _SHORT_HEADS[major << 5 | low] + number.to_bytes(width, "big")
    raise AssertionError(f"{number} does not fit 64 bits")


def encode(value: Value) -> bytes:
    """Return the one encoding of a value."""
    if value is None or value is True or value is False:
        return _SHORT_HEADS[NULL if value is None else TRUE if value else FALSE]
    if isinstance(value, int):
        return head(NUMBER, value)
    if isinstance(value, bytes):
        return head(BYTES, len(value)) + value
    if isinstance(value, str):
        text = value.encode()
        return head(TEXT, len(text)) + text
    return head(ARRAY, len(value)) + b"".join([encode(item) for item in value])


class TooManyItemsError(DecodeError):
    """The arrays of a value have more items than its reader wants."""


def decode(data: bytes, items_max: int) -> Value:
    """Return the value that `data` encodes, whose arrays have at most `items_max` items together.

    Raises:
        DecodeError: cut short, followed by something, too deep, too many items, or not the one
            encoding.
    """
    value, end = _decode_at(data, 0, DEPTH_MAX, [items_max])
    if end != len(data):
        raise DecodeError(f"{len(data) - end} bytes follow the value")
    return value


def _decode_at(data: bytes, at: int, depth: int, room: list[int]) -> tuple[Value, int]:
    """Return the value at `at`, and the offset after it; `room` has the items still allowed."""
    if at >= len(data):
        raise DecodeError("the bytes end within a value")
    first = data[at]
    major, number = first >> 5, first & 0x1F
    if major == SIMPLE:
        if first not in SIMPLES:
            raise DecodeError(f"no simple value or float is allowed: byte {first:02x}")
        return SIMPLES[first], at + 1
    at += 1
    if number >= SMALL:
        number, at = _number(data, at, number)
    if major == NUMBER:
        return number, at
    if number > len(data) - at:
        raise DecodeError(f"{number} bytes or items should follow, {len(data) - at} bytes do")
    if major == BYTES:
        return data[at : at + number], at + number
    if major == TEXT:
        return _text(data[at : at + number]), at + number
    if major != ARRAY:
        raise DecodeError(f"neither negative numbers, maps nor tags are allowed: byte {first:02x}")
    if depth == 0:
        raise DecodeError(f"arrays lie deeper than {DEPTH_MAX}")
    room[0] -= number
    if room[0] < 0:
        raise TooManyItemsError("too many items")
    items: list[Value] = []
    for _ in range(number):
        if at < len(data) and data[at] < SMALL:  # a small number, mostly
            items.append(data[at])
            at += 1
            continue
        item, at = _decode_at(data, at, depth - 1, room)
        items.append(item)
    return items, at


def _number(data: bytes, at: int, low: int) -> tuple[int, int]:
    """Return the number at `at` whose width the head's low bits say, and the offset after it."""
    if low not in WIDTHS:
        raise DecodeError("a length is not definite, or reserved")
    width, least = WIDTHS[low]
    end = at + width
    if end > len(data):
        raise DecodeError("the bytes end within a head")
    number = int.from_bytes(data[at:end], "big")
    if number < least:
        raise DecodeError("a number is not in its shortest form")
    return number, end


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise DecodeError("text is not UTF-8") from error
