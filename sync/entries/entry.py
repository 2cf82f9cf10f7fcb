"""One message, one identity: the signed, immutable entry (PROTOCOL 2).

The header's bytes are what the author signs, and their SHA-256 is the message id; so everything
a receiver orders by is signed. An entry's bytes are kept and relayed as they came.

Protobuf is imported where bytes are read or written: a start shows what the disk has in columns.
"""

import hashlib
from collections.abc import Callable
from enum import IntEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from google.protobuf.message import DecodeError as ProtobufDecodeError
from msgspec import Struct

from sync.errors import DecodeError, LocalError
from sync.machine import ChannelId, MessageId, Nanos, PeerId
from sync.structures.codec import CONTINUES, UVARINT_MAX, bytes_field, encode_uvarint

if TYPE_CHECKING:
    from proto import entry_pb2

VERSION: Final = 1
BODY_MAX: Final = 60 * 1024
"""Bytes of a body, so that header, signature and body stay under SDS's 64 KiB of content."""

NICK_MAX: Final = 32
"""Characters of a nick: more would not fit a name column."""

TEXT_MAX: Final = 15_000
"""Characters of a text; at 4 bytes a character this and a nick still fit the body limit."""

PARENTS_MAX: Final = 16
"""As many as an SDS message has in its causal history."""

GOVERNANCE_MAX: Final = 16
"""Heads of governance that an entry names."""

HASH_SIZE: Final = 32
SIGNATURE_SIZE: Final = 64
CHANNEL_SIZE: Final = 16


class Kind(IntEnum):
    """Kinds of entries. Unknown kinds are stored and relayed like any other."""

    TEXT = 1
    EDIT = 2
    REACTION = 3
    REDACTION = 4


class Parent(Struct, frozen=True):
    """A message this one causally depends on; all three values are fixed by that message."""

    message_id: MessageId
    author: PeerId
    waku_hash: bytes


class Header(Struct, frozen=True):
    """The part the author signs. `backlink` and `skiplink` are ids of the same author log."""

    author: PeerId
    channel_id: ChannelId
    log: int
    seq: int
    backlink: MessageId | None
    skiplink: MessageId | None
    created_ns: Nanos
    lamport: int
    parents: tuple[Parent, ...]
    kind: int
    body_size: int
    body_hash: bytes
    governance: tuple[bytes, ...] = ()
    """Ids of the ops that name the cut which the author saw, sorted; none in ungoverned channels.
    What they are is `sync.calimero.governance`'s."""


class Entry(Struct, frozen=True):
    """A header, the signature over it and the body; `content` is all of them as sent."""

    message_id: MessageId
    header: Header
    header_bytes: bytes
    signature: bytes
    body: bytes
    content: bytes


class Text(Struct, frozen=True):
    """The body of a text: the name the author used then, and what they wrote."""

    nick: str
    text: str
    replaces: str = ""
    """Id of the author's own text that this one stands for (see `changes`); empty for none."""
    reply_to: str = ""
    """Id of the message that this one says it answers (see `replies`); empty for none."""


NICK_TAG: Final = 0x0A
TEXT_TAG: Final = b"\x12"
PLAIN_SIZE_MIN: Final = 5
"""Bytes of a body with a text: two tags, two sizes, and a character."""

LIPMAA_KEPT: Final = 1024
"""Answers of `lipmaa` that are kept: an entry asks for its own several times, and logs of one
history grow side by side."""


@lru_cache(LIPMAA_KEPT)
def lipmaa(seq: int) -> int:
    """Return the sequence number that entry `seq` skips back to (Bamboo; 0 means none).

    Blocks have the sizes 1, 4, 13, 40, ... (each three of the size before, and one). The last entry
    of a block skips to the end of the block before it; one that fills a whole size, to the end of
    the first third.
    """
    size = 1
    while size < seq:
        size = 3 * size + 1
    if size == seq:
        return seq - (2 * size + 1) // 3
    rest = seq
    while True:
        size = (size - 1) // 3
        if size <= rest:
            rest %= size
            if rest == 0:
                return seq - size


def encode_header(header: Header) -> bytes:
    """Return the bytes the author signs: ascending fields, minimal varints.

    They are put together here, in a third of the time of a protobuf message that is filled and
    written; as there, a number that is 0 is left out.
    """
    from_hex = bytes.fromhex
    author, channel = from_hex(header.author), from_hex(header.channel_id)
    assert (len(author), len(channel)) == (HASH_SIZE, CHANNEL_SIZE)
    parts = [b"\x08\x01\x12\x20", author, b"\x1a\x10", channel]  # version and author, channel
    if header.log:
        parts += (b"\x21", header.log.to_bytes(8, "little"))
    if header.seq:
        parts += (b"\x28", encode_uvarint(header.seq))
    if header.backlink is not None:
        parts += (b"\x32\x20", from_hex(header.backlink))
    if header.skiplink is not None:
        parts += (b"\x3a\x20", from_hex(header.skiplink))
    if header.created_ns:
        parts += (b"\x41", header.created_ns.to_bytes(8, "little"))
    if header.lamport:
        parts += (b"\x48", encode_uvarint(header.lamport))
    for parent in header.parents:
        parts += (b"\x52\x66\x0a\x20", from_hex(parent.message_id))
        parts += (b"\x12\x20", from_hex(parent.author), b"\x1a\x20", parent.waku_hash)
    for head in header.governance:
        parts += (b"\x5a\x20", head)
    if header.kind:
        parts += (b"\x60", encode_uvarint(header.kind & UVARINT_MAX))  # unknown kinds are legal
    if header.body_size:
        parts += (b"\x68", encode_uvarint(header.body_size))
    parts += (b"\x72\x20", header.body_hash)
    return b"".join(parts)


def seal(header: Header, body: bytes, sign: Callable[[bytes], bytes]) -> Entry:
    """Sign `header` and put it together with `body`; size and hash must already be right.

    Raises:
        LocalError: the body is over its limit, so every peer would refuse it.
    """
    assert header.body_size == len(body)
    if len(body) > BODY_MAX:
        raise LocalError(f"The message has {len(body)} bytes, {BODY_MAX} fit; send it in parts.")
    header_bytes = encode_header(header)
    signature = sign(header_bytes)
    return Entry(
        message_id=message_id_of(header_bytes),
        header=header,
        header_bytes=header_bytes,
        signature=signature,
        body=body,
        content=encode_content(header_bytes, signature, body),
    )


def message_id_of(header_bytes: bytes) -> MessageId:
    """Return the lowercase hex SHA-256 of the header's bytes."""
    return MessageId(hashlib.sha256(header_bytes).hexdigest())


def encode_content(header_bytes: bytes, signature: bytes, body: bytes) -> bytes:
    """Return the content of the SDS message that carries an entry (PROTOCOL 2)."""
    signed = bytes_field(b"\x0a", header_bytes) + bytes_field(b"\x12", signature)
    return signed + bytes_field(b"\x1a", body)


def open_content(content: bytes) -> Entry:
    """Parse an SDS message's content and check all but the signature.

    Only one encoding of an entry is accepted, so that every peer derives the same Waku hash.

    Raises:
        DecodeError: not an entry, not canonical, over a limit, or another body than was signed.
    """
    from proto import entry_pb2  # noqa: PLC0415  # see above

    try:
        signed = entry_pb2.SignedEntry.FromString(content)
        parsed = entry_pb2.Header.FromString(signed.header)
    except ProtobufDecodeError as error:
        raise DecodeError(f"not a signed entry: {error}") from error
    header_bytes, signature, body = signed.header, signed.signature, signed.body  # each is a copy
    header = _header_from_wire(parsed)
    # What was parsed is encoded again, which takes a third of `encode_header`; what we do not know
    # of it is no part of any entry.
    parsed.DiscardUnknownFields()
    if parsed.SerializeToString(deterministic=True) != header_bytes:
        raise DecodeError("the entry's header is not in its canonical form")
    if encode_content(header_bytes, signature, body) != content:
        raise DecodeError("the entry is not in its canonical form")
    if len(signature) != SIGNATURE_SIZE:
        raise DecodeError(f"signature of {len(signature)} bytes")
    if header.body_size != len(body) or header.body_size > BODY_MAX:
        raise DecodeError(f"body of {len(body)} bytes, {header.body_size} signed")
    if header.body_hash != hashlib.sha256(body).digest():
        raise DecodeError("the body is not the one that was signed")
    return Entry(
        message_id=message_id_of(header_bytes),
        header=header,
        header_bytes=header_bytes,
        signature=signature,
        body=body,
        content=content,
    )


def content_of(header_bytes: bytes, signature: bytes, body: bytes) -> bytes:
    """Return the content whose parts were kept apart; `open_content` checks them."""
    return encode_content(header_bytes, signature, body)


def encode_text(text: Text) -> bytes:
    """Return the body of a text.

    Raises:
        LocalError: empty, or over the limits for nick and text.
    """
    if not text.text:
        raise LocalError("There is nothing to send: the message is empty.")
    if len(text.text) > TEXT_MAX:
        raise LocalError(
            f"The message has {len(text.text)} characters, {TEXT_MAX} fit; send it in parts."
        )
    if not 0 < len(text.nick) <= NICK_MAX:
        raise LocalError(f"A name has 1 to {NICK_MAX} characters; this one has {len(text.nick)}.")
    from proto import entry_pb2  # noqa: PLC0415  # see above

    try:
        replaces = bytes.fromhex(text.replaces) or None
        reply_to = bytes.fromhex(text.reply_to) or None
        parsed = entry_pb2.TextBody(
            nick=text.nick, text=text.text, replaces=replaces, reply_to=reply_to
        )
        return parsed.SerializeToString(deterministic=True)
    except (UnicodeEncodeError, ValueError) as error:
        raise LocalError("The message has characters that are not valid Unicode.") from error


def decode_text(body: bytes) -> Text:
    """Parse the body of a text.

    Raises:
        DecodeError: not such a body, or over its limits.
    """
    if (plain := _plain_text(body)) is not None:
        return plain
    from proto import entry_pb2  # noqa: PLC0415  # see above

    try:
        parsed = entry_pb2.TextBody.FromString(body)
    except ProtobufDecodeError as error:
        raise DecodeError(f"not a text body: {error}") from error
    nick, text, replaces = parsed.nick, parsed.text, parsed.replaces  # each makes a copy
    if len(nick) > NICK_MAX or len(text) > TEXT_MAX:
        raise DecodeError(f"nick of {len(nick)}, text of {len(text)} characters")
    reply_to = parsed.reply_to
    return Text(
        nick,
        text,
        replaces.hex() if len(replaces) == HASH_SIZE else "",
        reply_to.hex() if len(reply_to) == HASH_SIZE else "",
    )


def _plain_text(body: bytes) -> Text | None:
    """Return a text that stands for nothing and answers nothing, as nearly all do.

    None refuses nothing: protobuf says what is wrong, or reads what only looks unusual.
    """
    if len(body) < PLAIN_SIZE_MIN or body[0] != NICK_TAG or body[1] >= CONTINUES:
        return None
    end = 2 + body[1]
    if body[end : end + 1] != TEXT_TAG or end + 2 > len(body) - 1:
        return None
    size, at = body[end + 1], end + 2
    if size >= CONTINUES:
        size, at = size - CONTINUES + (body[at] << 7), at + 1
        if body[at - 1] >= CONTINUES:
            return None
    if at + size != len(body):
        return None
    try:
        nick, text = body[2:end].decode(), body[at:].decode()
    except UnicodeDecodeError:
        return None
    return Text(nick, text) if len(nick) <= NICK_MAX and len(text) <= TEXT_MAX else None


def _header_from_wire(parsed: "entry_pb2.Header") -> Header:
    if parsed.version != VERSION:
        raise DecodeError(f"entry of version {parsed.version}; we know version {VERSION}")
    if len(parsed.parents) > PARENTS_MAX:
        raise DecodeError(f"{len(parsed.parents)} parents, {PARENTS_MAX} allowed")
    if parsed.seq == 0 or len(parsed.channel_id) != CHANNEL_SIZE:
        raise DecodeError("an entry needs a sequence number from 1 on and a channel")
    governance = parsed.governance
    return Header(
        author=PeerId(_hash_hex(parsed.author)),
        channel_id=ChannelId(parsed.channel_id.hex()),
        log=parsed.log,
        seq=parsed.seq,
        backlink=_link(parsed.backlink, present=parsed.HasField("backlink")),
        skiplink=_link(parsed.skiplink, present=parsed.HasField("skiplink")),
        created_ns=parsed.created_ns,
        lamport=parsed.lamport,
        parents=tuple(
            [
                Parent(
                    message_id=MessageId(_hash_hex(parent.message_id)),
                    author=PeerId(_hash_hex(parent.author)),
                    waku_hash=_sized(parent.waku_hash),
                )
                for parent in parsed.parents
            ]
        ),
        kind=parsed.kind,
        body_size=parsed.body_size,
        body_hash=_sized(parsed.body_hash),
        governance=check_heads(tuple(governance)) if governance else (),
    )


def check_heads(heads: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """Check the heads of governance: ids, sorted, each once, and not too many.

    Raises:
        DecodeError: they are not.
    """
    if len(heads) > GOVERNANCE_MAX:
        raise DecodeError(f"{len(heads)} heads of governance, {GOVERNANCE_MAX} allowed")
    before = b""
    for head in heads:
        if _sized(head) <= before:
            raise DecodeError("heads of governance are unsorted or twice there")
        before = head
    return heads


def _link(value: bytes, *, present: bool) -> MessageId | None:
    return MessageId(_hash_hex(value)) if present else None


def _sized(value: bytes) -> bytes:
    if len(value) != HASH_SIZE:
        raise DecodeError(f"expected {HASH_SIZE} bytes, got {len(value)}")
    return value


def _hash_hex(value: bytes) -> str:
    return _sized(value).hex()
