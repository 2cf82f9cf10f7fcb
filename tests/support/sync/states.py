"""State entries of made-up people, signed for real."""

from functools import lru_cache
from typing import Final

from sync.calimero.governance.ops import GroupId, Key
from sync.calimero.state.contents import KINDS, Content, Pin, StateKind, encode
from sync.calimero.state.entry import Signable, StateEntry, sign
from sync.entries.identity import Identity

GROUP: Final = GroupId(bytes(range(16)))
NOBODYS_NAME: Final = b""


@lru_cache
def person(number: int) -> Identity:
    """Return somebody."""
    return Identity.from_seed(number.to_bytes(32, "big"), (number + 1).to_bytes(32, "little"))


def entry_of(
    number: int, content: Content, stamp: int, name: bytes = NOBODYS_NAME, group: GroupId = GROUP
) -> StateEntry:
    """Return an entry of somebody that says something."""
    who = person(number)
    kind = KINDS[type(content)]
    return sign(
        Signable(group, Key(who.public_key), kind, name, stamp, (), encode(content)), who.sign
    )


def pin_of(number: int, line: int, stamp: int) -> StateEntry:
    """Return a pin by somebody of a made-up line."""
    return entry_of(number, Pin(), stamp, line.to_bytes(32, "big"))


def deletion_of(number: int, kind: StateKind, stamp: int, name: bytes = b"") -> StateEntry:
    """Return an entry by which somebody takes a value back."""
    who = person(number)
    return sign(Signable(GROUP, Key(who.public_key), kind, name, stamp, (), b""), who.sign)
