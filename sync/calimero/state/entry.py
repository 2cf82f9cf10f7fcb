"""State entries: signed values of registers that one author alone writes.

A register is named by its author, its kind and a name. The newest of its entries stands, by stamp,
then by the larger leaf; one with an empty value says that there is none any more.
"""

import hashlib
from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from typing import Final, NewType

from msgspec import Struct

from sync.calimero.governance.ops import GroupId, Key, OpId
from sync.calimero.state.contents import ID_SIZE, VALUE_MAX, Content, StateKind, decode
from sync.entries.entry import GOVERNANCE_MAX
from sync.entries.identity import verify
from sync.errors import DecodeError
from sync.machine import MILLISECOND, Nanos, PeerId
from sync.structures.borsh import BorshReader, BorshWriter, BoundError

RegisterKey = NewType("RegisterKey", bytes)
"""SHA-256 of author, kind and name, 32 bytes: a place in the tree."""

Leaf = NewType("Leaf", bytes)
"""SHA-256 of what is signed, 32 bytes."""

VERSION: Final = 1
DOMAIN: Final = b"chat-tui.state.v1\0"
GROUP_SIZE: Final = 16
KEY_SIZE: Final = 32
SIGNATURE_SIZE: Final = 64
STAMP_MAX: Final = 2**63 // MILLISECOND - 1
"""Stamps are milliseconds since 1970 that fit into nanoseconds of eight bytes."""

ENTRY_SIZE_MAX: Final = 1_280
"""Bytes of an entry: fixed fields, a name, all heads of governance, the longest value."""


class Signable(Struct, frozen=True):
    """The part that is signed.

    Attributes:
        group: the channel.
        author: who alone writes the register.
        kind: what it is about.
        name: which one of that kind: the id of a line for a pin, else empty.
        stamp: milliseconds since 1970, rising with each entry of its author.
        governance: heads of governance that its author had seen, sorted; none if nobody governs.
        value: see `sync.calimero.state.contents`; empty to delete.
    """

    group: GroupId
    author: Key
    kind: StateKind
    name: bytes
    stamp: int
    governance: tuple[OpId, ...]
    value: bytes


class StateEntry(Struct, frozen=True, dict=True):
    """A value of one register, as its author signed it; `content` are its bytes as sent."""

    signed: Signable
    signature: bytes
    content: bytes

    @property
    def author(self) -> Key:
        """The one who writes the register."""
        return self.signed.author

    @property
    def kind(self) -> StateKind:
        """The kind of the register."""
        return self.signed.kind

    @cached_property
    def key(self) -> RegisterKey:
        """The register that this is a value of."""
        return register_key(self.author, self.kind, self.signed.name)

    @cached_property
    def leaf(self) -> Leaf:
        """The hash by which the tree knows it."""
        return Leaf(hashlib.sha256(self.content[:-SIGNATURE_SIZE]).digest())

    @property
    def rank(self) -> tuple[int, Leaf]:
        """The order of entries: by stamp, then by leaf."""
        return self.signed.stamp, self.leaf

    @property
    def stamped(self) -> Nanos:
        """The stamp in nanoseconds, as the reference clock counts."""
        return self.signed.stamp * MILLISECOND

    @property
    def says(self) -> Content | None:
        """The value, parsed; None if it is deleted. It was checked when the entry was parsed."""
        return decode(self.kind, self.signed.value)


def register_key(author: Key, kind: StateKind, name: bytes) -> RegisterKey:
    """Return the place of a register in the tree."""
    return RegisterKey(hashlib.sha256(author + bytes([kind]) + name).digest())


def sign(signed: Signable, signer: Callable[[bytes], bytes]) -> StateEntry:
    """Sign a value of a register of ours; `signer` signs with the key of its author.

    Raises:
        DecodeError: not in form, or over a limit.
    """
    _check(signed)
    signable = _encode(signed)
    signature = signer(DOMAIN + signable)
    return StateEntry(signed, signature, signable + signature)


def parse(content: bytes) -> StateEntry:
    """Parse an entry and check all that lies in its bytes but the signature.

    Raises:
        DecodeError: no entry, not canonical, or over a limit.
    """
    if not SIGNATURE_SIZE < len(content) <= ENTRY_SIZE_MAX:
        raise DecodeError(f"a state entry of {len(content)} bytes")
    reader = BorshReader(content[:-SIGNATURE_SIZE])
    version = reader.u8()
    if version != VERSION:
        raise DecodeError(f"a state entry of version {version}; {VERSION} is known")
    signed = Signable(
        group=GroupId(reader.fixed(GROUP_SIZE)),
        author=Key(reader.fixed(KEY_SIZE)),
        kind=_kind(reader.u8()),
        name=_bytes(reader, ID_SIZE),
        stamp=reader.u64(),
        governance=reader.each(lambda: OpId(reader.fixed(KEY_SIZE)), GOVERNANCE_MAX),
        value=_bytes(reader, VALUE_MAX),
    )
    reader.end()
    _check(signed)
    return StateEntry(signed, content[-SIGNATURE_SIZE:], content)


def author_of(content: bytes) -> Key:
    """Return the author that the bytes of an entry name, sound or not."""
    return Key(content[1 + GROUP_SIZE : 1 + GROUP_SIZE + KEY_SIZE])


def open_entry(content: bytes, group: GroupId) -> StateEntry:
    """Parse an entry, and check that it is signed and of channel `group`.

    Raises:
        DecodeError: it is not; says what is wrong.
    """
    entry = parse(content)
    if entry.signed.group != group:
        raise DecodeError("a state entry of another channel")
    check_signature(entry)
    return entry


def check_signature(entry: StateEntry) -> None:
    """Check that an entry is signed by its author.

    Raises:
        DecodeError: it is not.
    """
    signed = DOMAIN + entry.content[:-SIGNATURE_SIZE]
    if not verify(PeerId(entry.author.hex()), entry.signature, signed):
        raise DecodeError("a state entry whose signature is not its author's")


def _check(signed: Signable) -> None:
    """Refuse what the form of a kind does not allow.

    Only pins have a name, that of a line. So an author has one register of every other kind.
    """
    if len(signed.name) != (ID_SIZE if signed.kind is StateKind.PIN else 0):
        raise DecodeError(f"the name of a {signed.kind.name.lower()} has {len(signed.name)} bytes")
    if not 0 < signed.stamp <= STAMP_MAX:
        raise DecodeError(f"a state entry of time {signed.stamp}")
    if any(one >= other for one, other in pairwise(signed.governance)):
        raise DecodeError("the heads of governance are not in order")
    if len(signed.governance) > GOVERNANCE_MAX or len(signed.value) > VALUE_MAX:
        raise DecodeError("a state entry is over a limit")
    decode(signed.kind, signed.value)


def _encode(signed: Signable) -> bytes:
    out = BorshWriter()
    out.u8(VERSION)
    out.fixed(signed.group, GROUP_SIZE)
    out.fixed(signed.author, KEY_SIZE)
    out.u8(signed.kind)
    out.u32(len(signed.name))
    out.fixed(signed.name, len(signed.name))
    out.u64(signed.stamp)
    out.each(signed.governance, lambda head: out.fixed(head, KEY_SIZE))
    out.u32(len(signed.value))
    out.fixed(signed.value, len(signed.value))
    return bytes(out.data)


def _kind(number: int) -> StateKind:
    try:
        return StateKind(number)
    except ValueError as error:
        raise DecodeError(f"a state entry of the unknown kind {number}") from error


def _bytes(reader: BorshReader, most: int) -> bytes:
    size = reader.u32()
    if size > most:
        raise BoundError(f"{size} bytes where {most} are allowed")
    return reader.fixed(size)
