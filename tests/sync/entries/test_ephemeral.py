"""Wire format of ephemeral messages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proto import ephemeral_pb2
from sync.entries.entry import NICK_MAX
from sync.entries.ephemeral import VERSION, Typing, decode, encode
from sync.errors import DecodeError, LocalError

NICKS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=NICK_MAX)


@given(NICKS)
def test_a_notice_comes_back_as_it_went(nick: str) -> None:
    assert decode(encode(Typing(nick))) == Typing(nick)


def test_a_notice_has_these_bytes() -> None:
    assert encode(Typing("alice")).hex() == "0801" + "1207" + "0a05" + b"alice".hex()


@given(st.binary(max_size=100))
def test_arbitrary_bytes_are_a_fit_notice_or_refused(content: bytes) -> None:
    try:
        nick = decode(content).nick
    except DecodeError:
        return
    assert 0 < len(nick) <= NICK_MAX


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"bob is typing", "not an ephemeral message"),
        (encode(Typing("bob"))[:-1], "not an ephemeral message"),
        (encode(Typing("bob")).replace(b"\x08\x01", b"\x08\x02"), "version 2; we know version 1"),
        (encode(Typing("bob"))[2:], "version 0"),
        (ephemeral_pb2.Ephemeral(version=VERSION).SerializeToString(), "nothing we know"),
        (b"\x08\x01\x7a\x00", "nothing we know"),
        (b"\x08\x01\x12\x00", "a nick of 0 characters"),
        (b"\x08\x01\x12\x23\x0a\x21" + b"x" * 33, "a nick of 33 characters"),
        (b"\x08\x01\x12\x03\x0a\x01\xff", "not an ephemeral message"),
    ],
)
def test_anything_else_is_refused(content: bytes, reason: str) -> None:
    with pytest.raises(DecodeError, match=reason):
        decode(content)


@pytest.mark.parametrize("nick", ["", "x" * (NICK_MAX + 1), "\ud800"])
def test_a_name_that_nobody_would_take_is_not_sent(nick: str) -> None:
    with pytest.raises(LocalError, match=r"\.$"):
        encode(Typing(nick))
