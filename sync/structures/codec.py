"""Bytes every protocol is made of: unsigned varints, bounded reading, length-prefixed frames.

Numbers are unsigned LEB128 of at most 64 bits, and only their shortest form is a number: what a
receiver hashes or compares must not have two spellings.
"""

from typing import Final

from sync.errors import DecodeError

UVARINT_BITS: Final = 64
"""The widest number any of our wire formats holds (timestamps in nanoseconds, protobuf uint64)."""

UVARINT_MAX: Final = (1 << UVARINT_BITS) - 1

UVARINT_SIZE_MAX: Final = 10
"""Bytes of the largest number: 64 bits at 7 to the byte."""

CONTINUES: Final = 0x80
"""The bit set in every byte of a number but its last."""

SHORT: Final = tuple([bytes([value]) for value in range(CONTINUES)])
"""The numbers of one byte: most are sizes."""


def encode_uvarint(value: int) -> bytes:
    """Return `value`, 0 <= value < 2**64, as LEB128: 7 bits a byte, least significant first."""
    if 0 <= value < CONTINUES:
        return SHORT[value]
    if CONTINUES <= value < 1 << 14:  # sizes of most entries
        return bytes((value & 0x7F | CONTINUES, value >> 7))
    if 1 << 35 <= value < 1 << 42:  # milliseconds since 1970 have six bytes until 2109
        return bytes((
            value & 0x7F | CONTINUES, value >> 7 & 0x7F | CONTINUES,
            value >> 14 & 0x7F | CONTINUES, value >> 21 & 0x7F | CONTINUES,
            value >> 28 & 0x7F | CONTINUES, value >> 35,
        ))  # fmt: skip
    assert 0 <= value <= UVARINT_MAX, f"{value} does not fit {UVARINT_BITS} bits"
    encoded = []
    while value >= CONTINUES:
        encoded.append(value & 0x7F | CONTINUES)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def append_uvarint(buffer: bytearray, value: int) -> None:
    """Append `value` to `buffer` as `encode_uvarint` does."""
    assert 0 <= value <= UVARINT_MAX, f"{value} does not fit {UVARINT_BITS} bits"
    while value >= CONTINUES:
        buffer.append(value & 0x7F | CONTINUES)
        value >>= 7
    buffer.append(value)


def length_prefixed(payload: bytes) -> bytes:
    """Return one frame as libp2p cuts them: the payload's size as LEB128, then the payload."""
    return encode_uvarint(len(payload)) + payload


def bytes_field(tag: bytes, value: bytes) -> bytes:
    """Return a field of bytes as protobuf writes it: what is empty is left out."""
    return tag + length_prefixed(value) if value else b""


class Reader:
    """Reads `data` from front to back and never past its end.

    Every method raises `DecodeError` when too little is left; the position then stays as it was.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._offset = 0

    @property
    def remaining(self) -> int:
        """Bytes not yet read."""
        return len(self._data) - self._offset

    @property
    def offset(self) -> int:
        """Bytes read."""
        return self._offset

    def read(self, count: int) -> bytes:
        """Return the next `count` bytes; `count` may come straight from the wire."""
        if not 0 <= count <= self.remaining:
            raise DecodeError(f"{count} bytes should follow, {self.remaining} do")
        start = self._offset
        self._offset += count
        return self._data[start : self._offset]

    def byte(self) -> int:
        """Return the next byte, 0..255."""
        return self.read(1)[0]

    def uvarint(self) -> int:
        """Return the next LEB128 number, 0 <= number < 2**64.

        Raises:
            DecodeError: cut short, wider than 64 bits, or not in its shortest form.
        """
        value, self._offset = uvarint_at(self._data, self._offset)
        return value


def uvarint_at(data: bytes, offset: int) -> tuple[int, int]:
    """Return the LEB128 number at `offset`, and the offset after it: for loops that cannot wait.

    Raises:
        DecodeError: cut short, wider than 64 bits, or not in its shortest form.
    """
    number = _scan_uvarint(data, offset)
    if number is None:
        raise DecodeError("the bytes end within a number")
    return number


class FrameAssembler:
    """Cuts length-prefixed frames out of a byte stream, however the stream is chunked.

    Holds no more than what was fed, and looks at each byte a bounded number of times.

    Args:
        limit: bytes of the largest payload a peer may announce.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._buffer = bytearray()

    @property
    def pending(self) -> int:
        """Bytes held of a frame that is not complete yet; 0 between two frames."""
        return len(self._buffer)

    def clear(self) -> None:
        """Let go of what is held; nothing more may be fed."""
        self._buffer.clear()

    def feed(self, data: bytes) -> list[bytes]:
        """Take the next bytes of the stream; return the payloads they complete, in order.

        Raises:
            DecodeError: a length above the limit, or one that is no number. It is refused before
                a byte of its payload is waited for. The stream has lost its frames for good:
                drop it, and do not feed the assembler again.
        """
        buffer = self._buffer
        buffer += data
        frames: list[bytes] = []
        consumed = 0
        while (prefix := _scan_uvarint(buffer, consumed)) is not None:
            length, start = prefix
            if length > self.limit:
                raise DecodeError(f"a frame of {length} bytes, {self.limit} are allowed")
            end = start + length
            if end > len(buffer):
                break
            frames.append(bytes(buffer[start:end]))
            consumed = end
        del buffer[:consumed]
        return frames


def _scan_uvarint(data: bytes | bytearray, start: int) -> tuple[int, int] | None:
    """Return the number at `start` and the offset after it, or None if the data ends within it."""
    value = shift = 0
    for byte in data[start : start + UVARINT_SIZE_MAX]:
        if byte < CONTINUES:
            if byte == 0 and shift:
                raise DecodeError("a number is not in its shortest form")
            value |= byte << shift
            if value >> UVARINT_BITS:
                raise DecodeError(f"a number is wider than {UVARINT_BITS} bits")
            return value, start + shift // 7 + 1
        value |= (byte & 0x7F) << shift
        shift += 7
    if len(data) - start >= UVARINT_SIZE_MAX:
        raise DecodeError(f"a number is wider than {UVARINT_BITS} bits")
    return None
