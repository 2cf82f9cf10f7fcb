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

from sync.bloom import RollingBloomFilter
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
    Seek,
    Send,
    SendAgain,
    SendEphemeral,
)
from sync.sds.history import Log
from sync.sds.incoming import Content, Incoming
from sync.sds.message import Delivery, HistoryEntry, Kind, Message, Parameters
from sync.sds.timing import SyncTimer

SYNC_BURST = 4
"""Sync messages sent at one tick when we owe hundreds of acknowledgements: 64 names.

Whoever reads them is busy with them for 5 ms; with four times as many, live lines wait for that."""


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
        self._offset: Nanos = 0
        self._timer = SyncTimer(parameters, rng)

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
                return self._on_admit(content, now)
            case Seek(history, message_id):
                return self._seek(history, message_id, now)
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
        times = (self.incoming.deadline(), self.outgoing.deadline(), self.next_sync_at)
        return min((time for time in times if time is not None), default=None)

    @property
    def next_sync_at(self) -> Nanos | None:
        """When the next sync message is due, if nobody speaks before."""
        return self._timer.next_at

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
            direct=event.from_author,
        )
        if message.message_id in self.log.known:
            self._owe_again(event, now)
            return effects
        if message.message_id in self.incoming.waiting:
            return effects
        return [*effects, *self._admit(content, now)]

    def _on_admit(self, content: Content, now: Nanos) -> list[Effect]:
        """Take in a message received before; only now does what it names count."""
        acknowledged = self._acknowledge(content.causal_history, content.sender_id)
        return [*acknowledged, *self._admit(content, now)]

    def _admit(self, content: Content, now: Nanos) -> list[Effect]:
        """Deliver a new message, or hold it back ("Receive Message", last paragraph)."""
        self.filter.insert(content.message_id)
        missing = self._seek(content.causal_history, content.message_id, now)
        unmet = self._unmet(content) & self.incoming.missing.keys()
        if not unmet:  # nothing is missing, or so much that we look for no more
            return [*missing, *self._deliver([content], now)]
        effects: list[Effect] = [Held(content.message_id), *missing]
        evicted = self.incoming.hold(content, unmet, now)
        if evicted is not None:
            effects += self._deliver([evicted], now)
        return effects

    def _unmet(self, content: Content) -> set[MessageId]:
        return {entry.message_id for entry in content.causal_history} - self.log.known

    def _seek(self, history: Iterable[HistoryEntry], named_by: str, now: Nanos) -> list[Effect]:
        """Look for what is named there and neither here nor waiting; bounded.

        What waits here is missing too for whoever depends on it, but is no news to the person.
        """
        unknown = [entry.message_id for entry in history if entry.message_id not in self.log.known]
        if not unknown:
            return []
        fresh = self.incoming.seek(unknown, named_by, now)
        if fresh:
            self._timer.wake(now)
        return [Missing(id_, named_by) for id_ in fresh if id_ not in self.incoming.waiting]

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
            named = content.message_id in self.incoming.missing
            queue += self.incoming.arrived(content.message_id)
            if named or content.message_id in self.incoming.lost:
                self.incoming.lost.pop(content.message_id, None)
                effects.append(Found(content.message_id, lost=False))
        self._owe_soon(now)
        self._timer.wake(now)
        return effects

    def _append(self, content: Content) -> None:
        entry = HistoryEntry(content.message_id, content.retrieval_hint, content.sender_id)
        self.log.insert(content.lamport, entry, content.causal_history)
        if content.direct and content.sender_id != self.me:
            self.log.owe(entry)

    def _owe_again(self, event: Received, now: Nanos) -> None:
        """Its author sends it again, so it does not know that we have it."""
        message = event.message
        if event.from_author and message.sender_id != self.me:
            self.log.owe(HistoryEntry(message.message_id, event.hint, message.sender_id))
            self._owe_soon(now)

    def _owe_soon(self, now: Nanos) -> None:
        if self.log.owed:
            self._timer.owe(now)

    # --- Review ACK Status ---------------------------------------------------------------------

    def _acknowledge(self, history: tuple[HistoryEntry, ...], by: PeerId) -> list[Effect]:
        """Settle our messages that `by` names; our own naming proves nothing."""
        self.log.named(history, by)
        if by == self.me:
            return []
        named = self.outgoing.acknowledge(history)
        return [DeliveryChanged(message_id, Delivery.ACKNOWLEDGED, 0) for message_id in named]

    def _review_acks(self, event: Received, now: Nanos) -> list[Effect]:
        message = event.message
        effects = self._acknowledge(message.causal_history, message.sender_id)
        if not event.from_author or message.bloom_filter is None or message.sender_id == self.me:
            return effects
        try:
            hinted = self.outgoing.hint(message.bloom_filter, message.sender_id, now)
        except DecodeError as error:
            return [*effects, FilterIgnored(message.sender_id, str(error))]
        effects += [
            DeliveryChanged(pending.message_id, pending.delivery, pending.attempts)
            for pending in hinted
        ]
        return effects

    # --- Sweeps and sync messages --------------------------------------------------------------

    def _on_tick(self, now: Nanos) -> list[Effect]:
        return [*self._sweep_incoming(now), *self._sweep_outgoing(now), *self._sync_if_due(now)]

    def _sweep_incoming(self, now: Nanos) -> list[Effect]:
        """Give up on what did not come ("Periodic Incoming Buffer Sweep")."""
        overdue, lost = self.incoming.give_up(now)
        effects: list[Effect] = [Found(message_id, lost=True) for message_id in lost]
        for content in sorted(overdue, key=_place):
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
        self._timer.tire(now)
        self._spoke((), now)
        if self.log.owed:
            self._timer.owe_more(now)
        return effects

    def _spoke(self, history: Iterable[HistoryEntry], now: Nanos) -> None:
        """We sent something: what it names is owed no more, and the idle countdown starts anew."""
        self.log.named(history, self.me)
        self._settle()
        self._restart_idle(now)

    def _heard(self, event: Received, now: Nanos) -> None:
        """Somebody spoke: whoever only wanted to keep the channel alive waits again."""
        self._settle()
        if event.from_author and not event.message.repair_request:
            self._restart_idle(now)

    def _settle(self) -> None:
        if not self.log.owed:
            self._timer.settled()

    def _restart_idle(self, now: Nanos) -> None:
        if self.incoming.missing or self.outgoing.awaiting:
            self._timer.wake(now)
        else:
            self._timer.restart(now)

    # --- What the runner and the person say ----------------------------------------------------

    def _on_connected(self, peers: int, now: Nanos) -> list[Effect]:
        if not self._timer.peers:
            self._timer.settled()  # what we owed meanwhile is told in its time, not at once
            self._owe_soon(now)
        self._timer.peers = peers
        self._timer.wake(now)
        self.outgoing.connected(now, online=peers > 0)
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
        named = {parent.message_id for tip in event.tips for parent in tip.causal_history}
        for tip in event.tips:
            entry = HistoryEntry(tip.message_id, tip.retrieval_hint, tip.sender_id)
            if tip.message_id in named:
                self.log.restore_newest(tip.lamport, entry)
            else:
                self.log.restore_tip(tip.lamport, entry)
        for own in event.outgoing:
            self.outgoing.add(own.message_id, now, own.delivery, own.attempts)
        effects: list[Effect] = []
        for content in sorted(event.waiting, key=_place):
            if content.message_id not in self.log.known:
                effects += self._admit(content, now)
        return effects


def _place(content: Content) -> tuple[int, MessageId]:
    """Where a message stands in the log; honest ones stand behind all that they name."""
    return content.lamport, content.message_id
