"""Messages of a comparison of state: they come back as they went, and nothing else gets through."""

from contextlib import suppress
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sync.calimero.governance.ops import Key
from sync.calimero.state.messages import (
    AUTHORS_MAX,
    CUT,
    ENTRIES_MAX,
    IDS_MAX,
    NODES_MAX,
    Authors,
    Children,
    Entries,
    HashNodes,
    Leaves,
    LevelData,
    Message,
    Outcome,
    Want,
    decode,
    encode,
    in_parts,
)
from sync.errors import DecodeError

ID: Final = st.binary(min_size=CUT, max_size=CUT)
IDS: Final = st.sets(ID, max_size=5).map(lambda ids: tuple(sorted(ids)))
PATH: Final = st.lists(st.integers(0, 15), max_size=6).map(bytes)
NUMBER: Final = st.integers(0, 2**64 - 1)
KEYS: Final = st.sets(st.binary(min_size=32, max_size=32), max_size=4).map(
    lambda keys: tuple(Key(key) for key in sorted(keys))
)
CHILDREN: Final = st.dictionaries(st.integers(0, 15), ID, min_size=1).map(
    lambda hashes: tuple(sorted(hashes.items()))
)
NODES: Final = st.dictionaries(PATH, st.one_of(CHILDREN, IDS), max_size=5).map(
    lambda nodes: tuple(
        Children(path, told) if told and isinstance(told[0], tuple) else Leaves(path, told)  # type: ignore[arg-type]
        for path, told in sorted(nodes.items())
    )
)
LEVEL: Final = st.dictionaries(PATH, ID, max_size=6).map(lambda nodes: tuple(sorted(nodes.items())))
MESSAGES: st.SearchStrategy[Message] = st.one_of(
    st.builds(HashNodes, NODES, IDS, st.booleans()),
    st.builds(LevelData, st.just(6), LEVEL, st.booleans()),
    st.builds(Want, IDS, st.booleans()),
    st.builds(Entries, st.lists(st.binary(max_size=40), max_size=4).map(tuple)),
    st.builds(Outcome, st.binary(min_size=32, max_size=32), NUMBER, NUMBER, st.booleans()),
    st.builds(Authors, KEYS, KEYS, st.booleans()),
)
MILLION: Final = (1_000_000).to_bytes(4, "little")


@given(MESSAGES)
def test_a_message_comes_back_as_it_went(message: Message) -> None:
    assert decode(encode(message)) == message


@given(st.binary(max_size=300))
@example(b"")
@example(b"\x00")
@example(b"\x12" + bytes(48) + b"\x02")
def test_arbitrary_bytes_are_a_message_in_its_only_spelling_or_a_decode_error(data: bytes) -> None:
    try:
        message = decode(data)
    except DecodeError:
        return
    assert encode(message) == data


@given(MESSAGES, st.data())
def test_a_message_with_one_byte_changed_is_another_one_or_none(
    message: Message, data: st.DataObject
) -> None:
    whole = bytearray(encode(message))
    whole[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
    with suppress(DecodeError):
        assert decode(bytes(whole)) != message


@given(MESSAGES)
def test_every_cut_and_what_follows_is_refused(message: Message) -> None:
    data = encode(message)
    for size in range(len(data)):
        with pytest.raises(DecodeError):
            decode(data[:size])
    with pytest.raises(DecodeError, match="follow"):
        decode(data + b"\x00")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x00" + MILLION, f"1000000.*{NODES_MAX}"),
        (b"\x00" + bytes(4) + MILLION, f"1000000.*{IDS_MAX}"),
        (b"\x01\x02" + MILLION, f"1000000.*{NODES_MAX}"),
        (b"\x10" + MILLION, f"1000000.*{IDS_MAX}"),
        (b"\x11" + MILLION, f"1000000.*{ENTRIES_MAX}"),
        (b"\x11\x01\x00\x00\x00" + MILLION, "a state entry of 1000000 bytes"),
        (b"\x15" + MILLION, f"1000000.*{AUTHORS_MAX}"),
        (b"\x63", "unknown kind 99"),
        (encode(Want((b"\x02" * CUT, b"\x01" * CUT))), "order"),
        (encode(Authors((Key(b"\x02" * 32), Key(b"\x01" * 32)), ())), "order"),
        (encode(LevelData(1, ((b"\x01\x02", bytes(CUT)),))), "below its level"),
        (encode(HashNodes((Leaves(b"\x02", ()), Leaves(b"\x01", ())))), "order"),
    ],
)
def test_what_claims_too_much_or_is_out_of_order_is_refused_by_name(
    data: bytes, reason: str
) -> None:
    with pytest.raises(DecodeError, match=reason):
        decode(data)


@given(st.lists(st.integers(1, 300_000), max_size=40), st.integers(1, 7))
def test_parts_have_everything_once_in_order_and_fit(sizes: list[int], most: int) -> None:
    parts = list(in_parts(tuple(sizes), lambda size: size, most))
    assert [one for part, _ in parts for one in part] == sizes
    assert all(len(part) <= most for part, _ in parts)
    assert [more for _, more in parts[:-1]] == [True] * (len(parts) - 1)
    assert not parts or not parts[-1][1]
