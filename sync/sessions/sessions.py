"""The sessions of one channel: run a protocol, check what came of it, push what is lacking.

One session at each place (`SessionKey`). It is over for us when its exchange and the check are, and
when all that they found missing here has come or its sender has ended.

Rules:
1. Both sides freeze what they hold at their first payload; what comes meanwhile is the next one's.
   Where the initiator's window ends, so does what both sides froze.
2. Where a protocol has its result checked, only a check that found both sides equal makes a session
   converge. The initiator begins it, on a stream of its own; what it finds beyond the exchange is
   pushed and wanted like the rest.
"""

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, assert_never

from sync.check.message import CHECK
from sync.errors import RemoteError
from sync.machine import MINUTE, SECOND, MessageId, Nanos, PeerId, Tick, earlier
from sync.sessions import ending
from sync.sessions.brought import LOOKED_AFTER
from sync.sessions.checking import Checking
from sync.sessions.claims import Claims
from sync.sessions.fetching import Expected, Fetching
from sync.sessions.handshake import SyncKind, kind_named
from sync.sessions.holdings import Holdings
from sync.sessions.page_values import CheckPage, LoadNewestEntries, PageChecked
from sync.sessions.protocol import (
    Brings,
    BringsState,
    Checks,
    ChecksPages,
    Exchange,
    Finished,
    GoOn,
    Load,
    LoadNewest,
    Narrow,
    Owes,
    Protocols,
    Send,
    Snapshots,
    Speaks,
    SyncProtocol,
)
from sync.sessions.protocol import Effect as Step
from sync.sessions.served import TIMES_MAX, Served
from sync.sessions.session import CHECK_WITHIN, OFFERED, SESSION_WITHIN, Session, Terms
from sync.sessions.table import LIVE_OF_NODE_MAX, Table
from sync.sessions.values import (
    RELAY,
    RELAYS,
    SHARE,
    Accepted,
    AcceptedState,
    Brought,
    CloseSession,
    CloseTransfer,
    Continue,
    Effect,
    EntriesLoaded,
    EntryRefused,
    Here,
    Input,
    Leave,
    LinksTimed,
    LiveBegan,
    LoadEntries,
    LogsAnnounced,
    Mode,
    OpenSession,
    Outcome,
    PeerAnnounced,
    PeerGone,
    PeerJoined,
    Plane,
    Refused,
    SendPayload,
    SessionClosed,
    SessionEnded,
    SessionId,
    SessionKey,
    SessionOffered,
    SessionOpened,
    SessionPayload,
    SnapshotTold,
    StartSession,
    Stored,
    TransferEnded,
    Transferred,
    Unwanted,
)
from sync.structures.differences import Differences
from sync.structures.ids import Ids
from sync.structures.ordered_set import ZERO_HASH, SyncId

STALE_AFTER: Nanos = SECOND
"""Silence after which a session does not outlive a new link; on one LAN an answer takes less."""

OPENING_TRIPS: Final = 3
"""Trips until the peer has answered that it takes part: to connect, for the keys, for the proof."""

EARLY_MAX: Final = 8
"""Payloads that wait until a session can freeze. With more of them, as whoever opens one over sets
of logs may send unanswered, it begins at once."""

TOO_LONG: Final = f"put off: not done within {SESSION_WITHIN // MINUTE} minutes"
GAVE_WAY: Final = "put off: others needed its room"
STUCK: Final = "interrupted: its protocol let its time limit pass"
UNANSWERED: Final = "closed unanswered"
TOO_OFTEN: Final = f"refused: it was sent this channel {TIMES_MAX} times within an hour"
BUSY: Final = "put off: another session brings what is missing"


def _nobody(_: PeerId) -> bool:
    return False


def _never(_: Plane) -> bool:
    return False


class Sessions:
    """See the module docstring."""

    def __init__(
        self,
        terms: Terms,
        holdings: Holdings,
        protocols: Protocols,
        claims: Claims | None = None,
        needs: Callable[[PeerId], bool] = _nobody,
        blocked: Callable[[Plane], bool] = _never,
    ) -> None:
        """Begin without any.

        Args:
            terms: see there.
            holdings: what the channel holds.
            protocols: what is spoken here.
            claims: the budget of the whole node.
            needs: tells whether we hear others through a peer alone.
            blocked: tells whether no session of a plane is to begin now.
        """
        self._needs = needs
        self._blocked = blocked
        self._table = Table()
        self._terms = terms
        self._holdings = holdings
        self._protocols = protocols
        self._claims = claims or Claims(lambda: [self])
        self._served = Served()
        self._trips: dict[PeerId, Nanos] = {}
        """Times there and back on slow links."""
        self._fetching = Fetching(self._table, protocols, self._end, terms.read_pushed)
        self._checking = Checking(self._table, self._fetching, terms.draw_salt, self._room)

    def handle(self, event: Input, now: Nanos, offset: Nanos = 0) -> Sequence[Effect]:
        """See `sync.machine`; the reference clock is `offset` ahead of `now`.

        Garbage on a stream ends its session, with the reason shown.
        """
        match event:
            case StartSession():
                return self._on_start(event, now, offset)
            case SessionOffered(number, peer, protocol):
                if protocol == CHECK:
                    return self._checking.on_offered(number, peer, now)
                return self._handle_opened_stream(event, now, offset)
            case SessionOpened(number, payloads_max):
                return self._on_opened(number, payloads_max, now)
            case SessionPayload(number, payload):
                effects = self._on_payload(number, payload, now)
                if len(effects) == 1 and isinstance(effects[0], Accepted):
                    return effects  # an entry alone claims no room
                return [*effects, *self._make_room(now)]
            case Continue(number):
                return [*self._on_continue(number, now), *self._make_room(now)]
            case EntriesLoaded() | PageChecked():
                return self._on_loaded(event, now)
            case Stored():
                return self._on_stored(event, now)
            case Leave(peer):
                return self._on_leave(peer, now)
            case Brought() | EntryRefused():
                return self._on_entry(event, now)
            case SessionClosed(number, reason):
                return self._on_closed(number, reason, now)
            case Transferred(peer, payload):
                return self._fetching.on_transferred(peer, payload, now)
            case TransferEnded(peer):
                return self._fetching.on_ended(peer, now)
            case Here(sync_id, message_id):
                return self._fetching.on_here(sync_id, message_id, now)
            case PeerJoined(peer):
                self._fetching.linked.add(peer)
                return [*self._on_linked_again(peer, now), *self._fetching.share_out(now)]
            case PeerGone(peer):
                return self._on_gone(peer, now)
            case PeerAnnounced() | LogsAnnounced() | LinksTimed():
                return self._on_told(event)
            case Tick():
                return self._on_tick(now)
            case _:
                assert_never(event)

    def _on_told(self, event: PeerAnnounced | LogsAnnounced | LinksTimed) -> Sequence[Effect]:
        """Take note of slow links; of the rest whoever chooses protocols was told."""
        if isinstance(event, LinksTimed):
            self._trips = dict(event.slow)
            for session in self._table.running.values():
                session.patience.trip = self._trips.get(session.peer, 0)
        return []

    def deadline(self) -> Nanos | None:
        """Return when a session or share next times out, or the grace of a finished one ends."""
        late = self._table.late
        grace = late.deadline() if late.sessions else None
        if not self._table.running:
            return grace
        times = (session.deadline() for session in self._table.running.values())
        due = min((time for time in times if time is not None), default=None)
        return earlier(earlier(due, grace), self._fetching.shares.deadline(self.by_peer))

    # --- What others may know ------------------------------------------------------------------

    @property
    def running(self) -> dict[SessionKey, Session]:
        """The sessions that go on; to be looked at only."""
        return self._table.running

    @property
    def by_peer(self) -> dict[PeerId, Session]:
        """Of these, those that find and bring the messages that we lack, by peer."""
        return self._table.by_peer

    def numbered(self, number: SessionId) -> Session | None:
        """Return the running session that a stream is of."""
        return self._table.numbered(number)

    @property
    def shown(self) -> deque[Session]:
        """Those that are over, newest last; to be looked at only."""
        return self._table.shown

    @property
    def busy(self) -> bool:
        """True while missing messages are being found out or fetched."""
        return self._fetching.shares.busy

    @property
    def leader(self) -> Session | None:
        """Return the session that finds out what is missing, and brings the newest of it."""
        return self._fetching.shares.leader

    def awaits(self, sync_id: SyncId, message_id: MessageId) -> bool:
        """Return whether a session still expects this message, of its peer or of others."""
        return self._fetching.awaits(sync_id, message_id)

    def expects_from(self, peer: PeerId, now: Nanos) -> Expected | None:
        """Return what a session expects that `peer` pushes; None where there is no session."""
        return self._fetching.expects_from(peer, now)

    def protocol_of(self, number: SessionId) -> SyncProtocol | None:
        """Return the protocol of a session that is on, by the number of its stream."""
        session = self._table.numbered(number)
        if session is None or session.exchange is None or number == session.check_stream:
            return None
        return session.protocol

    def receives_from(self, peer: PeerId, now: Nanos) -> bool:
        """Return whether a session with `peer` is running, or may still get what it lacked."""
        return peer in self.by_peer or self._table.late.of(peer, now) is not None

    @property
    def passes_on(self) -> bool:
        """True if what is stored is to be told: some session is live, or may become so."""
        return any(one.stays for one in self.running.values())

    @property
    def relays(self) -> list[PeerId]:
        """Peers with whom we began a live session so that one hears somebody through the other."""
        ours = [one for one in self._table.live if one.initiated]
        return [one.peer for one in ours if one.why in {RELAY, RELAYS}]

    def is_live(self, number: SessionId) -> bool:
        """Return whether a stream is that of a live session."""
        return any(one.stream == number for one in self._table.live)

    @property
    def live(self) -> int:
        """Number of live sessions."""
        return len(self._table.live)

    @property
    def claimed(self) -> list[int]:
        """Bytes that each session takes for what its peer claims, those just over too."""
        return self._table.claimed

    # --- Beginning -----------------------------------------------------------------------------

    def _on_start(self, start: StartSession, now: Nanos, offset: Nanos) -> list[Effect]:
        protocol = self._protocols.named(start.protocol)
        assert protocol is not None, "only registered protocols are chosen"
        peer, shares = start.peer, self._fetching.shares
        session = self._session(start.session, peer, protocol, start.why, now, offset)
        session.begun, session.stays = start.count, start.live
        session.offered, session.failed = start.offered, start.failed
        session.chosen, session.estimate = start.chosen, start.estimate
        if start.span is not None:
            session.look_back(start.span, now + offset, to_now=start.to_now)
        if session.key in self.running:
            return [self._close(session, "put off: another session with this peer runs", now)]
        if self._blocked(session.key.plane) or self._takes_no_state(session):
            return [self._close(session, BUSY, now, benign=True)]
        if start.why == SHARE:
            window = shares.window(peer, len(self._fetching.linked), now)
            if window is None:
                return [self._close(session, "nothing is left to be shared", now)]
            session.since = max(session.since, window.lower.timestamp)
            session.until = max(window.upper, SyncId(session.since + 1, ZERO_HASH))
        elif session.fetches and start.span is None and shares.busy:
            shares.later.add(peer)
            return [self._close(session, BUSY, now, benign=True)]
        self.running[session.key] = session
        return [OpenSession(start.session, peer, protocol.stream)]

    def _on_opened(self, number: SessionId, payloads_max: int, now: Nanos) -> list[Effect]:
        session = self._table.numbered(number)
        if session is None:
            return [CloseSession(number)]
        if number == session.check_stream:
            return self._checking.begin(session, now)
        return self._begin_once_settled(session, payloads_max, now)

    def _handle_opened_stream(
        self, offered: SessionOffered, now: Nanos, offset: Nanos
    ) -> list[Effect]:
        """Answer a session; where both began one, the one of the smaller key goes on.

        One that has found out what is missing, and is being brought it, goes on in any case: it
        would be found once more, and brought twice. One of ours that nobody has answered for a
        while does not: a firewall may let the peer dial us, and keep us from dialling it.
        """
        number, peer = offered.session, offered.peer
        protocol = self._protocols.of_stream(offered.protocol)
        if protocol is None or self._blocked(protocol.plane):
            return [CloseSession(number)]
        effects: list[Effect] = []
        session = self._session(number, peer, protocol, OFFERED, now, offset)
        session.announced = offered.announced
        running = self.running.get(session.key)
        if running is not None:
            unheard = STALE_AFTER + OPENING_TRIPS * running.patience.trip
            waits = running.is_unopened and now - running.heard_at >= unheard
            ours = running.initiated and self._terms.me < peer and not waits
            if ours or running.is_brought:
                return [CloseSession(number)]
            effects += self._end(running, "put off: the peer began one too", now, benign=True)
        self.running[session.key] = session
        return effects + self._begin_once_settled(session, offered.payloads_max, now)

    def _takes_no_state(self, session: Session) -> bool:
        """Return whether a session is of state alone and its peer is just given a snapshot."""
        given = self.by_peer.get(session.peer)
        kind = None if given is None else kind_named(given.protocol.name)
        return kind is SyncKind.SNAPSHOT and session.key.plane is Plane.STATE

    def _on_linked_again(self, peer: PeerId, now: Nanos) -> list[Effect]:
        """The peer made a new link: a session that has been silent is on a network that is gone."""
        effects: list[Effect] = []
        for session in self._table.of(peer):
            if not session.live and now - session.heard_at >= STALE_AFTER:
                why = "interrupted: the peer came back over a new link"
                effects += self._end(session, why, now)
        return effects

    def _on_gone(self, peer: PeerId, now: Nanos) -> list[Effect]:
        self._fetching.linked.discard(peer)
        effects: list[Effect] = []
        for session in self._table.of(peer):
            effects += self._end(session, "interrupted: the peer is gone", now)
        self._fetching.pushing.discard(peer)
        self._fetching.shares.forget(peer)
        return effects

    def _begin_once_settled(self, session: Session, payloads_max: int, now: Nanos) -> list[Effect]:
        """Begin, after as many slices as it takes until what is held can be frozen."""
        if all(one.begins_with is None for one in self.running.values()):
            self._holdings.let_go()  # what was begun for others is of long ago
        session.begins_with = payloads_max
        waits = len(session.early_payloads) <= EARLY_MAX  # else there is no more time
        if waits and not self._holdings.settle():
            session.settles = True
            return [Continue(session.number)]
        session.begins_with = None
        exchange = self._begin(session, payloads_max, now)
        if session.initiated:
            return self._carry_out(session, exchange.open(now), now)
        early, session.early_payloads = session.early_payloads, []
        effects: list[Effect] = []
        for payload in early:
            effects += self._on_payload(session.number, payload, now)
        return effects

    def _begin(self, session: Session, payloads_max: int, now: Nanos) -> Exchange:
        session.freeze(*self._holdings.frozen())
        session.needed = session.initiated and session.stays and session.why != RELAYS
        session.stays = self._may_stay(session) and (session.stays or not session.initiated)
        room = partial(self._room, session)
        heights, terms = self._holdings.heights, self._terms
        return session.begin_exchange(payloads_max, now, room, heights, terms.state, terms.log)

    def _session(
        self,
        number: SessionId,
        peer: PeerId,
        protocol: SyncProtocol,
        why: str,
        now: Nanos,
        offset: Nanos,
    ) -> Session:
        """Return a session over everything that is not too old for us."""
        retained_from = self._terms.retained_from(now + offset)
        key = SessionKey(self._terms.channel, peer, protocol.plane)
        session = Session(number, key, protocol, why, now, now, retained_from, retained_from)
        session.patience.trip = self._trips.get(peer, 0)
        session.transfer.grown = session.patience.grown
        session.stream, session.moved_at = number, now
        return session

    def _may_stay(self, session: Session) -> bool:
        """Return whether a session may go live, here and in the whole node."""
        session.needed |= self._needs(session.peer)
        return (
            session.protocol.stays
            and self._table.has_place_live(session)
            and self._claims.live < LIVE_OF_NODE_MAX
        )

    # --- Comparing -----------------------------------------------------------------------------

    def _on_payload(self, number: SessionId, payload: bytes, now: Nanos) -> list[Effect]:
        session = self._table.numbered(number)
        if session is None:
            return [CloseSession(number)]
        session.heard_at = now
        try:
            if number == session.check_stream:
                return self._checking.on_frame(session, payload, now)
            if session.exchange is None:
                return self._on_early_payload(session, payload, now)
            steps = session.exchange.payload(payload, now)
        except RemoteError as error:
            return self._refuse(session, str(error), now)
        session.count(len(payload), sent=False)
        return self._carry_out(session, steps, now)

    def _on_early_payload(self, session: Session, payload: bytes, now: Nanos) -> list[Effect]:
        """Keep a payload until the session begins, which it does at once if too many come."""
        if session.begins_with is None:
            return [CloseSession(session.number)]
        session.early_payloads.append(payload)
        if len(session.early_payloads) <= EARLY_MAX:
            return []
        return self._begin_once_settled(session, session.begins_with, now)

    def _on_loaded(self, loaded: EntriesLoaded | PageChecked, now: Nanos) -> list[Effect]:
        """Go on with a page that was loaded or checked, unless the session ended meanwhile."""
        session = self._table.numbered(loaded.session)
        if session is None or session.exchange is None:
            return []
        if isinstance(loaded, PageChecked):
            return self._on_checked(session, loaded, now)
        if session.exchanged is not None and not session.live:
            return []  # there was no place for it to go live
        if session.live:
            session.have += len(loaded.page)
        else:
            session.lacked.insert(Ids.of([one.sync_id for one in loaded.page]).rows, 1)
        steps = session.exchange.loaded(loaded.page, now, more=loaded.more)
        return self._carry_out(session, steps, now)

    def _on_checked(self, session: Session, checked: PageChecked, now: Nanos) -> list[Effect]:
        exchange: object = session.exchange
        assert isinstance(exchange, ChecksPages), "it asked for the check"
        try:
            steps = exchange.page_checked(checked.number, checked.page, checked.reason, now)
        except RemoteError as error:
            return self._refuse(session, str(error), now)
        return self._carry_out(session, steps, now)

    def _on_entry(self, entry: Brought | EntryRefused, now: Nanos) -> list[Effect]:
        """An entry of the session's own stream is here, or was before: the check counts it.

        Who brings what no honest peer keeps ends its session; what came before stays.
        """
        session = self._table.numbered(entry.session)
        if session is None:
            return []
        if isinstance(entry, EntryRefused):
            return self._refuse(session, entry.reason, now)
        session.got += 1
        session.need = max(session.need, session.got)  # a peer need not say how much it owes
        session.moved_at = now
        if session.live:
            return []
        session.brought.add(entry.sync_id, aside=entry.aside)
        return self._make_room(now) if len(session.brought) % LOOKED_AFTER == 0 else []

    def _on_stored(self, stored: Stored, now: Nanos) -> list[Effect]:
        """Tell those who pass on what is new, or are about to."""
        effects: list[Effect] = []
        for session in list(self.running.values()):
            if session.stays and session.exchange is not None:
                known = stored.via is None or session.peer in {stored.via, stored.author}
                steps = session.exchange.stored(stored, now, known=known)
                effects += self._carry_out(session, steps, now) if steps else []
        return effects

    def _on_leave(self, peer: PeerId, now: Nanos) -> list[Effect]:
        effects: list[Effect] = []
        for session in self._table.live:
            if session.peer == peer and session.exchange is not None:
                effects += self._carry_out(session, session.exchange.leave(now), now)
        return effects

    def _on_continue(self, number: SessionId, now: Nanos) -> list[Effect]:
        """Go on answering what came, unless the session ended meanwhile."""
        session = self._table.numbered(number)
        if session is None:
            return []
        if session.settles:
            session.settles = False
            waits = session.begins_with
            # It may have begun meanwhile, since too much came for it to wait.
            return [] if waits is None else self._begin_once_settled(session, waits, now)
        if session.counted is not None and session.check_stream is not None:
            return self._begin_check(session, now)
        if session.exchange is None:
            return []
        return self._carry_out(session, session.exchange.go_on(now), now)

    def _carry_out(self, session: Session, steps: Sequence[Step], now: Nanos) -> list[Effect]:
        """Carry out a step of the exchange, unless the peer would only bring what another does."""
        if len(steps) == 1 and isinstance(step := steps[0], Brings):  # mostly
            session.moved_at = now
            return [Accepted(session.peer, None, step.entry, session.number)]
        if (
            session.payloads
            and session.fetches
            and (session.whole or session.to_now)
            and _differs(steps)
            and not self._fetching.shares.admits(session, now)
        ):
            session.unsent = True
            return self._end(session, BUSY, now, benign=True)
        session.moved_at = now
        effects: list[Effect] = []
        for step in steps:
            match step:
                case Send(payload, _, carries):
                    session.count(len(payload), sent=True)
                    effects.append(SendPayload(session.number, payload, carries))
                case Narrow(until):
                    session.narrow(until)
                case GoOn():
                    effects.append(Continue(session.number))
                case Differences(need, have):
                    effects += self._fetching.differ(session, need, have, now)
                case Speaks(name, why, estimate):
                    protocol = self._protocols.named(name)
                    session.goes_by(protocol or session.protocol, why, estimate)
                case Owes(need, have, logs):
                    if not self._serves(session, have, now):
                        return [*effects, *self._end(session, TOO_OFTEN, now)]
                    session.need += need
                    session.logs += logs
                    session.have += have
                    effects += self._fetching.want_owed(session, step)
                case Load() | LoadNewest() | Checks() | Snapshots():
                    effects.append(_passed_on(session, step))
                case Brings(entry):
                    effects.append(Accepted(session.peer, None, entry, session.number))
                case BringsState(contents):
                    session.got += len(contents)
                    session.need += len(contents)
                    effects.append(AcceptedState(session.peer, contents, session.number))
                case Finished():
                    effects += self._on_finished(session, step, now)
                case _:
                    assert_never(step)
        return effects

    def _serves(self, session: Session, have: int, now: Nanos) -> bool:
        """Return whether a peer that began a session is sent so many entries of ours more."""
        held = len(self._holdings)
        return session.initiated or self._served.admits(session.peer, have, held, now)

    def _on_finished(self, session: Session, finished: Finished, now: Nanos) -> list[Effect]:
        session.exchanged = finished
        if session.live:
            polite = finished.outcome is Outcome.BENIGN
            closed = CloseSession(session.number)
            return [closed, *self._end(session, finished.result, now, benign=polite)]
        effects = self._go_live(session, now) if finished.live else []
        if not effects:
            effects = [CloseSession(session.number)]
        # Where all has come, what has not is below a floor of the peer's: it does not send that.
        effects += self._fetching.let_go(session, stalled=finished.brought)
        effects += self._fetching.push(session)
        effects += self._fetching.share_found(session, now)
        if not finished.checked:
            return effects + self._fetching.settle(session, now)
        session.wait_until = now + session.patience.grown(CHECK_WITHIN)
        if session.initiated:
            session.check_stream = -session.number
            effects.append(OpenSession(-session.number, session.peer, CHECK))
        elif session.check_stream is not None:
            effects += self._begin_check(session, now)
        return effects

    def _begin_check(self, session: Session, now: Nanos) -> list[Effect]:
        """Begin the check, of which a frame may have waited; garbage there ends the session.

        It takes back nothing of the last step of the exchange, which has been made.
        """
        try:
            return self._checking.begin(session, now)
        except RemoteError as error:
            return self._refuse(session, str(error), now)

    def _go_live(self, session: Session, now: Nanos) -> list[Effect]:
        """Let stream and exchange go on in a session of their own, if there is a place for it."""
        key = session.key._replace(mode=Mode.LIVE)
        if not self._may_stay(session):
            return []
        live = self.running[key] = Session(
            session.number, key, session.protocol, session.why, now, now, session.since
        )
        live.stream, live.exchange, live.moved_at = session.stream, session.exchange, now
        live.stays, session.stays, live.needed = True, False, session.needed
        live.patience = session.patience  # by which its exchange goes
        session.cards, session.stream, session.exchange = tuple(session.rounds), None, None
        return [LiveBegan(live.number, live.peer, live.protocol.name, key.plane, live.why)]

    def _refuse(self, session: Session, reason: str, now: Nanos) -> list[Effect]:
        """End a session whose peer said what it must not, with the reason shown."""
        refused = Refused(session.peer, reason)
        return [refused, *self._end(session, f"refused: {reason}", now)]

    # --- Ending --------------------------------------------------------------------------------

    def _on_closed(self, number: SessionId, reason: str, now: Nanos) -> list[Effect]:
        """A stream is gone; that matters only while there was something to say on it."""
        session = self._table.numbered(number)
        if session is None or session.settled:
            return []
        unanswered = session.initiated and not session.protocol.usual and not session.bytes_in
        if unanswered and not reason:  # it is not to be had by this protocol now
            return self._end(session, UNANSWERED, now, benign=True)
        reason = reason or "the peer closed the stream"
        if number == session.check_stream:
            session.check_stream = session.early_frame = None
            return [] if session.exchanged is None else self._checking.refused(session, reason, now)
        if session.exchanged is not None:
            return []
        ended = self._end(session, f"interrupted: {reason}", now)
        return [effect for effect in ended if effect != CloseSession(number)]

    def _on_tick(self, now: Nanos) -> list[Effect]:
        self._table.late.forget(now)
        effects = self._fetching.stalled(now)
        for session in list(self.running.values()):
            gives_up_at = session.gives_up_at()
            if gives_up_at is not None and gives_up_at <= now:
                session.given_up = True
                effects.append(Unwanted(session.transfer.missing, stalled=True))
                effects += self._fetching.let_go(session, stalled=True)
                effects += self._fetching.wake()
            due = session.deadline()
            if due is None or due > now:
                continue
            if session.ends_at <= now and not session.live:
                effects += self._end(session, TOO_LONG, now)
            elif session.watched_until <= now and not session.live:
                effects += self._end(session, STUCK, now)
            elif session.settled:
                effects += self._fetching.feed(session, Tick(), now)
            elif session.checking is not None:
                effects += self._checking.tick(session, now)
            elif session.exchanged is not None:
                effects += self._checking.refused(session, "it did not begin", now)
            elif session.exchange is not None:
                effects += self._carry_out(session, session.exchange.tick(now), now)
                effects += self._end_stuck(session, now)
        return effects

    def _end_stuck(self, session: Session, now: Nanos) -> list[Effect]:
        """End a session whose protocol let its time pass: it would be due again at once, always."""
        due = None if session.exchange is None else session.exchange.deadline()
        return [] if due is None or due > now else self._end(session, STUCK, now)

    def _room(self, session: Session) -> int:
        """Return how many more ids `session` may find."""
        return self._claims.room(session.claimed)

    def _make_room(self, now: Nanos) -> list[Effect]:
        """End sessions until the others have room.

        Whoever claims things and never sends them would else keep their room for half a minute,
        and others may come meanwhile.
        """
        effects: list[Effect] = []
        crowd, late = self._table.crowd(), self._table.late
        while self._claims.free < 0 and late.sessions:
            late.forget(now, next(iter(late.sessions)))
        if crowd <= 0 and self._claims.free >= 0:
            return effects
        for session in self._table.giving_way(now):
            if crowd <= 0 and self._claims.free >= 0:
                break
            if crowd > 0 or session.claimed:
                effects += self._end(session, GAVE_WAY, now, benign=True)
                crowd -= 1
        return effects

    def _end(
        self,
        session: Session,
        result: str,
        now: Nanos,
        missing: Sequence[SyncId] | None = None,
        *,
        benign: bool = False,
        stops: bool = False,
    ) -> list[Effect]:
        """End a session; what it still lacks may come for a little while, unless it `stops`."""
        del self.running[session.key]
        effects: list[Effect] = []
        if session.exchanged is None:
            effects.append(CloseSession(session.number))
        elif not session.settled and session.check_stream is not None:
            effects.append(CloseSession(session.check_stream))
        left = session.transfer.missing if missing is None else missing
        if stops or session.transfer.elsewhere:  # of which the peer does not know
            effects.append(CloseTransfer(session.peer))
        if session.transfer.open:
            self._fetching.pushing.add(session.peer)
        if session.fetches:
            self._fetching.shares.ended(session)
            if self._claims.free > 0:
                self._table.late.begin(session, now)
            else:
                self._table.late.let_go(session, now)
        if left and not session.given_up:
            effects.append(Unwanted(left))
        effects += self._fetching.let_go(session)
        effects.append(self._close(session, result, now, benign=benign))
        return [*effects, *self._fetching.wake(), *self._fetching.go_on(now)]

    def _close(
        self, session: Session, result: str, now: Nanos, *, benign: bool = False
    ) -> SessionEnded:
        self.shown.append(session)
        return ending.end(session, result, now, benign=benign)


def _passed_on(
    session: Session, step: Load | LoadNewest | Checks | Snapshots
) -> LoadEntries | LoadNewestEntries | CheckPage | SnapshotTold:
    """Return what an exchange wants of others, with the number of its session."""
    number = session.number
    match step:
        case Load(spans, after, ids, messages):
            return LoadEntries(number, spans, after, ids, messages)
        case LoadNewest(before, most):
            return LoadNewestEntries(number, before, most)
        case Checks(page, payload):
            return CheckPage(number, page, payload)
        case Snapshots(news):
            return SnapshotTold(session.peer, news, number)


def _differs(steps: Sequence[Step]) -> bool:
    """Return whether the answer to a payload says that the two sets differ."""
    return any(
        isinstance(step, Differences)
        or (isinstance(step, Send) and step.differs)
        or (isinstance(step, Owes) and (step.need > 0 or bool(step.put_off)))
        for step in steps
    )
