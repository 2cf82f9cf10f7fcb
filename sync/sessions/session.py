"""One session: its stage, what it found out and brought so far, and its limits of time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

import numpy as np
from msgspec import Struct

from sync.check import check
from sync.check.wire import decode_frame
from sync.errors import RemoteError
from sync.machine import MINUTE, SECOND, ChannelId, MessageId, Nanos, PeerId, earlier
from sync.sessions.brought import Brought
from sync.sessions.cards import Round
from sync.sessions.claims import CLAIM_BYTES
from sync.sessions.handshake import SyncKind
from sync.sessions.protocol import Exchange, Finished, Opening, Pushed, SyncProtocol
from sync.sessions.receiving import Transfer
from sync.sessions.sync_config import CONFIG
from sync.sessions.values import PAGE, Mode, Outcome, Plane, Proved, SessionId, SessionKey
from sync.structures.differences import Role
from sync.structures.ids import Ids
from sync.structures.link_trips import Patience
from sync.structures.log_spans import LogHeight
from sync.structures.ordered_set import (
    EVERYTHING,
    ZERO_HASH,
    Bounds,
    OrderedSet,
    SyncId,
)
from sync.structures.row_table import RowTable
from sync.structures.set_digest import ROW_BYTES, Held, row

OFFERED = "the peer began it"

SESSION_WITHIN: Nanos = 5 * MINUTE
"""Time a session may take in all, whoever began it: a peer that gives us a little at a time
must not keep a place for ever. What came until then stays, and the next session goes on."""

SPAN_OFFSET: Nanos = 20 * SECOND
"""A window of the last hour begins and ends so much earlier: what is younger is just being
broadcast, and would only seem to be missing (Waku Sync, "Sync Window")."""

STALLED_AFTER: Nanos = 5 * SECOND
"""Silence after which what a session should bring is asked elsewhere, and held up for nothing."""

WATCHDOG: Nanos = 2 * CONFIG.timeout
"""Silence after which a session is ended whatever its protocol says, or waits for."""

CHECK_WITHIN: Nanos = check.INACTIVITY_MAX
"""Time for which the responder waits for the check to begin, and the initiator for its stream."""


class Stage(Enum):
    """Stage of a session."""

    OPENING = "opening"
    RECONCILING = "reconciling"
    CHECKING = "checking"
    TRANSFERRING = "transferring"
    LIVE = "live"
    OVER = "over"


def read_pushed(protocol: SyncProtocol, frame: bytes) -> Pushed:
    """Return what a protocol says was pushed.

    Raises:
        RemoteError: malformed.
    """
    return protocol.decode_pushed(frame)


ReadPushed: TypeAlias = Callable[[SyncProtocol, bytes], Pushed]


class Terms(Struct, frozen=True):
    """Terms of all sessions of a channel: identity and retention."""

    me: PeerId
    channel: ChannelId
    draw_salt: Callable[[], bytes]
    retention: Nanos | None = None
    """Time below which nothing is compared or accepted; None keeps everything."""
    state: object = None
    log: object = None
    """The channel's state, and its messages; see `sync.sessions.protocol.Opening`."""
    read_pushed: ReadPushed = read_pushed
    """Reads a frame that was pushed by a protocol."""

    def retained_from(self, reference: Nanos) -> Nanos:
        """Return from when on we take messages, by the reference clock; 0 for all of them."""
        return 0 if self.retention is None else max(0, reference - self.retention)


@dataclass(slots=True)
class Session:
    """One session; its machines are None until their streams are open."""

    number: SessionId
    key: SessionKey
    protocol: SyncProtocol
    why: str
    began_at: Nanos
    heard_at: Nanos
    """When the peer's part in it last came."""

    since: Nanos = 0
    """Time below which nothing is compared; 0 for everything."""

    retained_from: Nanos = 0
    """Time below which messages are too old for us, whatever is compared."""

    until: SyncId = EVERYTHING.upper
    """Time above which nothing is compared."""

    to_now: bool = False
    """Whether it is of what is young alone, up to now."""

    moved_at: Nanos = 0
    """When it last found out or brought something."""

    patience: Patience = field(default_factory=Patience)
    """Says how long to wait for the peer."""

    given_up: bool = False
    """Whether it stalls: nobody waits for what it may still bring."""

    transfer: Transfer = field(default_factory=Transfer)
    local: OrderedSet | None = None
    held: Held | None = None
    stream: SessionId | None = None
    """Its stream: the number of the session, until a live one has it."""
    exchange: Exchange | None = None
    exchanged: Finished | None = None
    together: OrderedSet | None = None
    counted: Held | None = None
    """Ids held with those that were found, for the check, while they are put in order."""
    checking: check.Check | None = None
    check_stream: SessionId | None = None
    checked: check.CheckFinished | None = None
    settled: bool = False
    """Whether no further differences will be found."""

    wait_until: Nanos | None = None
    """For the check to begin."""

    brought: Brought = field(default_factory=Brought)
    """Ids of entries that came on the session's own stream: the check counts them as ours, too."""

    authors: set[PeerId] = field(default_factory=set)
    """Authors of the entries that the peer owes on that stream, by its word."""

    asked: set[MessageId] = field(default_factory=set)
    """Ids that the peer was asked for one by one."""

    asked_hashes: frozenset[bytes] = frozenset()
    """Waku hashes that it was asked for."""

    put_off: set[MessageId] = field(default_factory=set)
    """Ids that it was not asked for, as others bring them: they come from elsewhere."""

    begun: int = 0
    """Sessions that its initiator, if it is us, began with the peer before."""

    announced: bool = True
    """Whether the peer was told that it may ask for whole logs of the channel."""

    offered: bool = False
    """True if the peer has told us that we may."""

    failed: frozenset[SyncKind] = frozenset()
    """Kinds that came to nothing with the peer since both last agreed."""

    chosen: str = ""
    estimate: int = 0
    """Why it is of this kind, and bytes that it is expected to take, as far as that is known."""

    stays: bool = False
    """Whether it is to go live."""
    needed: bool = False
    """Whether we need it to stay, not the peer alone."""

    lacked: RowTable = field(default_factory=lambda: RowTable(ROW_BYTES))
    """Ids that we held and the peer lacked, as rows."""

    pushed: list[Ids] = field(default_factory=list)
    """Of that, what is yet to be pushed."""

    begins_with: int | None = None
    """Payloads of a turn that the peer takes, while the session waits until it can freeze."""

    settles: bool = False
    """Set while a `Continue` is on its way that is to go on with that."""

    early_payloads: list[bytes] = field(default_factory=list)
    """Payloads that came meanwhile."""

    early_frame: bytes | None = None
    """The first frame of the check, where it came before the last payload."""

    naive: int = 0
    """Bytes of a plain list of what we held."""

    need: int = 0
    logs: int = 0
    """Author logs that `need` is of, by the peer's word; 0 where none are told."""
    have: int = 0
    got: int = 0
    payloads: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    bytes_brought: int = 0
    """Of messages that were pushed to us beside the payloads."""
    cards: Sequence[Round] = ()
    """The first payloads, as they are shown, once it is over."""

    ended_at: Nanos | None = None
    result: str = ""
    outcome: Outcome | None = None
    """Outcome; None while it goes on."""
    unsent: bool = False
    """Whether our last answer was drawn and, as the session was put off, not sent."""

    @property
    def peer(self) -> PeerId:
        """With whom it is."""
        return self.key.peer

    @property
    def initiated(self) -> bool:
        """True if we opened the session."""
        return self.why != OFFERED

    @property
    def role(self) -> Role:
        """Our end of it."""
        return Role.INITIATOR if self.initiated else Role.RESPONDER

    @property
    def live(self) -> bool:
        """True if it goes on to pass on what is new."""
        return self.key.mode is Mode.LIVE

    @property
    def fetches(self) -> bool:
        """True if it is one of those that find and bring the messages that we lack."""
        return self.key.plane is Plane.LOG and not self.live

    @property
    def stage(self) -> Stage:
        """Current stage of the session."""
        if self.ended_at is not None:
            return Stage.OVER
        if self.live:
            return Stage.LIVE
        if self.settled:
            return Stage.TRANSFERRING
        if self.exchanged is not None:
            return Stage.CHECKING
        return Stage.OPENING if self.exchange is None else Stage.RECONCILING

    @property
    def rounds(self) -> Sequence[Round]:
        """The first payloads, as they are shown."""
        rounds = self.cards if self.exchange is None else self.exchange.cards
        if not self.unsent:
            return rounds
        last = next((at for at in range(len(rounds), 0, -1) if not rounds[at - 1].sent), 0)
        return rounds[:last]

    @property
    def whole(self) -> bool:
        """True if the window covers everything that we accept from others."""
        return self.since <= self.retained_from and self.until == EVERYTHING.upper

    @property
    def proved_whole(self) -> bool:
        """True if the check found everything equal, as far as either side takes messages."""
        checked = self.checked
        if checked is None or checked.result is not check.Result.EQUAL:
            return False
        return checked.floor <= self.retained_from and self.until == EVERYTHING.upper

    @property
    def window(self) -> Bounds:
        """Bounds of the range that is compared."""
        return Bounds(SyncId(self.since, ZERO_HASH), self.until)

    # --- Its machines --------------------------------------------------------------------------

    def freeze(self, local: OrderedSet, held: Held) -> None:
        """Compare what is held now, as far as the window goes."""
        if self.until < EVERYTHING.upper:
            local = local.below(self.until)
            held = held.below(local, self.until.timestamp)
        self.local, self.held = local, held
        self.naive = ROW_BYTES * local.count(*self.window)

    def begin_exchange(
        self,
        payloads_max: int,
        now: Nanos,
        room: Callable[[], int],
        heights: Callable[[], tuple[LogHeight, ...]],
        state: object = None,
        log: object = None,
    ) -> Exchange:
        """Begin to compare what is frozen, over a stream that is open; see `Opening`."""
        assert self.local is not None
        assert self.held is not None
        opening = Opening(
            self.role,
            self.key.channel,
            self.peer,
            self.local,
            self.held,
            self.window,
            now,
            room,
            payloads_max,
            heights,
            self.begun,
            self.announced,
            self.stays,
            state,
            log,
            self.offered,
            self.failed,
            self.retained_from,
            self.patience.grown,
        )
        self.exchange = self.protocol.exchange(opening)
        return self.exchange

    def look_back(self, span: Nanos, reference: Nanos, *, to_now: bool) -> None:
        """Compare only what is younger than `span`, by the reference clock."""
        until = reference - SPAN_OFFSET
        self.since = max(self.since, until - span)
        self.to_now = to_now
        if not to_now:
            self.until = SyncId(max(until, self.since + 1), ZERO_HASH)

    def narrow(self, until: SyncId) -> None:
        """Compare only what is older than `until`, as both sides do."""
        assert self.local is not None
        assert self.held is not None
        self.until = until
        self.freeze(self.local, self.held)

    def goes_by(self, protocol: SyncProtocol, why: str, estimate: int) -> None:
        """Go on by a protocol; `why`, and the bytes expected, where handshakes have picked it."""
        self.protocol = protocol
        if why:
            self.chosen, self.estimate = why, estimate

    def settle_check(self) -> bool:
        """Do a slice of what `begin_check` needs; returns whether nothing is left of it.

        The check counts as ours what was found missing.
        """
        if self.counted is None:
            assert self.local is not None
            assert self.held is not None
            self.together, self.counted = self.local, self.held
            if found := self.transfer.found.all:
                columns = found.columns
                self.together = self.local.together(columns)
                self.counted = self.held.on_top(self.together, columns.timestamps)
        return self.counted.digest.refresh_some(self.counted.source)

    def begin_check(self, salt: bytes, now: Nanos, room: Callable[[], int]) -> list[check.Effect]:
        """Begin to prove what both sides should hold now, or to hear the peer prove it.

        Once `settle_check` has nothing left to do.
        """
        assert self.together is not None
        assert self.counted is not None
        held = self.brought.together(self.together, self.counted)
        self.together = self.counted = None
        aside = self.brought.aside if self.exchanged and self.exchanged.brought else None
        grown = self.patience.grown
        self.checking = check.Check(
            self.role, held, self.since, salt, now, room, aside=aside, grown=grown
        )
        effects = self.checking.handle(check.Begin(), now) if self.initiated else []
        early, self.early_frame = self.early_frame, None
        return effects if early is None else [*effects, *self.take_frame(early, now)]

    def take_frame(self, payload: bytes, now: Nanos) -> list[check.Effect]:
        """Take a frame of the check; the first one may come before our part of it has begun.

        Raises:
            RemoteError: malformed, or not what an honest peer sends now.
        """
        if self.checking is not None:
            return self.checking.handle(check.FrameReceived(decode_frame(payload)), now)
        if self.early_frame is not None:
            raise RemoteError("a second frame of a check before the reconciliation was over")
        self.early_frame = payload
        return []

    def count(self, size: int, *, sent: bool) -> None:
        """Count a payload of the exchange."""
        self.payloads += 1
        if sent:
            self.bytes_out += size
        else:
            self.bytes_in += size

    def take_pages(self) -> Ids:
        """Return the ids to push: the newest page, then the rest, each with its oldest first."""
        rows, self.pushed = b"".join([ids.rows for ids in self.pushed]), []
        rising = Ids(np.sort(np.frombuffer(rows, f"S{ROW_BYTES}")).tobytes())
        return Ids(rising[-PAGE:].rows + rising[:-PAGE].rows)

    def proved(self) -> Proved:
        """Return what the peer holds: what we held, but for what it lacked or keeps aside.

        Where entries went over the session's own stream, the check counts them, and the peer says
        which of them it keeps aside. What is pushed beside it is on its way yet.
        """
        assert self.checked is not None
        assert self.local is not None
        local, lacked, floor = self.local, self.lacked, self.checked.floor
        told = self.checked.aside
        aside = None if told is None else frozenset(told)

        def holds(one: SyncId) -> bool:
            return one in local and (
                row(one) not in lacked if aside is None else one.hash not in aside
            )

        return Proved(self.peer, floor, self.proved_whole, holds)

    # --- Limits --------------------------------------------------------------------------------

    @property
    def ends_at(self) -> Nanos:
        """Time at which the session ends, whatever the peer still does."""
        return self.began_at + SESSION_WITHIN

    def deadline(self) -> Nanos | None:
        """Return when the session has waited too long, or taken too long in all."""
        due: Nanos | None
        match self.stage:
            case Stage.RECONCILING:
                due = self.exchange.deadline() if self.exchange else None
            case Stage.CHECKING:
                due = self.checking.deadline() if self.checking is not None else self.wait_until
            case Stage.TRANSFERRING:
                due = self.transfer.deadline()
            case Stage.OPENING:
                due = None
            case Stage.LIVE:
                return self.exchange.deadline() if self.exchange else None
            case Stage.OVER:
                return None
        due = earlier(earlier(due, self.gives_up_at()), self.watched_until)
        return earlier(due, self.ends_at)

    @property
    def watched_until(self) -> Nanos:
        """Time at which the watchdog ends the session, which does not end by itself."""
        return max(self.moved_at, self.heard_at) + self.patience.grown(WATCHDOG)

    def gives_up_at(self) -> Nanos | None:
        """Return when the session, having brought nothing for `STALLED_AFTER`, is given up."""
        hopes = self.transfer.lacking or self.authors or self.asked or self.asked_hashes
        if self.given_up or not hopes:
            return None
        return self.moved_at + self.patience.grown(STALLED_AFTER)

    @property
    def claimed(self) -> int:
        """Bytes that it takes for what the peer claims to hold, or to lack."""
        ids = self.transfer.ids + len(self.lacked) + len(self.asked_hashes)
        return CLAIM_BYTES * ids + self.transfer.waiting_bytes + self.brought.size

    @property
    def is_unopened(self) -> bool:
        """True while the peer has not answered at all that it takes part."""
        return self.initiated and self.exchange is None and self.begins_with is None

    @property
    def is_brought(self) -> bool:
        """True once both have compared all they will, while what was missing is on its way."""
        return self.exchanged is not None and self.transfer.lacking > 0 and not self.given_up

    @property
    def converged(self) -> bool:
        """True if both sides hold the same once all has come: proved, where it is checked."""
        if self.checked is not None:
            return self.checked.result is check.Result.EQUAL
        return self.exchanged is not None and self.exchanged.outcome is Outcome.CONVERGED
