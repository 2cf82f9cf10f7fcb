"""Messages of a Calimero stream: they come back as they went, and nothing else gets through."""

from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sync.calimero.governance.ops import GroupId, Key
from sync.calimero.message import (
    Init,
    Message,
    NotMaterialized,
    OpaqueError,
    Payload,
    StreamMessage,
    SyncProtocol,
)
from sync.calimero.wire import decode, encode, signed_by_init
from sync.errors import DecodeError

INIT = Init(GroupId(b"g" * 16), Key(b"k" * 32), SyncProtocol.GOVERNANCE, b"s" * 64)
MESSAGES: st.SearchStrategy[StreamMessage] = st.one_of(
    st.builds(
        Init,
        st.binary(min_size=16, max_size=16),
        st.binary(min_size=32, max_size=32),
        st.sampled_from(SyncProtocol),
        st.binary(min_size=64, max_size=64),
    ),
    st.builds(Message, st.sampled_from(Payload), st.binary()),
    st.just(OpaqueError()),
    st.just(NotMaterialized()),
)


@given(MESSAGES)
def test_a_message_comes_back_as_it_went(message: StreamMessage) -> None:
    assert decode(encode(message)) == message


@given(st.binary())
@example(b"")
@example(b"\x01")
@example(b"\x01\x01")
def test_arbitrary_bytes_are_a_message_in_its_only_spelling_or_a_decode_error(
    data: bytes,
) -> None:
    try:
        message = decode(data)
    except DecodeError:
        return
    assert encode(message) == data


@given(MESSAGES, st.data())
def test_a_message_with_one_byte_changed_is_another_one_or_none(
    message: StreamMessage, data: st.DataObject
) -> None:
    whole = bytearray(encode(message))
    at = data.draw(st.integers(0, len(whole) - 1))
    whole[at] ^= data.draw(st.integers(1, 255))
    with suppress(DecodeError):
        assert decode(bytes(whole)) != message


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x02" + encode(INIT)[1:], "version 2"),
        (b"\x01\x04", "kind 4"),
        (b"\x01\x01\x12", "no Payload"),
        (encode(INIT) + b"\x00", "follow"),
        (encode(INIT)[:-1], "bytes"),
        (encode(OpaqueError()) + b"x", "follow"),
        (encode(INIT).replace(b"k\x08", b"k\x07"), "no SyncProtocol"),
        (encode(INIT).replace(b"k\x08\x00", b"k\x08\x01"), "without a handshake"),
    ],
)
def test_what_is_no_message_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(DecodeError, match=reason):
        decode(data)


def test_an_init_signs_stream_channel_sender_and_end() -> None:
    signed = {
        signed_by_init(hash_, GroupId(group), Key(key), opener=opener)
        for hash_ in (b"1" * 32, b"2" * 32)
        for group in (b"g" * 16, b"h" * 16)
        for key in (b"k" * 32, b"l" * 32)
        for opener in (True, False)
    }

    assert len(signed) == 16
    assert all(one.startswith(b"chat-tui.stream.v1\0") for one in signed)
