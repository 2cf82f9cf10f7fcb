"""Entries as columns: the same verdict and the same parts as entries that are opened."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from proto import entry_pb2
from sync.entries.canonical import canonical_of
from sync.entries.columns import (
    columns_of,
    entry_of,
    open_columns,
    open_step_by_step,
    read_columns,
)
from sync.entries.entry import BODY_MAX, Entry, Kind, encode_content, encode_header, open_content
from sync.errors import DecodeError
from sync.group.ingest import Gate, message_of
from tests.support.sync.entries import CHANNEL, Author

HASHES = st.binary(min_size=32, max_size=32)
U64 = st.integers(0, 2**64 - 1)


def header_of(data: st.DataObject) -> entry_pb2.Header:
    """A header that may have anything wrong with it, and mostly has nothing."""
    size = st.one_of(st.just(32), st.just(32), st.integers(30, 34))
    some = st.builds(lambda size, fill: bytes([fill]) * size, size, st.integers(0, 255))
    header = entry_pb2.Header(
        version=data.draw(st.sampled_from([1, 1, 1, 0, 2])),
        author=data.draw(some),
        channel_id=bytes(data.draw(st.sampled_from([16, 16, 16, 15]))),
        log=data.draw(U64),
        seq=data.draw(st.one_of(st.integers(0, 3), U64)),
        created_ns=data.draw(U64),
        lamport=data.draw(U64),
        kind=data.draw(st.integers(-3, 9)),  # type: ignore[arg-type]  # unknown kinds are legal
        body_size=data.draw(st.sampled_from([3, 3, 3, 4])),
        body_hash=hashlib.sha256(b"abc").digest(),
    )
    if data.draw(st.booleans()):
        header.backlink = data.draw(st.one_of(some, st.just(b"")))
    if data.draw(st.booleans()):
        header.skiplink = data.draw(st.one_of(some, st.just(b"")))
    for _ in range(data.draw(st.sampled_from([0, 1, 2, 16, 17]))):
        header.parents.add(message_id=bytes(32), author=bytes(32), waku_hash=bytes(32))
    if len(header.parents) and data.draw(st.sampled_from([False, True])):
        header.parents[0].author = data.draw(some)
    header.governance.extend(data.draw(st.lists(some, max_size=3)))
    return header


def verdict(content: bytes) -> Entry | None:
    """The entry as it is opened, which columns must agree with; None if it is refused."""
    try:
        entry = open_content(content)
    except DecodeError:
        with pytest.raises(DecodeError):
            open_columns(content)
        return None
    signed = open_columns(content)
    assert signed == open_step_by_step(content)
    assert signed.columns == columns_of(entry) == read_columns(content)
    assert (signed.header_bytes, signed.signature) == (entry.header_bytes, entry.signature)
    assert signed.columns.body_of(content) == entry.body
    assert entry_of(signed, content) == entry
    return entry


@given(st.data())
def test_columns_are_refused_exactly_where_an_entry_is(data: st.DataObject) -> None:
    header = header_of(data).SerializeToString(deterministic=True)
    signature = bytes(data.draw(st.sampled_from([64, 64, 63])))
    verdict(encode_content(header, signature, data.draw(st.sampled_from([b"abc", b"abd"]))))


@given(st.data())
def test_no_other_spelling_of_an_entry_is_opened(data: st.DataObject) -> None:
    author = Author("carol")
    first = author.write("one")
    content = bytearray(author.write("two", after=[first]).entry.content)
    at = data.draw(st.integers(0, len(content) - 1))
    inserted = data.draw(st.binary(max_size=4))
    content[at : at + data.draw(st.integers(0, 3))] = inserted
    verdict(bytes(content))


@pytest.mark.parametrize("field", [b"\x78\x01", b"\x82\x01\x01\x07", b"\x08\x01"])
def test_a_field_that_nobody_knows_is_refused(field: bytes) -> None:
    entry = Author("carol").write().entry
    assert verdict(encode_content(entry.header_bytes + field, entry.signature, entry.body)) is None
    assert verdict(entry.content + field) is None


def test_a_parent_with_an_unknown_field_is_refused() -> None:
    author = Author("carol")
    entry = author.write(after=[author.write()]).entry
    header = entry_pb2.Header.FromString(entry.header_bytes)
    parent = header.parents[0].SerializeToString() + b"\x20\x01"
    del header.parents[:]
    bare = header.SerializeToString(deterministic=True)
    at = bare.index(b"\x60\x01")  # the kind follows the parents
    spelled = bare[:at] + b"\x52" + bytes([len(parent)]) + parent + bare[at:]
    assert verdict(encode_content(spelled, entry.signature, entry.body)) is None


def test_an_entry_with_nothing_in_it_but_what_must_be_is_opened() -> None:
    entry = Author("carol").write(body=b"", kind=0, lamport=0, created_ns=0).entry
    header = encode_header(replace(entry.header, log=0))
    assert verdict(encode_content(header, entry.signature, b"")) is not None


@given(st.integers(0, 2**64 - 1), st.integers(0, 16), st.binary(max_size=300))
def test_the_message_around_columns_is_that_around_the_entry(
    lamport: int, parents: int, body: bytes
) -> None:
    author, gate = Author("carol"), Gate.of(CHANNEL, lambda *_: True)
    after = [author.write(f"line {number}") for number in range(parents)]
    entry = author.write(
        after=after, lamport=lamport, created_ns=7, body=body, kind=Kind.EDIT
    ).entry
    stored = gate.store(entry, message_of(entry))
    assert gate.wrap(columns_of(entry), entry.content) == (stored.payload, stored.waku_hash)


@given(
    st.integers(1, 2**63 - 1),
    st.integers(1, 2**63 - 1),
    st.integers(0, 16),
    st.integers(0, 16),
    st.sampled_from([0, 1, 127, 128, 16_383, 16_384, BODY_MAX]),
)
def test_what_people_write_is_read_at_once(
    seq: int, lamport: int, parents: int, heads: int, body: int
) -> None:
    author = Author("carol")
    after = [author.write(f"line {number}") for number in range(parents)]
    governance = tuple(sorted(hashlib.sha256(bytes([number])).digest() for number in range(heads)))
    entry = author.write(after=after, lamport=lamport, created_ns=7, body=bytes(body)).entry
    header = encode_header(replace(entry.header, seq=seq, governance=governance))
    content = encode_content(header, entry.signature, entry.body)
    assert canonical_of(content) is not None
    assert verdict(content) is not None


def respelled(content: bytes, old: bytes, new: bytes) -> bytes:
    """A content with another spelling of something in its header, whose size is told right."""
    signed = entry_pb2.SignedEntry.FromString(content)
    assert signed.header.count(old) == 1, "the place is known"
    return encode_content(signed.header.replace(old, new), signed.signature, signed.body)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"\x28\x02\x32", b"\x28\x82\x00\x32"),  # seq, longer than need be
        (b"\x21" + bytes(7) + b"\x01\x28", b"\x21" + bytes(8) + b"\x28"),  # a log of 0
        (b"\x41" + bytes([7, *bytes(7)]), b"\x41" + bytes(8)),  # a time of 0
        (b"\x48\x05", b"\x48\x00"),  # a Lamport time of 0
        (b"\x60\x01", b"\x60\x00"),  # a kind of 0
        (b"\x60\x01", b""),  # which is right
        (b"\x60\x01\x68", b"\x60\x81\x80\x80\x80\x80\x00\x68"),
        (b"\x08\x01\x12", b"\x12"),  # no version
    ],
)
def test_another_spelling_is_not_read_at_once(old: bytes, new: bytes) -> None:
    author = Author("carol", log=1 << 56)
    content = author.write("two", after=[author.write()], lamport=5, created_ns=7).entry.content
    spelled = respelled(content, old, new)
    assert (canonical_of(content) is None, canonical_of(spelled) is None) == (False, bool(new))
    assert (verdict(spelled) is None) == bool(new)


def test_sizes_longer_than_need_be_are_not_read_at_once() -> None:
    author = Author("carol")
    signed = author.write("hi", after=[author.write()]).entry
    header, body = signed.header_bytes, signed.body
    assert len(header) >= 0x80 > len(body)
    size = bytes([len(header) & 0x7F | 0x80, len(header) >> 7])
    end = b"\x12\x40" + signed.signature
    assert canonical_of(b"\x0a" + size + header + end + b"\x1a" + bytes([len(body)]) + body)
    for spelled in (
        b"\x0a"
        + size[:1]
        + bytes([size[1] | 0x80, 0])
        + header
        + end
        + b"\x1a"
        + bytes([len(body)])
        + body,
        b"\x0a" + size + header + end + b"\x1a" + bytes([len(body) | 0x80, 0]) + body,
        b"\x0a" + size + header + end + b"\x1a" + bytes([len(body)]) + body + b"\x00",
    ):
        assert canonical_of(spelled) is None
        assert verdict(spelled) is None


@given(st.data())
def test_only_canonical_bytes_are_read_at_once(data: st.DataObject) -> None:
    author = Author("carol")
    first = author.write("one", governance=(bytes(32),))
    written = author.write("two" * 50, after=[first], governance=(bytes(32), bytes([1]) * 32))
    content = bytearray(written.entry.content)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at : at + data.draw(st.integers(0, 3))] = data.draw(
            st.one_of(st.binary(max_size=4), st.sampled_from([b"\x80", b"\x80\x00", bytes(8)]))
        )
    if canonical_of(bytes(content)) is not None:
        signed = entry_pb2.SignedEntry.FromString(bytes(content))
        header = entry_pb2.Header.FromString(signed.header)
        assert header.SerializeToString(deterministic=True) == signed.header
        assert signed.SerializeToString(deterministic=True) == bytes(content)
    verdict(bytes(content))
