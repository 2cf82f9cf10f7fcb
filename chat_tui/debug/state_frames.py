"""State that is told on links, as an engineer reads it: registers, and the root of all of them."""

from typing import Final

from chat_tui.debug.governance_frames import Words
from sync.calimero.state.contents import StateKind
from sync.calimero.state.entry import parse
from sync.errors import DecodeError

ROOT_SIZE: Final = 32
SHOWN: Final = 16
"""Hexadecimal digits of a root or a leaf."""

KEY_SHOWN: Final = 8

KINDS: Final = {
    StateKind.PROFILE: "profile",
    StateKind.READ: "read mark",
    StateKind.HELD: "mark of what is held",
    StateKind.TOPIC: "topic",
    StateKind.PIN: "pin",
}


def state_words(data: bytes) -> Words:
    """Describe a register that its author tells.

    Raises:
        DecodeError: it is none.
    """
    entry = parse(data)
    author = entry.author.hex()
    what = KINDS[entry.kind] + ("" if entry.signed.value else ", taken back")
    tree = (
        "StateEntry",
        f"├ author {author}",
        f"├ kind {what}",
        f"├ stamp {entry.signed.stamp}",
        f"├ value {len(entry.signed.value)} bytes",
        f"└ leaf {entry.leaf.hex()[:SHOWN]}…",
    )
    return Words("STATE", author[:6], f"{what} of {author[:KEY_SHOWN]}…", tree)


def root_words(data: bytes) -> Words:
    """Describe the root of somebody's state.

    Raises:
        DecodeError: it is none.
    """
    if len(data) != ROOT_SIZE:
        raise DecodeError(f"a root of {len(data)} bytes")
    return Words(
        "ROOT", "", f"state {data.hex()[:SHOWN]}…", ("Root of the state", f"└ {data.hex()}")
    )
