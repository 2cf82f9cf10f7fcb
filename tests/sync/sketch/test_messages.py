"""Bytes of messages by sketch, and of what is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sync.errors import DecodeError
from sync.sketch.messages import (
    CONTENT_MAX,
    ENTRIES_MAX,
    FLOOR_MAX,
    SYMBOLS_MAX,
    AskMore,
    Done,
    Entries,
    Message,
    MoreSymbols,
    Opening,
    Reason,
    Stop,
    Wanted,
    decode,
    encode,
)
from sync.sketch.peeling import FOUND_MAX
from sync.sketch.symbols import Symbols
from sync.sketch.symbols_wire import IDS_MAX
from sync.sketch.words import said
from sync.structures.sorted_run import HASH_BYTES
from tests.support.sync.sketch import model
from tests.support.sync.sketch.made import sketch_of

KEY_HEX = model.vectors()["key"]
SYMBOLS = sketch_of(model.made(30), 64)

EACH: list[Message] = [
    Opening(1_024, 7, 30, SYMBOLS),
    MoreSymbols(10, 30, SYMBOLS.part(10, 64)),
    AskMore(),
    Wanted(3, b"".join(model.made(2))),
    Wanted(0, b""),
    Entries((b"", b"one")),
    Done(),
    *[Stop(reason) for reason in Reason],
]


@pytest.mark.parametrize("message", EACH, ids=lambda one: type(one).__name__)
def test_a_message_is_read_as_it_was_written_and_has_words(message: Message) -> None:
    data = encode(message)
    read = decode(data)
    assert type(read) is type(message)
    assert encode(read) == data
    assert said(message)
    for cut in range(len(data)):
        with pytest.raises(DecodeError):
            decode(data[:cut])
    with pytest.raises(DecodeError):
        decode(data + b"\0")


def test_an_opening_is_laid_out_as_it_is_written_down() -> None:
    wire = model.wire(model.sketch(model.made(30), bytes.fromhex(KEY_HEX), 64), 0, 30)
    assert encode(EACH[0]) == (
        b"\x20\x01"
        + (1_024).to_bytes(4, "little")
        + (7).to_bytes(4, "little")
        + (30).to_bytes(8, "little")
        + (64).to_bytes(4, "little")
        + len(wire).to_bytes(4, "little")
        + wire
    )


@given(
    st.binary(max_size=300)
    | st.integers(32, 38).flatmap(
        lambda tag: st.binary(max_size=300).map(lambda rest: bytes([tag]) + rest)
    )
)
def test_arbitrary_bytes_are_a_message_or_a_decode_error(data: bytes) -> None:
    try:
        message = decode(data)
    except DecodeError:
        return
    assert encode(message) == data


@given(st.sampled_from(EACH), st.data())
def test_mutated_messages_are_a_message_or_a_decode_error(
    message: Message, draw: st.DataObject
) -> None:
    data = bytearray(encode(message))
    for _ in range(draw.draw(st.integers(1, 4))):
        data[draw.draw(st.integers(0, len(data) - 1))] = draw.draw(st.integers(0, 255))
    try:
        read = decode(bytes(data))
    except DecodeError:
        return
    assert encode(read) == data


def number(value: int, size: int = 4) -> bytes:
    return value.to_bytes(size, "little")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x07", "unknown kind 7"),
        (b"\x20\x02", "version 2"),
        (b"\x20\x01" + number(SYMBOLS_MAX + 1), "16385"),
        (b"\x20\x01" + number(64) + number(0) + number(IDS_MAX + 1, 8), "ids"),
        (b"\x21" + number(SYMBOLS_MAX) + number(0, 8) + number(1), "a list of 1, 0"),
        (b"\x23" + number(FOUND_MAX + 1), "11801"),
        (b"\x23" + number(FOUND_MAX) + number(1), "a list of 1, 0"),
        (b"\x23" + number(0) + number(2) + bytes(64), "wanted twice"),
        (b"\x23" + number(0) + number(3) + bytes(8) + b"\1" * 24 + bytes(64), "wanted twice"),
        (b"\x20\x01" + number(64) + number(FLOOR_MAX + 1), "bucket 16777216"),
        (b"\x24" + number(ENTRIES_MAX + 1), "1025"),
        (b"\x24" + number(0), "without one"),
        (b"\x24" + number(1) + number(CONTENT_MAX + 1), "an entry of"),
        (b"\x26\x09", "reason to stop: 9"),
    ],
)
def test_what_is_over_a_limit_is_refused_before_it_is_read(data: bytes, reason: str) -> None:
    with pytest.raises(DecodeError, match=reason):
        decode(data)


def test_the_longest_messages_fit_into_a_frame() -> None:
    most = Symbols.empty(SYMBOLS_MAX)
    assert len(encode(MoreSymbols(0, IDS_MAX, most))) < 1 << 20
    assert len(encode(Wanted(0, bytes(FOUND_MAX * HASH_BYTES)))) < 1 << 20
