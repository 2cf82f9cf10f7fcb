"""One SDS channel: send, receive, deliver in causal order, know who has what.

Content is opaque here. `seal` turns a Lamport timestamp, a causal history and a body into a message
id and content, so the same machine talks to clients whose messages are not our entries.

Rules:
1. A message is delivered after its dependencies, or marked as following a gap.
2. Names are proof, filters are hints: only a name acknowledges (DESIGN 5).
3. A sync message changes neither log, filter, clock nor buffer.
4. Nothing here waits for the disk: the runner releases no effect before its commit.
"""

import random
from collections.abc import Iterable
from typing import assert_never

from sync.bloom import ReceivedFilter, RollingBloomFilter
from sync.errors import DecodeError, LocalError
from sync.machine import MILLISECOND, ChannelId, MessageId, Nanos, PeerId, Tick
from sync.sds.acknowledge import Outgoing
from sync.sds.events import (
    Admit,
    Broadcast,
    Connected,
    Delivered,
    DeliveryChanged,
    Effect,
    EphemeralArrived,
    FilterIgnored,
    Found,
    Held,
    Input,
    Missing,
    Rebroadcast,
    Received,
    ReferenceClock,
    Restored,
    Seal,
    Send,
    SendAgain,
    SendEphemeral,
)
from sync.sds.history import Log
from sync.sds.incoming import Content, Incoming
from sync.sds.message import Delivery, HistoryEntry, Kind, Message, Parameters

SYNC_BURST = 16
"""Sync messages sent at one tick when we owe hundreds of acknowledgements: 256 names."""

SYNC_AGAIN: tuple[Nanos, Nanos] = (100 * MILLISECOND, 500 * MILLISECOND)
"""Delay of the next burst while we still owe acknowledgements."""

BACKOFF_MAX = 6
"""Doublings of the idle interval counted; 1 s doubled six times is over a minute."""


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
        self.lamport = 0
        self.log = Log(me)
        self.filter = RollingBloomFilter(parameters.bloom)
        self.outgoing = Outgoing(parameters)
        self.incoming = Incoming(parameters.lost_after)
        self._seal = seal
        self._rng = rng
        self._peers = 0
        self._offset: Nanos = 0
        self._owed_at: Nanos | None = None
        self._idle_at: Nanos | None = None
        self._backoff = 0

    def handle(self, event: Input, now: Nanos) -> list[Effect]:
        """See `sync.machine`."""
        match event:
            case Received():
                return self._on_received(event, now)
            case Send(body):
                return self._on_send(body, now)
            case Tick():
                return self._on_tick(now)
            case Admit(content):
                return self._admit(content, now)
            case Connected(peers):
                return self._on_connected(peers, now)
            case ReferenceClock(offset_ns):
                self._offset = offset_ns
                return []
            case SendAgain(message_id):
                return self._on_send_again(message_id, now)
            case SendEphemeral(content):
                return [Broadcast(self._message(None, (), content))]
            case Restored():
                return self._on_restored(event, now)
            case _:
                assert_never(event)

    def deadline(self) -> Nanos | None:
        """When a resend, a sync message or giving up is next due."""
        times = [self.incoming.deadline()]
        if self._peers:
            times += [self.outgoing.deadline(), self.next_sync_at]
        return min((time for time in times if time is not None), default=None)

    @property
    def next_sync_at(self) -> Nanos | None:
        """When the next sync message is due, if nobody speaks before."""
        times = [time for time in (self._owed_at, self._idle_at) if time is not None]
        return min(times, default=None)

    # --- Send Message --------------------------------------------------------------------------

    def _on_send(self, body: object, now: Nanos) -> list[Effect]:
        lamport = self._next_lamport(now)
        history = self.log.content_history(self.parameters.history_size)
        sealed = self._seal(lamport, history, body)
        self.lamport = lamport
        bloom_filter = self.filter.to_bytes()
        self._append(Content(sealed.message_id, self.me, lamport, history, sealed.retrieval_hint))
        self.filter.insert(sealed.message_id)
        self.outgoing.add(sealed.message_id, now)
        self._spoke(history, now)
        message = Message(
            sender_id=self.me,
            message_id=sealed.message_id,
            channel_id=self.channel_id,
            lamport=lamport,
            causal_history=history,
            bloom_filter=bloom_filter,
            content=sealed.content,
        )
        return [Delivered(sealed.message_id, after_gap=False), Broadcast(message)]

    def _next_lamport(self, now: Nanos) -> int:
        """Epoch milliseconds of the reference clock, and always above what we have seen."""
        return max((now + self._offset) // MILLISECOND, self.lamport + 1)

    def _message(
        self, lamport: int | None, history: tuple[HistoryEntry, ...], content: bytes
    ) -> Message:
        """A message that nobody keeps: its id is random."""
        return Message(
            sender_id=self.me,
            message_id=MessageId(self._rng.randbytes(32).hex()),
            channel_id=self.channel_id,
            lamport=lamport,
            causal_history=history,
            bloom_filter=None if lamport is None else self.filter.to_bytes(),
            content=content,
        )

    # --- Receive Message -----------------------------------------------------------------------

    def _on_received(self, event: Received, now: Nanos) -> list[Effect]:
        message = event.message
        if message.kind is Kind.EPHEMERAL:
            return [EphemeralArrived(message.sender_id, message.content)]
        effects = self._review_acks(event, now)
        self._heard(event, now)
        if message.kind is Kind.SYNC:
            return [*effects, *self._seek(message.causal_history, message.sender_id, now)]
        assert message.lamport is not None
        content = Content(
            message.message_id,
            message.sender_id,
            message.lamport,
            message.causal_history,
            event.hint,
        )
        if message.message_id in self.log.known:
            self._owe_again(event, now)
            return effects
        if message.message_id in self.incoming.waiting:
            return effects
        return [*effects, *self._admit(content, now)]

    def _admit(self, content: Content, now: Nanos) -> list[Effect]:
        """Deliver a new message, or hold it back ("Receive Message", last paragraph)."""
        self.filter.insert(content.message_id)
        unmet = self._unmet(content)
        if not unmet:
            return self._deliver([content], now)
        effects: list[Effect] = [Held(content.message_id)]
        effects += self._seek(content.causal_history, content.message_id, now)
        unmet &= self.incoming.missing.keys()
        evicted = self.incoming.hold(content, unmet, now) if unmet else content
        if evicted is not None:
            effects += self._deliver([evicted], now)
        return effects

    def _unmet(self, content: Content) -> set[MessageId]:
        known = self.log.known
        return {
            entry.message_id for entry in content.causal_history if entry.message_id not in known
        }

    def _seek(self, history: Iterable[HistoryEntry], named_by: str, now: Nanos) -> list[Effect]:
        """Look for what is named there and neither here nor waiting; bounded.

        What waits here is missing too for whoever depends on it, but is no news to the person.
        """
        incoming = self.incoming
        unknown = [entry.message_id for entry in history if entry.message_id not in self.log.known]
        fresh = incoming.seek(unknown[: incoming.room()], named_by, now)
        if fresh:
            self._wake(now)
        return [Missing(id_, named_by) for id_ in fresh if id_ not in incoming.waiting]

    def _deliver(self, ready: list[Content], now: Nanos) -> list[Effect]:
        """Put messages into the log, and then every message that waited only for them.

        One whose dependencies are still unmet follows a gap, and is marked so.
        """
        effects: list[Effect] = []
        queue = list(ready)
        for content in queue:
            self.lamport = max(self.lamport, content.lamport)
            after_gap = bool(self._unmet(content))
            self._append(content)
            effects.append(Delivered(content.message_id, after_gap))
            if content.message_id in self.incoming.missing:
                queue += self.incoming.arrived(content.message_id)
                effects.append(Found(content.message_id, lost=False))
            elif self.incoming.lost.pop(content.message_id, self) is None:
                effects.append(Found(content.message_id, lost=False))
        self._owe_soon(now)
        self._wake(now)
        return effects

    def _append(self, content: Content) -> None:
        entry = HistoryEntry(content.message_id, content.retrieval_hint, content.sender_id)
        self.log.insert(content.lamport, entry, content.causal_history)

    def _owe_again(self, event: Received, now: Nanos) -> None:
        """Its author sends it again, so it does not know that we have it."""
        message = event.message
        if event.from_author and message.sender_id != self.me:
            self.log.owe(HistoryEntry(message.message_id, event.hint, message.sender_id))
            self._owe_soon(now)

    def _owe_soon(self, now: Nanos) -> None:
        if self.log.owed and self._owed_at is None:
            self._owed_at = now + self._uniform(self.parameters.acknowledge_within)

    # --- Review ACK Status ---------------------------------------------------------------------

    def _review_acks(self, event: Received, now: Nanos) -> list[Effect]:
        message = event.message
        self.log.named(message.causal_history, message.sender_id)
        if message.sender_id == self.me:
            return []
        effects: list[Effect] = [
            DeliveryChanged(message_id, Delivery.ACKNOWLEDGED, 0)
            for message_id in self.outgoing.acknowledge(message.causal_history)
        ]
        if not event.from_author or message.bloom_filter is None:
            return effects
        try:
            received = ReceivedFilter.read(message.bloom_filter, self.parameters.bloom)
        except DecodeError as error:
            return [*effects, FilterIgnored(message.sender_id, str(error))]
        effects += [
            DeliveryChanged(pending.message_id, pending.delivery, pending.attempts)
            for pending in self.outgoing.hint(received, message.sender_id, now)
        ]
        return effects

    # --- Sweeps and sync messages --------------------------------------------------------------

    def _on_tick(self, now: Nanos) -> list[Effect]:
        effects = self._sweep_incoming(now)
        if self._peers:
            effects += self._sweep_outgoing(now)
            effects += self._sync_if_due(now)
        return effects

    def _sweep_incoming(self, now: Nanos) -> list[Effect]:
        """Give up on what did not come ("Periodic Incoming Buffer Sweep")."""
        overdue, lost = self.incoming.give_up(now)
        effects: list[Effect] = [Found(message_id, lost=True) for message_id in lost]
        for content in sorted(overdue, key=lambda held: (held.lamport, held.message_id)):
            if content.message_id not in self.log.known:
                effects += self._deliver([content], now)
        return effects

    def _sweep_outgoing(self, now: Nanos) -> list[Effect]:
        due, failed = self.outgoing.sweep(now)
        effects: list[Effect] = []
        if due:
            bloom_filter = self.filter.to_bytes()
            effects += [
                Rebroadcast(pending.message_id, bloom_filter, pending.attempts, pending.delivery)
                for pending in due
            ]
        effects += [
            DeliveryChanged(pending.message_id, pending.delivery, pending.attempts)
            for pending in failed
        ]
        return effects

    def _sync_if_due(self, now: Nanos) -> list[Effect]:
        """Send sync messages ("Periodic Sync Message"); none while the log is empty."""
        due = self.next_sync_at
        if due is None or due > now:
            return []
        effects: list[Effect] = []
        for _ in range(SYNC_BURST):
            history = self.log.sync_history(self.parameters.history_size)
            if not history:
                break
            self.lamport = self._next_lamport(now)
            effects.append(Broadcast(self._message(self.lamport, history, b"")))
            self.log.named(history, self.me)
            if not self.log.owed:
                break
        self._spoke((), now)
        self._backoff = min(self._backoff + 1, BACKOFF_MAX)
        self._owed_at = now + self._uniform(SYNC_AGAIN) if self.log.owed else None
        return effects

    def _spoke(self, history: Iterable[HistoryEntry], now: Nanos) -> None:
        """We sent something: what it names is owed no more, and the idle countdown starts anew."""
        self.log.named(history, self.me)
        if not self.log.owed:
            self._owed_at = None
        self._rearm_idle(now)

    def _heard(self, event: Received, now: Nanos) -> None:
        """Somebody spoke: whoever only wanted to keep the channel alive waits again."""
        if not self.log.owed:
            self._owed_at = None
        if event.from_author and not event.message.repair_request:
            self._rearm_idle(now)

    def _wake(self, now: Nanos) -> None:
        """Something is new or missing: back to the short interval."""
        self._backoff = 0
        self._rearm_idle(now)

    def _rearm_idle(self, now: Nanos) -> None:
        if not self._peers:
            self._idle_at = None
            return
        if self.outgoing.pending or self.incoming.missing:
            self._backoff = 0
        wait = self._uniform(self.parameters.idle_within) * max(1, self._peers // 20)
        self._idle_at = now + min(wait << self._backoff, self.parameters.idle_max)

    def _uniform(self, within: tuple[Nanos, Nanos]) -> Nanos:
        return self._rng.randint(*within)

    # --- What the runner and the person say ----------------------------------------------------

    def _on_connected(self, peers: int, now: Nanos) -> list[Effect]:
        self._peers = peers
        self.outgoing.connected(now, online=peers > 0)
        self._wake(now)
        return []

    def _on_send_again(self, message_id: MessageId, now: Nanos) -> list[Effect]:
        pending = self.outgoing.send_again(message_id, now)
        if pending is None:
            raise LocalError("That message is not waiting: it is acknowledged, or not yours.")
        return [
            DeliveryChanged(message_id, pending.delivery, pending.attempts),
            Rebroadcast(message_id, self.filter.to_bytes(), pending.attempts, pending.delivery),
        ]

    def _on_restored(self, event: Restored, now: Nanos) -> list[Effect]:
        """Take up where the disk left off; what we owed, its authors will ask for by resending."""
        assert not self.log.order, "restored twice"
        self.log.order.extend(event.order)
        self.log.known.update(message_id for _, message_id in event.order)
        self.lamport = event.order[-1][0] if event.order else 0
        for _, message_id in event.order[-self.parameters.bloom.capacity :]:
            self.filter.insert(message_id)
        for tip in event.tips:
            entry = HistoryEntry(tip.message_id, tip.retrieval_hint, tip.sender_id)
            self.log.restore_tip(tip.lamport, entry)
        for own in event.outgoing:
            self.outgoing.add(own.message_id, now, own.delivery, own.attempts)
        effects: list[Effect] = []
        for content in event.waiting:
            if content.message_id not in self.log.known:
                effects += self._admit(content, now)
        return effects
