"""One simulated participant: its keys, its disk, its clock, and what it is connected to."""

import hashlib
from dataclasses import dataclass, field

from sync.group.values import SessionId
from sync.identity import Identity
from sync.logbook import Logbook
from sync.machine import ChannelId, MessageId, Nanos, PeerId
from sync.runner import Batch, Runner
from sync.sim.disk import Disk
from sync.tap import Tap
from sync.view import FrameKind


@dataclass(slots=True)
class Stream:
    """A reconciliation or transfer stream, reliable and in order while its ends are connected.

    `ends` are the numbers of its nodes, with the session number each of them knows it by.
    """

    ends: dict[int, SessionId]
    last_arrival: Nanos = 0
    cut: bool = False
    """Whether it carries nothing any more."""


@dataclass(slots=True)
class Node:
    """One participant, its disk, and what it is doing."""

    number: int
    identity: Identity
    disk: Disk
    runner: Runner | None
    """None while it is down."""
    joined: set[int] = field(default_factory=set)
    """The nodes it has a link with, in a mesh."""
    hearers: tuple[int, ...] = ()
    """The same, rising."""
    streams: dict[SessionId, Stream] = field(default_factory=dict)
    committing: Batch | None = None
    wake_at: Nanos | None = None
    clock_offset: Nanos = 0
    """How far its wall clock is ahead of the world's time."""
    told_offset: Nanos | None = None
    """How far ahead is the clock that it tells the others; None where it tells its own."""
    machine_offset: Nanos = 0
    """How far its machines' clock is ahead: the wall clock's lead when it started."""
    reference_offset: Nanos = 0
    """How far the reference clock is ahead of the machines' clock, as it was last told."""
    incarnation: int = 0
    """How often it was started anew: what was on its way to an earlier one is lost."""
    doomed: bool = False
    """Whether it will crash in the midst of its next commit."""
    logbook: Logbook | None = None
    """What it notes of its protocol, where that is recorded."""
    tap: Tap | None = None
    """Its frames, while somebody looks at them."""

    @property
    def heard_offset(self) -> Nanos:
        """How far ahead its wall clock is to those who hear its pings."""
        return self.clock_offset if self.told_offset is None else self.told_offset

    def loaded(self, message_id: MessageId, size: int) -> None:
        """Note that a stored message is let out, in a frame of `size` bytes or none."""
        if self.logbook is not None:
            self.logbook.loaded(self.disk.rows[message_id].message.entry.header.lamport, size)

    def tapped(
        self,
        at: Nanos,
        channel: ChannelId,
        peer: PeerId | None,
        kind: FrameKind,
        data: bytes,
        *,
        sent: bool,
    ) -> None:
        """Note a frame, at the time of the world, where somebody looks at them."""
        if self.tap is not None:
            self.tap.note(at + self.machine_offset, channel, peer, kind, data, sent=sent)

    def join(self, number: int) -> None:
        """There is a link to `number`."""
        self.joined.add(number)
        self.hearers = tuple(sorted(self.joined))

    def leave(self, number: int) -> None:
        """There is no link to `number` any more."""
        self.joined.discard(number)
        self.hearers = tuple(sorted(self.joined))


def identity_of(seed: int, number: int) -> Identity:
    """Return the keys of node `number` in the world of `seed`."""
    drawn = hashlib.sha256(f"{seed}/{number}".encode()).digest()
    return Identity.from_seed(drawn, drawn)
