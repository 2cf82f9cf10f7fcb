"""Borsh has one spelling for each value, and reading never goes past the end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sync.errors import DecodeError
from sync.structures.borsh import BorshReader, BorshWriter, BoundError, read_kind


def test_values_have_the_bytes_of_the_specification() -> None:
    out = BorshWriter()
    out.u8(7)
    out.u32(258)
    out.u64(1)
    out.text("äb")
    out.option(None, out.u8)
    out.option(5, out.u8)
    out.each([1, 2], out.u8)
    out.fixed(b"xy", 2)

    assert bytes(out.data) == (
        b"\x07\x02\x01\0\0\x01\0\0\0\0\0\0\0\x03\0\0\0\xc3\xa4b\0\x01\x05\x02\0\0\0\x01\x02xy"
    )
    reader = BorshReader(bytes(out.data))
    assert (reader.u8(), reader.u32(), reader.u64(), reader.text(3)) == (7, 258, 1, "äb")
    assert (reader.option(reader.u8), reader.option(reader.u8)) == (None, 5)
    assert (reader.each(reader.u8, 2), reader.fixed(2)) == ((1, 2), b"xy")
    reader.end()


@pytest.mark.parametrize(
    "data",
    [b"\x02\x05", b"\xff", b"\x01", b""],
)
def test_an_option_is_0_or_1_and_a_value(data: bytes) -> None:
    reader = BorshReader(data)

    with pytest.raises(DecodeError):
        reader.option(reader.u8)


def test_a_list_that_is_too_long_is_refused_before_it_is_read() -> None:
    reader = BorshReader(b"\xff\xff\xff\xff")

    with pytest.raises(BoundError):
        reader.each(reader.u8, 32)


LISTS = st.lists(st.binary(max_size=5), max_size=4)


@given(LISTS, st.binary(max_size=2), st.integers(0, 40))
def test_byte_strings_are_read_together_as_one_by_one(
    listed: list[bytes], behind: bytes, cut: int
) -> None:
    out = BorshWriter()
    out.u32(len(listed))
    for one in listed:
        out.u32(len(one))
        out.fixed(one, len(one))
    data = bytes(out.data + behind)[:cut]
    together, slowly = BorshReader(data), BorshReader(data)

    try:
        expected = slowly.each(lambda: slowly.fixed(slowly.u32()), 4)
    except DecodeError:
        with pytest.raises(DecodeError):
            together.blobs(4, 5)
    else:
        assert together.blobs(4, 5) == expected == tuple(listed)
        assert together.offset == slowly.offset
        assert together.since(0) == data[: together.offset]


def test_byte_strings_are_bounded_before_they_are_read() -> None:
    with pytest.raises(BoundError):
        BorshReader(b"\xff\xff\xff\xff").blobs(32, 5)
    with pytest.raises(BoundError):
        BorshReader(b"\x01\0\0\0\x06\0\0\0abcdef").blobs(32, 5)


def test_a_text_is_bounded_and_utf_8() -> None:
    with pytest.raises(BoundError):
        BorshReader(b"\x04\0\0\0abcd").text(3)
    with pytest.raises(DecodeError, match="UTF-8"):
        BorshReader(b"\x01\0\0\0\xff").text(3)


def test_nothing_may_follow() -> None:
    reader = BorshReader(b"\0\0")
    reader.u8()

    with pytest.raises(DecodeError):
        reader.end()


@given(st.lists(st.integers(0, 2**64 - 1), max_size=8), st.text(max_size=8))
def test_what_is_written_is_read(numbers: list[int], text: str) -> None:
    out = BorshWriter()
    try:
        out.text(text)
    except UnicodeEncodeError:
        return
    out.each(numbers, out.u64)
    reader = BorshReader(bytes(out.data))

    assert reader.text(64) == text
    assert reader.each(reader.u64, 8) == tuple(numbers)
    reader.end()


def test_a_message_is_read_by_its_kind_and_to_its_end() -> None:
    readers = {7: BorshReader.u32}
    assert read_kind(b"\x07\x01\x00\x00\x00", readers) == 1
    for wrong, reason in (
        (b"", "should follow"),
        (b"\x08", "unknown kind 8"),
        (b"\x07" * 6, "1 byte"),
    ):
        with pytest.raises(DecodeError, match=reason):
            read_kind(wrong, readers)
