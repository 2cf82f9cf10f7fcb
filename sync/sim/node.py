"""One simulated participant: its keys, its disk, its clock, and what it is connected to."""

import hashlib
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from sync.entries.identity import Identity
from sync.group.group import Group
from sync.group.records import Record, StoreMessage, in_parts, opened
from sync.group.snapshots.values import DropSnapshot
from sync.group.values import PAGE, SessionId
from sync.machine import SECOND, ChannelId, MessageId, Nanos, PeerId
from sync.runner.batch import Batch
from sync.runner.input_queue import Addressed
from sync.runner.logbook import Logbook
from sync.runner.newest import Newest
from sync.runner.runner import Runner
from sync.sim.clocks.walls import Wall
from sync.sim.disk import Disk
from sync.view.frame_tap import Tap
from sync.view.view import FrameKind
from sync.waku.turn import PAYLOADS_MAX

DISK_RETRY: Final = (1 * SECOND, 10 * SECOND)
"""Pause after the disk refused a commit: the first time, and at most; a live node's is the same."""


@dataclass(slots=True)
class Stream:
    """A reconciliation or transfer stream, reliable and in order while its ends are connected.

    `ends` are the numbers of its nodes, with the session number each of them knows it by.
    """

    channel: ChannelId
    ends: dict[int, SessionId]
    last_arrival: Nanos = 0
    cut: bool = False
    """Whether it carries nothing any more."""


@dataclass(slots=True)
class Unread:
    """Inputs a receiver has not read yet, in order for each sender.

    A link holds a limited number of bytes.
    """

    inputs: dict[int, deque[tuple[int, Addressed]]] = field(default_factory=dict)
    """(bytes, input), by the number of the sender."""
    size: Counter[int] = field(default_factory=Counter)
    """Bytes, by sender."""

    def add(self, sender: int, size: int, addressed: Addressed) -> int:
        """Keep an input; returns how many bytes of its sender wait now."""
        self.inputs.setdefault(sender, deque()).append((size, addressed))
        self.size[sender] += size
        return self.size[sender]

    def take(self, sender: int) -> Addressed:
        """Return the first one of a sender of whom there is one."""
        waiting = self.inputs[sender]
        size, addressed = waiting.popleft()
        self.size[sender] -= size
        if not waiting:
            self.forget(sender)
        return addressed

    def forget(self, sender: int) -> None:
        """The link to a sender is gone, with what was on it."""
        self.inputs.pop(sender, None)
        self.size.pop(sender, None)


class Swap:
    """A snapshot that is made history; on a real disk it is `storage.sqlite.writes.swapping`.

    Args:
        channel: whose.
        group: its machines.
        disk: their disk, with the pages.
        now: the machines' clock.
    """

    def __init__(self, channel: ChannelId, group: Group, disk: Disk, now: Nanos) -> None:
        self.channel, self._disk = channel, disk
        pages = [page.chunk for page in reversed(disk.staged)]
        records = group.begin_replay(now)(pages, self._renewed)
        self._parts = in_parts(records, PAGE)
        self._unwritten: list[Record] = []
        """Records that were read, and are lost in a crash."""
        self._shared = False
        """True if something was committed since the replay last heard of state."""

    def read(self) -> bool:
        """Read another part; returns whether there was one."""
        part = next(self._parts, None)
        if part is not None:
            rows = self._disk.rows
            self._unwritten += [
                one
                for one in opened(part)
                if not (isinstance(one, StoreMessage) and one.message.entry.message_id in rows)
            ]
        return part is not None

    def commit(self, *, ends: bool) -> Sequence[Record]:
        """Write what was read; returns the records of it.

        Raises:
            StorageError: the disk is full.
        """
        written, self._unwritten = self._unwritten, []
        self._disk.commit([*written, DropSnapshot(self.channel)] if ends else written)
        self._disk.swapping = not ends
        self._shared = True
        return written

    def _renewed(self) -> Sequence[bytes] | None:
        if not self._shared:
            return None
        self._shared = False
        return tuple(self._disk.state.values())


@dataclass(slots=True)
class Node:
    """One participant, its disk, and what it is doing."""

    number: int
    identity: Identity
    host: int
    """The number of the node whose address it has: its own, but for aliases."""
    disks: dict[ChannelId, Disk]
    """Messages it holds of every channel it is in, the first channel of its world first."""
    runner: Runner | None = None
    """None while it is down."""
    joined: set[int] = field(default_factory=set)
    """The nodes it has a link with, in a mesh."""
    hearers: tuple[int, ...] = ()
    """The same, rising."""
    streams: dict[SessionId, Stream] = field(default_factory=dict)
    payloads_max: int = PAYLOADS_MAX
    """Payloads of one answer that it takes; 1 for a program of before there could be more."""
    committing: Batch | None = None
    """Batch it is handling or committing; until that is done it does nothing else."""
    swaps: list[Swap] = field(default_factory=list)
    """Snapshots that are made history, one after the other."""
    retry: Nanos = DISK_RETRY[0]
    """Pause after the next commit that its disk refuses."""
    loading: bool = False
    """Whether it has begun and not loaded its history yet, which fills a turn."""
    unread: Unread = field(default_factory=Unread)
    wake_at: Nanos | None = None
    clock_offset: Nanos = 0
    """Lead of its wall clock over the world's time."""
    told_offset: Nanos | None = None
    """Lead of the clock that it tells the others; None where it tells its own."""
    machine_offset: Nanos = 0
    """Lead of its machines' clock: that of the wall clock when it started."""
    wall: Wall = field(default_factory=Wall)
    """Further properties of its wall clock."""
    ill: bool = False
    """Whether its disk refuses, so that it takes nothing of peers (`sync.runner.input_rules`)."""
    meanwhile: Newest = field(default_factory=Newest)
    """Inputs of peers that came meanwhile, and are not told again."""
    reference_offset: Nanos = 0
    """Lead of the reference clock over the machines' clock, as it was last told."""
    incarnation: int = 0
    """Number of times it was started anew: what was on its way to an earlier one is lost."""
    doomed: bool = False
    """Whether it will crash in the midst of its next commit."""
    logbook: Logbook | None = None
    """Notes of its protocol, where that is recorded."""
    tap: Tap | None = None
    """Its frames, while somebody looks at them."""

    @property
    def disk(self) -> Disk:
        """Its disk for the first channel."""
        for disk in self.disks.values():
            return disk
        raise AssertionError("an alias has no disk")

    @disk.setter
    def disk(self, disk: Disk) -> None:
        self.disks[next(iter(self.disks))] = disk

    @property
    def heard_offset(self) -> Nanos:
        """Offset of its wall clock as those who hear its pings see it, positive if ahead."""
        return self.clock_offset if self.told_offset is None else self.told_offset

    @property
    def is_alias(self) -> bool:
        """True if it is only another identity of a hostile member, without a program of its own."""
        return not self.disks

    def loaded(self, channel: ChannelId, message_id: MessageId, size: int) -> None:
        """Note that a stored message is let out, in a frame of `size` bytes or none."""
        if self.logbook is not None:
            row = self.disks[channel].rows[message_id]
            self.logbook.loaded(row.message.entry.header.lamport, size)

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
            self.tap.note_frame(at + self.machine_offset, channel, peer, kind, data, sent=sent)

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
