"""Bytes of a handshake."""

from contextlib import suppress
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from sync.calimero.handshake import COUNT_MAX, decode_handshake, encode_handshake
from sync.errors import DecodeError
from sync.sessions.handshake import EntityState, LogState, SyncHandshake, SyncKind, flags
from sync.sessions.selection import select
from sync.sessions.values import Plane

ID: Final = st.binary(min_size=32, max_size=32)
NUMBER: Final = st.integers(0, 2**64 - 1)
COUNT: Final = st.integers(0, COUNT_MAX)
LOGS: Final = st.builds(
    LogState,
    root=ID,
    count=COUNT,
    floor=NUMBER,
    heads=st.sets(ID, max_size=16).map(lambda heads: tuple(sorted(heads))),
    holes=COUNT,
    logs=COUNT,
    heights=ID,
)
STATES: Final = st.builds(
    EntityState, ID, COUNT, st.integers(0, 64), st.binary(min_size=128, max_size=128)
)
HANDSHAKES: Final = st.builds(SyncHandshake, ID, LOGS, STATES, st.integers(0, 2**16 - 1))
ONE: Final = SyncHandshake(
    bytes(32), LogState(b"\x01" * 32, 7, heads=(b"\x01" * 32, b"\x02" * 32)),
    EntityState(b"\x02" * 32, 3, 1), flags(*SyncKind),
)  # fmt: skip


@given(HANDSHAKES)
def test_a_handshake_comes_back_from_its_bytes(handshake: SyncHandshake) -> None:
    data = encode_handshake(handshake)
    assert decode_handshake(data) == handshake
    assert 300 <= len(data) <= 900


@given(st.binary(max_size=400))
def test_any_bytes_give_a_handshake_or_a_decode_error(data: bytes) -> None:
    with suppress(DecodeError):
        assert encode_handshake(decode_handshake(data)) == data


def test_every_cut_and_what_follows_is_refused() -> None:
    data = encode_handshake(ONE)
    for size in range(len(data)):
        with pytest.raises(DecodeError):
            decode_handshake(data[:size])
    with pytest.raises(DecodeError):
        decode_handshake(data + b"\x00")


def test_heads_out_of_order_and_contradictions_are_refused() -> None:
    swapped = replace(ONE, log=replace(ONE.log, heads=ONE.log.heads[::-1]))
    with pytest.raises(DecodeError, match="order"):
        decode_handshake(encode_handshake(swapped))
    data = bytearray(encode_handshake(ONE))
    place = data.index(b"\x01\x00\x00\x00\x01", 65 + 4 + 64)
    data[place + 4] = 0
    with pytest.raises(DecodeError, match="contradicts"):
        decode_handshake(bytes(data))
    with pytest.raises(DecodeError, match="version"):
        decode_handshake(b"\x02" + encode_handshake(ONE)[1:])


@pytest.mark.parametrize("field", ["count", "holes", "logs"])
def test_more_than_anybody_can_have_is_no_count(field: str) -> None:
    most = replace(ONE, log=replace(ONE.log, **{field: COUNT_MAX}))
    assert decode_handshake(encode_handshake(most)) == most
    more = encode_handshake(replace(ONE, log=replace(ONE.log, **{field: COUNT_MAX + 1})))
    with pytest.raises(DecodeError, match="counts"):
        decode_handshake(more)


def test_no_estimate_is_more_than_the_protocol_log_can_keep() -> None:
    nothing = replace(ONE, log=LogState(bytes(32), 0))
    claims = replace(ONE, log=replace(ONE.log, count=COUNT_MAX, holes=COUNT_MAX, logs=COUNT_MAX))
    for opener, answerer in ((nothing, claims), (claims, nothing), (ONE, claims), (claims, ONE)):
        assert select(opener, answerer, Plane.LOG).estimate < 2**63
