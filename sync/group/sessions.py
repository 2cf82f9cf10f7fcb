"""The Waku Sync sessions of one channel: reconcile, then push what the other lacks.

One session a peer. A session is over for us when the reconciliation is, and when all that it found
missing here has come or its sender has ended.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from sync.errors import RemoteError
from sync.group.values import (
    CloseSession,
    OpenSession,
    PeerGone,
    PeerJoined,
    Push,
    Refused,
    SendPayload,
    SessionClosed,
    SessionEnded,
    SessionId,
    SessionOffered,
    SessionOpened,
    SessionPayload,
    StartSession,
    TransferEnded,
    Transferred,
)
from sync.machine import SECOND, ChannelId, Nanos, PeerId, Tick
from sync.ranges import OrderedSet
from sync.waku import reconcile, transfer
from sync.waku.message import WakuMessage, shard, sync_id
from sync.waku.wire import decode_ranges, decode_transfer, encode_ranges

OFFERED = "the peer began it"
CONVERGED = {reconcile.Result.EQUAL.value, reconcile.Result.RECONCILED.value}


STALE_AFTER: Nanos = SECOND
"""Silence after which a session does not outlive a new link; on one LAN an answer takes less."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """A transferred message that this session wants; the group checks and stores it."""

    peer: PeerId
    waku: WakuMessage
    topic: str


Input: TypeAlias = (
    StartSession
    | SessionOffered
    | SessionOpened
    | SessionPayload
    | SessionClosed
    | Transferred
    | TransferEnded
    | PeerJoined
    | PeerGone
    | Tick
)
Effect: TypeAlias = (
    OpenSession | SendPayload | CloseSession | Push | SessionEnded | Refused | Accepted
)


@dataclass(slots=True)
class Session:
    """One session; `reconciliation` is None until its stream is open."""

    number: SessionId
    peer: PeerId
    why: str
    transfer: transfer.Transfer
    heard_at: Nanos
    """When the peer's part in it last came."""
    reconciliation: reconcile.Reconciliation | None = None
    finished: reconcile.Finished | None = None
    need: int = 0
    have: tuple[bytes, ...] = ()

    def deadline(self) -> Nanos | None:
        """When it has waited too long."""
        machine = self.transfer if self.finished else self.reconciliation
        return machine.deadline() if machine is not None else None


class Sessions:
    """The sessions of one channel by peer."""

    def __init__(self, me: PeerId, channel: ChannelId, items: OrderedSet) -> None:
        self.by_peer: dict[PeerId, Session] = {}
        self._me = me
        self._items = items
        self._shards = (shard(channel),)

    def handle(self, event: Input, now: Nanos) -> Sequence[Effect]:
        """See `sync.machine`. Garbage on a stream ends its session, with the reason shown."""
        match event:
            case StartSession(number, peer, why):
                return self._on_start(number, peer, why, now)
            case SessionOffered(number, peer):
                return self._on_offered(number, peer, now)
            case SessionOpened(number):
                return self._on_opened(number, now)
            case SessionPayload(number, payload):
                return self._on_payload(number, payload, now)
            case SessionClosed(number, reason):
                return self._on_closed(number, reason)
            case Transferred(peer, payload):
                return self._on_transferred(peer, payload, now)
            case TransferEnded(peer):
                return self._transfer(peer, transfer.RemoteFinished(), now)
            case PeerJoined(peer):
                return self._on_linked_again(peer, now)
            case PeerGone(peer):
                session = self.by_peer.get(peer)
                return self._end(session, "interrupted: the peer is gone") if session else []
            case Tick():
                return self._on_tick(now)
            case _:
                assert_never(event)

    def deadline(self) -> Nanos | None:
        """When the next session has waited too long."""
        if not self.by_peer:
            return None
        times = (session.deadline() for session in self.by_peer.values())
        return min((time for time in times if time is not None), default=None)

    # --- Beginning -----------------------------------------------------------------------------

    def _on_start(self, number: SessionId, peer: PeerId, why: str, now: Nanos) -> list[Effect]:
        session = Session(number, peer, why, transfer.Transfer(), now)
        if peer in self.by_peer:
            return [_ended(session, "put off: another session with this peer runs")]
        self.by_peer[peer] = session
        return [OpenSession(number, peer)]

    def _on_opened(self, number: SessionId, now: Nanos) -> list[Effect]:
        session = self._numbered(number)
        if session is None:
            return [CloseSession(number)]
        session.reconciliation = self._reconciliation(reconcile.Role.INITIATOR, now)
        return self._reconcile(session, reconcile.Begin(), now)

    def _on_offered(self, number: SessionId, peer: PeerId, now: Nanos) -> list[Effect]:
        """Answer a session; where both began one, the one of the smaller key goes on."""
        effects: list[Effect] = []
        running = self.by_peer.get(peer)
        if running is not None:
            if running.why != OFFERED and self._me < peer:
                return [CloseSession(number)]
            effects += self._end(running, "put off: the peer began one too")
        session = Session(number, peer, OFFERED, transfer.Transfer(), now)
        session.reconciliation = self._reconciliation(reconcile.Role.RESPONDER, now)
        self.by_peer[peer] = session
        return effects

    def _on_linked_again(self, peer: PeerId, now: Nanos) -> list[Effect]:
        """The peer made a new link: a session that has been silent is on a network that is gone."""
        session = self.by_peer.get(peer)
        if session is None or now - session.heard_at < STALE_AFTER:
            return []
        return self._end(session, "interrupted: the peer came back over a new link")

    def _reconciliation(self, role: reconcile.Role, now: Nanos) -> reconcile.Reconciliation:
        return reconcile.Reconciliation(role, self._items.frozen(), self._shards, now)

    # --- Reconciling ---------------------------------------------------------------------------

    def _on_payload(self, number: SessionId, payload: bytes, now: Nanos) -> list[Effect]:
        session = self._numbered(number)
        if session is None or session.reconciliation is None:
            return [CloseSession(number)]
        session.heard_at = now
        try:
            ranges = decode_ranges(payload)
            return self._reconcile(session, reconcile.PayloadReceived(ranges), now)
        except RemoteError as error:
            return [Refused(session.peer, str(error)), *self._end(session, f"refused: {error}")]

    def _reconcile(self, session: Session, event: reconcile.Input, now: Nanos) -> list[Effect]:
        assert session.reconciliation is not None
        effects: list[Effect] = []
        for result in session.reconciliation.handle(event, now):
            match result:
                case reconcile.SendPayload(payload):
                    effects.append(SendPayload(session.number, encode_ranges(payload)))
                case reconcile.Differences(need, have):
                    session.need += len(need)
                    session.have += tuple([item.hash for item in have])
                    effects += self._transfer(session.peer, transfer.Wanted(need), now)
                case reconcile.Finished():
                    effects += self._on_reconciled(session, result, now)
                case _:
                    assert_never(result)
        return effects

    def _on_reconciled(
        self, session: Session, finished: reconcile.Finished, now: Nanos
    ) -> list[Effect]:
        session.finished = finished
        effects: list[Effect] = [CloseSession(session.number)]
        if session.have:
            effects.append(Push(session.peer, session.have))
        return [
            *effects,
            *self._transfer(session.peer, transfer.ReconciliationFinished(), now),
        ]

    def _on_closed(self, number: SessionId, reason: str) -> list[Effect]:
        """The stream is gone; that matters only while there was something to say on it."""
        session = self._numbered(number)
        if session is None or session.finished is not None:
            return []
        del self.by_peer[session.peer]
        return [_ended(session, f"interrupted: {reason or 'the peer closed the stream'}")]

    # --- Transferring --------------------------------------------------------------------------

    def _on_transferred(self, peer: PeerId, payload: bytes, now: Nanos) -> list[Effect]:
        """Let in what an active session found missing (Waku Sync, "Transfer Protocol").

        Raises:
            RemoteError: malformed, or no session with this peer.
        """
        waku, topic = decode_transfer(payload)
        session = self.by_peer.get(peer)
        if session is None:
            return [Refused(peer, "a transferred message outside a session")]
        session.heard_at = now
        item = Accepted(peer, waku, topic)
        arrived = transfer.Arrived(sync_id(topic, waku), item, len(payload))
        return self._transfer(peer, arrived, now)

    def _transfer(self, peer: PeerId, event: transfer.Input, now: Nanos) -> list[Effect]:
        session = self.by_peer.get(peer)
        if session is None:
            return []
        effects: list[Effect] = []
        for result in session.transfer.handle(event, now):
            match result:
                case transfer.Accept(item):
                    assert isinstance(item, Accepted)
                    effects.append(item)
                case transfer.Decline(_, reason):
                    effects.append(Refused(peer, f"a transferred message: {reason.value}"))
                case transfer.TransferFinished(got, missing):
                    effects += self._on_transfer_finished(session, got, len(missing))
                case _:
                    assert_never(result)
        return effects

    def _on_transfer_finished(self, session: Session, got: int, missing: int) -> list[Effect]:
        assert session.finished is not None
        result = session.finished.result
        if missing:
            return self._end(session, f"incomplete: {missing} messages did not come", got)
        return self._end(session, result.value, got)

    # --- Ending --------------------------------------------------------------------------------

    def _on_tick(self, now: Nanos) -> list[Effect]:
        effects: list[Effect] = []
        for session in list(self.by_peer.values()):
            due = session.deadline()
            if due is None or due > now:
                continue
            if session.finished is not None:
                effects += self._transfer(session.peer, Tick(), now)
            else:
                effects += self._reconcile(session, Tick(), now)
        return effects

    def _end(self, session: Session, result: str, got: int = 0) -> list[Effect]:
        del self.by_peer[session.peer]
        closing = [] if session.finished else [CloseSession(session.number)]
        return [*closing, _ended(session, result, got)]

    def _numbered(self, number: SessionId) -> Session | None:
        return next((one for one in self.by_peer.values() if one.number == number), None)


def _ended(session: Session, result: str, got: int = 0) -> SessionEnded:
    return SessionEnded(
        session=session.number,
        peer=session.peer,
        why=session.why,
        result=result,
        converged=result in CONVERGED,
        rounds=session.finished.rounds if session.finished else 0,
        have=len(session.have),
        need=session.need,
        got=got,
    )
