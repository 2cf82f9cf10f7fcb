"""Payloads read and written in columns, and by the plain definition: every byte and every error."""

import random
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sync.errors import DecodeError
from sync.structures.codec import encode_uvarint
from sync.structures.ordered_set import HASH_BYTES, ORIGIN, Bounds, SyncId, shortened
from sync.waku import reading, writing
from sync.waku.message import (
    PAYLOAD_BYTES_MAX,
    RANGES_MAX,
    Fingerprint,
    ItemSet,
    Range,
    Ranges,
    RangesData,
    Skip,
)
from sync.waku.wire import decode_ranges, encode_ranges
from tests.support.sync.waku.plain import plainly_decoded, plainly_encoded

Outcome: TypeAlias = tuple[int, tuple[int, ...], list[Range]] | str
"""A payload that was read, or the words of its error."""

NUMBERS: Final = (0, 1, 127, 128, 2**14, 2**35, 2**56, 2**63 - 1, 2**63, 2**64 - 1, 2**64)
HEAD: Final = b"\1\1\5"
OFTEN: Final = 400


@pytest.fixture(autouse=True, scope="module", params=[False, True], ids=["as few", "as many"])
def like_many(request: pytest.FixtureRequest) -> Iterator[None]:
    """Read and write however few numbers as many are."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param:
            patch.setattr(reading, "FEW", 0)
            patch.setattr(writing, "FEW", 0)
        yield


def in_columns(data: bytes) -> Outcome:
    try:
        decoded = decode_ranges(data)
    except DecodeError as error:
        return str(error)
    return decoded.cluster, decoded.shards, list(decoded.ranges)


def plainly(data: bytes) -> Outcome:
    try:
        return plainly_decoded(data)
    except DecodeError as error:
        return str(error)


def a_hash(dice: random.Random) -> bytes:
    """A hash; some have much in common."""
    if dice.random() < 0.3:
        return bytes(dice.randrange(30)) + bytes([dice.randrange(256), 0]) + bytes(30)[:0]
    return dice.randbytes(HASH_BYTES)


def a_payload(dice: random.Random) -> RangesData:
    """Ranges of every kind, close to each other and far apart, some with hashes in their bounds."""
    ranges: list[Range] = []
    lower = ORIGIN
    widest = dice.choice([2, 200, 2**20, 2**44])
    for _ in range(dice.randrange(12)):
        wanted = SyncId(
            lower.timestamp + dice.choice([0, 1, dice.randrange(widest)]),
            a_hash(dice).ljust(HASH_BYTES, b"\0"),
        )
        if wanted <= lower:
            continue
        bounds = Bounds(lower, shortened(wanted, lower))
        match dice.randrange(4):
            case 0:
                ranges.append(Skip(bounds))
            case 1:
                ranges.append(Fingerprint(bounds, dice.randbytes(HASH_BYTES)))
            case _:
                ranges.append(ItemSet(bounds, some_ids(bounds, dice), dice.random() < 0.5))
        lower = bounds.upper
    shards = tuple(dice.choice(NUMBERS[:-1]) for _ in range(dice.randrange(3)))
    return RangesData(dice.choice(NUMBERS[:-1]), shards, Ranges.of(ranges))


def some_ids(bounds: Bounds, dice: random.Random) -> tuple[SyncId, ...]:
    (first, _), (last, _) = bounds
    drawn = {
        SyncId(dice.randint(first, last), a_hash(dice).ljust(HASH_BYTES, b"\0"))
        for _ in range(dice.choice([0, 0, 1, 2, 9]))
    }
    edges = {bounds.lower} if dice.random() < 0.3 else set()
    return tuple(sorted(one for one in drawn | edges if bounds.lower <= one < bounds.upper))


def cut(data: bytes, dice: random.Random) -> bytes:
    return data[: dice.randrange(len(data) + 1)]


def with_other_bytes(data: bytes, dice: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(dice.randint(1, 3)):
        if changed:
            changed[dice.randrange(len(changed))] = dice.choice([0, 1, 2, 127, 128, 255])
    return bytes(changed)


def with_more(data: bytes, dice: random.Random) -> bytes:
    at = dice.randrange(len(data) + 1)
    more = [b"\0", b"\x80\0", b"\xff" * 12, b"\xff" * 9 + b"\1", b"\xff" * 9 + b"\2", b"\1\2\0"]
    return data[:at] + dice.choice(more) + data[at:]


def with_less(data: bytes, dice: random.Random) -> bytes:
    at = dice.randrange(len(data) + 1)
    return data[:at] + data[at + dice.choice([1, 2, 32, 33]) :]


def unchanged(data: bytes, dice: random.Random) -> bytes:
    del dice
    return data


CHANGES: Final[dict[str, Callable[[bytes, random.Random], bytes]]] = {
    "as it is": unchanged,
    "cut short": cut,
    "with other bytes": with_other_bytes,
    "with more": with_more,
    "with less": with_less,
}


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_becomes_of_a_payload_both_read_the_same(change: str) -> None:
    seen: set[str] = set()
    for seed in range(OFTEN):
        dice = random.Random(seed)
        data = CHANGES[change](encode_ranges(a_payload(dice)), dice)
        expected = plainly(data)
        assert in_columns(data) == expected, (seed, data.hex())
        seen.add(expected if isinstance(expected, str) else "read")

    assert seen == {"read"} if change == "as it is" else len(seen) > 3, seen


@given(st.integers(0, 2**32), st.lists(st.sampled_from(sorted(CHANGES)), max_size=3))
@example(1774, ["with more", "with less", "with more"])  # a wide number in a set that does not end
def test_whatever_hypothesis_makes_of_a_payload_both_read_the_same(
    seed: int, changes: list[str]
) -> None:
    dice = random.Random(seed)
    data = encode_ranges(a_payload(dice))
    for change in changes:
        data = CHANGES[change](data, dice)

    assert in_columns(data) == plainly(data)


@given(st.binary(max_size=300))
@example(b"\xff" * 40)
@example(b"\x80" * 9)
@example(b"\x80" * 11)
@example(b"\0" * 40)
def test_any_bytes_behind_a_header_are_read_alike(data: bytes) -> None:
    assert in_columns(HEAD + data) == plainly(HEAD + data)


@given(st.integers(0, 2**32))
def test_both_write_the_same(seed: int) -> None:
    payload = a_payload(random.Random(seed))

    assert encode_ranges(payload) == plainly_encoded(payload)


UP = encode_uvarint(1)
FAR = encode_uvarint(2**63)
LOW, HIGH = bytes(HASH_BYTES), bytes([255]) * HASH_BYTES

WRONG: Final = {
    "an endless number": FAR + b"\2\2" + UP + LOW + b"\xff" * 40,
    "a number that ends late": FAR + b"\2\2" + UP + LOW + b"\xff" * 12 + LOW + HIGH + b"\0\0",
    "ids beyond 64 bits": FAR + b"\2\3" + (encode_uvarint(2**63 - 1) + LOW) * 3 + b"\0",
    "ids beyond 64 bits, and no flag": FAR + b"\2\3" + (FAR + LOW) * 3 + b"\2",
    "ids beyond 64 bits, in the second set": FAR
    + b"\2\1"
    + (UP + LOW + b"\0" + UP)
    + b"\2\2"
    + (encode_uvarint(2**64 - 1) + LOW) * 2
    + b"\0",
    "bounds beyond 64 bits": (FAR + b"\0") * 3,
    "a bound beyond 64 bits, and then no type": (FAR + b"\0") * 2 + b"\1\7",
    "no type, and a bound beyond 64 bits": b"\1\7" + (FAR + b"\0") * 2,
    "an id twice": FAR + b"\2\2" + UP + LOW + b"\0" + LOW + b"\0",
    "an id twice, and no flag": FAR + b"\2\2" + UP + LOW + b"\0" + LOW + b"\7",
    "falling ids, the second cut short": FAR
    + b"\2\2"
    + UP
    + HIGH
    + encode_uvarint(2**21)
    + LOW[:9],
    "many ids, the last but one cut short": FAR
    + b"\2\7"
    + (encode_uvarint(2**56) + LOW) * 5
    + encode_uvarint(2**56)
    + LOW[:18],
    "an id below": FAR + b"\0" + UP + b"\2\1" + UP + LOW + b"\0",
    "an id above": b"\5\2\1\5" + LOW + b"\0",
    "a longer spelling": FAR + b"\2\1" + b"\x81\0" + LOW + b"\0",
    "a longer spelling of zero": FAR + b"\0" + b"\x80\0\0",
    "a number of 65 bits": b"\xff" * 9 + b"\2\0",
    "an id at its bound": b"\5\0" + b"\0\1\7\2\1\5" + b"\7" + bytes(31) + b"\0",
    "an id below its bound": b"\5\0" + b"\0\1\7\2\1\5" + b"\6" + bytes(31) + b"\0",
    "an id below the bound before it": b"\5\0\0\1\7\0\1\2\1\5\6" + bytes(31) + b"\0",
    "an id at the bound before it": b"\5\0" + b"\0\1\7\0" + b"\1\2\1\5" + b"\7" + bytes(31) + b"\0",
    "a fingerprint cut short": UP + b"\1" + LOW[:31],
    "a set of none and one of one": FAR + b"\2\0\0" + UP + b"\2\1" + FAR + LOW + b"\1",
    "more than may be": UP + b"\2" + encode_uvarint(2**60) + LOW,
    "a bound behind a bound": b"\0\1\7\0\0\2\7\1\1" + HIGH + b"\0\1\7\0",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_first_is_the_error(name: str) -> None:
    data = HEAD + WRONG[name]

    assert in_columns(data) == plainly(data)


@pytest.mark.parametrize("count", [RANGES_MAX, RANGES_MAX + 1])
@pytest.mark.parametrize("behind", [b"", b"\x80\0", b"\xff" * 20])
def test_one_range_too_many_is_refused_alike(count: int, behind: bytes) -> None:
    data = HEAD + (UP + b"\0") * count + behind

    assert in_columns(data) == plainly(data)


def test_as_many_ids_as_fit_a_payload_are_read_alike() -> None:
    count = (PAYLOAD_BYTES_MAX - 20) // (1 + HASH_BYTES)
    ids = b"".join(UP + bytes([number % 256]) * HASH_BYTES for number in range(count))
    data = HEAD + FAR + b"\2" + encode_uvarint(count) + ids + b"\0"

    assert in_columns(data) == plainly(data)
    assert in_columns(data[:-1]) == plainly(data[:-1])
