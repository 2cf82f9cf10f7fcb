"""Strict Borsh: little-endian numbers, counted lists, one spelling for each value."""

from collections.abc import Callable, Iterable, Mapping
from struct import Struct
from typing import Any, Final, TypeVar

from sync.errors import DecodeError

U32_SIZE: Final = 4
U64_SIZE: Final = 8
BOOLS: Final = (b"\x00", b"\x01")

Value = TypeVar("Value")


class BoundError(DecodeError):
    """A list or a text is longer than its place allows."""


class BorshWriter:
    """Writes values one after the other; `data` is what was written."""

    def __init__(self) -> None:
        self.data = bytearray()

    def u8(self, value: int) -> None:
        """Write a number of one byte; the discriminant of an enum is one."""
        self.data.append(value)

    def u32(self, value: int) -> None:
        """Write a number of four bytes."""
        self.data += value.to_bytes(U32_SIZE, "little")

    def u64(self, value: int) -> None:
        """Write a number of eight bytes."""
        self.data += value.to_bytes(U64_SIZE, "little")

    def fixed(self, value: bytes, size: int) -> None:
        """Write an array whose size both sides know."""
        assert len(value) == size, f"{len(value)} bytes instead of {size}"
        self.data += value

    def text(self, value: str) -> None:
        """Write a string: its bytes in UTF-8, counted.

        Raises:
            UnicodeEncodeError: half of a surrogate pair.
        """
        encoded = value.encode()
        self.u32(len(encoded))
        self.data += encoded

    def option(self, value: Value | None, write: Callable[[Value], None]) -> None:
        """Write 0, or 1 and the value."""
        self.u8(value is not None)
        if value is not None:
            write(value)

    def each(self, values: Iterable[Value], write: Callable[[Value], None]) -> None:
        """Write a list: its length, then its members."""
        listed = tuple(values)
        self.u32(len(listed))
        for value in listed:
            write(value)


class BorshReader:
    """Reads `data` from front to back; every method raises `DecodeError` on other bytes."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._offset = 0

    def u8(self) -> int:
        """Return a number of one byte."""
        return self.fixed(1)[0]

    def u32(self) -> int:
        """Return a number of four bytes."""
        return int.from_bytes(self.fixed(U32_SIZE), "little")

    def u64(self) -> int:
        """Return a number of eight bytes."""
        return int.from_bytes(self.fixed(U64_SIZE), "little")

    def fixed(self, size: int) -> bytes:
        """Return an array of a known size."""
        start = self._offset
        value = self._data[start : start + size]
        if len(value) != size:
            raise DecodeError(f"{size} bytes should follow, {len(value)} do")
        self._offset = start + size
        return value

    def packed(self, layout: Struct) -> tuple[Any, ...]:
        """Return values that lie one after the other: of many together, the quicker way."""
        return layout.unpack(self.fixed(layout.size))

    def text(self, size_max: int) -> str:
        """Return a string of at most `size_max` bytes."""
        size = self.u32()
        if size > size_max:
            raise BoundError(f"a text of {size} bytes, {size_max} are allowed")
        try:
            return self.fixed(size).decode()
        except UnicodeDecodeError as error:
            raise DecodeError("a text is not UTF-8") from error

    def option(self, read: Callable[[], Value]) -> Value | None:
        """Return a value, or None if there is none."""
        flag = self.fixed(1)
        if flag not in BOOLS:
            raise DecodeError(f"{flag[0]} is neither 0 nor 1")
        return read() if flag == BOOLS[1] else None

    def each(self, read: Callable[[], Value], count_max: int) -> tuple[Value, ...]:
        """Return a list of at most `count_max` members; more are refused before one is read."""
        return tuple([read() for _ in range(self.count(count_max))])

    def blobs(self, count_max: int, size_max: int) -> tuple[bytes, ...]:
        """Return a list of byte strings: what `each` would, in a fifth of its time.

        Args:
            count_max: more are refused before one is read.
            size_max: bytes of one at most.
        """
        found: list[bytes] = []
        data, offset = self._data, self._offset
        for _ in range(self.count(count_max)):
            start = self._offset + U32_SIZE
            size = int.from_bytes(data[self._offset : start], "little")
            if size > size_max:
                raise BoundError(f"{size} bytes, {size_max} are allowed")
            self._offset = start + size
            found.append(data[start : self._offset])
        if self._offset > len(data):
            self._offset = offset
            raise DecodeError("a byte string that ends behind the value")
        return tuple(found)

    def since(self, start: int) -> bytes:
        """Return the bytes that were read since the value was at `start`; see `offset`."""
        return self._data[start : self._offset]

    @property
    def offset(self) -> int:
        """Number of bytes that were read."""
        return self._offset

    def count(self, count_max: int) -> int:
        """Return the length of a list that follows, at most `count_max`."""
        count = self.u32()
        if count > count_max:
            raise BoundError(f"a list of {count}, {count_max} are allowed")
        return count

    def end(self) -> None:
        """Refuse bytes after the value."""
        if left := len(self._data) - self._offset:
            raise DecodeError(f"{left} bytes follow the value")


def read_kind(data: bytes, readers: Mapping[int, Callable[[BorshReader], Value]]) -> Value:
    """Return the value that `data` is: a discriminant of one byte, and what its reader reads.

    Raises:
        DecodeError: of no kind in `readers`, or other bytes than one of that kind has.
    """
    reader = BorshReader(data)
    kind = reader.u8()
    read = readers.get(kind)
    if read is None:
        raise DecodeError(f"a message of the unknown kind {kind}")
    value = read(reader)
    reader.end()
    return value
