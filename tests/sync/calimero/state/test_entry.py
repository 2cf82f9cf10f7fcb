"""State entries: their bytes, their limits, their signatures."""

import hashlib
from contextlib import suppress
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sync.calimero.governance.ops import GroupId, Key, OpId
from sync.calimero.state.contents import (
    HEADS_MAX,
    NICK_MAX,
    STATUS_MAX,
    TOPIC_MAX,
    VALUE_MAX,
    Content,
    Held,
    Pin,
    Profile,
    Read,
    StateKind,
    Topic,
    encode,
)
from sync.calimero.state.entry import (
    ENTRY_SIZE_MAX,
    Signable,
    open_entry,
    parse,
    register_key,
    sign,
)
from sync.entries.entry import GOVERNANCE_MAX
from sync.errors import DecodeError
from tests.support.sync.states import GROUP, deletion_of, entry_of, person, pin_of

HEADS: Final = tuple(bytes([number]) * 32 for number in range(HEADS_MAX))
SAID: Final = [
    Profile("alice", "teal", "in the garden"),
    Read(7, bytes(32)),
    Held(HEADS, 3),
    Topic("tomorrow at ten"),
    Pin(),
]


def name_for(content: Content) -> bytes:
    return bytes(32) if isinstance(content, Pin) else b""


@pytest.mark.parametrize("content", SAID, ids=lambda one: type(one).__name__)
def test_an_entry_comes_back_from_its_bytes(content: Content) -> None:
    entry = entry_of(1, content, 5, name_for(content))
    back = open_entry(entry.content, GROUP)
    assert back == entry
    assert back.says == content
    assert (
        back.key == hashlib.sha256(entry.author + bytes([entry.kind]) + name_for(content)).digest()
    )
    assert back.leaf == hashlib.sha256(entry.content[:-64]).digest()


def test_a_usual_entry_has_under_210_bytes_with_a_head_of_governance() -> None:
    assert len(entry_of(1, Read(7, bytes(32)), 5).content) + 32 == 206
    assert len(pin_of(1, 9, 5).content) + 32 == 199


def test_the_longest_of_everything_fits_into_the_limits() -> None:
    longest: list[Content] = [
        Profile("ä" * NICK_MAX, "𝄞" * 16, "𝄞" * STATUS_MAX),
        Held(HEADS, 2**32 - 1),
        Topic("𝄞" * TOPIC_MAX),
    ]
    assert max(len(encode(one)) for one in longest) == VALUE_MAX
    governance = tuple(OpId(bytes([number]) * 32) for number in range(GOVERNANCE_MAX))
    who = person(1)
    value = encode(longest[1])
    signed = Signable(GROUP, Key(who.public_key), StateKind.HELD, b"", 5, governance, value)
    entry = sign(signed, who.sign)
    assert len(entry.content) <= ENTRY_SIZE_MAX
    assert open_entry(entry.content, GROUP).signed.governance == governance


def test_an_empty_value_deletes() -> None:
    assert open_entry(deletion_of(1, StateKind.TOPIC, 9).content, GROUP).says is None


def test_an_entry_of_another_channel_is_refused() -> None:
    with pytest.raises(DecodeError, match="another channel"):
        open_entry(entry_of(1, Topic("x"), 5).content, GroupId(bytes(16)))


def test_every_flipped_byte_is_refused() -> None:
    content = entry_of(1, Topic("tomorrow"), 5).content
    for place in range(len(content)):
        flipped = bytearray(content)
        flipped[place] ^= 1
        with pytest.raises(DecodeError):
            open_entry(bytes(flipped), GROUP)


def test_a_signature_without_the_domain_is_refused() -> None:
    entry = entry_of(1, Topic("tomorrow"), 5)
    bare = entry.content[:-64] + person(1).sign(entry.content[:-64])
    with pytest.raises(DecodeError, match="signature"):
        open_entry(bare, GROUP)


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        (StateKind.TOPIC, b"x", encode(Topic("x"))),
        (StateKind.PIN, b"", encode(Pin())),
        (StateKind.PIN, bytes(32), b"\x02"),
        (StateKind.TOPIC, b"", encode(Topic("x")) + b"\x00"),
        (StateKind.HELD, b"", bytes(8)),
        (StateKind.READ, b"", bytes(41)),
        (StateKind.PROFILE, b"", bytes(12)),
        (StateKind.TOPIC, b"", bytes(VALUE_MAX + 1)),
    ],
)
def test_what_is_not_in_form_is_neither_signed_nor_read(
    kind: StateKind, name: bytes, value: bytes
) -> None:
    who = person(1)
    with pytest.raises(DecodeError):
        sign(Signable(GROUP, Key(who.public_key), kind, name, 5, (), value), who.sign)
    content = entry_of(1, Pin(), 5, bytes(32)).content
    fields = bytes([kind]) + len(name).to_bytes(4, "little") + name
    stamp = content[86:94]
    forged = content[:49] + fields + stamp + bytes(4) + len(value).to_bytes(4, "little") + value
    with pytest.raises(DecodeError):
        parse(forged + bytes(64))


@pytest.mark.parametrize("stamp", [0, 2**63])
def test_a_stamp_outside_of_time_is_refused(stamp: int) -> None:
    with pytest.raises(DecodeError):
        entry_of(1, Topic("x"), stamp)


def test_heads_out_of_order_are_refused() -> None:
    who = person(1)
    heads = (OpId(b"\x02" * 32), OpId(b"\x01" * 32))
    key = Key(who.public_key)
    with pytest.raises(DecodeError):
        sign(Signable(GROUP, key, StateKind.PIN, bytes(32), 5, heads, b"\x01"), who.sign)
    with pytest.raises(DecodeError):
        encode(Held((b"\x02" * 32, b"\x01" * 32), 0))


@given(st.binary(max_size=ENTRY_SIZE_MAX + 8))
def test_any_bytes_give_an_entry_or_a_decode_error(content: bytes) -> None:
    with suppress(DecodeError):
        assert parse(content).content == content


def test_registers_of_one_name_differ_by_author_and_kind() -> None:
    one, other = Key(person(1).public_key), Key(person(2).public_key)
    keys = {register_key(author, kind, b"") for author in (one, other) for kind in StateKind}
    assert len(keys) == 2 * len(StateKind)
