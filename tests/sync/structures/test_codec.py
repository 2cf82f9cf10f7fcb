"""Numbers and frames: they come back as they went, and nothing else gets through."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sync.errors import DecodeError
from sync.structures.codec import (
    FrameAssembler,
    Reader,
    append_uvarint,
    encode_uvarint,
    length_prefixed,
)

UINT64 = st.integers(0, 2**64 - 1)


def chunked(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        (0, "00"),
        (1, "01"),
        (127, "7f"),
        (128, "8001"),
        (300, "ac02"),
        (16384, "808001"),
        (2**63, "80808080808080808001"),
        (2**64 - 1, "ffffffffffffffffff01"),
    ],
)
def test_a_number_has_the_published_leb128_bytes(value: int, encoded: str) -> None:
    assert encode_uvarint(value).hex() == encoded
    assert Reader(bytes.fromhex(encoded)).uvarint() == value


@pytest.mark.parametrize("value", [-1, 2**64])
def test_a_number_outside_64_bits_is_our_own_mistake(value: int) -> None:
    with pytest.raises(AssertionError):
        encode_uvarint(value)


@pytest.mark.parametrize("bits", range(1, 65))
def test_numbers_of_every_size_are_written_alike(bits: int) -> None:
    """Some sizes are written without a loop, as `append_uvarint` never does."""
    for value in (1 << bits - 1, (1 << bits) - 1, 0x5555_5555_5555_5555 >> 64 - bits):
        buffer = bytearray()
        append_uvarint(buffer, value)
        assert encode_uvarint(value) == buffer


@given(st.lists(UINT64))
def test_numbers_come_back_in_order(values: list[int]) -> None:
    reader = Reader(b"".join(map(encode_uvarint, values)))

    read = [reader.uvarint() for _ in values]

    assert read == values
    assert reader.remaining == 0


@pytest.mark.parametrize(
    "encoded",
    [
        "",
        "80",
        "ffffff",
        "8000",
        "ff00",
        "80808080808080808000",
        "80808080808080808002",
        "ffffffffffffffffff7f",
        "ffffffffffffffffffff",
        "8080808080808080808001",
    ],
)
def test_what_is_no_shortest_number_of_64_bits_is_refused(encoded: str) -> None:
    with pytest.raises(DecodeError):
        Reader(bytes.fromhex(encoded)).uvarint()


@given(st.binary(max_size=12))
@example(b"\x80\x00")
@example(b"\xff" * 9 + b"\x02")
def test_arbitrary_bytes_are_one_number_or_an_error(data: bytes) -> None:
    reader = Reader(data)

    try:
        value = reader.uvarint()
    except DecodeError:
        assert reader.remaining == len(data)
    else:
        assert encode_uvarint(value) == data[: len(data) - reader.remaining]


def test_a_reader_gives_bytes_until_its_end_and_no_further() -> None:
    reader = Reader(b"\x07abcd")

    assert reader.byte() == 7
    assert reader.read(3) == b"abc"
    assert reader.remaining == 1
    with pytest.raises(DecodeError, match="2 bytes should follow, 1 do"):
        reader.read(2)
    assert reader.read(1) == b"d"
    assert reader.read(0) == b""
    assert reader.remaining == 0
    with pytest.raises(DecodeError):
        reader.byte()


@pytest.mark.parametrize("count", [-1, 5, 2**64 - 1])
def test_a_count_from_the_wire_cannot_leave_the_data(count: int) -> None:
    reader = Reader(b"abcd")

    with pytest.raises(DecodeError):
        reader.read(count)

    assert reader.read(4) == b"abcd"


@given(st.lists(st.binary(max_size=300)), st.integers(1, 400))
def test_frames_come_back_however_the_stream_is_chunked(payloads: list[bytes], size: int) -> None:
    stream = b"".join(map(length_prefixed, payloads))
    assembler = FrameAssembler(limit=300)

    frames = [frame for chunk in chunked(stream, size) for frame in assembler.feed(chunk)]

    assert frames == payloads
    assert assembler.pending == 0


def test_an_unfinished_frame_is_pending() -> None:
    assembler = FrameAssembler(limit=10)

    complete = assembler.feed(length_prefixed(b"whole") + b"\x04par")

    assert complete == [b"whole"]
    assert assembler.pending == 4
    assert assembler.feed(b"t") == [b"part"]
    assert assembler.pending == 0


def test_a_length_is_refused_as_soon_as_it_is_known() -> None:
    at_the_limit, above = FrameAssembler(limit=1000), FrameAssembler(limit=1000)

    assert at_the_limit.feed(encode_uvarint(1000)) == []
    with pytest.raises(DecodeError, match="a frame of 1001 bytes, 1000 are allowed"):
        above.feed(encode_uvarint(1001))


@pytest.mark.parametrize("prefix", ["8500", "ffffffffffffffffff7f", "80808080808080808080"])
def test_a_length_that_is_no_number_is_refused(prefix: str) -> None:
    with pytest.raises(DecodeError):
        FrameAssembler(limit=1000).feed(bytes.fromhex(prefix))


@given(st.binary(max_size=200), st.integers(1, 50))
def test_arbitrary_streams_give_frames_within_the_limit_or_an_error(data: bytes, size: int) -> None:
    assembler = FrameAssembler(limit=64)
    frames: list[bytes] = []

    try:
        for chunk in chunked(data, size):
            frames += assembler.feed(chunk)
    except DecodeError:
        pass
    else:
        assert b"".join(map(length_prefixed, frames)) == data[: len(data) - assembler.pending]

    assert all(len(frame) <= 64 for frame in frames)


def test_a_large_frame_may_come_byte_by_byte() -> None:
    # An assembler that copied what it holds at every byte would move 20 GB here.
    payload = bytes(200_000)
    assembler = FrameAssembler(limit=len(payload))

    frames = [
        frame for chunk in chunked(length_prefixed(payload), 1) for frame in assembler.feed(chunk)
    ]

    assert frames == [payload]
