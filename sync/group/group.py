"""One channel as a machine: what its members say, its log, its sessions, mapped to one disk.

Rules:
1. Every entry takes one way in: `inputs.admission`. Nothing else stores a message.
2. A permanent refusal (`RemoteError`) comes before any state has changed.
3. Records come before the effects that depend on them; the runner commits, then releases.
"""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from sync.entries import ephemeral
from sync.errors import LocalError, RemoteError
from sync.group import values
from sync.group.future_entries import AHEAD, CLOCK_AHEAD_MAX, TOO_MANY_AHEAD
from sync.group.ingest import outline_of
from sync.group.inputs import acts, admission, clocks, disk, snapshots, state, transfers
from sync.group.machines import Machines
from sync.group.sds_mapping import asked_of
from sync.group.snapshots.replay import Replay
from sync.machine import Nanos, PeerId, Tick, earlier
from sync.manager.registry import STATE
from sync.sds import events as sds
from sync.sds.message import Delivery, Kind, Message
from sync.sessions import values as session_values

NOT_YET: Final = (
    "That message still waits for its place in the channel; change it once it is there."
)


class Group(Machines):
    """The machines of one channel and the one way in."""

    def handle(self, event: values.Input, now: Nanos) -> Sequence[values.Effect]:
        """See `sync.machine`."""
        self.now, self.copy, self.asked = now, None, ()
        match event:
            case values.Arrived(peer, payload):
                effects = self._on_arrived(peer, payload)
            case values.Retrieved(payload):
                effects = self._on_arrived(None, payload)
            case values.Write():
                effects = self._on_write(event)
            case Tick():
                effects = self._on_tick()
            case (
                values.PeerJoined()
                | values.PeerGone()
                | values.PeerAnnounced()
                | values.LinksTimed()
            ):
                effects = self._on_peer(event)
            case values.Audience(peers):
                self.audience = peers
                effects = self.feed_sds(sds.Connected(peers))
            case (
                values.OwnClock()
                | values.MemberClock()
                | values.ClockAnswered()
                | values.ReferenceClock()
            ):
                effects = clocks.on_clock(self, event)
            case values.Typing(nick):
                effects = self._tell_typing(nick)
            case values.SendAgain() | values.AskAgain() | values.AuthorsLoaded():
                effects = self.feed_sds(asked_of(event))
            case values.HeldBackLoaded() | values.HistoryExpected():
                effects = self._on_history(event)
            case values.Restored(stored):
                effects = disk.on_restored(self, stored)
            case values.Damaged(message_ids):
                effects = disk.on_damaged(self, message_ids)
            case values.OpsArrived() | values.OpsAnswered() | values.Act():
                effects = acts.on_ops(self, event)
            case (
                values.HeartbeatArrived()
                | values.OpsRequested()
                | values.OpsLoaded()
                | values.OpsUnanswered()
                | values.OpsOffered()
                | values.GovernanceLinked()
            ):
                effects = acts.on_catch_up(self, event)
            case values.SnapshotSwapped():
                effects = snapshots.on_swapped(self, event)
            case values.AnswersChecked():
                effects = acts.on_checked(self, event)
            case (
                values.SetState() | values.StateArrived() | values.RootTold() | values.HeldLoaded()
            ):
                effects = state.on_state(self, event)
            case _:
                effects = self.feed_sessions(event)
        return self._followed(effects)

    def _on_tick(self) -> list[values.Effect]:
        effects = [
            *clocks.let_in(self),
            *self.feed_sds(Tick()),
            *self.feed_sessions(Tick()),
        ]
        effects += self.typists.expire(self.now)
        self.prefix.tick(self.now)
        return [*effects, *self._tend_relays(), *self._tend_snapshot()]

    def _followed(self, effects: list[values.Effect]) -> list[values.Effect]:
        """Add what follows from the state that an input left behind."""
        if self._lacked or self.sds.incoming.missing:
            effects += self._lacking()
        if self.loading.ids or self.loading.left:
            effects += self.loading.sweep(self.now)
        if self.governing is not None:
            effects += self.governing.tick(self.peers, self.now)
        beat = self.state_beats.deadline()
        if beat is not None:  # there are peers who understand state
            effects += state.followed(self, beat)
        return effects

    @property
    def wrote(self) -> bool:
        """True if we have ever written here."""
        return self.writer.created_ns > 0

    def deadline(self) -> Nanos | None:
        """Return when SDS, a session, loading, a parked entry or typing next needs a tick."""
        due = earlier(self.sds.deadline(), self.sessions.deadline())
        due = earlier(earlier(due, self.typists.deadline()), self.prefix.deadline())
        if self.restored:
            due = earlier(due, self.snapshots.deadline())
        if (beat := self.state_beats.deadline()) is not None:  # else there is nobody to tell
            due = earlier(earlier(due, beat), self.held_marks.deadline())
        if self.loading.ids or self.loading.left:
            due = earlier(due, self.loading.deadline())
        due = earlier(earlier(due, self.relays_at), self.relays.deadline())
        if self.governing is not None:
            due = earlier(due, self.governing.beats.deadline())
        return earlier(due, self.aside.next_at()) if self.aside.is_used else due

    def _on_peer(
        self,
        event: values.PeerJoined | values.PeerGone | values.PeerAnnounced | values.LinksTimed,
    ) -> list[values.Effect]:
        if isinstance(event, values.LinksTimed):
            self.timed = event
            return [*self.feed_sessions(event), *self.feed_sds(sds.Paced(event.pace))]
        if isinstance(event, values.PeerAnnounced):
            snapshots.on_announced(self, event.peer, event.protocols)
            if STATE.name in event.protocols and event.peer in self.peers:
                self.state_beats.linked(event.peer, self.now)
            return self.feed_sessions(event)
        if isinstance(event, values.PeerJoined):
            effects = self.feed_sessions(event)
            again = event.peer in self.peers
            self.state_beats.joined(event.peer, dialled=event.dialled, again=again)
            self.peers.add(event.peer)
            self.relays.linked(event.peer, self.now)
            if self.governing is not None:
                self.governing.beats.linked(self.now)
            self.relays_at = self.now if self.sessions.relays else None
            return [*effects, *self.feed_sds(sds.Connected(len(self.peers)))]
        self.peers.discard(event.peer)
        self.snapshots.gone(event.peer)
        self.state_beats.gone(event.peer)
        if self.governing is not None and event.peer not in self.governing.nearby:
            self.governing.beats.gone(event.peer)
        self.relays.gone(event.peer)
        effects = [*self.feed_sds(sds.Connected(len(self.peers))), *self.feed_sessions(event)]
        effects += self.typists.stopped(event.peer)
        known = event.peer in self.aside.reference.members
        return [*effects, *clocks.on_clock(self, event)] if known else effects

    def begin_replay(self, now: Nanos) -> Replay:
        """Return what makes the records of a staged snapshot; it may run in a thread."""
        return Replay(self, now)

    def _tend_snapshot(self) -> list[values.Effect]:
        """Let in some of what waits no more."""
        effects = snapshots.expired(self)
        for peer, payload in snapshots.released(self):
            try:
                effects += self._on_arrived(peer, payload)
            except RemoteError as error:
                effects.append(values.Refused(peer, str(error)))
        return effects

    # --- Our own messages ----------------------------------------------------------------------

    def _on_write(self, event: values.Write) -> list[values.Effect]:
        if any(named.message_id not in self.sds.log.order for named in event.about):
            raise LocalError(NOT_YET)
        if self.governing is not None:
            self.governing.check_writing(event.kind)
            self.writer.cut = self.governing.cut()
        self.writer.stamp = self.now + self.aside.offset
        created_ns = self.writer.next_created_ns
        lamport = self.sds.next_lamport(self.now)
        if self.aside.would_wait(lamport, created_ns, self.now):
            return self._write_aside(event, lamport)
        effects = self.feed_sds(sds.Send(event, event.about))
        if event.replaces is not None:
            self.aside.replaced.add(event.replaces)
        stored = self.writer.take_pending(self.sds.outgoing.pending)
        effects += admission.insert_item(self, stored, None)
        if self.aside.is_ahead(0, created_ns, self.now):
            effects.append(values.Warned(AHEAD))
        return [values.Written(event.token, stored.entry.message_id), *effects]

    def _write_aside(self, event: values.Write, lamport: int) -> list[values.Effect]:
        """Keep a line of ours that members with standing would set aside; nobody is sent it.

        It is in our author log, so its stamps must rise there too.
        """
        lamport = max(lamport, self.writer.lamport + 1)
        self.writer.seal(lamport, self.sds.history(event.about), event)
        stored = self.writer.take_pending(self.sds.outgoing.pending)
        message_id, delivery = stored.entry.message_id, Delivery.UNACKNOWLEDGED
        parked, unsent = values.Status.PARKED, values.UNSENT
        self.aside.waiting.add(outline_of(stored))
        return [
            *self.feed_sds(sds.SetAside(message_id)),
            values.StoreMessage(stored, parked, delivery=delivery, attempts=unsent),
            values.Written(event.token, message_id),
            values.SetAside(message_id, stored.entry, delivery, waits=True),
        ]

    def tells_typing(self, now: Nanos) -> bool:
        """Return whether the others would be told now that the person is typing."""
        return bool(self.peers or self.audience) and self.typists.may_tell(now)

    def _tell_typing(self, nick: str) -> list[values.Effect]:
        content = ephemeral.encode(ephemeral.Typing(nick))
        if not self.tells_typing(self.now):
            return []
        self.typists.told(self.now)
        return self.feed_sds(sds.SendEphemeral(content))

    # --- What comes in -------------------------------------------------------------------------

    def _on_arrived(self, peer: PeerId | None, payload: bytes) -> list[values.Effect]:
        """Take in a frame from a peer's link, or what a retriever fetched, which has none."""
        message = self.gate.read(payload)
        from_author = message.sender_id == peer
        if message.kind is not Kind.CONTENT:
            if not from_author:
                raise RemoteError("a sync or ephemeral message in another's name")
            if message.kind is Kind.SYNC and self.snapshots.holds_back:
                return []  # what it names is on its way
            return self._on_unkept(message)
        if self.holds(message.message_id):
            if self.is_outside(message.message_id) or message.message_id in self.loading.ids:
                self.gate.check_copy(message)
                self.copy = message
                return admission.beside(self, message, via=peer)  # SDS does not know it yet
            self.gate.check_copy(message)
            self.copy = message
            if not from_author:
                return self.feed_sds(sds.HeardCopy(message.message_id, peer))
            return self.feed_sds(sds.Received(message, None, from_author=True, via=peer))
        if self._is_beyond(message):  # before the signature, which costs most
            return [values.Refused(message.sender_id, TOO_MANY_AHEAD)]
        sought = message.message_id in self.sds.incoming.missing
        stored = self.gate.check(message)
        if peer is not None and self.snapshots.holds_back:
            effects = snapshots.hold_back(self, peer, message, stored, payload)
        else:
            effects = admission.judge(self, message, stored, via=peer)
            if sought:
                effects += admission.note_relay(self, stored.entry.header, peer)
        if from_author:
            effects += self.typists.stopped(message.sender_id)
        return effects

    def _on_unkept(self, message: Message) -> list[values.Effect]:
        """Take in a sync or ephemeral message of the peer whose link it came on."""
        received = sds.Received(message, None, from_author=True, via=message.sender_id)
        if message.kind is Kind.SYNC:
            return self.feed_sds(received)
        typing = ephemeral.decode(message.content)
        effects = self.feed_sds(received)
        if message.sender_id in self.peers or self.audience:  # and not gone meanwhile
            effects += self.typists.heard(message.sender_id, typing.nick, self.now)
        return effects

    def _is_beyond(self, message: Message) -> bool:
        """Return whether a message is stamped ahead, and no more of its author can be set aside."""
        return self.aside.is_full(message.sender_id) and self.is_ahead(
            self.gate.check_copy(message).header
        )

    def feed_sessions(self, event: session_values.Input) -> list[values.Effect]:
        """Feed the sessions; what one wants and got takes the way of every other message."""
        effects: list[values.Effect] = []
        for result in self.sessions.handle(event, self.now, self.aside.offset):
            match result:
                case session_values.Accepted():
                    effects += transfers.on_transferred(self, result)
                case session_values.Wanted(ids):
                    self.loading.want(ids)
                case session_values.Unwanted(ids, stalled):
                    self.loading.unwant(ids, self.now, stalled=stalled)
                case session_values.WantedHashes(hashes):
                    self.loading.want_hashes(hashes)
                case session_values.UnwantedHashes(hashes, stalled):
                    self.loading.unwant_hashes(hashes, self.now, stalled=stalled)
                case session_values.WantedLogs(authors):
                    self.loading.want_logs(authors)
                case session_values.UnwantedLogs(authors):
                    self.loading.unwant_logs(authors)
                case session_values.WantedMessages(messages):
                    self.loading.want_messages(messages)
                case session_values.UnwantedMessages(messages):
                    self.loading.unwant_messages(messages)
                case session_values.AcceptedState():
                    effects += state.on_brought(self, result)
                case session_values.SnapshotTold():
                    effects += snapshots.on_told(self, result)
                case session_values.Proved():
                    effects += transfers.on_proved(self, result)
                case values.LiveBegan():
                    self.relays_at = self.now  # links may have come meanwhile
                    effects.append(result)
                case values.SessionEnded():
                    followed = transfers.on_session_over(self, result)
                    of_log = result.plane is session_values.Plane.LOG
                    copies = self.copies.pop(result.peer, 0) if of_log else 0
                    ended = replace(result, copies=copies)
                    effects += [ended, *followed, *snapshots.on_session_over(self, ended)]
                case _:
                    effects.append(result)
        return effects

    def _tend_relays(self) -> list[values.Effect]:
        """Tell of relays once links have settled.

        End live sessions that we began and that nothing came by for long which needed them.
        """
        effects: list[values.Effect] = [
            values.Relayed(via) for via in self.relays.settled(self.now)
        ]
        if self.relays_at is None or self.now < self.relays_at:
            return effects
        self.relays_at = None
        self.relays.forget(self.now)
        for peer in self.sessions.relays:
            until = self.relays.needed_until(peer)
            if until <= self.now:
                effects += self.feed_sessions(session_values.Leave(peer))
            else:
                self.relays_at = earlier(self.relays_at, until)
        return effects

    # --- History on its way --------------------------------------------------------------------

    def _on_history(
        self, event: values.HeldBackLoaded | values.HistoryExpected
    ) -> list[values.Effect]:
        if isinstance(event, values.HeldBackLoaded):
            return self._on_held_back(event.outlines)
        self.loading.expect(event.peer, comes=event.comes)
        return []

    def _on_held_back(self, outlines: tuple[values.Outline, ...]) -> list[values.Effect]:
        """Let in what waited, by Lamport time: parents come first."""
        ahead = {one.message_id: one for one in outlines if clocks.is_late(self, one)}
        taken, more = self.loading.take_loaded(outlines, self.now)
        admitted: list[values.Effect] = []
        for one in taken:
            if one.message_id in ahead:  # our clock was set, or judged, since it came
                counted = replace(ahead[one.message_id], place=None)  # in its log since it came
                self.aside.parked.add(counted)
                admitted.append(clocks.parked(self, one.message_id))
            else:
                admitted += admission.admit(self, one)
        return [*admitted, *transfers.forgo(self), *more]

    def would_set_aside(self, question: values.Question, now: Nanos) -> int:
        """Return how many messages here would be set aside by following those who agree.

        Own messages that wait for the answer are written anew then.
        """
        limit = now + self.aside.reference.ours + question.ahead + CLOCK_AHEAD_MAX
        return len(clocks.above(self, limit))

    def _lacking(self) -> list[values.Effect]:
        """Tell the manager when we cease to lack what others named, and when we have for long.

        For long is twice what an answer to a repair request may take.
        """
        lacked, count = self._lacked, len(self.sds.incoming.missing)
        self._lacked = bool(count)
        if self._lacked and (not lacked or self.now < self._lacking_at):
            if not lacked:
                self._lacking_at = self.now + 2 * self.sds.parameters.t_max
            return []
        self._lacking_at = self.now + 2 * self.sds.parameters.t_max
        return [values.Lacking(count, tuple(sorted(self.peers)))]
