"""Inspection of a running engine: causal graph, frames, filter, recordings and traces."""

from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from sync.machine import ChannelId, MessageId, Nanos, PeerId

if TYPE_CHECKING:
    from sync.view.departures import DepartureInfo
    from sync.view.message_infos import MessageStory
    from sync.view.rates import RatesInfo


class Place(Enum):
    """State of a message of the causal graph."""

    HERE = "here"
    WAITING = "waiting"
    """It is here, and waits: for its parents, for history on its way, or for its time."""
    MISSING = "missing"


class CausalNode(Struct, frozen=True):
    """A message, what it builds on, and where it is; what is unknown of a missing one is None.

    `nick` and `text` are the author's bytes: sanitise to render. `text` is its beginning.
    """

    message_id: MessageId
    place: Place
    author: PeerId | None = None
    lamport: int | None = None
    created_ns: Nanos | None = None
    nick: str = ""
    text: str = ""
    parents: tuple[MessageId, ...] = ()


class FrameKind(Enum):
    """Kinds of frames."""

    SDS = "sds"
    SESSION = "session"
    """A payload of a reconciliation, or a frame of the check after it."""
    TRANSFER = "transfer"
    """A message that is pushed to whoever lacks it."""
    ANNOUNCE = "announce"
    """An announcement of author logs, of all channels shared with a peer."""
    OP = "op"
    """A signed op of a governed channel. The secrets in it are wrapped."""
    HEARTBEAT = "heartbeat"
    """The heads of governance that somebody has."""
    STATE = "state"
    """A signed register that its author tells on its links."""
    ROOT = "root"
    """The root of somebody's state."""
    CATCH_UP = "catch-up"
    """A message of a stream on which ops are asked for."""


class FrameInfo(Struct, frozen=True):
    """A frame as it was after decryption. `data` may be its beginning alone; `size` is all of it.

    `peer` is who sent it, or to whom it went; None for a broadcast to everybody.
    """

    number: int
    """From 1 on; a gap means that frames were let go of."""
    at: Nanos
    sent: bool
    peer: PeerId | None
    channel: ChannelId
    kind: FrameKind
    size: int
    data: bytes


class ProbeInfo(Struct, frozen=True):
    """An id against the channel's filter: its bits, and whether we really have the message."""

    message_id: str
    bits: tuple[tuple[int, bool], ...]
    """Position, and whether it is set."""
    held: bool

    @property
    def maybe(self) -> bool:
        """The filter's answer: True is maybe, False is certainly not."""
        return all(is_set for _, is_set in self.bits)


class Inspection(Protocol):
    """An engineer's queries beyond the snapshot; asking changes nothing in the engine."""

    def frames(self) -> Sequence[FrameInfo]:
        """Return the last frames, oldest first."""

    def rates(self, now: Nanos) -> "RatesInfo":
        """Return what passed in the last minute; frames are counted only while somebody asks."""

    def departures(self, channel: ChannelId) -> "Sequence[DepartureInfo]":
        """Return what left the buffers of the channel, newest first; 200 at most."""

    def filter_cells(self, channel: ChannelId, count: int) -> tuple[float, ...]:
        """Return the share of set bits in each of `count` equal parts of our filter."""

    def probe(self, channel: ChannelId, message_id: str) -> ProbeInfo | None:
        """Test an id against our filter of the channel; None if we are not in it now."""

    def story(self, channel: ChannelId, message_id: MessageId) -> "MessageStory":
        """Return what is remembered of a message: what happened to it, and who has it."""

    @property
    def recorded(self) -> Path | None:
        """The file that frames are recorded to, if any."""

    def record(self, path: Path) -> int:
        """Append every frame from now on to a file that only its owner can read.

        Returns how many frames the recording got that ends with this, 0 where there was none.

        Raises:
            LocalError: it cannot be written; says what to do.
        """

    def stop_recording(self) -> int:
        """Close that file; returns how many frames it got."""

    @property
    def traced(self) -> Path | None:
        """The file that the engine's steps are written to, if any."""

    def trace(self, path: Path | None) -> None:
        """Write the engine's steps to a file from now on; None ends that.

        Raises:
            LocalError: it cannot be written, or there is no trace here; says what to do.
        """
