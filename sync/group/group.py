"""One channel as a machine: what its members say, its log, its sessions, mapped to one disk.

Rules:
1. Every entry takes one way in: `_accept`. Nothing else stores a message.
2. A permanent refusal (`RemoteError`) comes before any state has changed.
3. Records come before the effects that depend on them; the runner commits, then releases.
"""

import random
from collections.abc import Sequence
from dataclasses import replace

from sync.calimero.governance.governance import TakenOp
from sync.calimero.governance.ops import GroupId, Key, OpId, Verdict
from sync.calimero.governance.pending import Dropped
from sync.entries import ephemeral
from sync.entries.entry import Entry, Header
from sync.errors import LocalError, RemoteError
from sync.group import values
from sync.group.aside import Aside
from sync.group.author_log import AuthorLog
from sync.group.future_entries import AHEAD, CLOCK_AHEAD_MAX, TOO_MANY_AHEAD, WITHDRAWN
from sync.group.governing import NOT_FOUNDED, Governing
from sync.group.history_loading import Loading
from sync.group.ingest import content_of, message_of, outline_of
from sync.group.logs import ChannelLogs, place_of
from sync.group.relays import Relays
from sync.group.sds_mapping import asked_of, mapped, restored_of
from sync.group.state_beats import StateBeats
from sync.group.state_mapping import stated
from sync.group.stating import StateNews, Stating
from sync.group.typing_notices import Typists
from sync.group.writer import Author, Writer
from sync.machine import MILLISECOND, ChannelId, MessageId, Nanos, PeerId, Tick, earlier
from sync.manager.registry import PROTOCOLS, STATE
from sync.sds import events as sds
from sync.sds.channel import Channel
from sync.sds.incoming import Content
from sync.sds.message import Delivery, HistoryEntry, Kind, Message
from sync.sds.parameters import Parameters
from sync.sessions import sessions
from sync.sessions import values as session_values
from sync.sessions.claims import Claims
from sync.sessions.holdings import Holdings
from sync.sessions.protocol import Protocols
from sync.sessions.session import Terms
from sync.structures.ordered_set import SyncId
from sync.waku.session import Transferred

RESTORED = (
    "This profile was restored from a backup or runs twice; what it had written since comes back "
    "from the others, and new messages go into a new log."
)

NOT_YET = "That message still waits for its place in the channel; change it once it is there."

DISCARDED = (
    "The disk has damaged {count}, now set aside; the others are asked for what they have of it. "
    "`chat-tui doctor --deep` reads all the rest."
)
ONLY_HERE = " Yours that nobody else is known to have, and that may be lost: {count}."


class Group:
    """The machines of one channel and the one way in."""

    def __init__(  # noqa: PLR0913  # all but the first four have defaults
        self,
        author: Author,
        channel: ChannelId,
        parameters: Parameters,
        rng: random.Random,
        claims: Claims | None = None,
        protocols: Protocols = PROTOCOLS,
        *,
        governed: bool = False,
        anybody: bool = False,
    ) -> None:
        """Make the machines of a channel; `anybody`: whoever makes a key can be in it."""
        self.channel = channel
        self._author = author
        self._gate = author.gate(channel, parameters.limits, governed=governed)
        self.governing: Governing | None = None
        """Governance of the channel; None where nobody governs."""
        if self._gate.governed:
            self.governing = Governing(channel, author.me, author.sign, rng)
        self._writer = Writer(author.me, channel, self._gate, author.sign)
        self.sds = Channel(author.me, channel, parameters, self._writer.seal, rng)
        self.loading = Loading()
        self.sds.expect(self.loading.on_its_way)
        self.sds.looks_up = True
        self.logs = ChannelLogs()
        self.stating = Stating(
            GroupId(bytes.fromhex(channel)),
            Key(bytes.fromhex(author.me)),
            author.sign,
            None if self.governing is None else self.governing.verdict,
            self.logs.has_author if anybody else None,
            self._governance_heads,
        )
        self.holdings = Holdings(self.logs.heights)
        self.relays = Relays()
        self.sessions = sessions.Sessions(
            Terms(author.me, channel, author.draw_salt, author.retention, self.stating),
            self.holdings,
            protocols,
            claims,
            self.relays.needs,
        )
        self.peers: set[PeerId] = set()
        self.audience = 0
        """Number of others that a broadcast reaches, as `values.Audience` told."""
        self.aside = Aside(author.me)
        self.typists = Typists()
        self.state_beats = StateBeats(author.me, rng)
        self._relays_at: Nanos | None = None
        """When to look whether live sessions that we began are still needed."""
        self.restored = False
        """Whether what the disk holds was read."""
        self.copy: Message | None = None
        """The message that the last input brought though it is here already."""
        self.asked: tuple[HistoryEntry, ...] = ()
        """Requests of the frames that the last input had us send."""
        self._now: Nanos = 0
        self._lacked = False
        self._lacking_at: Nanos = 0
        """When the manager is told again that we still lack something."""
        self._forgoes = False
        """Whether the next moment without history on its way ends the search for what is old."""

    def handle(self, event: values.Input, now: Nanos) -> Sequence[values.Effect]:
        """See `sync.machine`."""
        self._now, self.copy, self.asked = now, None, ()
        match event:
            case values.Arrived(peer, payload):
                effects = self._on_arrived(peer, payload)
            case values.Retrieved(payload):
                effects = self._on_arrived(None, payload)
            case values.Write():
                effects = self._on_write(event)
            case Tick():
                effects = [*self._let_in(), *self._sds(Tick()), *self._sessions(Tick())]
                effects += self.typists.expire(now)
                effects += self._tend_relays()
            case values.PeerJoined() | values.PeerGone() | values.PeerAnnounced():
                effects = self._on_peer(event)
            case values.Audience(peers):
                self.audience = peers
                effects = self._sds(sds.Connected(peers))
            case (
                values.OwnClock()
                | values.MemberClock()
                | values.ClockAnswered()
                | values.ReferenceClock()
            ):
                effects = self._on_clock(event)
            case values.Typing(nick):
                effects = self._tell_typing(nick)
            case values.SendAgain() | values.AskAgain() | values.AuthorsLoaded():
                effects = self._sds(asked_of(event))
            case values.HeldBackLoaded() | values.HistoryExpected():
                effects = self._on_history(event)
            case values.Restored(state):
                effects = self._on_restored(state)
            case values.Damaged(message_ids):
                effects = self._discard([one for one in message_ids if self._holds(one)])
            case values.OpsArrived() | values.OpsAnswered() | values.Act():
                effects = self._on_governance(event)
            case (
                values.HeartbeatArrived()
                | values.OpsRequested()
                | values.OpsLoaded()
                | values.OpsUnanswered()
                | values.OpsOffered()
                | values.GovernanceLinked()
            ):
                effects = self._on_catch_up(event)
            case values.AnswersChecked():
                effects = self._on_checked(event)
            case values.SetState() | values.StateArrived() | values.RootTold():
                effects = self._on_state(event)
            case _:
                effects = self._sessions(event)
        return self._followed(effects)

    def _followed(self, effects: list[values.Effect]) -> list[values.Effect]:
        """Add what follows from the state that an input left behind."""
        if self._lacked or self.sds.incoming.missing:
            effects += self._lacking()
        if self.loading.ids or self.loading.left:
            effects += self.loading.sweep(self._now)
        if self.governing is not None:
            effects += self.governing.tick(self.peers, self._now)
        beat = self.state_beats.deadline()
        if beat is not None and beat <= self._now:
            root = self.stating.registers.tree.root
            if told := self.state_beats.due(root, self._now):
                effects.append(values.TellRoot(tuple(told), root))
        return effects

    def _governance_heads(self) -> tuple[OpId, ...]:
        return () if self.governing is None else self.governing.governance.heads

    @property
    def wrote(self) -> bool:
        """True if we have ever written here."""
        return self._writer.created_ns > 0

    def deadline(self) -> Nanos | None:
        """Return when SDS, a session, loading, a parked entry or typing next needs a tick."""
        due = earlier(self.sds.deadline(), self.sessions.deadline())
        due = earlier(earlier(due, self.typists.deadline()), self.state_beats.deadline())
        if self.loading.ids or self.loading.left:
            due = earlier(due, self.loading.deadline())
        due = earlier(earlier(due, self._relays_at), self.relays.deadline())
        if self.governing is not None:
            due = earlier(due, self.governing.beats.deadline())
        return earlier(due, self.aside.next_at()) if self.aside.is_used else due

    def _on_peer(
        self, event: values.PeerJoined | values.PeerGone | values.PeerAnnounced
    ) -> list[values.Effect]:
        if isinstance(event, values.PeerAnnounced):
            if STATE.name in event.protocols and event.peer in self.peers:
                self.state_beats.linked(event.peer, self._now)
            return self._sessions(event)
        if isinstance(event, values.PeerJoined):
            effects = self._sessions(event)
            self.peers.add(event.peer)
            self.relays.linked(event.peer, self._now)
            if self.governing is not None:
                self.governing.beats.linked(self._now)
            self._relays_at = self._now if self.sessions.relays else None
            return [*effects, *self._sds(sds.Connected(len(self.peers)))]
        self.peers.discard(event.peer)
        self.state_beats.gone(event.peer)
        if self.governing is not None and event.peer not in self.governing.nearby:
            self.governing.beats.gone(event.peer)
        self.relays.gone(event.peer)
        effects = [*self._sds(sds.Connected(len(self.peers))), *self._sessions(event)]
        effects += self.typists.stopped(event.peer)
        known = event.peer in self.aside.reference.members
        return [*effects, *self._on_clock(event)] if known else effects

    # --- Our own messages ----------------------------------------------------------------------

    def _on_write(self, event: values.Write) -> list[values.Effect]:
        if any(named.message_id not in self.sds.log.order for named in event.about):
            raise LocalError(NOT_YET)
        if self.governing is not None:
            self.governing.check_writing(event.kind)
            self._writer.cut = self.governing.cut()
        self._writer.stamp = self._now + self.aside.offset
        created_ns = self._writer.next_created_ns
        lamport = self.sds.next_lamport(self._now)
        if self.aside.would_wait(lamport, created_ns, self._now):
            return self._write_aside(event, lamport)
        effects = self._sds(sds.Send(event, event.about))
        if event.replaces is not None:
            self.aside.replaced.add(event.replaces)
        stored = self._writer.take_pending(self.sds.outgoing.pending)
        effects += self._insert_item(stored, None)
        if self.aside.is_ahead(0, created_ns, self._now):
            effects.append(values.Warned(AHEAD))
        return [values.Written(event.token, stored.entry.message_id), *effects]

    def _write_aside(self, event: values.Write, lamport: int) -> list[values.Effect]:
        """Keep a line of ours that members with standing would set aside; nobody is sent it.

        It is in our author log, so its stamps must rise there too.
        """
        lamport = max(lamport, self._writer.lamport + 1)
        self._writer.seal(lamport, self.sds.history(event.about), event)
        stored = self._writer.take_pending(self.sds.outgoing.pending)
        message_id, delivery = stored.entry.message_id, Delivery.UNACKNOWLEDGED
        parked, unsent = values.Status.PARKED, values.UNSENT
        self.aside.waiting.add(outline_of(stored))
        return [
            *self._sds(sds.SetAside(message_id)),
            values.StoreMessage(stored, parked, delivery=delivery, attempts=unsent),
            values.Written(event.token, message_id),
            values.SetAside(message_id, stored.entry, delivery, waits=True),
        ]

    def tells_typing(self, now: Nanos) -> bool:
        """Return whether the others would be told now that the person is typing."""
        return bool(self.peers or self.audience) and self.typists.may_tell(now)

    def _tell_typing(self, nick: str) -> list[values.Effect]:
        content = ephemeral.encode(ephemeral.Typing(nick))
        if not self.tells_typing(self._now):
            return []
        self.typists.told(self._now)
        return self._sds(sds.SendEphemeral(content))

    # --- What comes in -------------------------------------------------------------------------

    def _on_arrived(self, peer: PeerId | None, payload: bytes) -> list[values.Effect]:
        """Take in a frame from a peer's link, or what a retriever fetched, which has none."""
        message = self._gate.read(payload)
        from_author = message.sender_id == peer
        if message.kind is not Kind.CONTENT:
            if not from_author:
                raise RemoteError("a sync or ephemeral message in another's name")
            return self._on_unkept(message)
        if self._holds(message.message_id):
            if self._is_outside(message.message_id) or message.message_id in self.loading.ids:
                self._gate.check_copy(message)
                self.copy = message
                return self._beside(message, via=peer)  # SDS does not know it yet
            self._gate.check_copy(message)
            self.copy = message
            if not from_author:
                return self._sds(sds.HeardCopy(message.message_id, peer))
            return self._sds(sds.Received(message, None, from_author=True, via=peer))
        if self._is_beyond(message):  # before the signature, which costs most
            return [values.Refused(message.sender_id, TOO_MANY_AHEAD)]
        sought = message.message_id in self.sds.incoming.missing
        stored = self._gate.check(message)
        effects = self._judge(message, stored, via=peer)
        if sought:
            effects += self._note_relay(stored.entry.header, peer)
        if from_author:
            effects += self.typists.stopped(message.sender_id)
        return effects

    def _beside(self, message: Message, *, via: PeerId | None) -> list[values.Effect]:
        """Use filter and repair request of a message that waits, from its author (PROTOCOL 3)."""
        if message.sender_id != via or not (message.bloom_filter or message.repair_request):
            return []
        return self._sds(sds.Beside(message))

    def _on_unkept(self, message: Message) -> list[values.Effect]:
        """Take in a sync or ephemeral message of the peer whose link it came on."""
        received = sds.Received(message, None, from_author=True, via=message.sender_id)
        if message.kind is Kind.SYNC:
            return self._sds(received)
        typing = ephemeral.decode(message.content)
        effects = self._sds(received)
        if message.sender_id in self.peers or self.audience:  # and not gone meanwhile
            effects += self.typists.heard(message.sender_id, typing.nick, self._now)
        return effects

    def _is_beyond(self, message: Message) -> bool:
        """Return whether a message is stamped ahead, and no more of its author can be set aside."""
        return self.aside.is_full(message.sender_id) and self._is_ahead(
            self._gate.check_copy(message).header
        )

    def _sessions(self, event: session_values.Input) -> list[values.Effect]:
        """Feed the sessions; what one wants and got takes the way of every other message."""
        effects: list[values.Effect] = []
        for result in self.sessions.handle(event, self._now, self.aside.offset):
            match result:
                case session_values.Accepted():
                    effects += self._on_transferred(result)
                case session_values.Wanted(ids):
                    self.loading.want(ids)
                case session_values.Unwanted(ids, stalled):
                    self.loading.unwant(ids, self._now, stalled=stalled)
                case session_values.WantedLogs(authors):
                    self.loading.want_logs(authors)
                case session_values.UnwantedLogs(authors):
                    self.loading.unwant_logs(authors)
                case session_values.AcceptedState():
                    effects += self._on_state_brought(result)
                case session_values.Proved():
                    effects += self._on_proved(result)
                case values.LiveBegan():
                    self._relays_at = self._now  # links may have come meanwhile
                    effects.append(result)
                case values.SessionEnded():
                    self._on_session_over(result)
                    effects.append(result)
                case _:
                    effects.append(result)
        return effects

    def _on_session_over(self, ended: values.SessionEnded) -> None:
        """Let in what waits, unless other sessions are to bring what this one did not."""
        if not self.sessions.busy and (ended.need or ended.converged):
            self.loading.session_over(self._now, complete=ended.got >= ended.need)

    def _on_proved(self, proved: session_values.Proved) -> list[values.Effect]:
        """A peer holds what we held: that acknowledges; what both lack is below our floor."""
        pending = self.sds.outgoing.pending
        held = self._writer.held_by(pending, proved.floor, proved.holds)
        self._forgoes = self._author.retention is not None and proved.whole
        return [*self._sds(sds.HeldBy(proved.peer, held)), *self._forgo()]

    def _forgo(self) -> list[values.Effect]:
        """Count what is missing as met, once all is here that is not too old for us."""
        if not self._forgoes or self.loading.on_its_way or self.loading.ids:
            return []
        self._forgoes = False
        return self._sds(sds.Forgo())

    def _on_transferred(self, accepted: session_values.Accepted) -> list[values.Effect]:
        if accepted.sync_id is not None:
            self.loading.came(accepted.sync_id.hash, self._now)
        else:
            self.loading.brought(self._now)
        try:
            message, stored = self._read_pushed(accepted.item)
        except RemoteError as error:
            if accepted.sync_id is None:
                refused = session_values.EntryRefused(accepted.session, str(error))
                return self._sessions(refused)
            return [values.Refused(accepted.peer, str(error))]
        effects: list[values.Effect] = []
        if self._holds(message.message_id):
            self.copy = message
        else:
            bulk = not self.sessions.is_live(accepted.session)
            effects = self._judge(message, stored, via=accepted.peer, bulk=bulk)
            effects += self._note_relay(stored.entry.header, accepted.peer)
        if accepted.sync_id is None:
            aside = message.message_id not in self.sds.log.order
            brought = session_values.Brought(accepted.session, _sync_id(stored), aside)
            effects += self._sessions(brought)
        return effects

    def _read_pushed(self, item: object) -> tuple[Message, values.StoredMessage]:
        """Check a message that a session brought, in the form of its protocol.

        Raises:
            RemoteError: see `sync.group.ingest.Gate.read_transfer`.
        """
        match item:
            case Transferred(waku, topic):
                return self._gate.read_transfer(waku, topic)
            case Entry():
                return self._gate.check_opened(item)
            case _:
                raise AssertionError(f"no protocol of ours brings a {type(item).__name__}")

    # --- Governance ----------------------------------------------------------------------------

    def _judge(
        self,
        message: Message,
        stored: values.StoredMessage,
        *,
        via: PeerId | None,
        bulk: bool = False,
    ) -> list[values.Effect]:
        """Take in a checked entry whose author was in at the cut it names; see `_accept`."""
        if self.governing is None:
            return self._accept(message, stored, via=via, bulk=bulk)
        header, message_id = stored.entry.header, stored.entry.message_id
        match self.governing.judge(header):
            case Verdict.YES:
                effects = self._accept(message, stored, via=via, bulk=bulk)
                if self.governing.observe_peer_identity(header.author):
                    effects.append(values.Observed(header.author))
                return effects
            case Verdict.UNKNOWN:
                gone = self.governing.wait(stored)
                effects = [
                    values.StorePending(stored),
                    values.Pends(message_id, stored.entry),
                    *self._sds(sds.Postpone(frozenset((message_id,)))),
                    *self._forget(gone),
                ]
                if lacking := self.governing.lacking(header):
                    effects += self._lack_ops(via, lacking)
                if gone:
                    effects += self._drain(self.governing)
            case label:
                assert isinstance(label, Dropped)
                self.governing.drop(message_id, label)
                effects = self._drop(message_id, label)
        if self.sessions.running and self.sessions.awaits(sync_id := _sync_id(stored)):
            effects += self._sessions(session_values.Here(sync_id))
        return effects

    def _drop(self, message_id: MessageId, label: Dropped) -> list[values.Effect]:
        """Remember an entry that is not let in: nobody waits for it, or asks for it."""
        return [
            values.SetDropped(self.channel, message_id, label),
            *self._sds(sds.SetAside(message_id)),
            values.PendingEnded((message_id,), label),
        ]

    def _forget(self, message_ids: Sequence[MessageId]) -> list[values.Effect]:
        """Let go of entries that wait, as if they had never come."""
        if not message_ids:
            return []
        ended = [values.EndPending(self.channel, one) for one in message_ids]
        self._sds(sds.Postpone(frozenset(message_ids), gone=True))
        return [*ended, values.PendingEnded(tuple(message_ids), None)]

    def _on_governance(
        self, event: values.OpsArrived | values.OpsAnswered | values.Act
    ) -> list[values.Effect]:
        """Take in ops, others' or one of ours, and judge anew what waited for them."""
        governing = self._governing()
        if isinstance(event, values.Act):
            clock = self._now + self.aside.offset
            taken = governing.publish(event.op, self.sds.next_lamport(self._now), clock)
            acted = values.Acted(event.token, taken.op.id)
            sent = values.SendOp(taken.op.content)
            return [*self._governed((taken,)), acted, sent, *self._drain(governing)]
        if isinstance(event, values.OpsAnswered):
            news, whole = governing.on_page(event.peer, event.payload, self._now)
        else:
            news, whole = governing.receive(event.contents), False
        effects = self._governed(news.taken)
        effects += [values.Refused(event.peer, reason) for reason in news.refused]
        if news.taken:
            governing.beats.took_in(self._now)
        if news.missing:
            effects += self._lack_ops(event.peer, news.missing)
        if whole:
            effects += self._forget(governing.on_pull_finished().forgotten)
        elif isinstance(event, values.OpsAnswered):
            effects.append(governing.request_on(event.peer))
        return [*effects, *self._drain(governing)]

    def _on_catch_up(
        self,
        event: values.HeartbeatArrived
        | values.OpsRequested
        | values.OpsLoaded
        | values.OpsUnanswered
        | values.OpsOffered
        | values.GovernanceLinked,
    ) -> list[values.Effect]:
        """Compare heads with a peer, give it ops, or learn that ops can be had of it."""
        governing = self._governing()
        match event:
            case values.HeartbeatArrived(peer, payload):
                if peer in self.peers or peer in governing.nearby:  # and not gone meanwhile
                    governing.on_heartbeat(peer, payload, self._now)
                return []
            case values.OpsRequested(peer, payload, newest):
                return governing.on_request(peer, payload, self._now, newest=newest)
            case values.OpsLoaded():
                return governing.answer(event, self._now)
            case _:
                return governing.on_link(event, self.peers, self._now)

    def _on_checked(self, event: values.AnswersChecked) -> list[values.Effect]:
        """Count what the definition said of answers of ours, and tell where it differs."""
        self._governing().answers.told(event.checked, event.skipped, event.divergences)
        return [values.Diverged(one) for one in event.divergences]

    # --- State ---------------------------------------------------------------------------------

    def _on_state(
        self, event: values.SetState | values.StateArrived | values.RootTold
    ) -> list[values.Effect]:
        """Take in state entries of a peer, or its root, or set a register of ours."""
        reference = self._now + self.aside.offset
        if isinstance(event, values.RootTold):
            root = self.stating.registers.tree.root
            differs = self.state_beats.heard(event.peer, event.root, root, self._now)
            return [values.StateDiffers(event.peer)] if differs else []
        if isinstance(event, values.StateArrived):
            return self._stated(self.stating.on_live(event, reference, self._now), event.peer)
        heads = () if self.governing is None else self.governing.cut()
        if self.governing is not None and not heads:
            raise LocalError(NOT_FOUNDED)
        taken = self.stating.on_set(event, reference, heads)
        ours = tuple([one.entry.content for one in taken])
        effects = self._stated(StateNews(taken))
        return [*effects, values.StateSet(event.token), values.TellState(ours)]

    def _on_state_brought(self, brought: session_values.AcceptedState) -> list[values.Effect]:
        """Take in what a session brought; who brings what is false ends it."""
        news = self.stating.on_brought(brought.contents, self._now + self.aside.offset)
        effects = self._stated(news, brought.peer)
        if news.refused:
            refused = session_values.EntryRefused(brought.session, news.refused[0])
            effects += self._sessions(refused)
        return effects

    def _stated(self, news: StateNews, peer: PeerId | None = None) -> list[values.Effect]:
        """Keep entries that stand now, and tell what is different by them."""
        effects = stated(self.channel, news, peer)
        if self.governing is not None and news.lacking:
            effects += self._lack_ops(peer, self.governing.governance.dag.missing(news.lacking))
        return effects

    def _governing(self) -> Governing:
        if self.governing is None:
            raise RemoteError("governance in a channel that nobody governs")
        return self.governing

    def _lack_ops(self, peer: PeerId | None, ops: tuple[OpId, ...]) -> list[values.Effect]:
        """Ask who named ops that are not here, at once."""
        governing = self.governing
        if governing is not None and (peer in self.peers or peer in governing.nearby):
            assert peer is not None
            governing.beats.wants(peer, self._now)
        return [values.LackingOps(peer, ops)]

    def _governed(self, taken: Sequence[TakenOp]) -> list[values.Effect]:
        if not taken:
            return []
        kept = [values.StoreOp(self.channel, op.content, judged) for op, judged in taken]
        governed = values.Governed(tuple([op.id for op, _ in taken]))
        again = self._governing().lets_us_in_again(taken)
        begun = self._begin_log() if again else []
        return [*kept, *begun, governed, *self._stated(self.stating.on_governed())]

    def _begin_log(self) -> list[values.Effect]:
        """Go on in a new log: the removal sealed the one before, and what was beyond it is marked.

        Who is out for good needs none.
        """
        if self._writer.log.next_seq == 1:
            return []
        self._writer.log = AuthorLog(self._author.draw_log())
        return [values.SetLog(self.channel, self._writer.log.number)]

    def _drain(self, governing: Governing) -> list[values.Effect]:
        """Let in, drop or let wait on, by the ops that are here now."""
        settled = governing.drain_governance_pending()
        effects: list[values.Effect] = []
        for stored in settled.admitted:
            message_id = stored.entry.message_id
            effects.append(values.EndPending(self.channel, message_id))
            effects += self._accept(message_of(stored.entry), stored, via=None, bulk=True)
            if governing.observe_peer_identity(stored.entry.header.author):
                effects.append(values.Observed(stored.entry.header.author))
        for message_id, label in settled.dropped:
            effects.append(values.EndPending(self.channel, message_id))
            effects += self._drop(message_id, label)
        return effects

    def _accept(
        self,
        message: Message,
        stored: values.StoredMessage,
        *,
        via: PeerId | None,
        bulk: bool = False,
    ) -> list[values.Effect]:
        """Take in a checked entry that is new: store it, and deliver it or hold it back.

        It came on the link of `via`; None where it was fetched elsewhere. `bulk`: it is a part of a
        history that is transferred.
        """
        from_author = message.sender_id == via
        header = stored.entry.header
        own = header.author == self._author.me
        effects: list[values.Effect] = []
        if own and header.log == self._writer.log.number:
            effects += self._restart_log()
        delivery = Delivery.ACKNOWLEDGED if own else None
        if self.sessions.running and self.sessions.awaits(sync_id := _sync_id(stored)):
            effects += self._sessions(session_values.Here(sync_id))
        if self._is_ahead(header):
            return [*effects, *self._park(stored, delivery), *self._beside(message, via=via)]
        effects += self._insert_item(stored, via)
        self.loading.came(stored.waku_hash, self._now)
        if self.loading.waits(message.causal_history, self.sds.log.order.__contains__):
            direct = from_author and not own
            return [
                *effects,
                *self._wait_for_history(message, stored, delivery, via, direct=direct),
                *self._beside(message, via=via),
            ]
        received = sds.Received(message, stored.waku_hash, from_author, via, bulk)
        effects += self._sds(received, stored, delivery)
        return [*effects, *self._seek_backlink(stored, via)]

    def _seek_backlink(
        self, stored: values.StoredMessage, via: PeerId | None
    ) -> list[values.Effect]:
        """A hole in an author's log is looked for, but nothing waits for it (PROTOCOL 3)."""
        backlink = stored.entry.header.backlink
        if backlink is None or self.loading.on_its_way or self._holds(backlink):
            return []  # or it is on its way, with the rest of the history
        author = stored.entry.header.author
        named = HistoryEntry(backlink, None, author)
        return self._sds(sds.Seek((named,), stored.entry.message_id, author, via))

    def _holds(self, message_id: MessageId) -> bool:
        return (
            message_id in self.sds.log.order
            or message_id in self.sds.incoming.waiting
            or self._is_outside(message_id)
            or message_id in self.loading.ids
        )

    def _is_outside(self, message_id: MessageId) -> bool:
        """Return whether an entry is here that counts nowhere: set aside, pending or dropped."""
        governing = self.governing
        return message_id in self.aside or (governing is not None and message_id in governing)

    def _insert_item(self, stored: values.StoredMessage, via: PeerId | None) -> list[values.Effect]:
        """Count a stored entry that came from `via` as held; None: we wrote it."""
        self.holdings.add(sync_id := _sync_id(stored))
        header = stored.entry.header
        self.logs.add(header.author, stored.entry.message_id, place_of(header))
        effects = self._pass_on(header.author, header.log, header.seq, sync_id, via)
        if self.stating.strangers:
            news = self.stating.on_author_known(Key(bytes.fromhex(header.author)))
            effects += self._stated(news)
        return effects

    def _pass_on(  # a place of a log
        self, author: PeerId, log: int, seq: int, sync_id: SyncId, via: PeerId | None
    ) -> list[values.Effect]:
        """Tell live sessions, and those about to be, of what is stored."""
        if not self.sessions.passes_on:
            return []
        return self._sessions(session_values.Stored(author, log, seq, sync_id, via))

    def _note_relay(self, header: Header, via: PeerId | None) -> list[values.Effect]:
        """Note through whom somebody without a link is heard: by a session, or by a repair.

        What a peer sends unasked says nothing: it may have invented the author.
        """
        author = header.author
        if via not in self.peers or author in self.peers or author == self._author.me:
            return []
        assert via is not None
        age = self._now + self.aside.offset - header.created_ns
        told = self.relays.heard(author, via, age, self._now)
        return [values.Relayed(via)] if told else []

    def _tend_relays(self) -> list[values.Effect]:
        """Tell of relays once links have settled.

        End live sessions that we began and that nothing came by for long which needed them.
        """
        effects: list[values.Effect] = [
            values.Relayed(via) for via in self.relays.settled(self._now)
        ]
        if self._relays_at is None or self._now < self._relays_at:
            return effects
        self._relays_at = None
        self.relays.forget(self._now)
        for peer in self.sessions.relays:
            until = self.relays.needed_until(peer)
            if until <= self._now:
                effects += self._sessions(session_values.Leave(peer))
            else:
                self._relays_at = earlier(self._relays_at, until)
        return effects

    def _restart_log(self) -> list[values.Effect]:
        """An entry of our log that we do not know: we are a restored backup, or were cloned.

        No sequence number may be signed twice, so we go on in a new log (PROTOCOL 3).
        """
        self._writer.log = AuthorLog(self._author.draw_log())
        return [values.SetLog(self.channel, self._writer.log.number), values.Warned(RESTORED)]

    # --- History on its way --------------------------------------------------------------------

    def _wait_for_history(
        self,
        message: Message,
        stored: values.StoredMessage,
        delivery: Delivery | None,
        via: PeerId | None,
        *,
        direct: bool,
    ) -> list[values.Effect]:
        """Keep an entry on the disk until what it names, which is on its way, is here."""
        message_id = stored.entry.message_id
        shown: list[values.Effect] = []
        if self.loading.add(message_id, message.causal_history, self._now, direct=direct):
            shown.append(values.Previewed(message_id, stored.entry, delivery))
        named = sds.Seek(message.causal_history, message_id, message.sender_id, via)
        return [
            values.StoreMessage(stored, values.Status.LOADING, delivery=delivery),
            *self._sds(sds.Postpone(frozenset((message_id,)))),
            *self._sds(named),
            *shown,
        ]

    def _on_history(
        self, event: values.HeldBackLoaded | values.HistoryExpected
    ) -> list[values.Effect]:
        if isinstance(event, values.HeldBackLoaded):
            return self._on_held_back(event.outlines)
        self.loading.expect(event.peer, comes=event.comes)
        return []

    def _on_held_back(self, outlines: tuple[values.Outline, ...]) -> list[values.Effect]:
        """Let in what waited, by Lamport time: parents come first."""
        ahead = {one.message_id: one for one in outlines if self._is_late(one)}
        taken, more = self.loading.take_loaded(outlines, self._now)
        admitted: list[values.Effect] = []
        for one in taken:
            if one.message_id in ahead:  # our clock was set, or judged, since it came
                counted = replace(ahead[one.message_id], place=None)  # in its log since it came
                self.aside.parked.add(counted)
                admitted.append(self._parked(one.message_id))
            else:
                admitted += self._admit(one)
        return [*admitted, *self._forgo(), *more]

    def _admit(self, content: Content, *, send: bool = False) -> list[values.Effect]:
        """Let in what is on the disk already; `send` it too, where nobody was sent it yet."""
        waiting = values.Status.WAITING
        return [
            values.SetStatus(self.channel, content.message_id, waiting, after_gap=False),
            *self._sds(sds.Admit(content, send)),
        ]

    # --- Wrong clocks --------------------------------------------------------------------------

    def _is_ahead(self, header: Header) -> bool:
        return self.aside.is_ahead(header.lamport, header.created_ns, self._now)

    def _on_clock(self, event: values.Input) -> list[values.Effect]:
        """Judge the clocks anew; before the start nothing is here that it means anything to."""
        before = self.aside.offset
        self.aside.tell(event, self._now)
        effects: list[values.Effect] = []
        if self.aside.offset != before:
            effects += self._sds(sds.ReferenceClock(self.aside.offset))
        return [*effects, *self._judged()] if self.restored else effects

    def _judged(self) -> list[values.Effect]:
        """Let in, take back and send what the clocks that are known now say."""
        kept = self.aside.to_keep()
        effects: list[values.Effect] = []
        if kept is not None:
            effects.append(values.SetClock(self.channel, kept))
        effects += self.aside.news()
        settled = self.aside.settled(self._now)
        withdrawn = self._withdraw(settled)
        if withdrawn:
            return [*effects, *withdrawn]
        sent = [effect for one in settled for effect in self._admit_aside(one, send=True)]
        return [*effects, *sent, *self._let_in()]

    def _park(self, stored: values.StoredMessage, delivery: Delivery | None) -> list[values.Effect]:
        """Keep aside an entry from the future; bounded per author, and over all."""
        entry = stored.entry
        author = entry.header.author
        if self.aside.is_full(author):
            return [values.Refused(author, TOO_MANY_AHEAD)]
        self.aside.parked.add(outline_of(stored))
        return [
            *self._sds(sds.SetAside(entry.message_id)),
            values.StoreMessage(stored, values.Status.PARKED, delivery=delivery),
            values.SetAside(entry.message_id, entry, delivery),
            *self.aside.warn_of(entry, self._now),
        ]

    def _let_in(self) -> list[values.Effect]:
        """Let in what the reference clock has reached."""
        if not self.aside.is_used:
            return []
        due, passed = self.aside.due(self._now), self.aside.passed(self._now)
        late = [effect for outline in passed for effect in self._admit_aside(outline, send=True)]
        return [*late, *(effect for outline in due for effect in self._admit_aside(outline))]

    def _admit_aside(self, outline: values.Outline, *, send: bool = False) -> list[values.Effect]:
        self.holdings.add(sync_id := SyncId(outline.created_ns, outline.retrieval_hint))
        effects: list[values.Effect] = []
        if (place := outline.place) is not None:
            author = outline.sender_id
            self.logs.add(author, outline.message_id, place)
            via = None if send else author
            effects += self._pass_on(author, place.log, place.seq, sync_id, via)
        return [*effects, *self._admit(content_of(outline), send=send)]

    def _withdraw(self, settled: Sequence[values.Outline]) -> list[values.Effect]:
        """Take back what turns out to be far ahead (PROTOCOL 4, "clocks").

        Left where it is, it would be the base of all that we write from now on, and everybody else
        would set that aside. So we go on in a new log, from what is on the disk. So we do where one
        of `settled`, our own that waited, is ahead: these are written anew by themselves.
        """
        limit = self.aside.reference.withdrawn_above(self._now)
        if limit is None or not (self.peers or self.audience):
            ahead: list[MessageId] = []
        else:
            ahead = self._above(limit)
        late = [one for one in settled if self._is_late(one)]
        if not ahead and not late:
            return []
        self._writer.log = AuthorLog(self._author.draw_log())
        held = [one.content for one in self.sds.incoming.waiting.values()]
        waiting = [one.message_id for one in held if limit and one.lamport * MILLISECOND > limit]
        effects: list[values.Effect] = [self._parked(id_) for id_ in (*ahead, *waiting)]
        effects.append(values.SetLog(self.channel, self._writer.log.number))
        if ahead:
            effects.append(values.Withdrawn(tuple(ahead)))
            effects.append(values.Warned(WITHDRAWN.format(count=len(ahead))))
        if late:
            effects += [
                values.SetDelivery(self.channel, one.message_id, Delivery.UNACKNOWLEDGED, 0)
                for one in late
            ]
            effects.append(values.WriteAnew(tuple([one.message_id for one in late])))
        return [*effects, values.BeginAnew()]

    def _parked(self, message_id: MessageId) -> values.SetStatus:
        return values.SetStatus(self.channel, message_id, values.Status.PARKED, after_gap=False)

    def would_set_aside(self, question: values.Question, now: Nanos) -> int:
        """Return how many messages here would be set aside by following those who agree.

        Own messages that wait for the answer are written anew then.
        """
        limit = now + self.aside.reference.ours + question.ahead + CLOCK_AHEAD_MAX
        return len(self._above(limit))

    def _above(self, limit: Nanos) -> list[MessageId]:
        """Return what is in the log with a Lamport time after `limit`."""
        lamport = limit // MILLISECOND
        order = self.sds.log.order
        return order.above(lamport) if order.last[0] > lamport else []

    def _is_late(self, outline: values.Outline) -> bool:
        return self.aside.is_ahead(outline.lamport, outline.created_ns, self._now)

    # --- Rotten disks --------------------------------------------------------------------------

    def _discard(self, damaged: Sequence[MessageId]) -> list[values.Effect]:
        """Go on as if these had never come, from what the disk has besides: others have them.

        No number of our log may be signed twice, so without an entry of it we go on in a new one.
        """
        if not damaged:
            return []
        effects: list[values.Effect] = [values.Discard(self.channel, one) for one in damaged]
        if any(message_id in self._writer.log for message_id in damaged):
            self._writer.log = AuthorLog(self._author.draw_log())
            effects.append(values.SetLog(self.channel, self._writer.log.number))
        unsaved = sum(one in self.sds.outgoing.pending for one in damaged)
        told = DISCARDED.format(count=_messages(len(damaged)))
        return [
            *effects,
            values.Discarded(tuple(damaged)),
            values.Warned(told + (ONLY_HERE.format(count=unsaved) if unsaved else "")),
            values.BeginAnew(),
        ]

    # --- Start, and what we lack ---------------------------------------------------------------

    def _on_restored(self, state: values.ChannelState) -> list[values.Effect]:
        self._writer.restore(state)
        if self.governing is not None:
            self.governing.reload_group_dags(state.ops, state.pending, state.dropped)
            waiting = [one.entry.message_id for one in state.pending]
            self._sds(sds.Postpone(frozenset(waiting)))
            for message_id, _ in state.dropped:
                self._sds(sds.SetAside(message_id))
        self.holdings.restore(state.sync_ids)
        self.logs.restore(state.logs)
        self.stating.restore(state.state)
        self.loading.restore(state.loading, self._now)
        self._sds(sds.Postpone(state.loading))
        for outline in state.parked:
            self._sds(sds.SetAside(outline.message_id))
        effects = self._sds(restored_of(state))
        self.aside.restore(state, self._now)
        self._sds(sds.ReferenceClock(self.aside.offset))
        self.restored = True
        if self.governing is not None:
            effects.append(values.Governed(()))
        return [*effects, *self._judged()]

    def _lacking(self) -> list[values.Effect]:
        """Tell the manager when we cease to lack what others named, and when we have for long.

        For long is twice what an answer to a repair request may take.
        """
        lacked, count = self._lacked, len(self.sds.incoming.missing)
        self._lacked = bool(count)
        if self._lacked and (not lacked or self._now < self._lacking_at):
            if not lacked:
                self._lacking_at = self._now + 2 * self.sds.parameters.t_max
            return []
        self._lacking_at = self._now + 2 * self.sds.parameters.t_max
        return [values.Lacking(count, tuple(sorted(self.peers)))]

    # --- SDS's effects, as ours ----------------------------------------------------------------

    def _sds(
        self,
        event: sds.Input,
        fresh: values.StoredMessage | None = None,
        delivery: Delivery | None = None,
    ) -> list[values.Effect]:
        """Feed SDS; `fresh` is the message it decides about, with its `delivery` if it is ours."""
        results = self.sds.handle(event, self._now)
        if self._writer.sealed is not None:
            fresh, delivery = self._writer.sealed, Delivery.UNACKNOWLEDGED
        effects: list[values.Effect] = []
        for result in results:
            effects += mapped(self.channel, result, fresh, delivery)
            if isinstance(result, sds.Broadcast):
                self.asked += result.message.repair_request
            elif isinstance(result, sds.Retrieve):
                lacked = len(self.sds.incoming.missing)
                effects.append(values.Lacking(lacked, tuple(sorted(self.peers))))
        return effects


def _sync_id(stored: values.StoredMessage) -> SyncId:
    return SyncId(stored.entry.header.created_ns, stored.waku_hash)


def _messages(count: int) -> str:
    return "1 message" if count == 1 else f"{count} messages"
