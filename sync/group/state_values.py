"""Inputs and effects of a channel's state."""

from typing import Final

from msgspec import Struct

from sync.calimero.state.contents import Content, Held, Pin, Profile, Read, StateKind, Topic
from sync.machine import MessageId, PeerId

__all__ = [  # what is only passed on
    "Content",
    "Held",
    "Pin",
    "Profile",
    "Read",
    "StateKind",
    "Topic",
]

CONTENTS_MAX: Final = 128
"""Entries that are told at once: all registers of one author."""


class SetState(Struct, frozen=True):
    """The person, or the program for them, sets a register; `token` comes back in `StateSet`.

    Attributes:
        token: names the wish.
        kind: which register.
        content: what it says; None takes back what it says.
        name: the id of the line, for a pin.
    """

    token: int
    kind: StateKind
    content: Content | None
    name: bytes = b""


class StateArrived(Struct, frozen=True):
    """Signed entries came on the link of their author."""

    peer: PeerId
    contents: tuple[bytes, ...]


class RootTold(Struct, frozen=True):
    """A peer tells the root of its state, 32 bytes."""

    peer: PeerId
    root: bytes


class HeldLoaded(Struct, frozen=True):
    """Answer to `LoadHeld`: messages of ours that the mark of `peer` proves."""

    peer: PeerId
    message_ids: tuple[MessageId, ...]


class LoadHeld(Struct, frozen=True):
    """Look which of these messages lie under the heads that the mark of `peer` names."""

    peer: PeerId
    heads: tuple[MessageId, ...]
    wanted: tuple[MessageId, ...]


class TellRoot(Struct, frozen=True):
    """Tell the root of our state to these peers, as far as they understand that."""

    peers: tuple[PeerId, ...]
    root: bytes


class StateDiffers(Struct, frozen=True):
    """A peer has another state, and it is for us to begin a session."""

    peer: PeerId


class StateSet(Struct, frozen=True):
    """Our register is set: it is committed when this is released."""

    token: int


class TellState(Struct, frozen=True):
    """Tell entries of ours to everybody who understands them, at once."""

    contents: tuple[bytes, ...]


class StateChanged(Struct, frozen=True):
    """Registers say something else than before: of these kinds, by these authors."""

    kinds: frozenset[StateKind]
    authors: frozenset[PeerId]
