"""One SDS channel: send, receive, deliver in causal order, know who has what, repair what is lost.

Content is opaque here. `seal` turns a Lamport timestamp, a causal history and a body into a message
id and content, so the same machine talks to clients whose messages are not our entries. `causal`
has the messages and their order; this decides who speaks, when, and what is known of whom.

Rules:
1. Names are proof, filters are hints: only a name acknowledges (PROTOCOL 5).
2. A sync message changes neither log, filter, clock nor buffer.
3. Nothing here waits for the disk: the runner releases no effect before its commit.
"""

import random
from collections.abc import Collection, Sequence
from typing import Final, assert_never

from sync.errors import DecodeError, LocalError
from sync.machine import MILLISECOND, ChannelId, MessageId, Nanos, PeerId, Tick, earlier
from sync.sds.acknowledge import Outgoing, Pending
from sync.sds.causal import Causal
from sync.sds.coming import Coming
from sync.sds.events import (
    Admit,
    AskAgain,
    Beside,
    Broadcast,
    Connected,
    Delivered,
    DeliveryChanged,
    Effect,
    EphemeralArrived,
    FilterIgnored,
    Forgo,
    HeardCopy,
    HeldBy,
    Input,
    LookUp,
    Paced,
    Postpone,
    Rebroadcast,
    Received,
    ReferenceClock,
    Requested,
    Restored,
    Seal,
    Seek,
    Send,
    SendAgain,
    SendEphemeral,
    SetAside,
)
from sync.sds.evidence import Evidence, Holders
from sync.sds.incoming import Content
from sync.sds.message import Delivery, HistoryEntry, Message
from sync.sds.parameters import Parameters
from sync.sds.timing import SyncTimer

SYNC_BURST = 4
"""Sync messages sent at one tick when we owe hundreds of acknowledgements: 64 names.

Whoever reads them is busy with them for 5 ms; with four times as many, live lines wait for that."""

History = tuple[HistoryEntry, ...]

NOT_WAITING: Final = (
    "That message does not wait for an acknowledgement: it was received, or it is not yours."
)


class Channel:
    """The SDS participant of one channel."""

    def __init__(
        self,
        me: PeerId,
        channel_id: ChannelId,
        parameters: Parameters,
        seal: Seal,
        rng: random.Random,
    ) -> None:
        self.me = me
        self.channel_id = channel_id
        self.parameters = parameters
        self.outgoing = Outgoing(parameters)
        self.holders = Holders()
        self._causal = Causal(me, parameters)
        self.log, self.filter = self._causal.log, self._causal.filter
        self.incoming, self.repairs = self._causal.incoming, self._causal.repairs
        self.looks_up = False
        """Whether who wrote what is requested is looked up, or the request believed."""
        self._seal = seal
        self._rng = rng
        self._offset: Nanos = 0
        self._timer = SyncTimer(parameters, rng)

    def handle(self, event: Input, now: Nanos) -> list[Effect]:
        """See `sync.machine`."""
        match event:
            case Received():
                return self._on_received(event, now)
            case Send():
                return self._on_send(event, now)
            case Tick():
                return self._on_tick(now)
            case HeardCopy(message_id, sender):
                return self._on_heard_copy(message_id, sender, now)
            case Beside(message):
                return [*self._review_filter(message, now), *self._heard(message, now)]
            case Requested(requester, entries):
                for entry in entries:
                    self.repairs.requested(entry, requester, now, held=True)
                return []
            case SetAside(message_id):
                return self._news(self._causal.set_aside(message_id, now), now)
            case Postpone(message_ids, gone):
                self._causal.postpone(message_ids, now, gone=gone)
                return []
            case Forgo():
                return self._causal.forgo(now)
            case HeldBy(peer, message_ids):
                return self._on_held_by(peer, message_ids)
            case Admit(content, send):
                admitted = self._on_admit(content, now)
                return admitted + self._send_late(content.message_id, now) if send else admitted
            case Seek(history, message_id, author, via):
                missing = self._causal.seek(history, message_id, author, now, via)
                return self._news(missing, now)
            case Connected() | Paced():
                return self._on_links(event, now)
            case ReferenceClock(offset_ns):
                return self._on_reference_clock(offset_ns)
            case SendAgain(message_id):
                return self._on_send_again(message_id, now)
            case AskAgain(message_ids, gaps):
                return self._on_ask_again(message_ids, gaps, now)
            case SendEphemeral(content):
                return [Broadcast(self._message(None, (), content))]
            case Restored():
                return self._on_restored(event, now)
            case _:
                assert_never(event)

    def deadline(self) -> Nanos | None:
        """Return when a resend, a sync message, an answer or giving up is next due."""
        due = earlier(self.next_sync_at, self.incoming.deadline())
        if self.outgoing.pending:
            due = earlier(due, self.outgoing.deadline())
        if self.repairs.answering.answers:
            due = earlier(due, self.repairs.answering.deadline())
        return due

    def expect(self, coming: Coming) -> None:
        """Ask nobody for what is on its way."""
        self._causal.coming = self.repairs.coming = coming

    @property
    def lamport(self) -> int:
        """Our Lamport timestamp, in milliseconds since the epoch."""
        return self._causal.lamport

    @property
    def next_sync_at(self) -> Nanos | None:
        """Time at which the next sync message is due, if nobody speaks before."""
        due = self._timer.next_at
        if self.repairs.asking.requests:
            due = earlier(due, self._timer.ask_at(self.repairs.asking.deadline()))
        return due

    # --- Send Message --------------------------------------------------------------------------

    def _on_send(self, event: Send, now: Nanos) -> list[Effect]:
        me, lamport = self.me, self.next_lamport(now)
        self._causal.calm(now)
        history = self.history(event.names)
        sealed = self._seal(lamport, history, event.body)
        self._causal.lamport = lamport
        request = self.repairs.ask(now)
        message_id, bloom_filter = sealed.message_id, self.filter.to_bytes()
        message = Message(
            me, message_id, self.channel_id, lamport, history, bloom_filter, request, sealed.content
        )
        self.log.insert(lamport, HistoryEntry(message_id, sealed.retrieval_hint, me), history)
        self.filter.insert(message_id)
        self.outgoing.add(message_id, now)
        self._spoke(message_id, history, now)
        effects: list[Effect] = [Delivered(message_id, after_gap=False), Broadcast(message)]
        return effects + self.repairs.retrieve(request, now) if request else effects

    def history(self, names: History) -> History:
        """Return the causal history of a message of now that is about `names`."""
        return self.log.history_with(names, self.parameters.history_size)

    def next_lamport(self, now: Nanos) -> int:
        """Epoch milliseconds of the reference clock, and always above what we have seen."""
        clock, above = (now + self._offset) // MILLISECOND, self._causal.lamport + 1
        return clock if clock > above else above  # a call of `max` costs more

    def _message(
        self, lamport: int | None, history: History, content: bytes, request: History = ()
    ) -> Message:
        """A message that nobody keeps: its id is random."""
        return Message(
            self.me,
            MessageId(self._rng.randbytes(32).hex()),
            self.channel_id,
            lamport,
            history,
            None if lamport is None else self.filter.to_bytes(),
            request,
            content,
        )

    # --- Receive Message -----------------------------------------------------------------------

    def _on_received(self, event: Received, now: Nanos) -> list[Effect]:
        message = event.message
        sender, message_id, history = message.sender_id, message.message_id, message.causal_history
        if message.lamport is None:
            return [EphemeralArrived(sender, message.content)]
        effects = self._review_acks(event, now)
        self._settle()
        if event.from_author:  # an old message that others hand on says nothing of today
            effects += self._heard(message, now)
        if not message.content:
            missing = self._causal.seek(history, sender, sender, now, event.via)
            return effects + self._news(missing, now)
        if self._causal.holds(message_id):
            self._heard_again(event, now)
            return effects
        self._causal.aside.discard(message_id)  # where it waited outside of SDS
        if event.via is not None and not event.bulk:
            self._causal.count(message_id, event.via, now)
        content = Content(
            message_id,
            sender,
            message.lamport,
            history,
            event.hint,
            event.from_author,
            event.via,
        )
        return effects + self._news(self._causal.admit(content, now), now)

    def _on_heard_copy(
        self, message_id: MessageId, sender: PeerId | None, now: Nanos
    ) -> list[Effect]:
        self.repairs.answering.heard(message_id, sender, now)
        if sender is not None:
            self.holders.add_evidence(message_id, sender, Evidence.SENT)
        return []

    def _on_admit(self, content: Content, now: Nanos) -> list[Effect]:
        """Take in a message received before; only now does what it names count."""
        self._causal.aside.discard(content.message_id)
        by, history = content.sender_id, content.causal_history
        acknowledged = self._acknowledge(content.message_id, history, by)
        return acknowledged + self._news(self._causal.admit(content, now), now)

    def _send_late(self, message_id: MessageId, now: Nanos) -> list[Effect]:
        """Send a message of ours that was kept aside, and wait for its acknowledgement."""
        self.outgoing.add(message_id, now)
        unacknowledged = Delivery.UNACKNOWLEDGED
        return [Rebroadcast(message_id, self.filter.to_bytes(), 0, unacknowledged)]

    def _news(self, effects: list[Effect], now: Nanos) -> list[Effect]:
        """Something came, or is missing: we have something to say."""
        if effects:
            self._owe_soon(now)
            self._timer.wake(now)
        return effects

    def _heard_again(self, event: Received, now: Nanos) -> None:
        """A message that we have: its author, if it came from there, does not know that."""
        message = event.message
        author = message.sender_id if event.from_author else event.via
        self.repairs.answering.heard(message.message_id, author, now)
        if not event.from_author:
            return
        if not message.repair_request:
            self._restart_idle(now)
        if message.sender_id != self.me and message.message_id not in self.incoming.waiting:
            self.log.owe(HistoryEntry(message.message_id, event.hint, message.sender_id))
            self._owe_soon(now)

    def _owe_soon(self, now: Nanos) -> None:
        if self.log.owed:
            self._timer.owe(now)

    # --- Review ACK Status ---------------------------------------------------------------------

    def _acknowledge(
        self, message_id: MessageId | None, history: History, by: PeerId
    ) -> list[Effect]:
        """Settle our messages that `by` names; our own naming proves nothing."""
        self.log.named(history, by)
        self.holders.told(by, message_id, history)
        if by == self.me or not self.outgoing.pending:
            return []
        named = self.outgoing.acknowledge(history)
        return [DeliveryChanged(message_id, Delivery.ACKNOWLEDGED, 0) for message_id in named]

    def _on_held_by(self, peer: PeerId, message_ids: tuple[MessageId, ...]) -> list[Effect]:
        """Settle our messages that `peer` has proved to hold."""
        for message_id in message_ids:
            self.holders.add_evidence(message_id, peer, Evidence.PROVED)
        settled = self.outgoing.acknowledge([HistoryEntry(id_) for id_ in message_ids])
        return [DeliveryChanged(message_id, Delivery.ACKNOWLEDGED, 0) for message_id in settled]

    def _review_acks(self, event: Received, now: Nanos) -> list[Effect]:
        message = event.message
        by = message.sender_id
        written = message.message_id if message.content else None
        effects = self._acknowledge(written, message.causal_history, by)
        if not event.from_author or not self.outgoing.pending:
            return effects
        return effects + self._review_filter(message, now)

    def _review_filter(self, message: Message, now: Nanos) -> list[Effect]:
        """Note which of our messages the filter of `message`, from its sender, may hold."""
        by = message.sender_id
        if not self.outgoing.pending or by == self.me or message.bloom_filter is None:
            return []
        try:
            hits, changed = self.outgoing.hint(message.bloom_filter, by, now)
        except DecodeError as error:
            return [FilterIgnored(by, str(error))]
        for message_id in hits:
            self.holders.add_evidence(message_id, by, Evidence.FILTER)
        return _changed(changed)

    # --- Sweeps and sync messages --------------------------------------------------------------

    def _on_tick(self, now: Nanos) -> list[Effect]:
        return [
            *self._news(self._causal.sweep(now), now),
            *_changed(self.outgoing.tell(now)),
            *self._sweep_outgoing(now),
            *self.repairs.answer(now),
            *self._sync_if_due(now),
        ]

    def _sweep_outgoing(self, now: Nanos) -> list[Effect]:
        due, failed = self.outgoing.sweep(now)
        effects: list[Effect] = []
        if due:
            bloom_filter = self.filter.to_bytes()
            effects += [
                Rebroadcast(pending.message_id, bloom_filter, pending.attempts, pending.delivery)
                for pending in due
            ]
        return effects + _changed(failed)

    def _sync_if_due(self, now: Nanos) -> list[Effect]:
        """Send sync messages ("Periodic Sync Message"); with an empty log, only to ask."""
        effects: list[Effect] = []
        due = self.next_sync_at
        if due is None or due > now:
            return effects
        ask_at = self._timer.ask_at(self.repairs.asking.deadline())
        asks = ask_at is not None and ask_at <= now
        for _ in range(SYNC_BURST):
            history = self.log.sync_history(self.parameters.history_size)
            request = self.repairs.ask(now) if asks else ()
            if not history and not request:
                break
            self._causal.lamport = self.next_lamport(now)
            effects.append(Broadcast(self._message(self.lamport, history, b"", request)))
            effects += self.repairs.retrieve(request, now)
            self.log.named(history, self.me)
            asks = False
            if not self.log.owed:
                break
        if effects and ask_at is not None and ask_at <= now:
            self._timer.asked(now)
        self._timer.tire(now)
        self._settle()
        self._restart_idle(now)
        if self.log.owed:
            self._timer.owe_more(now)
        return effects

    def _spoke(self, message_id: MessageId, history: History, now: Nanos) -> None:
        """We wrote: what that names is owed no more, and the idle countdown starts anew."""
        self.log.named(history, self.me)
        self.holders.told(self.me, message_id, history)
        self._settle()
        self._restart_idle(now)

    def _heard(self, message: Message, now: Nanos) -> list[Effect]:
        """Its author spoke: whoever only wanted to keep the channel alive waits again.

        A request is heard only from its sender; and one who asks does not keep others from asking.
        New content makes everybody wait anew by itself (`_news`).
        """
        if self.repairs.participants.saw(message.sender_id, now):
            self.repairs.count_anew()
        if message.repair_request:
            return self._on_requests(message, now)
        if not message.content and self.log.is_told_by(message.causal_history):
            self._restart_idle(now)
        return []

    def _on_requests(self, message: Message, now: Nanos) -> list[Effect]:
        """Plan answers, and leave to its sender what we lack too ("When RECEIVING a Message").

        The author decides who may answer, and when. A request may name a wrong one, so the stored
        one counts: of what is new it is known here, all else is looked up.
        """
        requester, repairs, look_up = message.sender_id, self.repairs, []
        requested = {entry.message_id: entry for entry in message.repair_request}
        for message_id, entry in requested.items():
            held = self._causal.holds(message_id)
            if held and self.looks_up:
                if entry.sender_id is None:
                    continue
                author = self._causal.author_of(message_id)
                if author is None:
                    if repairs.may_answer(message_id, requester, now):
                        look_up.append(message_id)
                    continue
                entry = HistoryEntry(message_id, None, author)  # noqa: PLW2901
            repairs.requested(entry, requester, now, held=held)
        return [LookUp(requester, tuple(look_up))] if look_up else []

    def _settle(self) -> None:
        if not self.log.owed:
            self._timer.settled()

    def _restart_idle(self, now: Nanos) -> None:
        if self.outgoing.awaiting or self.incoming.missing:
            self._timer.wake(now)
        else:
            self._timer.restart(now)

    # --- What the runner and the person say ----------------------------------------------------

    def _on_links(self, event: Connected | Paced, now: Nanos) -> list[Effect]:
        if isinstance(event, Paced):
            self._timer.trip = self.outgoing.trip = event.trip
            self.repairs.pace(event.trip)
            return []
        peers = event.peers
        if not self._timer.peers:
            self._timer.settled()  # what we owed meanwhile is told in its time, not at once
            self._timer.peers = peers
            self._owe_soon(now)
            self._causal.look_again(now)
        self._timer.peers = peers
        self._timer.wake(now)
        self.repairs.connect(peers, now)
        self.outgoing.connected(now, online=peers > 0)
        return []

    def _on_reference_clock(self, offset: Nanos) -> list[Effect]:
        if offset < self._offset:
            self._causal.forget_lamport()
        self._offset = offset
        return []

    def _on_send_again(self, message_id: MessageId, now: Nanos) -> list[Effect]:
        pending = self.outgoing.send_again(message_id, now)
        if pending is None:
            raise LocalError(NOT_WAITING)
        return [
            DeliveryChanged(message_id, pending.delivery, pending.attempts),
            Rebroadcast(message_id, self.filter.to_bytes(), pending.attempts, pending.delivery),
        ]

    def _on_ask_again(
        self, message_ids: Collection[MessageId], gaps: Collection[Content], now: Nanos
    ) -> list[Effect]:
        effects = self._causal.ask_again(message_ids, gaps, now)
        self._timer.wake(now)
        return effects

    def _on_restored(self, event: Restored, now: Nanos) -> list[Effect]:
        """Take up where the disk left off; what we owed, its authors will ask for by resending."""
        for tip in event.tips:
            self.holders.told(tip.sender_id, tip.message_id, tip.causal_history)
        for own in event.outgoing:
            self.outgoing.add(own.message_id, now, own.delivery, own.attempts)
        return self._news(self._causal.restore(event, now), now)


def _changed(told: Sequence[Pending]) -> list[Effect]:
    """Return the effects that tell of the states of these."""
    return [DeliveryChanged(one.message_id, one.delivery, one.attempts) for one in told]
