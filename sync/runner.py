"""The one loop both drivers turn: handle, commit, release.

A driver feeds inputs, calls `turn`, commits the batch's records in one transaction, and only then
carries out the batch's releases, in order. So no byte leaves, and nothing is shown, that a power
cut could take back. Where the commit fails it calls `rebuild` with what the disk holds, and
releases nothing.
"""

import random
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, get_args

from sync import manager as managing
from sync.errors import LocalError, RemoteError
from sync.group import values
from sync.group.group import Author, Group
from sync.journal import Membership
from sync.machine import ChannelId, Nanos, PeerId, Tick
from sync.sds.message import PROFILES

QUEUE_MAX = 20_000
"""Inputs that may wait. Drivers stop reading from peers well before (`crowded`)."""

CROWDED = 2_000
"""Waiting inputs at which a driver stops reading from peers until the queue is shorter."""

BATCH_MAX = 512
"""Inputs handled before a commit; at 0.3 ms each the screen would wait 150 ms."""

RECORDS: tuple[type, ...] = get_args(values.Record)

SURVIVORS = (
    values.Write,
    values.WriteEphemeral,
    values.SendAgain,
    values.Arrived,
    values.PeerJoined,
    values.PeerGone,
)

Trace: TypeAlias = Callable[[Nanos, str, object, Sequence[object]], None]
"""(now, machine, input, effects): one line of a trace."""


@dataclass(frozen=True, slots=True)
class Addressed:
    """An input and the channel it is for."""

    channel: ChannelId
    event: values.Input


@dataclass(frozen=True, slots=True)
class Release:
    """An effect that may happen now, and the channel it is of."""

    channel: ChannelId
    effect: values.Effect


@dataclass(frozen=True, slots=True)
class Failure:
    """An input that changed nothing, and why."""

    channel: ChannelId
    event: values.Input
    error: LocalError | RemoteError


@dataclass(slots=True)
class Batch:
    """What one turn did: commit `records` together, then carry out `releases`."""

    inputs: list[Addressed] = field(default_factory=list)
    records: list[values.Record] = field(default_factory=list)
    releases: list[Release] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)


class Runner:
    """All channels of one node."""

    def __init__(self, author: Author, rng: random.Random, trace: Trace | None = None) -> None:
        self.groups: dict[ChannelId, Group] = {}
        self.memberships: dict[ChannelId, Membership] = {}
        self.manager = managing.Manager(author.me, rng)
        self._author = author
        self._rng = rng
        self._trace = trace
        self._queue: deque[Addressed] = deque()
        self._rebuilt: list[ChannelId] = []
        self._sessions = 0
        self._offset: Nanos = 0

    def add_channel(self, membership: Membership, state: values.ChannelState) -> None:
        """Take a channel into the house, with what the disk holds of it."""
        channel = membership.channel
        self.memberships[channel] = membership
        self.groups[channel] = Group(self._author, channel, PROFILES[membership.profile], self._rng)
        self._queue.appendleft(Addressed(channel, values.Restored(state)))
        if self._offset:
            self._queue.append(Addressed(channel, values.ReferenceClock(self._offset)))

    def feed(self, channel: ChannelId, event: values.Input) -> None:
        """Queue an input.

        Raises:
            LocalError: the queue is full; whoever feeds must wait until it is not `crowded`.
        """
        if len(self._queue) >= QUEUE_MAX:
            raise LocalError("Too much at once: wait a moment, then go on.")
        self._queue.append(Addressed(channel, event))

    def feed_all(self, event: values.Input) -> None:
        """Queue an input for every channel."""
        if isinstance(event, values.ReferenceClock):
            self._offset = event.offset_ns
        for channel in self.groups:
            self.feed(channel, event)

    @property
    def waiting(self) -> int:
        """How many inputs wait to be handled."""
        return len(self._queue)

    @property
    def crowded(self) -> bool:
        """Whether drivers should stop reading from peers for now."""
        return len(self._queue) >= CROWDED

    @property
    def busy(self) -> bool:
        """Whether inputs wait to be handled."""
        return bool(self._queue)

    def new_session(self) -> values.SessionId:
        """Return a fresh session number."""
        self._sessions += 1
        return self._sessions

    def ask_sync(self, channel: ChannelId, peer: PeerId, now: Nanos) -> None:
        """Reconcile with `peer` because the person asks."""
        self._manage(managing.Asked(channel, peer), now)

    def deadline(self) -> Nanos | None:
        """When `turn` is next needed; None when nothing waits on time."""
        times = [group.deadline() for group in self.groups.values()]
        times.append(self.manager.deadline())
        return min((time for time in times if time is not None), default=None)

    def turn(self, now: Nanos, enough: Callable[[], bool] = lambda: False) -> Batch:
        """Handle what waits: due ticks first, then inputs in order, until `enough` or 512."""
        batch = Batch()
        for channel in self._rebuilt:
            self._manage(managing.Rebuilt(channel), now)
        self._rebuilt.clear()
        self._tick(now, batch)
        while self._queue and len(batch.inputs) < BATCH_MAX:
            self._handle(self._queue.popleft(), now, batch)
            if enough():
                break
        return batch

    def rebuild(self, states: Mapping[ChannelId, values.ChannelState]) -> None:
        """After a failed commit: begin anew from what the disk holds, with the peers of now.

        The driver must have cut all session streams: the machines no longer know of them.
        """
        waiting = [
            addressed
            for addressed in self._queue
            if addressed.channel not in states or _survives(addressed.event)
        ]
        self._queue.clear()
        for channel, state in states.items():
            peers = sorted(self.groups[channel].peers)
            self._rebuilt.append(channel)
            self.add_channel(self.memberships[channel], state)
            for peer in peers:
                self._queue.append(Addressed(channel, values.PeerJoined(peer)))
        self._queue.extend(waiting)

    def _tick(self, now: Nanos, batch: Batch) -> None:
        for channel, group in self.groups.items():
            due = group.deadline()
            if due is not None and due <= now:
                self._handle(Addressed(channel, Tick()), now, batch)
        due = self.manager.deadline()
        if due is not None and due <= now:
            self._manage(Tick(), now)

    def _handle(self, addressed: Addressed, now: Nanos, batch: Batch) -> None:
        channel, event = addressed.channel, addressed.event
        batch.inputs.append(addressed)
        group = self.groups.get(channel)
        if group is None:
            return  # left since
        try:
            effects = group.handle(event, now)
        except (LocalError, RemoteError) as error:
            batch.failures.append(Failure(channel, event, error))
            return
        if self._trace is not None:
            self._trace(now, channel, event, effects)
        for effect in effects:
            if isinstance(effect, RECORDS):
                batch.records.append(effect)  # type: ignore[arg-type]  # RECORDS are the Records
            else:
                batch.releases.append(Release(channel, effect))
        self._tell_manager(channel, event, effects, now)

    def _tell_manager(
        self,
        channel: ChannelId,
        event: values.Input,
        effects: Sequence[values.Effect],
        now: Nanos,
    ) -> None:
        if isinstance(event, values.PeerJoined):
            self._manage(managing.Joined(channel, event.peer), now)
        elif isinstance(event, values.PeerGone):
            self._manage(managing.Left(channel, event.peer), now)
        for effect in effects:
            if isinstance(effect, values.Lacking):
                self._manage(managing.LackingNow(channel, effect.count, effect.peers), now)
            elif isinstance(effect, values.SessionEnded):
                ended = managing.Ended(channel, effect.peer, effect.converged)
                self._manage(ended, now)

    def _manage(self, event: managing.Input, now: Nanos) -> None:
        starts = self.manager.handle(event, now)
        if self._trace is not None:
            self._trace(now, "manager", event, starts)
        for start in starts:
            session = values.StartSession(self.new_session(), start.peer, start.why)
            self._queue.append(Addressed(start.channel, session))


def _survives(event: values.Input) -> bool:
    """What still means something to machines made anew: their sessions are gone."""
    return isinstance(event, SURVIVORS)
