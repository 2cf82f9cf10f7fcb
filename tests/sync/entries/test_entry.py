"""Entries: one encoding, one identity, and nothing that was not signed gets in."""

import hashlib
import json
from pathlib import Path

import pytest
from google.protobuf.message import DecodeError as ProtobufDecodeError
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from proto import entry_pb2
from sync.entries.entry import (
    BODY_MAX,
    GOVERNANCE_MAX,
    NICK_MAX,
    PARENTS_MAX,
    TEXT_MAX,
    Entry,
    Header,
    Kind,
    Parent,
    Text,
    _header_from_wire,
    _plain_text,
    decode_text,
    encode_content,
    encode_header,
    encode_text,
    lipmaa,
    open_content,
    seal,
)
from sync.entries.identity import Identity, verify
from sync.errors import DecodeError, LocalError
from sync.machine import ChannelId, MessageId, PeerId
from sync.sds.message import CONTENT_MAX

ALICE = Identity.from_seed(b"a" * 32, b"b" * 32)
HEX = st.binary(min_size=32, max_size=32).map(bytes.hex)
U64 = st.integers(0, 2**64 - 1)
PARENTS = st.builds(
    Parent, HEX.map(MessageId), HEX.map(PeerId), st.binary(min_size=32, max_size=32)
)
LINKS = st.none() | HEX.map(MessageId)
HEADERS = st.builds(
    Header,
    author=HEX.map(PeerId),
    channel_id=st.binary(min_size=16, max_size=16).map(bytes.hex).map(ChannelId),
    log=U64,
    seq=st.integers(1, 2**64 - 1),
    backlink=LINKS,
    skiplink=LINKS,
    created_ns=U64,
    lamport=U64,
    parents=st.lists(PARENTS, max_size=PARENTS_MAX).map(tuple),
    kind=st.integers(-(2**31), 2**31 - 1),
    body_size=st.just(0),
    body_hash=st.just(b""),
)


def header(body: bytes = b"hello", parents: int = 2) -> Header:
    return Header(
        author=ALICE.peer_id,
        channel_id=ChannelId("c0" * 16),
        log=2**63 + 5,
        seq=7,
        backlink=MessageId("11" * 32),
        skiplink=MessageId("22" * 32),
        created_ns=1_763_700_000_000_000_000,
        lamport=1_763_700_000_000,
        parents=tuple(
            Parent(MessageId(f"{number:064x}"), ALICE.peer_id, bytes([number]) * 32)
            for number in range(parents)
        ),
        kind=Kind.TEXT,
        body_size=len(body),
        body_hash=hashlib.sha256(body).digest(),
    )


def sealed(body: bytes = b"hello", parents: int = 2) -> Entry:
    return seal(header(body, parents), body, ALICE.sign)


def content_of(header_bytes: bytes, body: bytes = b"hello") -> bytes:
    """An entry with any header, rightly signed: what only its author could make."""
    signed = entry_pb2.SignedEntry(
        header=header_bytes, signature=ALICE.sign(header_bytes), body=body
    )
    return signed.SerializeToString(deterministic=True)


@given(st.binary(max_size=300), st.binary(max_size=64), st.binary(max_size=20_000))
def test_an_entry_is_written_as_protobuf_writes_it(
    header_bytes: bytes, signature: bytes, body: bytes
) -> None:
    signed = entry_pb2.SignedEntry(header=header_bytes, signature=signature, body=body)

    written = encode_content(header_bytes, signature, body)

    assert written == signed.SerializeToString(deterministic=True)


def parsed() -> entry_pb2.Header:
    return entry_pb2.Header.FromString(sealed().header_bytes)


def test_skiplinks_go_where_bamboo_sends_them() -> None:
    vectors = json.loads((Path(__file__).parents[2] / "vectors" / "bamboo_lipmaa.json").read_text())

    targets = [[seq, lipmaa(seq)] for seq, _ in vectors["lipmaa"]]

    assert targets == vectors["lipmaa"]


def test_the_first_entry_of_a_long_log_is_a_few_skips_away() -> None:
    seq, skips = 1_000_000, 0

    while seq > 1:
        seq, skips = lipmaa(seq), skips + 1

    assert seq == 1
    assert skips < 60


@given(HEADERS, st.binary(max_size=200))
def test_an_entry_comes_back_as_it_was_sealed(drawn: Header, body: bytes) -> None:
    wrote = replace(drawn, body_size=len(body), body_hash=hashlib.sha256(body).digest())
    entry = seal(wrote, body, ALICE.sign)

    assert open_content(entry.content) == entry
    assert entry.header == wrote


def test_the_id_is_the_hash_of_what_is_signed() -> None:
    entry = sealed()

    assert entry.message_id == hashlib.sha256(entry.header_bytes).hexdigest()
    assert verify(ALICE.peer_id, entry.signature, entry.header_bytes)


def test_an_unknown_field_is_refused() -> None:
    unknown = b"\xa8\x06\x01"  # field 101, varint 1

    with pytest.raises(DecodeError, match="canonical"):
        open_content(content_of(sealed().header_bytes + unknown))
    with pytest.raises(DecodeError, match="canonical"):
        open_content(sealed().content + unknown)


def test_an_unknown_field_of_a_parent_is_refused() -> None:
    strange = entry_pb2.Header.FromString(sealed().header_bytes)
    strange.parents[0].MergeFromString(b"\xa8\x06\x01")

    with pytest.raises(DecodeError, match="canonical"):
        open_content(content_of(strange.SerializeToString()))


@given(
    st.lists(
        st.tuples(st.integers(0, 2**16), st.binary(max_size=3), st.integers(0, 3)),
        min_size=1,
        max_size=3,
    )
)
def test_what_is_opened_is_what_would_be_written(
    cuts: list[tuple[int, bytes, int]],
) -> None:
    """The check encodes what was parsed; by definition it encodes the header that it means."""
    header_bytes = sealed().header_bytes
    for place, put, taken in cuts:
        at = place % len(header_bytes)
        header_bytes = header_bytes[:at] + put + header_bytes[at + taken :]
    content = content_of(header_bytes)
    try:
        entry = open_content(content)
    except DecodeError as error:
        refused = str(error)
    else:
        assert encode_header(entry.header) == header_bytes
        refused = ""
    try:
        meant = encode_header(_header_from_wire(entry_pb2.Header.FromString(header_bytes)))
    except (DecodeError, ProtobufDecodeError):
        assert refused
    else:
        assert ("canonical" in refused) == (meant != header_bytes)


def test_a_varint_that_is_longer_than_it_must_be_is_refused() -> None:
    header_bytes = sealed().header_bytes
    assert header_bytes.startswith(b"\x08\x01")  # version 1

    with pytest.raises(DecodeError, match="canonical"):
        open_content(content_of(b"\x08\x81\x00" + header_bytes[2:]))


def test_fields_in_another_order_are_refused() -> None:
    header_bytes = sealed().header_bytes

    with pytest.raises(DecodeError, match="canonical"):
        open_content(content_of(header_bytes[2:] + header_bytes[:2]))


def test_a_body_that_is_not_the_signed_one_is_refused() -> None:
    header_bytes = sealed(b"hello").header_bytes

    with pytest.raises(DecodeError, match="not the one that was signed"):
        open_content(content_of(header_bytes, b"jello"))
    with pytest.raises(DecodeError, match="body of 6 bytes, 5 signed"):
        open_content(content_of(header_bytes, b"hello!"))


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"version": 0},
        {"seq": 0},
        {"channel_id": b"short"},
        {"author": b"short"},
        {"body_hash": b"short"},
        {"backlink": b""},
        {"skiplink": b"x" * 33},
        {"governance": [b"x" * 31]},
        {"governance": [b"y" * 32, b"x" * 32]},
        {"governance": [b"x" * 32, b"x" * 32]},
        {"governance": [bytes([n]) * 32 for n in range(17)]},
        {"parents": [entry_pb2.Parent(message_id=b"x" * 32, author=b"y" * 32, waku_hash=b"z")]},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_header_with_a_field_out_of_its_bounds_is_refused(change: dict[str, object]) -> None:
    wrong = parsed()
    for name in change:
        wrong.ClearField(name)
    wrong.MergeFrom(entry_pb2.Header(**change))  # type: ignore[arg-type]

    with pytest.raises(DecodeError):
        open_content(content_of(wrong.SerializeToString(deterministic=True)))


def test_an_entry_names_up_to_16_heads_of_governance() -> None:
    heads = tuple(bytes([number]) * 32 for number in range(GOVERNANCE_MAX))
    governed = seal(replace(header(b"hello"), governance=heads), b"hello", ALICE.sign)

    assert open_content(governed.content) == governed
    assert open_content(governed.content).header.governance == heads


def test_a_signature_has_64_bytes() -> None:
    entry = sealed()
    short = entry_pb2.SignedEntry(header=entry.header_bytes, signature=b"x" * 63, body=entry.body)

    with pytest.raises(DecodeError, match="63 bytes"):
        open_content(short.SerializeToString(deterministic=True))


def test_16_parents_are_let_in_and_17_are_not() -> None:
    assert len(open_content(sealed(parents=PARENTS_MAX).content).header.parents) == 16
    with pytest.raises(DecodeError, match="17 parents"):
        open_content(sealed(parents=PARENTS_MAX + 1).content)


def test_a_body_may_be_as_large_as_its_limit_and_still_fits_an_sds_message() -> None:
    entry = sealed(b"x" * BODY_MAX, parents=PARENTS_MAX)

    assert open_content(entry.content) == entry
    assert len(entry.content) <= CONTENT_MAX


def test_a_body_over_its_limit_is_neither_made_nor_let_in() -> None:
    body = b"x" * (BODY_MAX + 1)

    with pytest.raises(LocalError, match="send it in parts"):
        seal(header(body), body, ALICE.sign)
    with pytest.raises(DecodeError, match="body of 61441 bytes"):
        open_content(content_of(encode_header(header(body)), body))


def test_the_longest_text_of_the_widest_characters_fits_a_body() -> None:
    text = Text("\U0001f600" * NICK_MAX, "\U0001f600" * TEXT_MAX)

    body = encode_text(text)

    assert len(body) <= BODY_MAX
    assert decode_text(body) == text


@pytest.mark.parametrize(
    "text",
    [
        Text("alice", ""),
        Text("", "hello"),
        Text("alice", "x" * (TEXT_MAX + 1)),
        Text("x" * (NICK_MAX + 1), "hello"),
        Text("alice", "\ud800"),
    ],
    ids=["empty", "no name", "too long", "name too long", "half a character"],
)
def test_a_text_that_nobody_could_read_is_refused_with_a_sentence(text: Text) -> None:
    with pytest.raises(LocalError, match=r"\.$"):
        encode_text(text)


def test_a_text_over_its_limits_is_not_let_in() -> None:
    with pytest.raises(DecodeError, match="33"):
        decode_text(entry_pb2.TextBody(nick="x" * 33, text="y").SerializeToString())
    with pytest.raises(DecodeError, match=str(TEXT_MAX + 1)):
        decode_text(entry_pb2.TextBody(nick="x", text="y" * (TEXT_MAX + 1)).SerializeToString())
    with pytest.raises(DecodeError, match="not a text body"):
        decode_text(b"\x0a\x02\xff\xfe")


def wire_text(body: bytes) -> Text | None:
    """A text as protobuf reads it; None if it is none, or over a limit."""
    try:
        parsed = entry_pb2.TextBody.FromString(body)
    except ProtobufDecodeError:
        return None
    nick, text = parsed.nick, parsed.text
    if len(nick) > NICK_MAX or len(text) > TEXT_MAX:
        return None
    ids = [one.hex() if len(one) == 32 else "" for one in (parsed.replaces, parsed.reply_to)]
    return Text(nick, text, *ids)


@given(
    nick=st.text(max_size=40),
    text=st.text(max_size=300)
    | st.sampled_from(["x" * 15_000, "\u6771" * 5_000, "\u6771" * 6_000]),
    replaces=st.none() | st.binary(min_size=32, max_size=32),
    data=st.data(),
)
def test_a_plain_text_is_what_protobuf_reads_and_so_is_whatever_it_became(
    nick: str, text: str, replaces: bytes | None, data: st.DataObject
) -> None:
    body = entry_pb2.TextBody(nick=nick, text=text, replaces=replaces).SerializeToString()
    end = data.draw(st.integers(0, len(body)))
    changed = bytearray(body[:end] + data.draw(st.binary(max_size=3)) + body[end:])
    if changed:
        at = data.draw(st.integers(0, min(len(changed), 60) - 1))
        changed[at] = data.draw(st.integers(0, 255))

    for one in (body, body[:end], bytes(changed)):
        plain = _plain_text(one)
        assert plain is None or plain == wire_text(one)


@pytest.mark.parametrize("size", [1, 127, 128, 15_000])
def test_a_plain_text_needs_no_protobuf(size: int) -> None:
    text = Text("alice", "x" * size)

    assert _plain_text(encode_text(text)) == text


def test_kinds_have_the_numbers_of_the_wire() -> None:
    assert {f"KIND_{kind.name}": kind.value for kind in Kind} == {
        name: number for name, number in entry_pb2.Kind.items() if number
    }


@given(st.binary(max_size=300))
def test_arbitrary_bytes_are_refused_as_such(content: bytes) -> None:
    with pytest.raises(DecodeError):
        open_content(content)


@given(st.data())
def test_no_change_of_a_single_byte_leaves_the_same_entry(data: st.DataObject) -> None:
    entry = sealed()
    at = data.draw(st.integers(0, len(entry.content) - 1))
    changed = bytearray(entry.content)
    changed[at] ^= data.draw(st.integers(1, 255))

    try:
        other = open_content(bytes(changed))
    except DecodeError:
        return

    signed = verify(other.header.author, other.signature, other.header_bytes)
    assert not signed
    assert other.body == entry.body
