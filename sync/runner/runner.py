"""The one loop both drivers turn: handle, commit, release.

A driver feeds inputs, calls `turn`, commits the batch's records in one transaction, and only then
carries out the batch's releases, in order. So no byte leaves, and nothing is shown, that a power
cut could take back. Where the commit fails it calls `rebuild` with what the disk holds, and
releases nothing.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias, get_args

from msgspec import Struct
from msgspec.structs import replace

from sync.entries.membership import Membership
from sync.errors import LEFT, LocalError, RemoteError
from sync.group import values
from sync.group.group import Group
from sync.group.writer import Author
from sync.machine import ChannelId, Nanos, PeerId, Tick, earlier
from sync.manager import announcing, schedule
from sync.manager import values as managing
from sync.manager.registry import PROTOCOLS
from sync.runner.batch import Batch, Failure, Release
from sync.runner.deadlines import Deadlines
from sync.runner.input_queue import Addressed, InputQueue
from sync.runner.input_rules import OWN, SURVIVORS
from sync.runner.logbook import Logbook
from sync.runner.manager_inputs import FOR_THE_MANAGER, ForTheManager, manager_input
from sync.runner.newest import Newest
from sync.sds.parameters import PROFILES, Parameters
from sync.sessions.claims import Claimed, Claims
from sync.sessions.protocol import Protocols
from sync.sketch.key import derived

RECORDS: Final = frozenset(get_args(values.Record))

LIVE: Final = "live"
"""Name by which a person asks for a session that stays."""

LINKS: Final = frozenset(
    {values.PeerJoined, values.PeerAnnounced, values.LogsAnnounced, values.PeerGone}
)
"""Inputs that the manager hears of, or whoever announces."""

BEGINNING: Final = frozenset(
    {
        values.OwnClock,
        values.ReferenceClock,
        values.MemberClock,
        values.Restored,
        values.SnapshotSwapped,
        values.PeerJoined,
        values.PeerAnnounced,
        values.GovernanceLinked,
        values.Audience,
        values.LinksTimed,
    }
)
"""Inputs with which machines begin that are made anew."""

Trace: TypeAlias = Callable[[Nanos, str, object, Sequence[object]], None]
"""(now, machine, input, effects): one line of a trace."""


class Opened(Struct, frozen=True):
    """For the trace: the machines of a channel are made, with the parameters of a profile."""

    channel: ChannelId
    profile: str
    governed: bool = False
    anybody: bool = False
    """Whether whoever makes a key can be in it."""
    sketch_key: str = ""
    """Key of its sketches, in hex: with another one the same symbols would not come out."""


class Runner:
    """All channels of one node.

    Args:
        author: whose node it is.
        rng: decides delays and choices.
        trace: is told every step.
        profiles: the parameters of channels by name.
        protocols: by which sessions compare; none in tests of what SDS does alone.
    """

    def __init__(
        self,
        author: Author,
        rng: random.Random,
        trace: Trace | None = None,
        profiles: Mapping[str, Parameters] = PROFILES,
        protocols: Protocols = PROTOCOLS,
    ) -> None:
        self.groups: dict[ChannelId, Group] = {}
        self.memberships: dict[ChannelId, Membership] = {}
        self.protocols = protocols
        self.manager = schedule.Manager(author.me, rng, protocols)
        self.announcing = announcing.Announcing(
            protocols.family, keeps_all=author.retention is None
        )
        self._author = author
        self._rng = rng
        self._trace = trace
        self.logbook: Logbook | None = None
        """Notes what comes of inputs; drivers tell it what is let out."""
        self.inputs = InputQueue()
        self._claims = Claims(self._tables)
        self._rebuilt: list[managing.Rebuilt] = []
        self._sessions = 0
        self._clock: values.OwnClock | values.ReferenceClock | None = None
        """Last report of our own clock, for channels that are taken up later."""
        self._now: Nanos = 0
        """When the last turn was."""
        self._profiles = profiles
        self._deadlines = Deadlines(self.groups)
        self._due: Nanos | None = None
        self._due_known = False
        """Whether `_due` is the deadline: it only changes when a machine handles something."""

    def add_channel(
        self,
        membership: Membership,
        state: values.ChannelState,
        clocks: Sequence[values.MemberClock] = (),
    ) -> None:
        """Take a channel into the house, with what the disk holds of it.

        The clocks are told first: what is set aside must not be let in by ours alone, even for a
        moment, where members have said that it is wrong.
        """
        channel = membership.channel
        self.memberships[channel] = membership
        sketch_key = derived(membership.genesis or membership.secret)
        if self._trace is not None:
            anybody = membership.open and not membership.governed
            opened = Opened(
                channel, membership.profile, membership.governed, anybody, sketch_key.hex()
            )
            self._trace(self._now, "runner", opened, ())
        parameters = self._profiles[membership.profile]
        self.groups[channel] = Group(
            self._author,
            channel,
            parameters,
            self._rng,
            self._claims,
            self.protocols,
            governed=membership.governed,
            anybody=membership.open and not membership.governed,
            sketch_key=sketch_key,
        )
        self._note_change(channel)
        self._announce(announcing.Added(channel, state.counter), self._now)
        if state.compared:
            self._manage(managing.Compared(channel, state.compared), self._now)
        own: list[values.Input] = [] if self._clock is None else [_unchanged(self._clock)]
        first = [*own, *clocks, values.Restored(state)]
        self.inputs.add_first(channel, first)

    def remove_channel(self, channel: ChannelId, now: Nanos) -> None:
        """Let a channel go; what is on the disk stays there."""
        group = self.groups.pop(channel, None)
        if group is None:
            return
        del self.memberships[channel]
        self._note_change(channel)
        for peer in sorted(group.peers):
            self._tell_of_link(managing.Left(channel, peer), now)
        self._announce(announcing.Removed(channel), now)

    def queue_input(self, channel: ChannelId, event: values.Input) -> None:
        """Queue an input.

        Raises:
            LocalError: as `InputQueue.add`.
        """
        self.inputs.add(channel, event, self._now)

    def feed_all(self, event: values.Input) -> None:
        """Queue an input for every channel."""
        if isinstance(event, values.OwnClock | values.ReferenceClock):
            self._clock = event
        for channel in self.groups:
            self.queue_input(channel, event)

    @property
    def waiting(self) -> int:
        """Number of inputs that wait to be handled."""
        return len(self.inputs)

    @property
    def has_own(self) -> bool:
        """True if inputs wait to be handled that somebody waits for."""
        return self.inputs.has_own

    @property
    def busy(self) -> bool:
        """True if inputs wait to be handled."""
        return bool(self.inputs)

    def new_session(self) -> values.SessionId:
        """Return a fresh session number."""
        self._sessions += 1
        return self._sessions

    def ask_sync(self, channel: ChannelId, peer: PeerId, now: Nanos, protocol: str = "") -> None:
        """Reconcile with `peer` because the person asks, by any protocol or the one named.

        `LIVE` asks for a session over author logs that stays.

        Raises:
            LocalError: there is none of that name, or it cannot be used with `peer` now.
        """
        live = protocol == LIVE
        if live:
            self._check_offered(channel, peer, protocol)
        elif protocol:
            self._check_asked(channel, peer, protocol)
        asked = managing.Asked(channel, peer, "" if live else protocol, live)
        self._manage(asked, now)

    def _check_asked(self, channel: ChannelId, peer: PeerId, protocol: str) -> None:
        """Refuse a protocol by which no session would begin: the manager drops such a wish."""
        chosen = self.protocols.named(protocol)
        if chosen is None:
            raise LocalError(f"There is no way to compare called {protocol} in this chat.")
        if chosen.family:
            self._check_offered(channel, peer, protocol)
        if not self.manager.may_ask(channel, peer, protocol):
            raise LocalError(f"{protocol} cannot compare this channel with them now: leave it out.")

    def _check_offered(self, channel: ChannelId, peer: PeerId, protocol: str) -> None:
        if not self.announcing.may_request(peer, channel):
            raise LocalError(
                f"{protocol} needs author logs, and they have announced none of this channel: "
                "leave it out."
            )

    def tell_typing(self, channel: ChannelId, nick: str, now: Nanos) -> None:
        """Tell the others that the person, called `nick`, is typing; not again too soon.

        Asked at every key, so it is no input unless a notice is due; never while much waits.
        """
        group = self.groups.get(channel)
        if group is not None and group.tells_typing(now) and not self.inputs.crowded:
            self.queue_input(channel, values.Typing(nick))

    def deadline(self) -> Nanos | None:
        """Return when `turn` is next needed; None when nothing waits on time."""
        if not self._due_known:
            due = earlier(self.manager.deadline(), self.announcing.deadline())
            self._due, self._due_known = earlier(due, self._deadlines.first()), True
        return self._due

    def turn(
        self, now: Nanos, enough: Callable[[], bool] | None = None, batch: Batch | None = None
    ) -> Batch:
        """Handle what waits: due ticks first, then inputs in order.

        It ends when it is `enough`, after 512 inputs or with `BYTES_OF_TURN`. What happens goes to
        an open `batch` that is not committed yet, if one is given: then both are one commit.
        """
        batch = batch or Batch()
        self._now = now
        self._tell_rebuilt(now)
        due = self.deadline()
        if due is not None and due <= now:
            self._tick(now, batch)
        inputs = self.inputs
        while inputs and batch.is_open:
            addressed, weight = inputs.take()
            batch.held += weight
            self._handle(addressed, now, batch)
            if enough is not None and enough():
                break
        return batch

    def begin(self, now: Nanos) -> Batch:
        """Handle that with which machines begin that were just made anew, and nothing else.

        They then know their history and who is linked, whatever becomes of the batch. Another turn
        may add to it; it must not be let out before the next one of what waits.
        """
        batch = Batch()
        self._now = now
        self._tell_rebuilt(now)
        while any(type(one.event) in BEGINNING for one in self.inputs.next_ones(1)):
            addressed, weight = self.inputs.take()
            batch.held += weight
            self._handle(addressed, now, batch)
        return batch

    def _tell_rebuilt(self, now: Nanos) -> None:
        for rebuilt in self._rebuilt:
            self._manage(rebuilt, now)
        self._rebuilt.clear()

    def rebuild(self, states: Mapping[ChannelId, values.ChannelState]) -> None:
        """Begin anew from what the disk holds, with the peers of now.

        After a failed commit, or one of a batch with `begin_anew`.

        The driver must have cut all session streams: the machines no longer know of them.
        """
        if self.logbook is not None:
            self.logbook.drop()
        waiting = Newest()  # of what was told while the disk refused before, too
        for one in self.inputs.take_all(
            lambda one: one.channel not in states or type(one.event) in SURVIVORS
        ):
            waiting.keep(one)
        for channel, state in states.items():
            if channel not in self.groups:
                continue  # left while the disk was read
            group = self.groups[channel]
            peers, audience = sorted(group.peers), group.audience
            nearby = sorted(group.governing.nearby) if group.governing is not None else []
            speaking = group.state_beats.peers
            clocks = tuple(group.aside.reference.members.values())
            waits = group.snapshots.buffer
            swapped = group.snapshots.swapping
            self._rebuilt.append(managing.Rebuilt(channel, swapped=swapped))
            self.add_channel(self.memberships[channel], state, clocks)
            anew = self.groups[channel].snapshots
            anew.buffer = waits
            anew.refused = state.snapshot is not None and (swapped or group.snapshots.refused)
            if swapped and (source := group.snapshots.peer) is not None:
                newest = tuple([(one.sender_id, one.created_ns) for one in state.tips])
                self.inputs.add_own(channel, values.SnapshotSwapped(source, newest))
            self.groups[channel].sessions.shown.extend(group.sessions.shown)
            for peer in peers:
                accepts = self.manager.may_dial(channel, peer)
                host = self.manager.host_of(channel, peer)
                dialled = self.manager.dialled(channel, peer)
                self.inputs.add_own(channel, values.PeerJoined(peer, accepts, host, dialled))
            for peer in speaking:
                spoken = self.manager.spoken(channel, peer)
                self.inputs.add_own(channel, values.PeerAnnounced(peer, spoken))
            for peer in nearby:
                self.inputs.add_own(channel, values.GovernanceLinked(peer, here=True))
            if group.timed.slow:
                self.inputs.add_own(channel, group.timed)
            if audience:
                self.inputs.add_own(channel, values.Audience(audience))
        self.inputs.add_again(waiting.take_all())

    def _tables(self) -> list[Claimed]:
        """Return the session tables of all channels."""
        return [group.sessions for group in self.groups.values()]

    def _tick(self, now: Nanos, batch: Batch) -> None:
        for channel in self._deadlines.due(now):
            self._handle(Addressed(channel, Tick()), now, batch)
        due = self.manager.deadline()
        if due is not None and due <= now:
            self._manage(Tick(), now)
        due = self.announcing.deadline()
        if due is not None and due <= now:
            told = [one for one in self._announce(Tick(), now) if isinstance(one, announcing.Told)]
            batch.records += [values.SetCounter(one.counter) for one in told[:1]]  # all have one
            batch.announcements += told

    def _handle(self, addressed: Addressed, now: Nanos, batch: Batch) -> None:
        channel, event = addressed.channel, addressed.event
        batch.inputs.append(addressed)
        if (group := self.groups.get(channel)) is None:
            batch.failures += _left(addressed)
            return
        self._note_change(channel)
        if type(event) is values.SessionOffered:
            announced = self.announcing.announced_to(event.peer, channel)
            event = replace(event, announced=announced)
        try:
            effects = group.handle(event, now)
        except (LocalError, RemoteError) as error:
            batch.failures.append(Failure(channel, event, _without_frames(error)))
            if self.logbook is not None and isinstance(error, RemoteError):
                self.logbook.refused(channel, getattr(event, "peer", None), str(error))
            return
        if self._trace is not None:
            self._trace(now, channel, event, effects)
        if self.logbook is not None:
            self.logbook.handled(channel, group, event, effects)
        managed: list[ForTheManager] = []
        for effect in effects:
            kind = type(effect)
            if kind in RECORDS:
                batch.records.append(effect)  # type: ignore[arg-type]  # RECORDS are the Records
                continue
            if kind is values.BeginAnew:
                batch.begin_anew = True
                continue
            if kind is values.SwapSnapshot:
                batch.swaps.append(channel)
                continue
            if kind is values.Continue:
                self.inputs.add_own(channel, effect)  # type: ignore[arg-type]  # its type says so
                continue
            batch.releases.append(Release(channel, effect))
            if kind in FOR_THE_MANAGER:
                managed.append(effect)  # type: ignore[arg-type]  # it is one of those
        if type(event) in LINKS:
            self._on_link(addressed, now, batch)
        if managed:
            batch.records += _compared(channel, managed, now)
            for effect in managed:
                self._manage(manager_input(channel, effect, group.logs), now)

    def _note_change(self, channel: ChannelId) -> None:
        """Ask a channel's machines anew for their deadline."""
        self._due_known = False
        self._deadlines.changed(channel)

    def _on_link(self, addressed: Addressed, now: Nanos, batch: Batch) -> None:
        channel, event = addressed.channel, addressed.event
        match event:
            case values.PeerJoined(peer, accepts, host, dialled):
                logs = len(self.groups[channel].logs)
                joined = managing.Joined(channel, peer, accepts, host, logs, dialled)
                self._tell_of_link(joined, now)
            case values.PeerGone(peer):
                self._tell_of_link(managing.Left(channel, peer), now)
            case values.PeerAnnounced(peer, protocols):
                self._tell_of_link(managing.Announced(channel, peer, protocols), now)
            case values.LogsAnnounced(peer, payload):
                for effect in self._announce(announcing.Heard(peer, payload), now):
                    if isinstance(effect, announcing.Ignored):
                        batch.failures.append(Failure(channel, event, RemoteError(effect.reason)))
            case _:
                pass

    def _tell_of_link(
        self, event: managing.Joined | managing.Left | managing.Announced, now: Nanos
    ) -> None:
        self._manage(event, now)
        self._announce(event, now)

    def _announce(self, event: announcing.Input, now: Nanos) -> Sequence[announcing.Effect]:
        self._due_known = False
        effects = self.announcing.handle(event, now)
        if self._trace is not None and self.announcing.active:
            self._trace(now, "announcing", event, effects)
        for effect in effects:
            if isinstance(effect, announcing.Offered):
                self._manage(managing.LogsOffered(effect.peer, effect.channels), now)
        return effects

    def _manage(self, event: managing.Input, now: Nanos) -> None:
        self._due_known = False
        starts = self.manager.handle(event, now)
        if self._trace is not None:
            self._trace(now, "manager", event, starts)
        for channel, peer, comes in self.manager.expectations.take_news():
            self.inputs.add_own(channel, values.HistoryExpected(peer, comes))
        for start in starts:
            if self.logbook is not None:
                why = f"{start.why}: {start.chosen}"
                self.logbook.decided(start.channel, start.peer, start.protocol, why, start.cost)
            session = values.StartSession(
                self.new_session(),
                start.peer,
                start.why,
                start.span,
                start.protocol,
                start.count,
                start.to_now,
                start.live,
                start.offered,
                start.failed,
                start.chosen,
                start.cost,
            )
            self.inputs.add_own(start.channel, session)


def _compared(
    channel: ChannelId, effects: Sequence[values.Effect], now: Nanos
) -> list[values.SetCompared]:
    """Return what is to be kept of comparisons of everything: with whom, and when."""
    return [
        values.SetCompared(channel, effect.peer, now)
        for effect in effects
        if isinstance(effect, values.SessionEnded) and effect.converged and effect.whole
    ]


def _without_frames(error: LocalError | RemoteError) -> LocalError | RemoteError:
    """Return an error without the frames it came through, and those of its cause.

    They hold the batch that holds the error: both would be freed only by the next collection of
    garbage, which comes when there are many objects, however large they are.
    """
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)


def _unchanged(
    clock: values.OwnClock | values.ReferenceClock,
) -> values.OwnClock | values.ReferenceClock:
    """Return what was told of our clock, as of one that nobody has set since."""
    return replace(clock, was_set=False) if isinstance(clock, values.OwnClock) else clock


def _left(addressed: Addressed) -> list[Failure]:
    """Return what became of an input of a channel that was left since: somebody may wait for it."""
    if isinstance(addressed.event, OWN):
        return [Failure(addressed.channel, addressed.event, LocalError(LEFT))]
    return []
