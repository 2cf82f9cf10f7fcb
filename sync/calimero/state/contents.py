"""Values that a register may hold, by kind, in strict Borsh."""

from collections.abc import Callable, Mapping
from enum import IntEnum
from itertools import pairwise
from typing import Final, TypeAlias

from msgspec import Struct

from sync.errors import DecodeError
from sync.structures.borsh import BorshReader, BorshWriter

ID_SIZE: Final = 32
NICK_MAX: Final = 64
"""Characters of a nick, as in a presence."""

COLOUR_MAX: Final = 16
"""Characters of a colour's name."""

STATUS_MAX: Final = 32
"""Characters of a status: it stands beside a name."""

TOPIC_MAX: Final = 120
"""Characters of a topic: one line of a wide screen."""

HEADS_MAX: Final = 16
"""Heads that a mark names, as an entry names parents."""

VALUE_MAX: Final = 520
"""Bytes of a value: those of a mark with all its heads, the longest."""

CHARACTER_SIZE_MAX: Final = 4
"""Bytes of a character in UTF-8."""


class StateKind(IntEnum):
    """Kinds of registers."""

    PROFILE = 0
    READ = 1
    HELD = 2
    TOPIC = 3
    PIN = 4


class Profile(Struct, frozen=True):
    """Appearance that somebody chose."""

    nick: str
    colour: str = ""
    status: str = ""


class Read(Struct, frozen=True):
    """The last line, in the order of the channel, that somebody has read: its time and id."""

    lamport: int
    message_id: bytes


class Held(Struct, frozen=True):
    """Lines that somebody has on disk: these and their ancestors, but for `gaps` of those."""

    heads: tuple[bytes, ...]
    gaps: int


class Topic(Struct, frozen=True):
    """The subject of a channel, in one line."""

    text: str


class Pin(Struct, frozen=True):
    """A line is worth keeping in sight; the register's name is its id."""


Content: TypeAlias = Profile | Read | Held | Topic | Pin

KINDS: Final[Mapping[type[Content], StateKind]] = {
    Profile: StateKind.PROFILE,
    Read: StateKind.READ,
    Held: StateKind.HELD,
    Topic: StateKind.TOPIC,
    Pin: StateKind.PIN,
}


def encode(content: Content) -> bytes:
    """Return the bytes of a value; never empty, for an empty value deletes.

    Raises:
        DecodeError: over a limit.
    """
    out = BorshWriter()
    match content:
        case Profile(nick, colour, status):
            out.text(_within(nick, 1, NICK_MAX))
            out.text(_within(colour, 0, COLOUR_MAX))
            out.text(_within(status, 0, STATUS_MAX))
        case Read(lamport, message_id):
            out.u64(lamport)
            out.fixed(message_id, ID_SIZE)
        case Held(heads, gaps):
            out.each(_rising(heads), lambda head: out.fixed(head, ID_SIZE))
            out.u32(gaps)
        case Topic(text):
            out.text(_within(text, 1, TOPIC_MAX))
        case Pin():
            out.u8(1)
    return bytes(out.data)


def decode(kind: StateKind, value: bytes) -> Content | None:
    """Return what a value says; None for an empty one, which deletes.

    Raises:
        DecodeError: not canonical, or over a limit.
    """
    if not value:
        return None
    reader = BorshReader(value)
    content = READERS[kind](reader)
    reader.end()
    return content


def _read_profile(reader: BorshReader) -> Profile:
    return Profile(
        _text(reader, 1, NICK_MAX), _text(reader, 0, COLOUR_MAX), _text(reader, 0, STATUS_MAX)
    )


def _read_held(reader: BorshReader) -> Held:
    heads = reader.each(lambda: reader.fixed(ID_SIZE), HEADS_MAX)
    return Held(_rising(heads), reader.u32())


def _read_pin(reader: BorshReader) -> Pin:
    if reader.u8() != 1:
        raise DecodeError("a pin says 1")
    return Pin()


def _text(reader: BorshReader, least: int, most: int) -> str:
    return _within(reader.text(most * CHARACTER_SIZE_MAX), least, most)


def _within(text: str, least: int, most: int) -> str:
    if not least <= len(text) <= most:
        raise DecodeError(f"a text of {len(text)} characters; {least} to {most} are allowed")
    return text


def _rising(heads: tuple[bytes, ...]) -> tuple[bytes, ...]:
    if not 0 < len(heads) <= HEADS_MAX or any(one >= other for one, other in pairwise(heads)):
        raise DecodeError(f"a mark has 1 to {HEADS_MAX} heads, rising")
    return heads


READERS: Final[Mapping[StateKind, Callable[[BorshReader], Content]]] = {
    StateKind.PROFILE: _read_profile,
    StateKind.READ: lambda reader: Read(reader.u64(), reader.fixed(ID_SIZE)),
    StateKind.HELD: _read_held,
    StateKind.TOPIC: lambda reader: Topic(_text(reader, 1, TOPIC_MAX)),
    StateKind.PIN: _read_pin,
}
