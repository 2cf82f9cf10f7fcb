"""Waku Sync as one of the protocols of `sync.sessions`: its machine, its bytes and its cards."""

from collections.abc import Sequence
from typing import Final, assert_never

from msgspec import Struct

from sync.machine import ChannelId, Nanos, Tick
from sync.sessions.cards import Round
from sync.sessions.never_live import NeverLive
from sync.sessions.protocol import (
    ROUND_TRIP,
    Effect,
    Finished,
    Fit,
    GoOn,
    Narrow,
    Opening,
    Pushed,
    Send,
    Situation,
)
from sync.sessions.values import LoadedEntry, Plane
from sync.structures.differences import Differences, Role
from sync.structures.ordered_set import SyncId
from sync.waku import reconcile
from sync.waku.division import NARROW, Parameters
from sync.waku.message import (
    RECONCILIATION,
    TRANSFER,
    Ranges,
    WakuMessage,
    content_topic,
    pubsub_topic,
    shard,
    sync_id,
)
from sync.waku.rounds import drawn
from sync.waku.turn import PAYLOADS_MAX
from sync.waku.wire import decode_ranges, decode_transfer, encode_ranges, encode_transfer

ROUNDS_MAX = 64
"""Payloads remembered to be shown; a session of a million differences has some ninety."""

RECONCILED: Final = (reconcile.Result.EQUAL, reconcile.Result.RECONCILED)
"""Results after which the check says whether both hold the same."""

COST: Final = 4_000 + 4 * ROUND_TRIP
"""Of a session that finds a few differences among a hundred thousand messages."""


class Transferred(Struct, frozen=True):
    """A message as a transfer brings it (Waku Sync, "Transfer Protocol")."""

    waku: WakuMessage
    topic: str


class WakuSync(Struct, frozen=True):
    """Waku Sync, as it is registered (`sync.sessions.protocol.SyncProtocol`)."""

    parameters: Parameters = NARROW
    name: str = "waku"
    plane: Plane = Plane.LOG
    stream: str = RECONCILIATION
    transfer: str = TRANSFER
    payloads_max: int = PAYLOADS_MAX
    usual: bool = True
    stays: bool = False
    family: str = ""
    chooses: bool = False
    entries_in: None = None
    contradicted: str = "fingerprints lied"

    def suits(self, situation: Situation) -> Fit | None:
        """Return how well it suits: it finds whatever differs, and every peer speaks it.

        Where author logs can be had it leaves them to who brings them in causal order.
        """
        if situation.by_logs:
            return None
        return Fit(COST, "it finds whatever differs, and everybody speaks it")

    def exchange(self, opening: Opening) -> "WakuExchange":
        """Return the reconciliation of one session."""
        return WakuExchange(opening, self.parameters)

    def encode_pushed(  # a protocol's own
        self, channel: ChannelId, payload: bytes, created_ns: Nanos
    ) -> bytes:
        """Return a stored message as it is pushed."""
        waku = WakuMessage(payload, content_topic(channel), created_ns)
        return encode_transfer(waku, pubsub_topic(channel))

    def decode_pushed(self, frame: bytes) -> Pushed:  # a protocol's own
        """Return what was pushed.

        Raises:
            RemoteError: malformed.
        """
        waku, topic = decode_transfer(frame)
        return Pushed(sync_id(topic, waku), Transferred(waku, topic))


class WakuExchange(NeverLive):
    """The reconciliation of one session; see `sync.sessions.protocol.Exchange`."""

    def __init__(self, opening: Opening, parameters: Parameters) -> None:
        self._answers = opening.role is Role.RESPONDER
        self._local = opening.local
        self._until = opening.window.upper
        self._payloads = 0
        self._cards: list[Round] = []
        self._machine = reconcile.Reconciliation(
            opening.role,
            opening.local,
            (shard(opening.channel),),
            opening.at,
            parameters,
            opening.window,
            opening.room,
            opening.payloads_max,
            opening.grown,
        )

    @property
    def cards(self) -> Sequence[Round]:
        """The first payloads, as they are shown."""
        return self._cards

    def open(self, now: Nanos) -> list[Effect]:
        """Send the first payload."""
        return self._carry_out(self._machine.handle(reconcile.Begin(), now))

    def payload(self, payload: bytes, now: Nanos) -> list[Effect]:
        """Take a payload of ranges.

        Raises:
            RemoteError: not what an honest peer sends now; nothing has changed.
        """
        received = decode_ranges(payload)
        narrow = self._meet(received.ranges)
        self._draw(received.ranges, len(payload), sent=False)
        results = self._machine.handle(reconcile.PayloadReceived(received), now)
        return [*narrow, *self._carry_out(results)]

    def go_on(self, now: Nanos) -> list[Effect]:
        """Go on answering what came."""
        return self._carry_out(self._machine.handle(reconcile.Continue(), now))

    def loaded(self, page: Sequence[LoadedEntry], now: Nanos, *, more: bool) -> list[Effect]:
        """See `sync.sessions.protocol.Exchange`."""
        raise AssertionError("it loads nothing")

    def tick(self, now: Nanos) -> list[Effect]:
        """See `sync.sessions.protocol.Exchange`."""
        return self._carry_out(self._machine.handle(Tick(), now))

    def deadline(self) -> Nanos | None:
        """Return when the peer has been silent for too long."""
        return self._machine.deadline()

    def _meet(self, received: Ranges) -> list[Effect]:
        """Take note of where the initiator's window ends, which its first payload says."""
        if not self._answers or self._payloads or not received:
            return []
        upper: SyncId = received.upper(-1)
        if upper >= self._until:
            return []
        self._until = upper
        self._local = self._local.below(upper)
        return [Narrow(upper)]

    def _carry_out(self, results: Sequence[reconcile.Effect]) -> list[Effect]:
        """Return what a step of the reconciliation came to, as every protocol says it."""
        effects: list[Effect] = []
        for result in results:
            match result:
                case reconcile.SendPayload(payload):
                    encoded = encode_ranges(payload)
                    self._draw(payload.ranges, len(encoded), sent=True)
                    effects.append(Send(encoded, differs=bool(payload.ranges)))
                case Differences():
                    effects.append(result)
                case reconcile.Continue():
                    effects.append(GoOn())
                case reconcile.Finished(ended, rounds):
                    effects.append(Finished(ended.value, rounds, checked=ended in RECONCILED))
                case _:
                    assert_never(result)
        return effects

    def _draw(self, ranges: Ranges, size: int, *, sent: bool) -> None:
        """Remember a payload to be shown, if it is one of the first."""
        self._payloads += 1
        if len(self._cards) < ROUNDS_MAX:
            self._cards.append(drawn(ranges, size, self._local, sent=sent))


WAKU_SYNC: Final = WakuSync()
