"""Our CBOR takes one spelling a value, and agrees with another implementation on which."""

from typing import Final

import cbor2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sync.errors import DecodeError
from sync.p2panda import cbor
from tests.support.sync.cbor_oracle import plain, strict

MOST: Final = 1_000
"""Items in arrays; no value here has so many."""

SPELLED_OTHERWISE: Final = {
    "a number in two bytes too many": "190001",
    "a length in a byte too many": "580100",
    "an array without a length": "9f00ff",
    "bytes without a length": "5f4100ff",
    "a negative number": "20",
    "a map": "a10000",
    "a tag": "c000",
    "a regular expression": "d823612e",
    "a float": "f93c00",
    "undefined": "f7",
    "a simple value": "f8ff",
    "a second value": "0000",
    "nothing": "",
    "a reserved length": "1c",
    "a head without its number": "1b00",
    "text that is no UTF-8": "61ff",
    "six arrays": "818181818180",
    "bytes of a length of 2^60": "5b1000000000000000",
    "text of a length of 2^60": "7b1000000000000000",
    "an array of 2^60": "9b1000000000000000",
    "1 MiB of arrays": "81" * (1 << 20),
}

values: Final = st.recursive(
    st.integers(0, 2**64 - 1) | st.binary(max_size=300) | st.text(max_size=40) | st.booleans(),
    lambda inner: st.lists(inner, max_size=30),
    max_leaves=40,
)


@pytest.mark.parametrize("data", SPELLED_OTHERWISE.values(), ids=SPELLED_OTHERWISE.keys())
def test_what_is_spelled_otherwise_is_refused(data: str) -> None:
    with pytest.raises(DecodeError):
        cbor.decode(bytes.fromhex(data), MOST)


@given(values)
def test_values_come_back_and_are_spelled_as_others_spell_them(value: cbor.Value) -> None:
    if not plain(value, cbor.DEPTH_MAX):
        return
    data = cbor.encode(value)

    assert data == cbor2.dumps(value, canonical=True)
    assert cbor.decode(data, MOST) == value


@given(st.binary(max_size=40))
def test_any_bytes_are_judged_as_cbor2_judges_them(data: bytes) -> None:
    try:
        value = cbor.decode(data, MOST)
    except DecodeError:
        assert strict(data) is None or data == b"\xf6"
    else:
        assert cbor2.dumps(value, canonical=True) == data
        assert cbor2.loads(data) == value


def test_the_items_of_all_arrays_together_are_limited() -> None:
    """A MiB of empty arrays would be 67 MB and a second."""
    flat = cbor.encode([0] * 10)
    nested = cbor.encode([[0] * 4, [0] * 4])

    for data in (flat, nested):
        assert cbor.decode(data, 10)
        with pytest.raises(cbor.TooManyItemsError):
            cbor.decode(data, 9)
