"""The canonical bytes of an entry, read at once: no message of protobuf is made and encoded again.

What matches is canonical, field by field as `sync.entries.entry.encode_header` writes it, and each
id has its size. Anything else is `None` here, which refuses nothing: the step-by-step reader
(`sync.entries.columns`) says what is wrong with it, or reads what only looks unusual.
"""

import re
import struct
from typing import Any, Final, TypeAlias

from sync.entries.entry import GOVERNANCE_MAX, PARENTS_MAX, SIGNATURE_SIZE
from sync.structures.codec import CONTINUES, encode_uvarint

Groups: TypeAlias = tuple[Any, ...]
"""Author, channel, log, seq, backlink, skiplink, created_ns, lamport, parents, governance, kind,
body size and body hash, as they are encoded; None is a field that is left out."""

Canonical: TypeAlias = tuple[Groups, bytes, bytes, int]
"""Groups, header, signature, and the size of the body, which is the end of the content."""

NUMBER: Final = rb"([\x80-\xff]{0,8}[\x01-\x7f])"
"""A varint of up to 63 bits in its shortest form; 0 is left out."""

SMALL: Final = rb"([\x80-\xff]{0,3}[\x01-\x7f])"
"""The same of up to 28 bits, which kinds and sizes have."""

PARENT: Final = rb"\x52\x66\x0a\x20.{32}\x12\x20.{32}\x1a\x20.{32}"
HEAD: Final = rb"\x5a\x20.{32}"

HEADER: Final = re.compile(
    rb"\x08\x01"  # version
    rb"\x12\x20(.{32})"  # author
    rb"\x1a\x10(.{16})"  # channel
    rb"(?:\x21(.{8}))?"  # log
    rb"\x28" + NUMBER +  # seq
    rb"(?:\x32\x20(.{32}))?"  # backlink
    rb"(?:\x3a\x20(.{32}))?"  # skiplink
    rb"(?:\x41(.{8}))?"  # created_ns
    rb"(?:\x48" + NUMBER + rb")?"  # lamport
    rb"((?:" + PARENT + rb"){0,%d})" % PARENTS_MAX +
    rb"((?:" + HEAD + rb"){0,%d})" % GOVERNANCE_MAX +
    rb"(?:\x60" + SMALL + rb")?"  # kind
    rb"(?:\x68" + SMALL + rb")?"  # body size
    rb"\x72\x20(.{32})",  # body hash
    re.DOTALL,
)  # fmt: skip

HEADER_TAG: Final = 0x0A
SIGNATURE_TAG: Final = b"\x12\x40"
BODY_TAG: Final = b"\x1a"
LOG, CREATED, BODY_SIZE = 2, 6, 11
"""Places of some groups."""

ZERO: Final = bytes(8)
"""A field of a fixed size that should have been left out: nothing else tells."""

_match = HEADER.fullmatch
parents_of = struct.Struct("4x32s2x32s2x32s").iter_unpack
"""Yields message id, author and Waku hash of each parent in the bytes of all."""
heads_of = struct.Struct("2x32s").iter_unpack
"""Yields each head of governance, as a tuple of one, of the bytes of all."""


def canonical_of(content: bytes) -> Canonical | None:
    """Return the parts of an entry's content; None if they are not of the usual, canonical form."""
    if len(content) < SIGNATURE_SIZE or content[0] != HEADER_TAG:
        return None
    size, at = content[1], 2
    if size & CONTINUES:
        size, at = size - CONTINUES + (content[2] << 7), 3
        if not 0 < content[2] < CONTINUES:
            return None
    end = at + size
    body_at = end + len(SIGNATURE_TAG) + SIGNATURE_SIZE
    header_bytes = content[at:end]
    matched = _match(header_bytes)
    if matched is None or content[end : end + len(SIGNATURE_TAG)] != SIGNATURE_TAG:
        return None
    groups = matched.groups()
    if groups[LOG] == ZERO or groups[CREATED] == ZERO:
        return None
    body_size = number_of(groups[BODY_SIZE])
    around = BODY_TAG + encode_uvarint(body_size) if body_size else b""
    if len(content) != body_at + len(around) + body_size or not content.startswith(around, body_at):
        return None
    return groups, header_bytes, content[end + len(SIGNATURE_TAG) : body_at], body_size


def number_of(encoded: bytes | None) -> int:
    """Return the number of a varint; 0 of one that is left out."""
    if encoded is None:
        return 0
    if len(encoded) == 1:
        return encoded[0]
    number = 0
    for byte in reversed(encoded):
        number = number << 7 | byte & 0x7F
    return number


def fixed_of(encoded: bytes | None) -> int:
    """Return the number of a field of eight bytes; 0 of one that is left out."""
    return 0 if encoded is None else int.from_bytes(encoded, "little")
