"""Runs a simulated node: it starts from its disk, handles inputs, commits, releases effects.

The live driver is `sync.net.engine.engine`; both turn `sync.runner.runner.Runner`.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from sync.errors import StorageError
from sync.group import values
from sync.group.ingest import Gate
from sync.group.records import StoreOp
from sync.group.writer import Author
from sync.machine import MILLISECOND, ChannelId, Nanos
from sync.runner.batch import Batch, Release, tell_looks
from sync.runner.input_queue import Addressed
from sync.runner.input_rules import RULES, Ill
from sync.runner.runner import Runner
from sync.sds.parameters import Parameters
from sync.sessions.protocol import Protocols
from sync.sim.clocks.pongs import own_clock
from sync.sim.disk import Disk
from sync.sim.invariants import Witness
from sync.sim.measure import Meter
from sync.sim.node import DISK_RETRY, Node, Swap
from sync.sim.outlet import READ_AGAIN, Outlet
from sync.sim.rooms import Rooms
from sync.sim.signatures import Signatures
from sync.sim.streams import Streams
from sync.sim.timeline import Timeline
from sync.sim.watch import Watch

COMMIT: tuple[Nanos, Nanos] = (1 * MILLISECOND, 6 * MILLISECOND)
"""Time a commit takes; a crash meanwhile takes it back. 4.8 ms were measured for one fsync."""

SLICE: Final[Nanos] = 10 * MILLISECOND
"""Time a live turn may take (PROTOCOL 8)."""

QUEUED_MAX: Final = 8 * 1024 * 1024
"""Bytes that wait on one link; a sender drops one that would have to hold more."""


@dataclass(slots=True)
class Turning:
    """All nodes of a world.

    Attributes:
        work: what handling one input takes; a turn ends after `SLICE` of it, and after a start with
            each input up to the loading of the history. 0: turns take no time, and handle what
            there is.
        crash: stops a node as a power cut does.
        clock_judged: hears that a node follows somebody else's clock, or nobody's any more.
        tells_clocks: says whether any clock is or was wrong, so that all are told.
        older: what nodes speak whose program is of before.
    """

    rooms: Rooms
    time: Timeline
    rng: random.Random
    streams: Streams
    meter: Meter
    parameters: Parameters
    protocols: Protocols
    signatures: Signatures
    work: Nanos
    crash: Callable[[int], None]
    clock_judged: Callable[[Node], None]
    tells_clocks: Callable[[], bool]
    older: Mapping[int, Protocols]
    watch: Watch | None = None
    outlet: Outlet = field(init=False)

    # --- Starting ------------------------------------------------------------------------------

    def start(self, node: Node) -> None:
        """Start a node from its disk."""
        author = Author(
            me=node.identity.peer_id,
            sign=partial(self.signatures.sign, node.identity),
            verify=self.signatures.verify,
            draw_log=partial(random.Random.getrandbits, self.rng, 64),
            gate_of=self._gate_of,
        )
        node.runner = Runner(
            author,
            random.Random(self.rng.getrandbits(64)),  # noqa: S311
            trace=None if self.watch is None else self.watch.trace_of(node),
            profiles={self.parameters.name: self.parameters},
            protocols=self.older.get(node.number, self.protocols),
        )
        node.runner.logbook = node.logbook
        node.machine_offset = node.clock_offset
        node.reference_offset = 0
        if self.tells_clocks():
            node.runner.feed_all(own_clock(node))
        for channel, disk in node.disks.items():
            room = self.rooms[channel]
            node.runner.add_channel(room.membership, disk.restore())
            if node.number < room.witness.hostile_from:
                _see(node, disk, room.witness)
        node.loading = True
        self.wake(node, self.time.now)

    def _gate_of(self, channel: ChannelId) -> Gate:
        return self.rooms[channel].gate

    # --- What comes in -------------------------------------------------------------------------

    def queue_input(self, node: Node, event: values.Input, channel: ChannelId) -> None:
        """Give a node an input, if it is up."""
        if node.runner is None:
            return
        if isinstance(event, values.ReferenceClock | values.OwnClock):
            node.runner.feed_all(event)
        elif not _lets_go(node, Addressed(channel, event)):
            node.runner.queue_input(channel, event)
        if node.committing is None:
            self.wake(node, self.time.now)

    def arrive(self, node: Node, sender: int, size: int, addressed: Addressed) -> bool:
        """Give a node what came over the network; returns whether its link has become too full.

        A node crowded by somebody reads nothing of them: their frames wait on the way.
        """
        runner = node.runner
        assert runner is not None
        if sender in node.unread.inputs or (runner.busy and self._is_crowded_by(node, sender)):
            return node.unread.add(sender, size, addressed) > QUEUED_MAX
        if _lets_go(node, addressed):
            return False
        runner.queue_input(addressed.channel, addressed.event)
        if node.committing is None:
            self.turn(node)
        return False

    def _is_crowded_by(self, node: Node, sender: int) -> bool:
        assert node.runner is not None
        return node.runner.inputs.is_crowded_by(self.outlet.nodes[sender].identity.peer_id)

    def wake(self, node: Node, at: Nanos) -> None:
        """Let a node look at `at` what there is to do."""
        if node.wake_at is None or at < node.wake_at:
            node.wake_at = at
            self.time.plan(at, self._woken, node, at)

    def _woken(self, node: Node, at: Nanos) -> None:
        if node.wake_at != at:
            return  # it was woken before, and sleeps again
        node.wake_at = None
        if node.runner is not None and node.committing is None:
            due = node.runner.deadline()
            if node.runner.busy or (due is not None and due <= self.time.now + node.machine_offset):
                self.turn(node)
            else:
                self._rest(node)

    # --- One turn ------------------------------------------------------------------------------

    def turn(self, node: Node, begun: Batch | None = None) -> None:
        """One turn of the runner: handle what waits, then commit, which takes a while.

        It adds to what machines have `begun` with that were made anew, if they have.
        """
        assert node.runner is not None
        enough = self._enough(node) if self.work else None
        batch = node.runner.turn(self.time.now + node.machine_offset, enough, begun)
        if node.loading and any(map(_loads, batch.inputs)):
            node.loading = False
        if batch.failures:
            self._note_failures(node, batch)
        self._check_answers(node, batch)
        took = len(batch.inputs) * self.work
        if not batch.records and not took:
            if batch.releases or batch.begin_anew or batch.swaps:
                node.committing = batch
                self._let_out(node, batch)
            else:  # mostly
                if node.logbook is not None:
                    node.logbook.let_out(self.time.now)
                self._rest(node)
            return
        node.committing = batch
        if batch.records:
            took += COMMIT[0] + int(self.rng.random() * (COMMIT[1] - COMMIT[0]))
            took += node.disk.slowness
        self.time.plan(self.time.now + took, self._committed, node, batch)
        if node.doomed and batch.records:
            self.time.call(self.time.now + took // 2, partial(self._crash_doomed, node))

    def _crash_doomed(self, node: Node) -> None:
        """Stop a node in its commit, unless it was told to go on meanwhile."""
        if node.doomed:
            self.crash(node.number)

    def _enough(self, node: Node) -> Callable[[], bool]:
        """Return what ends a turn early, where handling takes time."""
        left = 1 if node.loading else max(1, SLICE // self.work)

        def enough() -> bool:
            nonlocal left
            left -= 1
            return left <= 0

        return enough

    def _note_failures(self, node: Node, batch: Batch) -> None:
        for failure in batch.failures:
            self.rooms[failure.channel].witness.failed(node.number, failure)

    def _check_answers(self, node: Node, batch: Batch) -> None:
        """Let what governance answered in a turn be checked."""
        assert node.runner is not None
        for channel in node.disks:
            checking = self.rooms[channel].witness.governance
            if checking is not None:
                governing = node.runner.groups[channel].governing
                assert governing is not None
                checking.taken([one for one in batch.records if isinstance(one, StoreOp)])
                checking.turned(node.number, governing)

    def _committed(self, node: Node, batch: Batch) -> None:
        if node.committing is not batch:
            return  # it crashed meanwhile
        assert node.runner is not None
        try:
            tell_looks(batch, self._commit(node, batch.records))
        except StorageError:
            self._undo(node, batch)
            return
        if batch.records:
            node.retry = DISK_RETRY[0]
        if self.meter.open:
            self._measure_stored(node, batch.records)
        self._let_out(node, batch)

    def _let_out(self, node: Node, batch: Batch) -> None:
        """Release what is committed, once what it needs of the disk can be read."""
        if not _is_up_with(node, batch):
            return
        if node.disk.unreadable and any(map(_reads, batch.releases)):
            self._later(node, batch, self._let_out)
            return
        node.committing = None
        if batch.records or batch.releases:
            self._release(node, batch)
        if node.logbook is not None:
            node.logbook.let_out(self.time.now)
        assert node.runner is not None
        now = self.time.now + node.machine_offset
        for channel in batch.swaps:
            group = node.runner.groups[channel]
            node.swaps.append(Swap(channel, group, node.disks[channel], now))
        if batch.begin_anew:
            node.committing, node.ill = batch, True
            self._begin_anew(node, batch)
        else:
            self._rest(node)

    def _swap_on(self, node: Node) -> None:
        """Read some more of a snapshot that is made history, which takes a while."""
        token = node.committing = Batch()
        self.time.call(self.time.now + COMMIT[1], partial(self._part_read, node, token))
        if node.doomed:
            self.time.call(self.time.now + COMMIT[1] // 2, partial(self._crash_doomed, node))

    def _part_read(self, node: Node, token: Batch) -> None:
        """Commit what is read of a snapshot, once that is all or a line of ours waits."""
        if not _is_up_with(node, token):
            return  # it crashed meanwhile, and nothing was written
        swap, runner = node.swaps[0], node.runner
        assert runner is not None
        is_more = swap.read()
        if is_more and not runner.has_own:
            self._swap_on(node)
            return
        try:
            for record in swap.commit(ends=not is_more):
                if isinstance(record, values.StoreMessage):
                    self._witness_stored(node, record.message)
                    self._witness_swapped(node, swap.channel, record)
        except StorageError:  # the pages stay, for the next try
            self._begin_anew(node, token)
            return
        if is_more:
            self.turn(node)
        elif len(node.swaps) == 1:
            self._begin_anew(node, token)
        else:
            del node.swaps[0]
            self._swap_on(node)

    def _witness_swapped(self, node: Node, channel: ChannelId, record: values.StoreMessage) -> None:
        """Everybody sees what a snapshot brought, as they see what was on their disk."""
        witness = self.rooms[channel].witness
        if record.status is values.Status.DELIVERED and node.number < witness.hostile_from:
            disk, message_id = node.disks[channel], record.message.entry.message_id
            witness.delivered(node.number, disk.rows[message_id], disk, swapped=True)

    def _undo(self, node: Node, batch: Batch) -> None:
        """Make a node's machines anew at once, and have it handle nothing for a while, as live."""
        node.ill = True
        self._begin_anew(node, batch)
        if node.committing is None:
            assert node.runner is not None
            node.ill = True
            begun = node.committing = node.runner.begin(self.time.now + node.machine_offset)
            self.time.call(self.time.now + node.retry, partial(self._calmed, node, begun))
            node.retry = min(2 * node.retry, DISK_RETRY[1])

    def _calmed(self, node: Node, begun: Batch) -> None:
        if _is_up_with(node, begun):
            node.committing = None
            self.streams.cut(node, self.time.now)
            assert node.runner is not None
            self._get_well(node, node.runner)
            self.turn(node, begun)

    def _begin_anew(self, node: Node, batch: Batch) -> None:
        """Make a node's machines anew from what its disk holds, once that can be read."""
        if not _is_up_with(node, batch):
            return
        try:
            states = {channel: disk.restore() for channel, disk in node.disks.items()}
        except StorageError:
            self._later(node, batch, self._begin_anew)
            return
        assert node.runner is not None
        node.committing = None
        node.swaps.clear()  # what is left of them is begun anew
        self.streams.cut(node, self.time.now)
        node.runner.rebuild(states)
        self._get_well(node, node.runner)
        node.loading = True
        self._rest(node)

    @staticmethod
    def _get_well(node: Node, runner: Runner) -> None:
        """Take from peers again, and first what was kept of them."""
        node.ill = False
        runner.inputs.add_again(node.meanwhile.take_all())

    def _later(self, node: Node, batch: Batch, act: Callable[[Node, Batch], None]) -> None:
        """Try again what the disk could not be read for; until then the node handles nothing."""
        self.time.call(self.time.now + READ_AGAIN, partial(act, node, batch))

    def _commit(self, node: Node, records: Sequence[values.Record]) -> list[values.Altered]:
        """Write the records of all channels, or nothing.

        Raises:
            StorageError: the disk is full.
        """
        if len(node.disks) == 1:
            altered = node.disk.commit(records)
        else:
            disks = node.disks.items()
            per_channel = [
                (disk, [one for one in records if is_of(one, channel)]) for channel, disk in disks
            ]
            altered = [one for disk, part in per_channel for one in disk.commit(part)]
        for record in records:
            if type(record) is values.StoreMessage:
                self._witness_stored(node, record.message)
            elif type(record) is values.SetClock:
                self.clock_judged(node)
        return altered

    def _witness_stored(self, node: Node, message: values.StoredMessage) -> None:
        me, author = node.identity.peer_id, message.entry.header.author
        if author != me:
            room = self.rooms[message.channel]
            room.witness.stored(node.number, me, message, self.outlet.number_of(author))

    def _measure_stored(self, node: Node, records: Sequence[values.Record]) -> None:
        for record in records:
            if type(record) is values.StoreMessage:
                self.meter.came(node.number, record.message.entry.message_id, self.time.now)

    def _release(self, node: Node, batch: Batch) -> None:
        """Carry out what is committed, and tell the machines what turned out to be damaged."""
        self.meter.turned(self.time.now, node.number, batch)
        self.outlet.let_out(node, batch)
        self.outlet.tell_damage(node)

    def _rest(self, node: Node) -> None:
        """Sleep until the next input or deadline."""
        runner = node.runner
        assert runner is not None
        if node.swaps:
            self._swap_on(node)
            return
        if node.unread.inputs:
            self._read_on(node, runner)
        if runner.busy:
            self.wake(node, self.time.now)
        elif (due := runner.deadline()) is not None:
            self.wake(node, max(self.time.now, due - node.machine_offset))

    def _read_on(self, node: Node, runner: Runner) -> None:
        """Read what waits on the links, as far as there is room for it."""
        for sender in list(node.unread.inputs):
            while sender in node.unread.inputs and not self._is_crowded_by(node, sender):
                waits = node.unread.take(sender)
                runner.queue_input(waits.channel, waits.event)


def is_of(record: values.Record, channel: ChannelId) -> bool:
    """Return whether a record goes to the disk of a channel."""
    match record:
        case values.StoreMessage(message) | values.StorePending(message):
            return message.channel == channel
        case values.SetCounter():
            return True  # it is of all of them
        case _:
            return record.channel == channel


def _lets_go(node: Node, addressed: Addressed) -> bool:
    """Return whether an input goes by, or the newest of its kind is kept, as the disk refuses."""
    if not node.ill or (fate := RULES[type(addressed.event)].ill) is Ill.WAITS:
        return False
    if fate is not Ill.LET_GO:
        node.meanwhile.keep(addressed)
    return True


def _is_up_with(node: Node, batch: Batch) -> bool:
    """Return whether a node has not crashed since it began to commit a batch."""
    return node.committing is batch and node.runner is not None


def _loads(addressed: Addressed) -> bool:
    """Return whether an input is the history of a channel; a long one fills a turn."""
    return isinstance(addressed.event, values.Restored)


def _reads(release: Release) -> bool:
    """Return whether an effect needs a message from the disk."""
    match release.effect:
        case values.BroadcastStored() | values.Deliver(_, None):
            return True
        case _:
            return False


def _see(node: Node, disk: Disk, witness: Witness) -> None:
    """Show what the disk has at a start, also what a crash kept from being shown before."""
    shown = witness.shown[node.number]
    for _, message_id in disk.log():
        if message_id not in shown:
            witness.delivered(node.number, disk.rows[message_id], disk)
