"""The Waku Sync sessions of one channel: reconcile, check what came of it, push what is lacking.

One session a peer. It is over for us when the reconciliation and its check are, and when all that
they found missing here has come or its sender has ended.

Rules:
1. Both sides freeze what they hold at their first payload; what comes meanwhile is the next one's.
   Where the initiator's window ends, so does what both sides froze.
2. Only a check that found both sides equal makes a session converge. The initiator begins it, on a
   stream of its own; what it finds beyond the reconciliation is pushed and wanted like the rest.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final, assert_never

from sync.check import check
from sync.check.message import CHECK
from sync.check.wire import encode_frame
from sync.errors import RemoteError
from sync.machine import MINUTE, SECOND, Nanos, PeerId, Tick, earlier
from sync.sessions import receiving as transfer
from sync.sessions.claims import Claims
from sync.sessions.grace import Grace
from sync.sessions.holdings import Holdings
from sync.sessions.session import CHECK_WITHIN, OFFERED, SESSION_WITHIN, Session, Terms
from sync.sessions.shares import Shares
from sync.sessions.values import (
    PUT_OFF,
    SHARE,
    Accepted,
    CloseSession,
    CloseTransfer,
    Effect,
    Here,
    Input,
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
    Sought,
    StartSession,
    TransferEnded,
    Transferred,
    Unwanted,
    Wanted,
)
from sync.structures.ordered_set import ZERO_HASH, SyncId, columns_of
from sync.waku import reconcile
from sync.waku.message import shard, sync_id
from sync.waku.wire import decode_ranges, decode_transfer, encode_ranges

STALE_AFTER: Nanos = SECOND
"""Silence after which a session does not outlive a new link; on one LAN an answer takes less."""

SPAN_OFFSET: Nanos = 20 * SECOND
"""A window of the last hour begins and ends so much earlier: what is younger is just being
broadcast, and would only seem to be missing (Waku Sync, "Sync Window")."""

TOO_LONG: Final = f"put off: not done within {SESSION_WITHIN // MINUTE} minutes"

LOOKED_AFTER: Final = 64
"""Messages of the leader between two looks at what others could bring."""

SHOWN_MAX: Final = 20
"""Sessions that are over and still shown: some 5 kB each."""

BUSY: Final = "put off: another session brings what is missing"

RECONCILED: Final = (reconcile.Result.EQUAL, reconcile.Result.RECONCILED)


class Sessions:
    """The sessions of one channel by peer."""

    def __init__(self, terms: Terms, holdings: Holdings, claims: Claims | None = None) -> None:
        """Begin without any; `claims` is the budget of the whole node."""
        self.by_peer: dict[PeerId, Session] = {}
        self.shown: deque[Session] = deque(maxlen=SHOWN_MAX)
        """Those that are over, newest last."""
        self._terms = terms
        self._holdings = holdings
        self._shards = (shard(terms.channel),)
        self._late = Grace()
        self._claims = claims or Claims(lambda: [self])
        self._shares = Shares()
        self._linked: set[PeerId] = set()
        self._pushing: set[PeerId] = set()
        """Whose transfer has not ended, though the session it was for is over."""
        self._offset: Nanos = 0

    def handle(self, event: Input, now: Nanos, offset: Nanos = 0) -> Sequence[Effect]:
        """See `sync.machine`; the reference clock is `offset` ahead of `now`.

        Garbage on a stream ends its session, with the reason shown.
        """
        self._offset = offset
        match event:
            case StartSession(number, peer, why, span):
                return self._on_start(number, peer, why, span, now)
            case SessionOffered(number, peer, protocol):
                if protocol == CHECK:
                    return self._on_check_offered(number, peer, now)
                return self._on_offered(number, peer, now)
            case SessionOpened(number):
                return self._on_opened(number, now)
            case SessionPayload(number, payload):
                return self._on_payload(number, payload, now)
            case SessionClosed(number, reason):
                return self._on_closed(number, reason, now)
            case Transferred(peer, payload):
                return self._on_transferred(peer, payload, now)
            case TransferEnded(peer):
                if peer in self._pushing:  # an earlier session was over before its end came
                    self._pushing.discard(peer)
                    return []
                session = self.by_peer.get(peer)
                return self._transfer(session, transfer.RemoteFinished(), now) if session else []
            case Here(sync_id):
                return self._on_here(sync_id, now)
            case PeerJoined(peer):
                self._linked.add(peer)
                return [*self._on_linked_again(peer, now), *self._share_out(now)]
            case PeerGone(peer):
                return self._on_gone(peer, now)
            case Tick():
                return self._on_tick(now)
            case _:
                assert_never(event)

    def deadline(self) -> Nanos | None:
        """Return when a session or share next times out, or the grace of a finished one ends."""
        grace = self._late.deadline()
        if not self.by_peer:
            return grace
        times = (session.deadline() for session in self.by_peer.values())
        due = min((time for time in times if time is not None), default=None)
        return earlier(earlier(due, grace), self._shares.deadline(self.by_peer))

    @property
    def busy(self) -> bool:
        """True while missing messages are being found out or fetched."""
        return self._shares.busy

    @property
    def leader(self) -> Session | None:
        """Return the session that finds out what is missing, and brings the newest of it."""
        return self._shares.leader

    def receives_from(self, peer: PeerId, now: Nanos) -> bool:
        """Return whether a session with `peer` is running, or may still get what it lacked."""
        return peer in self.by_peer or self._late.of(peer, now) is not None

    @property
    def claimed(self) -> list[int]:
        """Bytes that each session takes for what its peer claims, those just over too."""
        return [*(session.claimed for session in self.by_peer.values()), *self._late.claimed]

    def _room(self, session: Session) -> int:
        """Return how many more ids `session` may find."""
        return self._claims.room(session.claimed)

    # --- Beginning -----------------------------------------------------------------------------

    def _on_start(
        self, number: SessionId, peer: PeerId, why: str, span: Nanos | None, now: Nanos
    ) -> list[Effect]:
        session = self._session(number, peer, why, now)
        if span is not None:
            until = now + self._offset - SPAN_OFFSET
            session.since = max(session.since, until - span)
            session.until = SyncId(max(until, session.since + 1), ZERO_HASH)
        if peer in self.by_peer:
            return [self._close(session, "put off: another session with this peer runs", now)]
        if why == SHARE:
            window = self._shares.window(peer, len(self._linked), now)
            if window is None:
                return [self._close(session, "nothing is left to be shared", now)]
            session.since = max(session.since, window.lower.timestamp)
            session.until = max(window.upper, SyncId(session.since + 1, ZERO_HASH))
        elif span is None and self._shares.busy:
            self._shares.later.add(peer)
            return [self._close(session, BUSY, now, put_off=True)]
        self.by_peer[peer] = session
        return [OpenSession(number, peer)]

    def _on_opened(self, number: SessionId, now: Nanos) -> list[Effect]:
        session = self._numbered(number)
        if session is None:
            return [CloseSession(number)]
        if number == session.check_stream:
            return self._begin_check(session, now)
        self._begin(session, reconcile.Role.INITIATOR, now)
        return self._reconcile(session, reconcile.Begin(), now)

    def _on_offered(self, number: SessionId, peer: PeerId, now: Nanos) -> list[Effect]:
        """Answer a session; where both began one, the one of the smaller key goes on."""
        effects: list[Effect] = []
        running = self.by_peer.get(peer)
        if running is not None:
            if running.initiated and self._terms.me < peer:
                return [CloseSession(number)]
            effects += self._end(running, "put off: the peer began one too", now)
        session = self.by_peer[peer] = self._session(number, peer, OFFERED, now)
        self._begin(session, reconcile.Role.RESPONDER, now)
        return effects

    def _on_linked_again(self, peer: PeerId, now: Nanos) -> list[Effect]:
        """The peer made a new link: a session that has been silent is on a network that is gone."""
        session = self.by_peer.get(peer)
        if session is None or now - session.heard_at < STALE_AFTER:
            return []
        return self._end(session, "interrupted: the peer came back over a new link", now)

    def _on_gone(self, peer: PeerId, now: Nanos) -> list[Effect]:
        session = self.by_peer.get(peer)
        self._linked.discard(peer)
        effects = self._end(session, "interrupted: the peer is gone", now) if session else []
        self._pushing.discard(peer)
        self._shares.forget(peer)
        return effects

    def _begin(self, session: Session, role: reconcile.Role, now: Nanos) -> None:
        local = session.freeze(*self._holdings.frozen())
        session.reconciliation = reconcile.Reconciliation(
            role,
            local,
            self._shards,
            now,
            self._terms.parameters,
            session.window,
            partial(self._room, session),
        )

    def _session(self, number: SessionId, peer: PeerId, why: str, now: Nanos) -> Session:
        """Return a session over everything that is not too old for us."""
        retained_from = self._terms.retained_from(now + self._offset)
        session = Session(number, peer, why, now, now, retained_from, retained_from)
        session.moved_at = now
        return session

    # --- Reconciling ---------------------------------------------------------------------------

    def _on_payload(self, number: SessionId, payload: bytes, now: Nanos) -> list[Effect]:
        session = self._numbered(number)
        if session is None:
            return [CloseSession(number)]
        session.heard_at = now
        try:
            if number == session.check_stream:
                return self._check(session, session.take_frame(payload, now), now)
            if session.reconciliation is None:
                return [CloseSession(number)]
            received = decode_ranges(payload)
            session.meet(received.ranges)
            session.note(received.ranges, len(payload), sent=False)
            results = session.reconciliation.handle(reconcile.PayloadReceived(received), now)
            if session.whole and _differs(results) and not self._shares.admits(session, now):
                return self._end(session, BUSY, now, put_off=True)
            return self._reconciled(session, results, now)
        except RemoteError as error:
            refused = Refused(session.peer, str(error))
            return [refused, *self._end(session, f"refused: {error}", now)]

    def _reconcile(self, session: Session, event: reconcile.Input, now: Nanos) -> list[Effect]:
        assert session.reconciliation is not None
        return self._reconciled(session, session.reconciliation.handle(event, now), now)

    def _reconciled(
        self, session: Session, results: Sequence[reconcile.Effect], now: Nanos
    ) -> list[Effect]:
        """Carry out what a step of the reconciliation came to."""
        session.moved_at = now
        effects: list[Effect] = []
        for result in results:
            match result:
                case reconcile.SendPayload(payload):
                    encoded = encode_ranges(payload)
                    session.note(payload.ranges, len(encoded), sent=True)
                    effects.append(SendPayload(session.number, encoded))
                case reconcile.Differences(need, have):
                    session.found.append(columns_of(need))
                    effects += self._differ(session, need, have, now)
                case reconcile.Finished():
                    effects += self._on_reconciled(session, result, now)
                case _:
                    assert_never(result)
        return effects

    def _differ(
        self,
        session: Session,
        need: tuple[SyncId, ...],
        have: tuple[SyncId, ...],
        now: Nanos,
    ) -> list[Effect]:
        """Want what we lack, which may have been pushed already, and note what the peer lacks."""
        session.need += len(need)
        session.have += len(have)
        session.pushed += have
        session.lacked.update(have)
        wanted: list[Effect] = [Wanted(need)] if need and not session.given_up else []
        return wanted + self._transfer(session, transfer.Wanted(need), now)

    def _on_reconciled(
        self, session: Session, finished: reconcile.Finished, now: Nanos
    ) -> list[Effect]:
        session.reconciled = finished
        effects: list[Effect] = [CloseSession(session.number), *self._push(session)]
        effects += self._share_found(session, now)
        if finished.result not in RECONCILED:
            return effects + self._settle(session, now)
        session.wait_until = now + CHECK_WITHIN
        if session.initiated:
            session.check_stream = -session.number
            effects.append(OpenSession(-session.number, session.peer, CHECK))
        elif session.check_stream is not None:
            effects += self._begin_check(session, now)
        return effects

    def _push(self, session: Session) -> list[Effect]:
        """Push what the peer lacks, the newest page first: that is what people want to read."""
        return [Push(session.peer, session.take_pages())] if session.pushed else []

    # --- Checking ------------------------------------------------------------------------------

    def _on_check_offered(self, number: SessionId, peer: PeerId, now: Nanos) -> list[Effect]:
        """Take part in the check of the session this peer began; it may be a payload early."""
        session = self.by_peer.get(peer)
        if session is None or session.initiated or session.settled or session.check_stream:
            return [CloseSession(number)]
        session.check_stream = number
        return self._begin_check(session, now) if session.reconciled is not None else []

    def _begin_check(self, session: Session, now: Nanos) -> list[Effect]:
        room = partial(self._room, session)
        return self._check(session, session.begin_check(self._terms.draw_salt(), now, room), now)

    def _check(self, session: Session, results: Sequence[check.Effect], now: Nanos) -> list[Effect]:
        """Carry out what a step of the check came to."""
        assert session.check_stream is not None
        session.moved_at = now
        effects: list[Effect] = []
        for result in results:
            match result:
                case check.SendFrame(frame):
                    effects.append(SendPayload(session.check_stream, encode_frame(frame)))
                case reconcile.Differences(need, have):
                    effects += self._differ(session, need, have, now)
                case check.CheckFinished():
                    session.checked = result
                    effects += self._on_checked(session, now)
                case _:
                    assert_never(result)
        return effects

    def _on_checked(self, session: Session, now: Nanos) -> list[Effect]:
        assert session.checked is not None
        assert session.check_stream is not None
        effects: list[Effect] = [CloseSession(session.check_stream), *self._push(session)]
        if session.checked.result is check.Result.EQUAL:
            effects.append(session.proved())
        return effects + self._settle(session, now)

    def _unchecked(self, session: Session, reason: str, now: Nanos) -> list[Effect]:
        """The check did not take place."""
        refused = check.Result.REFUSED
        session.checked = check.CheckFinished(refused, session.since, 0, 0, 0, 0, reason)
        return self._settle(session, now)

    def _settle(self, session: Session, now: Nanos) -> list[Effect]:
        """No more differences will be found: what is missing may still come."""
        session.settled = True
        return self._transfer(session, transfer.ReconciliationFinished(), now)

    def _on_closed(self, number: SessionId, reason: str, now: Nanos) -> list[Effect]:
        """A stream is gone; that matters only while there was something to say on it."""
        session = self._numbered(number)
        if session is None or session.settled:
            return []
        reason = reason or "the peer closed the stream"
        if number == session.check_stream:
            session.check_stream = session.early_frame = None
            return [] if session.reconciled is None else self._unchecked(session, reason, now)
        if session.reconciled is not None:
            return []
        ended = self._end(session, f"interrupted: {reason}", now)
        return [effect for effect in ended if effect != CloseSession(number)]

    # --- Transferring --------------------------------------------------------------------------

    def _on_transferred(self, peer: PeerId, payload: bytes, now: Nanos) -> list[Effect]:
        """Let in what an active session found missing (Waku Sync, "Transfer Protocol").

        Raises:
            RemoteError: malformed.
        """
        waku, topic = decode_transfer(payload)
        session = self.by_peer.get(peer) or self._late.of(peer, now)
        if session is None:
            return [Refused(peer, "a transferred message outside a session")]
        session.heard_at = now
        wanted = sync_id(topic, waku)
        item = Accepted(peer, wanted, waku, topic)
        if wanted.timestamp < session.since:
            return [Refused(peer, "a transferred message from before what was compared")]
        return self._transfer(session, transfer.Arrived(wanted, item, len(payload)), now)

    def _transfer(self, session: Session, event: transfer.Input, now: Nanos) -> list[Effect]:
        effects: list[Effect] = []
        for result in session.transfer.handle(event, now):
            match result:
                case transfer.Accept(item):
                    assert isinstance(item, Accepted)
                    session.got += 1
                    session.moved_at = now
                    effects += [item, *_hoped_again(session)]
                case transfer.Decline(_, transfer.Reason.ELSEWHERE):
                    pass
                case transfer.Decline(_, reason):
                    effects.append(Refused(session.peer, f"a transferred message: {reason.value}"))
                case transfer.TransferFinished() if session.ended_at is not None:
                    pass  # the last of it came late
                case transfer.TransferFinished(_, missing):
                    effects += self._end(session, session.outcome(len(missing)), now, missing)
                case _:
                    assert_never(result)
        if session is self._shares.leader:
            if self._shares.paged(now) and self._shares.met:
                self._shares.later.add(session.peer)
                effects += self._end(session, "the rest comes from others", now, stops=True)
            elif session.got % LOOKED_AFTER == 0:
                effects += self._share_out(now)
        return effects

    # --- What is missing, shared out -----------------------------------------------------------

    def awaits(self, sync_id: SyncId) -> bool:
        """Return whether a session is still expected to bring this message."""
        sessions = self.by_peer.values()
        return self._shares.lacks(sync_id) or any(
            sync_id in one.transfer.wanted for one in sessions
        )

    def _on_here(self, sync_id: SyncId, now: Nanos) -> list[Effect]:
        """Nobody needs to bring what is here."""
        effects: list[Effect] = []
        for session in list(self.by_peer.values()):
            if sync_id in session.transfer.wanted:
                session.got += 1
                effects += self._transfer(session, transfer.Here(sync_id), now)
        self._shares.came(sync_id)
        return effects

    def _share_found(self, session: Session, now: Nanos) -> list[Effect]:
        """Ask others for a part of what the leader has found missing."""
        if session is not self._shares.leader:
            return []
        if not session.transfer.lacking:
            return self._lead_over(now)
        self._shares.found(session, now)
        return self._share_out(now)

    def _share_out(self, now: Nanos) -> list[Effect]:
        idle = self._shares.idle(self._linked, set(self.by_peer), now)
        return [Sought(idle, SHARE, once=True)] if idle else []

    def _lead_over(self, now: Nanos) -> list[Effect]:
        """Nothing is missing any more: others need not wait."""
        self._shares.leader = None
        return self._go_on(now)

    def _go_on(self, now: Nanos) -> list[Effect]:
        """Share out what is left; where nobody brings anything, compare everything anew."""
        if self._shares.busy:
            return self._share_out(now)
        later = [peer for peer in self._shares.finished() if peer in self._linked]
        return [Sought(tuple(later), PUT_OFF)] if later else []

    # --- Ending --------------------------------------------------------------------------------

    def _on_tick(self, now: Nanos) -> list[Effect]:
        effects: list[Effect] = []
        self._late.forget(now)
        led = self._shares.leader
        for session in self._shares.stalled(self.by_peer, now):
            effects += self._end(session, "it stopped to bring its share", now, stops=True)
        if led is not self._shares.leader:
            effects += self._go_on(now)
        for session in list(self.by_peer.values()):
            gives_up_at = session.gives_up_at()
            if gives_up_at is not None and gives_up_at <= now:
                session.given_up = True
                effects.append(Unwanted(session.transfer.missing, stalled=True))
            due = session.deadline()
            if due is None or due > now:
                continue
            if session.ends_at <= now:
                effects += self._end(session, TOO_LONG, now)
            elif session.settled:
                effects += self._transfer(session, Tick(), now)
            elif session.checking is not None:
                effects += self._check(session, session.checking.handle(Tick(), now), now)
            elif session.reconciled is not None:
                effects += self._unchecked(session, "it did not begin", now)
            else:
                effects += self._reconcile(session, Tick(), now)
        return effects

    def _end(
        self,
        session: Session,
        result: str,
        now: Nanos,
        missing: tuple[SyncId, ...] | None = None,
        *,
        put_off: bool = False,
        stops: bool = False,
    ) -> list[Effect]:
        """End a session; what it still lacks may come for a little while, unless it `stops`."""
        del self.by_peer[session.peer]
        effects: list[Effect] = []
        if session.reconciled is None:
            effects.append(CloseSession(session.number))
        elif not session.settled and session.check_stream is not None:
            effects.append(CloseSession(session.check_stream))
        left = session.transfer.missing if missing is None else missing
        if stops or session.transfer.elsewhere:  # of which the peer does not know
            effects.append(CloseTransfer(session.peer))
        if session.transfer.open:
            self._pushing.add(session.peer)
        self._shares.ended(session)
        if self._claims.free > 0:
            self._late.begin(session, now)
        else:
            self._late.let_go(session, now)
        if left and not session.given_up:
            effects.append(Unwanted(left))
        effects.append(self._close(session, result, now, put_off=put_off))
        return [*effects, *self._go_on(now)]

    def _close(
        self, session: Session, result: str, now: Nanos, *, put_off: bool = False
    ) -> SessionEnded:
        self.shown.append(session)
        return replace(session.end(result, now), put_off=put_off)

    def _numbered(self, number: SessionId) -> Session | None:
        return next(
            (one for one in self.by_peer.values() if number in (one.number, one.check_stream)), None
        )


def _hoped_again(session: Session) -> list[Effect]:
    """Wait again for what a peer owes that goes on after it stalled."""
    if not session.given_up or session.ended_at is not None:
        return []
    session.given_up = False
    return [Wanted(session.transfer.missing)]


def _differs(results: Sequence[reconcile.Effect]) -> bool:
    """Return whether the answer to a payload says that the two sets differ."""
    return any(
        isinstance(result, reconcile.Differences)
        or (isinstance(result, reconcile.SendPayload) and bool(result.payload.ranges))
        for result in results
    )
