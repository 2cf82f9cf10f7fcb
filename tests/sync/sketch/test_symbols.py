"""Keys, places and symbols against golden values and the plain definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sync.errors import DecodeError
from sync.sketch.key import derived
from sync.sketch.places import SIZE_MAX, checksums, mix, placed
from sync.sketch.symbols import Symbols
from sync.sketch.symbols_wire import IDS_MAX, decode_symbols, encode_symbols
from tests.support.sync.sketch import model
from tests.support.sync.sketch.made import KEY, OF_MODEL, SECRET, VECTORS, columns, sketch_of


def as_model(symbols: Symbols) -> list[model.Symbol]:
    return [
        model.Symbol(int.from_bytes(row[:4].tobytes(), "little"), int(row[4]), count)
        for row, count in zip(symbols.rows, symbols.counts.tolist(), strict=True)
    ]


def test_the_plain_definition_says_what_is_written_down() -> None:
    assert model.vectors() == VECTORS


def test_the_key_of_a_channel_is_made_of_its_secret() -> None:
    assert derived(SECRET).hex() == VECTORS["key"]


def test_words_are_mixed_as_it_is_written_down() -> None:
    for word, mixed in VECTORS["mix"]:
        assert int(mix(np.array([int(word, 16)], np.uint64))[0]) == int(mixed, 16)


def test_checksums_and_all_places_are_those_that_are_written_down() -> None:
    for one in VECTORS["ids"]:
        hashes = columns([bytes.fromhex(one["hash"])])
        where = placed(hashes, KEY, SIZE_MAX)
        assert int(checksums(hashes, KEY)[0]) == int(one["checksum"], 16)
        assert where.places.tolist() == one["places_below_65536"]


def test_the_symbols_of_two_hundred_ids_are_those_that_are_written_down() -> None:
    told = VECTORS["symbols"]
    symbols = sketch_of([bytes.fromhex(one) for one in told["hashes"]], 12)

    assert [row[:4].tobytes().hex() for row in symbols.rows] == told["sums"]
    assert [int(row[4]) for row in symbols.rows] == [int(one, 16) for one in told["checksums"]]
    assert symbols.counts.tolist() == told["counts"]


def test_their_bytes_are_those_that_are_written_down() -> None:
    told = VECTORS["symbols"]
    symbols = sketch_of([bytes.fromhex(one) for one in told["hashes"]], 12)

    assert encode_symbols(symbols, 0, 200).hex() == told["wire"]
    assert encode_symbols(symbols.part(5, 12), 5, 200).hex() == told["wire_of_the_last_seven"]


@given(st.integers(0, 300), st.integers(1, 600), st.integers(0, 99))
def test_symbols_are_those_of_the_plain_definition(count: int, size: int, seed: int) -> None:
    hashes = model.made(count, seed)
    assert as_model(sketch_of(hashes, size)) == model.sketch(hashes, OF_MODEL, size)


@given(st.integers(1, 200), st.integers(1, 200), st.integers(0, 99))
def test_a_shorter_sketch_is_the_begin_of_a_longer_one(one: int, other: int, seed: int) -> None:
    hashes = model.made(50, seed)
    short, long = sorted((one, other))
    assert as_model(sketch_of(hashes, short)) == as_model(sketch_of(hashes, long))[:short]


@given(st.lists(st.booleans(), max_size=200), st.integers(1, 100))
def test_what_is_taken_out_might_never_have_been_in(stays: list[bool], batch: int) -> None:
    hashes = model.made(len(stays))
    symbols = sketch_of(hashes, 64)
    gone = [one for one, left in zip(hashes, stays, strict=True) if not left]
    for at in range(0, len(gone), batch):
        symbols.put(columns(gone[at : at + batch]), KEY, -1)

    kept = [one for one, left in zip(hashes, stays, strict=True) if left]
    assert as_model(symbols) == as_model(sketch_of(kept, 64))


@given(st.integers(0, 300), st.integers(0, 99), st.integers(0, 40), st.integers(0, 2**20))
def test_bytes_are_read_as_they_were_written(count: int, seed: int, first: int, more: int) -> None:
    symbols = sketch_of(model.made(count, seed), 40)
    ids = count + more
    data = encode_symbols(symbols.part(first, 40), first, ids)

    assert data == model.wire(as_model(symbols)[first:], first, ids)
    assert as_model(decode_symbols(data, 40 - first, first, ids)) == as_model(symbols)[first:]


@given(st.binary(max_size=200), st.integers(0, 4), st.integers(0, 99), st.integers(0, IDS_MAX))
def test_whatever_is_read_is_the_only_spelling_of_it(
    tail: bytes, number: int, first: int, ids: int
) -> None:
    data = bytes(40 * number) + tail
    try:
        symbols = decode_symbols(data, number, first, ids)
    except DecodeError:
        return
    assert encode_symbols(symbols, first, ids) == data


@pytest.mark.parametrize(
    ("numbers", "reason"),
    [
        (b"\x01", "more ids than there are"),
        (b"\x04", "more ids than there are"),
        (b"\x80\x00", "not canonical"),
        (b"\x80\x80\x80\x80\x80\x01", "not canonical"),
        (b"\x00\x00", "2 numbers where 1"),
        (b"\x80", "0 numbers where 1"),
        (b"\x00\x80", "1 numbers where 1"),
        (b"", "0 numbers where 1"),
    ],
)
def test_numbers_that_no_honest_peer_writes_are_refused(numbers: bytes, reason: str) -> None:
    with pytest.raises(DecodeError, match=reason):
        decode_symbols(bytes(40) + numbers, 1, 1, 1)  # none is expected, at most one can be


def test_too_few_bytes_are_no_symbols() -> None:
    with pytest.raises(DecodeError, match="2 symbols in 79 bytes"):
        decode_symbols(bytes(79), 2, 0, 0)
