"""Topic, pins, appearances and read marks of a channel in a snapshot, and their event.

Texts, nicks, colours and statuses are other people's bytes: sanitise to render.
"""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from sync.group.state_values import StateKind
from sync.machine import ChannelId, MessageId, Nanos, PeerId

__all__ = ["NO_STATE", "PinInfo", "ProfileInfo", "ReadInfo", "StateInfo", "StateKind", "StateShown",
           "TopicInfo", "newest_profiles"]  # fmt: skip


class TopicInfo(Struct, frozen=True):
    """The topic of a channel."""

    text: str
    by: PeerId
    at_ns: Nanos
    """Time at which it was set, by the clock of who did."""


class PinInfo(Struct, frozen=True):
    """A line that is pinned; it need not be here."""

    message_id: MessageId
    by: PeerId
    at_ns: Nanos
    """Time at which it was pinned, by the clock of who did."""


class ProfileInfo(Struct, frozen=True):
    """Appearance that somebody chose and signed; they may be away."""

    peer: PeerId
    nick: str
    colour: str
    status: str
    at_ns: Nanos
    """Time at which they said so, by their clock."""


class ReadInfo(Struct, frozen=True):
    """The last line, in the order of the channel, that somebody says they have read."""

    peer: PeerId
    lamport: int
    message_id: MessageId


class StateInfo(Struct, frozen=True):
    """Topic, pins, appearances and read marks of a channel."""

    topic: TopicInfo | None = None
    pins: tuple[PinInfo, ...] = ()
    """The one that was set last comes first; a hundred at most."""
    pins_count: int = 0
    profiles: tuple[ProfileInfo, ...] = ()
    """By peer; the first 512."""
    reads: tuple[ReadInfo, ...] = ()
    """By peer, ours among them; the first 512."""
    restored: bool = False
    """Whether our disk was read; before that nothing is known."""

    def profile(self, peer: PeerId) -> ProfileInfo | None:
        """Return the appearance that somebody chose; None if they have not said."""
        return next((one for one in self.profiles if one.peer == peer), None)

    def pin(self, message_id: MessageId) -> PinInfo | None:
        """Return the pin of a line; None if it is not pinned."""
        return next((one for one in self.pins if one.message_id == message_id), None)

    def read(self, peer: PeerId) -> ReadInfo | None:
        """Return up to where somebody has read; None if they have not said."""
        return next((one for one in self.reads if one.peer == peer), None)


NO_STATE: Final = StateInfo()


def newest_profiles(states: Iterable[StateInfo]) -> dict[PeerId, ProfileInfo]:
    """Return of everybody the appearance that they chose last, in whatever channel."""
    newest: dict[PeerId, ProfileInfo] = {}
    for one in [profile for state in states for profile in state.profiles]:
        held = newest.get(one.peer)
        if held is None or one.at_ns > held.at_ns:
            newest[one.peer] = one
    return newest


class StateShown(Struct, frozen=True):
    """Something of a channel's state is set to something else; the snapshot says to what."""

    channel: ChannelId
    kinds: frozenset[StateKind]
    authors: frozenset[PeerId]
