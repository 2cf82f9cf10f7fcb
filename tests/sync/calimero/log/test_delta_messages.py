"""Messages of delta sync: one spelling each, and limits that hold before memory is taken."""

import contextlib
import random
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sync.calimero.log.delta_filter import IdFilter
from sync.calimero.log.delta_messages import (
    CONTENT_MAX,
    ENTRIES_MAX,
    FILTER_IDS_MAX,
    FILTER_SIZE_MAX,
    NEAR_MAX,
    WANTED_MAX,
    BloomFilter,
    DeltaEntries,
    Message,
    Stretch,
    Want,
    decode,
    encode,
)
from sync.errors import DecodeError

MUTATIONS = 4_000
IDS = tuple([bytes([number]) * 32 for number in range(1, 5)])
NEAR = (Stretch(5, 9, IdFilter.of(IDS)), Stretch(9, 12, IdFilter()))
MESSAGES: list[Message] = [
    BloomFilter(7, IdFilter.of(IDS), IDS, NEAR),
    BloomFilter(0, IdFilter()),
    Want(IDS, NEAR),
    Want(),
    DeltaEntries((b"one", b"", b"three")),
]

identifiers = st.sets(st.binary(min_size=32, max_size=32), max_size=8).map(
    lambda found: tuple(sorted(found))
)
filters = identifiers.map(IdFilter.of)
stretches = st.lists(st.integers(0, 2**64 - 1), min_size=2, max_size=8, unique=True).flatmap(
    lambda bounds: st.tuples(
        *[
            st.builds(Stretch, st.just(floor), st.just(until), filters)
            for floor, until in zip(sorted(bounds)[::2], sorted(bounds)[1::2], strict=False)
        ]
    )
)
messages = st.one_of(
    st.builds(BloomFilter, st.integers(0, 2**64 - 1), filters, identifiers, stretches),
    st.builds(Want, identifiers, stretches),
    st.builds(DeltaEntries, st.lists(st.binary(max_size=40), min_size=1, max_size=5).map(tuple)),
)


@given(messages)
def test_every_message_is_read_as_it_was_written(message: Message) -> None:
    assert decode(encode(message)) == message


@given(st.binary(max_size=300))
def test_any_bytes_are_a_message_in_its_one_spelling_or_refused(data: bytes) -> None:
    with contextlib.suppress(DecodeError):
        assert encode(decode(data)) == data


@pytest.mark.parametrize("message", MESSAGES)
def test_mutated_bytes_are_a_message_in_its_one_spelling_or_refused(message: Message) -> None:
    rng = random.Random(1)
    taken = 0
    for _ in range(MUTATIONS):
        data = bytearray(encode(message))
        for _ in range(rng.randint(1, 2)):
            data[rng.randrange(len(data))] = rng.choice([0, 1, 2, 255, rng.randrange(256)])
        if rng.random() < 0.1:
            del data[rng.randrange(len(data)) :]
        with contextlib.suppress(DecodeError):
            assert encode(decode(bytes(data))) == bytes(data)
            taken += 1
    assert taken, "no mutation was taken: nothing was shown"


def u32(value: int) -> bytes:
    return value.to_bytes(4, "little")


def u64(value: int) -> bytes:
    return value.to_bytes(8, "little")


NO_FILTER = b"\0" + u32(0)
REFUSED = {
    "nothing": b"",
    "an unknown kind": b"\x09",
    "the kind of another plane": b"\x11",
    "bytes behind it": encode(Want()) + b"\0",
    "a million wanted ids": b"\x10" + u32(10**6),
    "an id too many": encode(
        Want(tuple([number.to_bytes(32, "big") for number in range(WANTED_MAX + 1)]))
    ),
    "ids in another order": encode(Want((IDS[1], IDS[0]))),
    "an id twice": encode(Want((IDS[0], IDS[0]))),
    "a filter of a gigabyte": b"\x04" + u64(0) + b"\x08" + u32(2**30),
    "a filter too large": encode(BloomFilter(0, IdFilter(8, bytes(FILTER_SIZE_MAX + 1)))),
    "a filter of which an id sets nothing": encode(BloomFilter(0, IdFilter(0, b"\xff"))),
    "a filter without bytes of which an id sets something": encode(
        BloomFilter(0, IdFilter(1, b""))
    ),
    "a filter of which an id sets all": encode(BloomFilter(0, IdFilter(17, b"\xff"))),
    "a million stretches": b"\x10" + u32(0) + u32(10**6),
    "a stretch too many": encode(
        Want((), tuple([Stretch(at, at + 1, IdFilter()) for at in range(NEAR_MAX + 1)]))
    ),
    "a stretch without room": encode(Want((), (Stretch(5, 5, IdFilter()),))),
    "a stretch that ends before it begins": encode(Want((), (Stretch(6, 5, IdFilter()),))),
    "stretches that overlap": encode(
        Want((), (Stretch(1, 5, IdFilter()), Stretch(4, 9, IdFilter())))
    ),
    "stretches in another order": encode(
        Want((), (Stretch(5, 9, IdFilter()), Stretch(1, 4, IdFilter())))
    ),
    "stretches whose filters are too large together": encode(
        Want(
            (),
            tuple(
                [
                    Stretch(at, at + 1, IdFilter(8, bytes(FILTER_SIZE_MAX // 2 + 1)))
                    for at in range(2)
                ]
            ),
        )
    ),
    "no entries": encode(DeltaEntries(())),
    "a million entries": b"\x03" + u32(10**6),
    "an entry too many": encode(DeltaEntries((b"",) * (ENTRIES_MAX + 1))),
    "an entry of a gigabyte": b"\x03" + u32(1) + u32(2**30),
    "an entry too large": encode(DeltaEntries((bytes(CONTENT_MAX + 1),))),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_message_is_refused(case: str) -> None:
    with pytest.raises(DecodeError):
        decode(REFUSED[case])


@pytest.mark.parametrize("case", [one for one in REFUSED if "million" in one or "giga" in one])
def test_a_claimed_length_takes_no_memory(case: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(DecodeError):
            decode(REFUSED[case])
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


def test_the_largest_filter_of_ours_is_one_that_is_taken() -> None:
    held = [number.to_bytes(32, "big") for number in range(FILTER_IDS_MAX)]
    message = BloomFilter(0, IdFilter.of(held))

    assert decode(encode(message)) == message


def test_the_bytes_of_each_message_stay_as_they_are() -> None:
    one = IDS[0]

    assert encode(Want((one,))) == b"\x10" + u32(1) + one + u32(0)
    assert encode(DeltaEntries((b"abc",))) == b"\x03" + u32(1) + u32(3) + b"abc"
    assert (
        encode(BloomFilter(7, IdFilter(8, b"\x05\x06"), (one,), (Stretch(1, 2, IdFilter()),)))
        == b"\x04" + u64(7) + b"\x08" + u32(2) + b"\x05\x06" + u32(1) + one
        + u32(1) + u64(1) + u64(2) + NO_FILTER
    )  # fmt: skip
