"""An entry as columns of bytes and numbers, for whoever opens a hundred thousand of them.

`open_columns` refuses exactly what `sync.entries.entry.open_content` refuses, in two thirds of its
time: it makes no object for each part, and writes no id in hexadecimal. `read_columns` reads again
what was checked before.
"""

import hashlib
from typing import Final, TypeAlias

from google.protobuf.message import DecodeError as ProtobufDecodeError
from msgspec import Struct

from proto import entry_pb2
from sync.entries.canonical import (
    Groups,
    canonical_of,
    fixed_of,
    heads_of,
    number_of,
    parents_of,
)
from sync.entries.entry import (
    BODY_MAX,
    CHANNEL_SIZE,
    HASH_SIZE,
    PARENTS_MAX,
    SIGNATURE_SIZE,
    VERSION,
    Entry,
    Header,
    Parent,
    check_heads,
)
from sync.errors import DecodeError
from sync.machine import ChannelId, MessageId, Nanos, PeerId

ParentColumns: TypeAlias = tuple[bytes, bytes, bytes]
"""Message id, author and Waku hash, as in `sync.entries.entry.Parent`."""

_open_signed: Final = entry_pb2.SignedEntry.FromString
_open_header: Final = entry_pb2.Header.FromString


class Columns(Struct, frozen=True, gc=False):
    """Parts of a header, ids as their bytes; see `sync.entries.entry.Header`."""

    message_id: bytes
    channel_id: bytes
    author: bytes
    log: int
    seq: int
    backlink: bytes | None
    skiplink: bytes | None
    created_ns: Nanos
    lamport: int
    parents: tuple[ParentColumns, ...]
    governance: tuple[bytes, ...]
    kind: int
    body_size: int

    def body_of(self, content: bytes) -> bytes:
        """Return the body of the entry whose content this is: it is the end."""
        return content[len(content) - self.body_size :]


class Signed(Struct, frozen=True, gc=False):
    """Columns of an entry, with what its signature is over."""

    columns: Columns
    header_bytes: bytes
    signature: bytes


def entry_of(signed: Signed, content: bytes) -> Entry:
    """Return the entry that `open_content` gives of a content, of which these are the columns."""
    columns, header_bytes = signed.columns, signed.header_bytes
    backlink, skiplink = columns.backlink, columns.skiplink
    header = Header(
        author=PeerId(columns.author.hex()),
        channel_id=ChannelId(columns.channel_id.hex()),
        log=columns.log,
        seq=columns.seq,
        backlink=None if backlink is None else MessageId(backlink.hex()),
        skiplink=None if skiplink is None else MessageId(skiplink.hex()),
        created_ns=columns.created_ns,
        lamport=columns.lamport,
        parents=tuple(
            [
                Parent(MessageId(message_id.hex()), PeerId(author.hex()), waku_hash)
                for message_id, author, waku_hash in columns.parents
            ]
        ),
        kind=columns.kind,
        body_size=columns.body_size,
        body_hash=header_bytes[-HASH_SIZE:],  # the last field
        governance=columns.governance,
    )
    return Entry(
        message_id=MessageId(columns.message_id.hex()),
        header=header,
        header_bytes=header_bytes,
        signature=signed.signature,
        body=columns.body_of(content),
        content=content,
    )


def columns_of(entry: Entry) -> Columns:
    """Return the columns of an entry that is opened already."""
    header, from_hex = entry.header, bytes.fromhex
    return Columns(
        from_hex(entry.message_id),
        from_hex(header.channel_id),
        from_hex(header.author),
        header.log,
        header.seq,
        None if header.backlink is None else from_hex(header.backlink),
        None if header.skiplink is None else from_hex(header.skiplink),
        header.created_ns,
        header.lamport,
        tuple(
            [
                (from_hex(parent.message_id), from_hex(parent.author), parent.waku_hash)
                for parent in header.parents
            ]
        ),
        header.governance,
        header.kind,
        header.body_size,
    )


def read_columns(content: bytes) -> Columns:
    """Return the columns of an entry that was checked, and whose bytes are still those.

    Raises:
        DecodeError: it is no entry at all.
    """
    if (parts := canonical_of(content)) is not None:
        return _columns_of(parts[0], parts[1], parts[3])
    try:
        header_bytes = _open_signed(content).header
        return _columns(_open_header(header_bytes), header_bytes)
    except ProtobufDecodeError as error:
        raise DecodeError(f"not a signed entry: {error}") from error


def open_columns(content: bytes) -> Signed:
    """Parse an SDS message's content and check all but the signature, as `open_content` does.

    Raises:
        DecodeError: not an entry, not canonical, over a limit, or another body than was signed.
    """
    parts = canonical_of(content)
    if parts is None:
        return open_step_by_step(content)
    groups, header_bytes, signature, body_size = parts
    body = content[len(content) - body_size :]
    if body_size > BODY_MAX or groups[-1] != hashlib.sha256(body).digest():
        return open_step_by_step(content)  # which says what is wrong
    columns = _columns_of(groups, header_bytes, body_size)
    check_heads(columns.governance)
    return Signed(columns, header_bytes, signature)


def open_step_by_step(content: bytes) -> Signed:
    """Parse an SDS message's content, whatever it looks like, and say what is wrong with it.

    Raises:
        DecodeError: as `open_columns`.
    """
    try:
        signed = _open_signed(content)
        header_bytes = signed.header
        header = _open_header(header_bytes)
    except ProtobufDecodeError as error:
        raise DecodeError(f"not a signed entry: {error}") from error
    # What this program does not know would be written again as it came.
    header.DiscardUnknownFields()
    signed.DiscardUnknownFields()
    if header.SerializeToString(deterministic=True) != header_bytes:
        raise DecodeError("the entry's header is not in its canonical form")
    if signed.SerializeToString(deterministic=True) != content:
        raise DecodeError("the entry is not in its canonical form")
    signature, body = signed.signature, signed.body
    if len(signature) != SIGNATURE_SIZE:
        raise DecodeError(f"signature of {len(signature)} bytes")
    if header.version != VERSION:
        raise DecodeError(f"entry of version {header.version}; we know version {VERSION}")
    columns = _columns(header, header_bytes)
    if columns.body_size != len(body) or columns.body_size > BODY_MAX:
        raise DecodeError(f"body of {len(body)} bytes, {columns.body_size} signed")
    if header.body_hash != hashlib.sha256(body).digest():
        raise DecodeError("the body is not the one that was signed")
    _check(columns)
    return Signed(columns, header_bytes, signature)


def _columns_of(groups: Groups, header_bytes: bytes, body_size: int) -> Columns:
    author, channel, log, seq, backlink, skiplink, created, lamport, parents, heads, kind, *_ = (
        groups
    )
    return Columns(
        hashlib.sha256(header_bytes).digest(),
        channel,
        author,
        fixed_of(log),
        number_of(seq),
        backlink,
        skiplink,
        fixed_of(created),
        number_of(lamport),
        tuple(parents_of(parents)),
        tuple([head for (head,) in heads_of(heads)]) if heads else (),
        number_of(kind),
        body_size,
    )


def _columns(header: entry_pb2.Header, header_bytes: bytes) -> Columns:
    backlink, skiplink, governance = header.backlink, header.skiplink, header.governance
    return Columns(
        hashlib.sha256(header_bytes).digest(),
        header.channel_id,
        header.author,
        header.log,
        header.seq,
        backlink if backlink or header.HasField("backlink") else None,
        skiplink if skiplink or header.HasField("skiplink") else None,
        header.created_ns,
        header.lamport,
        tuple([(one.message_id, one.author, one.waku_hash) for one in header.parents]),
        tuple(governance) if governance else (),
        header.kind,
        header.body_size,
    )


def _check(columns: Columns) -> None:
    if len(columns.parents) > PARENTS_MAX:
        raise DecodeError(f"{len(columns.parents)} parents, {PARENTS_MAX} allowed")
    if columns.seq == 0 or len(columns.channel_id) != CHANNEL_SIZE:
        raise DecodeError("an entry needs a sequence number from 1 on and a channel")
    _check_hash(columns.author)
    if columns.backlink is not None:
        _check_hash(columns.backlink)
    if columns.skiplink is not None:
        _check_hash(columns.skiplink)
    for message_id, author, waku_hash in columns.parents:
        if len(message_id) != HASH_SIZE or len(author) != HASH_SIZE or len(waku_hash) != HASH_SIZE:
            raise DecodeError(f"a parent with parts of other than {HASH_SIZE} bytes")
    check_heads(columns.governance)


def _check_hash(value: bytes) -> None:
    if len(value) != HASH_SIZE:
        raise DecodeError(f"expected {HASH_SIZE} bytes, got {len(value)}")
